// Lesson 02: sequential addressing ends the bank conflicts.
//
//     make lesson02 && ./lesson02

#include "../lesson01_strided_index/kernels.cuh"
#include "harness/lesson.hpp"
#include "kernels.cuh"

int main(int argc, char** argv) {
    harness::Lesson lesson({.name = "lesson02", .title = "Sequential addressing"});

    lesson.add_reduction("reduce1", {.elements_per_thread = 1}, [](const harness::Pass& pass) {
        reduce1<<<pass.grid, pass.block, pass.shared_bytes>>>(pass.input, pass.partial_sums, pass.n);
    });
    lesson.add_reduction("reduce2", {.elements_per_thread = 1}, [](const harness::Pass& pass) {
        reduce2<<<pass.grid, pass.block, pass.shared_bytes>>>(pass.input, pass.partial_sums, pass.n);
    });

    return lesson.run(argc, argv);
}
