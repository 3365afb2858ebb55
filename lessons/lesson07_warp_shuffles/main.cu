// Lesson 07: warp shuffles take the place of shared memory within a warp.
//
//     make lesson07 && ./lesson07

#include "../lesson06_algorithm_cascading/kernels.cuh"
#include "harness/launch_size.hpp"
#include "harness/lesson.hpp"
#include "kernels.cuh"

int main(int argc, char** argv) {
    harness::Lesson lesson({.name = "lesson07", .title = "Warp shuffles"});

    lesson.add_kernel("reduce6", [](harness::KernelRun& run) {
        harness::with_block_size(run.block(), [&](auto block_size) {
            const harness::ReductionShape shape{
                .elements_per_thread = 2,
                .most_blocks =
                    harness::resident_blocks(reduce6<block_size>, block_size, block_size * sizeof(int))};
            run.measure_reduction(shape, [&](const harness::Pass& pass) {
                reduce6<block_size>
                    <<<pass.grid, pass.block, pass.shared_bytes>>>(pass.input, pass.partial_sums, pass.n);
            });
        });
    });
    lesson.add_kernel("reduce7", [](harness::KernelRun& run) {
        harness::with_block_size(run.block(), [&](auto block_size) {
            const harness::ReductionShape shape{.elements_per_thread = 2,
                                                .most_blocks =
                                                    harness::resident_blocks(reduce7<block_size>, block_size),
                                                .shared_ints_per_thread = 0}; // its shared memory is static
            run.measure_reduction(shape, [&](const harness::Pass& pass) {
                reduce7<block_size><<<pass.grid, pass.block>>>(pass.input, pass.partial_sums, pass.n);
            });
        });
    });

    return lesson.run(argc, argv);
}
