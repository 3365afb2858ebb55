// Lesson 05: the block size is a template parameter, and the whole tree is unrolled.
//
//     make lesson05 && ./lesson05

#include "../lesson04_unroll_last_warp/kernels.cuh"
#include "harness/launch_size.hpp"
#include "harness/lesson.hpp"
#include "kernels.cuh"

int main(int argc, char** argv) {
    harness::Lesson lesson({.name = "lesson05", .title = "Unroll the whole tree"});

    lesson.add_reduction("reduce4", {.elements_per_thread = 2}, [](const harness::Pass& pass) {
        reduce4<<<pass.grid, pass.block, pass.shared_bytes>>>(pass.input, pass.partial_sums, pass.n);
    });
    lesson.add_reduction("reduce5", {.elements_per_thread = 2}, [](const harness::Pass& pass) {
        // One kernel is compiled for each block size. This picks the one that the command line asks for.
        harness::with_block_size(pass.block, [&](auto block_size) {
            reduce5<block_size>
                <<<pass.grid, pass.block, pass.shared_bytes>>>(pass.input, pass.partial_sums, pass.n);
        });
    });

    return lesson.run(argc, argv);
}
