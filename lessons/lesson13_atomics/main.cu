// Lesson 13: atomics, one for each element, each warp, each block.
//
//     make lesson13 && ./lesson13

#include <array>

#include "harness/lesson.hpp"
#include "harness/verification.hpp"
#include "kernels.cuh"

namespace {

using Kernel = void (*)(const int* input, int* result, std::size_t n);

/// Measures a kernel that leaves the whole sum in one launch.
void measure_sum(harness::KernelRun& run, Kernel kernel, unsigned int grid, unsigned int block) {
    const harness::RandomInts& input = run.input_of_any_values();
    harness::DeviceBuffer<int> result(1);

    const auto prepare = [&] { result.write(std::array{0}); }; // before each run, and not timed
    const auto launch = [&] { kernel<<<grid, block>>>(input.data(), result.data(), run.n()); };
    const auto verify = [&] { return harness::compare_value(input.sum(), result.read().front()); };
    run.measure({.grid = dim3(grid), .block = dim3(block), .bytes = (run.n() + 1) * sizeof(int)},
                {.prepare = prepare, .launch = launch, .verify = verify});
}

/// Measures it with one thread per element.
void measure_threads(harness::KernelRun& run, Kernel kernel) {
    measure_sum(run, kernel, harness::plan_grids(run.n(), run.block(), {}).front(), run.block());
}

} // namespace

int main(int argc, char** argv) {
    harness::Lesson lesson({.name = "lesson13", .title = "Atomics"});

    lesson.add_kernel("sequential_reduction",
                      [](harness::KernelRun& run) { measure_sum(run, sequential_reduction, 1, 1); });
    lesson.add_kernel("naive_reduction",
                      [](harness::KernelRun& run) { measure_threads(run, naive_reduction); });
    lesson.add_kernel("warp_reduction",
                      [](harness::KernelRun& run) { measure_threads(run, warp_reduction); });
    lesson.add_kernel("block_reduction",
                      [](harness::KernelRun& run) { measure_threads(run, block_reduction); });

    return lesson.run(argc, argv);
}
