// Lesson 08: 16-byte loads, wherever the input starts and ends.
//
//     make lesson08 && ./lesson08

#include "../lesson07_warp_shuffles/kernels.cuh"
#include "harness/launch_size.hpp"
#include "harness/lesson.hpp"
#include "kernels.cuh"

int main(int argc, char** argv) {
    harness::Lesson lesson(
        {.name = "lesson08",
         .title = "Vectorized loads",
         .options = {{.name = "--offset",
                      .value = "K",
                      .help = "the input starts K ints into its allocation, which is aligned\n"
                              "to 256 bytes. Default: 0",
                      .largest = 1u << 20}}});

    lesson.add_kernel("reduce7", [](harness::KernelRun& run) {
        harness::with_block_size(run.block(), [&](auto block_size) {
            const harness::ReductionShape shape{.elements_per_thread = 2,
                                                .most_blocks =
                                                    harness::resident_blocks(reduce7<block_size>, block_size),
                                                .shared_ints_per_thread = 0,
                                                .input_offset = run.option("--offset")};
            run.measure_reduction(shape, [&](const harness::Pass& pass) {
                reduce7<block_size><<<pass.grid, pass.block>>>(pass.input, pass.partial_sums, pass.n);
            });
        });
    });
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

    return lesson.run(argc, argv);
}
