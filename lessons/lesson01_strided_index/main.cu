// Lesson 01: a strided index packs the adders into few warps.
//
//     make lesson01 && ./lesson01

#include "../lesson00_interleaved_pairs/kernels.cuh"
#include "harness/lesson.hpp"
#include "kernels.cuh"

int main(int argc, char** argv) {
    harness::Lesson lesson({.name = "lesson01", .title = "Strided index: whole warps drop out"});

    lesson.add_reduction("reduce0a", {.elements_per_thread = 1}, [](const harness::Pass& pass) {
        reduce0a<<<pass.grid, pass.block, pass.shared_bytes>>>(pass.input, pass.partial_sums, pass.n);
    });
    lesson.add_reduction("reduce1", {.elements_per_thread = 1}, [](const harness::Pass& pass) {
        reduce1<<<pass.grid, pass.block, pass.shared_bytes>>>(pass.input, pass.partial_sums, pass.n);
    });

    return lesson.run(argc, argv);
}
