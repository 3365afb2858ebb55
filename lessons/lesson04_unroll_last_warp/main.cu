// Lesson 04: the last warp finishes alone, without a loop and without the block's barrier.
//
//     make lesson04 && ./lesson04

#include "../lesson03_first_add_on_load/kernels.cuh"
#include "harness/lesson.hpp"
#include "kernels.cuh"

int main(int argc, char** argv) {
    harness::Lesson lesson({.name = "lesson04", .title = "Unroll the last warp"});

    lesson.add_reduction("reduce3", {.elements_per_thread = 2}, [](const harness::Pass& pass) {
        reduce3<<<pass.grid, pass.block, pass.shared_bytes>>>(pass.input, pass.partial_sums, pass.n);
    });
    lesson.add_reduction("reduce4", {.elements_per_thread = 2}, [](const harness::Pass& pass) {
        reduce4<<<pass.grid, pass.block, pass.shared_bytes>>>(pass.input, pass.partial_sums, pass.n);
    });

    return lesson.run(argc, argv);
}
