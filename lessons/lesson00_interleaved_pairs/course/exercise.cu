// Exercise 00: launches `reduce0` and `reduce0a`, and verifies the maximum of each block.
//
//     make exercise00

#include <algorithm>
#include <vector>

#include "harness/lesson.hpp"
#include "harness/verification.hpp"
#include "solution.cuh"

namespace {

using Kernel = void (*)(const int* input, int* maxima, std::size_t n);

/// Measures a kernel that leaves the maximum of each block. All elements are below 0, so that no 0 in place
/// of an element that does not exist goes unnoticed.
void measure_maxima(harness::KernelRun& run, Kernel kernel) {
    const std::size_t n = run.n(), block = run.block(), shared_bytes = block * sizeof(int);
    const unsigned int grid = harness::plan_grids(n, run.block(), {}).front();
    std::vector<int> elements(n), expected(grid);
    for (std::size_t i = 0; i < n; ++i) elements[i] = harness::random_int(run.seed(), i) - 1001;
    for (std::size_t b = 0; b < grid; ++b) {
        const auto first = elements.begin() + b * block;
        expected[b] = *std::max_element(first, first + std::min(block, n - b * block));
    }
    harness::DeviceBuffer<int> input(n), maxima(grid);
    input.write(elements);

    const auto launch = [&] { kernel<<<grid, run.block(), shared_bytes>>>(input.data(), maxima.data(), n); };
    run.measure({.grid = dim3(grid),
                 .block = dim3(run.block()),
                 .dynamic_shared_bytes = shared_bytes,
                 .bytes = (n + grid) * sizeof(int)},
                {.prepare = [&] { maxima.poison(); },
                 .launch = launch,
                 .verify = [&] { return harness::compare_elements(expected, maxima.read(), "block"); }});
}

} // namespace

int main(int argc, char** argv) {
    harness::Lesson lesson({.name = "exercise00", .title = "The maximum of each block"});

    lesson.add_kernel("reduce0", [](harness::KernelRun& run) { measure_maxima(run, reduce0); });
    lesson.add_kernel("reduce0a", [](harness::KernelRun& run) { measure_maxima(run, reduce0a); });

    return lesson.run(argc, argv);
}
