// Exercise 07: launches `reduce7` with an output per element, and verifies that each is the sum of its block.
//
//     make exercise07

#include <algorithm>
#include <vector>

#include "harness/launch_size.hpp"
#include "harness/lesson.hpp"
#include "harness/verification.hpp"
#include "solution.cuh"

namespace {

void measure_sums(harness::KernelRun& run) {
    const harness::RandomInts& input = run.input();
    const std::size_t n = run.n(), block = run.block();
    const unsigned int grid = harness::plan_grids(n, run.block(), {}).front();
    const std::vector<int> elements = input.values(0, n);
    std::vector<int> expected(n); // of each element: the sum of its block
    for (std::size_t first = 0; first < n; first += block) {
        const std::size_t count = std::min(block, n - first);
        std::fill_n(expected.begin() + first, count, harness::reference_sum(elements.data() + first, count));
    }
    harness::DeviceBuffer<int> sums(n);

    const auto launch = [&] {
        harness::with_block_size(run.block(), [&](auto block_size) {
            reduce7<block_size><<<grid, run.block()>>>(input.data(), sums.data(), n);
        });
    };
    run.measure({.grid = dim3(grid), .block = dim3(run.block()), .bytes = 2 * n * sizeof(int)},
                {.prepare = [&] { sums.poison(); },
                 .launch = launch,
                 .verify = [&] { return harness::compare_elements(expected, sums.read()); }});
}

} // namespace

int main(int argc, char** argv) {
    harness::Lesson lesson({.name = "exercise07", .title = "The block's sum for every thread"});

    lesson.add_kernel("reduce7", measure_sums);

    return lesson.run(argc, argv);
}
