// Open exercise A: the sum with the fewest instructions, within a budget of memory traffic.
//
//     make openA && ./openA

#include "../lesson06_algorithm_cascading/kernels.cuh"
#include "../lesson07_warp_shuffles/kernels.cuh"
#include "../lesson08_vectorized_loads/kernels.cuh"
#include "harness/launch_size.hpp"
#include "harness/lesson.hpp"
#include "kernels.cuh"

int main(int argc, char** argv) {
    harness::Lesson lesson({.name = "openA", .title = "The fewest instructions"});

    // The same launch for all: what a kernel does with it is what is compared.
    constexpr harness::ReductionShape shape{.elements_per_thread = 16, .most_blocks = 64};
    lesson.add_reduction("reduce6", shape, [](const harness::Pass& pass) {
        harness::with_block_size(pass.block, [&](auto block_size) {
            reduce6<block_size>
                <<<pass.grid, pass.block, pass.shared_bytes>>>(pass.input, pass.partial_sums, pass.n);
        });
    });
    lesson.add_reduction("reduce7", shape, [](const harness::Pass& pass) {
        harness::with_block_size(pass.block, [&](auto block_size) {
            reduce7<block_size><<<pass.grid, pass.block>>>(pass.input, pass.partial_sums, pass.n);
        });
    });
    lesson.add_reduction("reduce8", shape, [](const harness::Pass& pass) {
        harness::with_block_size(pass.block, [&](auto block_size) {
            reduce8<block_size><<<pass.grid, pass.block>>>(pass.input, pass.partial_sums, pass.n);
        });
    });
    lesson.add_reduction("fewest", shape, [](const harness::Pass& pass) {
        harness::with_block_size(pass.block, [&](auto block_size) {
            fewest<block_size><<<pass.grid, pass.block>>>(pass.input, pass.partial_sums, pass.n);
        });
    });

    return lesson.run(argc, argv);
}
