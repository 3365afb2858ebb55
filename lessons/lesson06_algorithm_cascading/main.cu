// Lesson 06: many elements per thread, and a grid that the card can hold at once.
//
//     make lesson06 && ./lesson06

#include "../lesson05_unroll_the_tree/kernels.cuh"
#include "harness/launch_size.hpp"
#include "harness/lesson.hpp"
#include "kernels.cuh"

int main(int argc, char** argv) {
    harness::Lesson lesson(
        {.name = "lesson06",
         .title = "Algorithm cascading",
         .options = {{.name = "--elements-per-thread",
                      .value = "E",
                      .help = "ints that a thread of reduce6 sums at least; more where the\n"
                              "grid would be larger than the card can hold. Default: 2",
                      .smallest = 1,
                      .largest = 1u << 30,
                      .default_value = 2}}});

    lesson.add_reduction("reduce5", {.elements_per_thread = 2}, [](const harness::Pass& pass) {
        harness::with_block_size(pass.block, [&](auto block_size) {
            reduce5<block_size>
                <<<pass.grid, pass.block, pass.shared_bytes>>>(pass.input, pass.partial_sums, pass.n);
        });
    });
    lesson.add_kernel("reduce6", [](harness::KernelRun& run) {
        harness::with_block_size(run.block(), [&](auto block_size) {
            // As many blocks as all multiprocessors hold at once; fewer, if n has no work for so many.
            const harness::ReductionShape shape{
                .elements_per_thread = static_cast<unsigned int>(run.option("--elements-per-thread")),
                .most_blocks =
                    harness::resident_blocks(reduce6<block_size>, block_size, block_size * sizeof(int))};
            run.measure_reduction(shape, [&](const harness::Pass& pass) {
                reduce6<block_size>
                    <<<pass.grid, pass.block, pass.shared_bytes>>>(pass.input, pass.partial_sums, pass.n);
            });
        });
    });

    return lesson.run(argc, argv);
}
