// Exercise 06: launches `reduce6` and verifies each block's sum: that of its stretches of four elements per
// thread, a grid's width apart.
//
//     make exercise06

#include <algorithm>
#include <vector>

#include "harness/launch_size.hpp"
#include "harness/lesson.hpp"
#include "harness/verification.hpp"
#include "solution.cuh"

namespace {

template <unsigned int block_size> void measure_sums(harness::KernelRun& run) {
    const harness::RandomInts& input = run.input();
    const std::size_t n = run.n(), shared_bytes = block_size * sizeof(int);
    const std::size_t blocks = harness::ceil_div(n, run.option("--elements-per-thread") * block_size);
    const unsigned int resident = harness::resident_blocks(reduce6<block_size>, block_size, shared_bytes);
    const auto grid = static_cast<unsigned int>(std::min<std::size_t>(blocks, resident));
    const std::vector<int> elements = input.values(0, n);
    std::vector<int> expected(grid);
    for (std::size_t i = 0; i < n; ++i) expected[i / (4 * block_size) % grid] += elements[i];
    harness::DeviceBuffer<int> partial_sums(grid);

    const auto launch = [&] {
        reduce6<block_size><<<grid, block_size, shared_bytes>>>(input.data(), partial_sums.data(), n);
    };
    run.measure(
        {.grid = dim3(grid),
         .block = dim3(block_size),
         .dynamic_shared_bytes = shared_bytes,
         .bytes = (n + grid) * sizeof(int)},
        {.prepare = [&] { partial_sums.poison(); },
         .launch = launch,
         .verify = [&] { return harness::compare_elements(expected, partial_sums.read(), "block"); }});
}

} // namespace

int main(int argc, char** argv) {
    harness::Lesson lesson(
        {.name = "exercise06",
         .title = "Four loads per turn",
         .options = {{.name = "--elements-per-thread",
                      .value = "E",
                      .help = "ints that a thread sums at least; more where the grid would\n"
                              "be larger than the card can hold. Default: 4",
                      .smallest = 1,
                      .largest = 1u << 20,
                      .default_value = 4}}});

    lesson.add_kernel("reduce6", [](harness::KernelRun& run) {
        harness::with_block_size(run.block(), [&](auto block_size) { measure_sums<block_size>(run); });
    });

    return lesson.run(argc, argv);
}
