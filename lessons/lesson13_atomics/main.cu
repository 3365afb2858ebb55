// Lesson 13: atomics, one for each element, each warp, each block.
//
//     make lesson13 && ./lesson13

#include <array>

#include "harness/lesson.hpp"
#include "kernels.cuh"

namespace {

using Kernel = void (*)(const int* input, int* result, std::size_t n);

/// Measures a kernel that leaves the whole sum in one launch.
void measure_sum(harness::Turn& turn, Kernel kernel, unsigned int grid, unsigned int block) {
    const harness::RandomInts& input = turn.input();
    harness::DeviceBuffer<int> result(1);

    const auto prepare = [&] { result.write(std::array{0}); }; // before each run, and not timed
    const auto launch = [&] { kernel<<<grid, block>>>(input.data(), result.data(), turn.n()); };
    const auto verify = [&] { return harness::compare_value(input.sum(), result.read().front()); };
    turn.measure({.grid = dim3(grid), .block = dim3(block), .bytes = (turn.n() + 1) * sizeof(int)},
                 {.prepare = prepare, .launch = launch, .verify = verify});
}

/// Measures it with a thread for each element.
void measure_threads(harness::Turn& turn, Kernel kernel) {
    measure_sum(turn, kernel, harness::plan_grids(turn.n(), turn.block(), {}).front(), turn.block());
}

} // namespace

int main(int argc, char** argv) {
    harness::Lesson lesson({.name = "lesson13", .title = "Atomics"});

    lesson.add_kernel("sequential_reduction",
                      [](harness::Turn& turn) { measure_sum(turn, sequential_reduction, 1, 1); });
    lesson.add_kernel("naive_reduction", [](harness::Turn& turn) { measure_threads(turn, naive_reduction); });
    lesson.add_kernel("warp_reduction", [](harness::Turn& turn) { measure_threads(turn, warp_reduction); });
    lesson.add_kernel("block_reduction", [](harness::Turn& turn) { measure_threads(turn, block_reduction); });

    return lesson.run(argc, argv);
}
