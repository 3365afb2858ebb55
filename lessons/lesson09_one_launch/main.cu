// Lesson 09: one launch, as PyTorch's reduce kernel does it.
//
//     make lesson09 && ./lesson09

#include <algorithm>
#include <array>

#include "../lesson08_vectorized_loads/kernels.cuh"
#include "harness/launch_size.hpp"
#include "harness/lesson.hpp"
#include "harness/verification.hpp"
#include "kernels.cuh"

int main(int argc, char** argv) {
    harness::Lesson lesson(
        {.name = "lesson09",
         .title = "One launch",
         .options = {{.name = "--offset",
                      .value = "K",
                      .help = "the input starts K ints into its allocation, which is aligned\n"
                              "to 256 bytes. Default: 0",
                      .largest = 1u << 20}}});

    lesson.add_kernel("reduce8", [](harness::KernelRun& run) {
        harness::with_block_size(run.block(), [&](auto block_size) {
            const harness::ReductionShape shape{.elements_per_thread = 8, // two vectors
                                                .most_blocks =
                                                    harness::resident_blocks(reduce8<block_size>, block_size),
                                                .shared_ints_per_thread = 0,
                                                .input_offset = run.option("--offset")};
            run.measure_reduction(shape, [&](const harness::Pass& pass) {
                reduce8<block_size><<<pass.grid, pass.block>>>(pass.input, pass.partial_sums, pass.n);
            });
        });
    });
    lesson.add_kernel("reduce9", [](harness::KernelRun& run) {
        harness::with_block_size(run.block(), [&](auto block_size) {
            const harness::RandomInts& input = run.input_of_any_values(run.option("--offset"));
            const std::size_t blocks = harness::ceil_div(run.n(), 16 * block_size); // four vectors a thread
            const auto grid = static_cast<unsigned int>(
                std::min<std::size_t>(blocks, harness::resident_blocks(reduce9<block_size>, block_size)));
            harness::DeviceBuffer<int> result(1), partial_sums(grid);
            harness::DeviceBuffer<unsigned int> blocks_done(1);
            blocks_done.write(std::array{0u}); // only once: each launch leaves it so

            const auto prepare = [&] { result.poison(), partial_sums.poison(); };
            const auto launch = [&] {
                reduce9<block_size><<<grid, run.block()>>>(input.data(), result.data(), run.n(),
                                                           partial_sums.data(), blocks_done.data());
            };
            const auto verify = [&] { return harness::compare_value(input.sum(), result.read().front()); };
            const std::size_t ints_moved = run.n() + 2 * std::size_t{grid} + 1; // partial sums: out and in
            run.measure({.grid = dim3(grid), .block = dim3(run.block()), .bytes = ints_moved * sizeof(int)},
                        {.prepare = prepare, .launch = launch, .verify = verify});
        });
    });

    return lesson.run(argc, argv);
}
