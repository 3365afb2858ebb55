// Lesson 00: a reduction tree of interleaved pairs, and what its remainder costs.
//
//     make lesson00 && ./lesson00

#include "harness/lesson.hpp"
#include "kernels.cuh"

int main(int argc, char** argv) {
    harness::Lesson lesson({.name = "lesson00", .title = "Interleaved pairs in shared memory"});

    lesson.add_reduction("reduce0", {.elements_per_thread = 1}, [](const harness::Pass& pass) {
        reduce0<<<pass.grid, pass.block, pass.shared_bytes>>>(pass.input, pass.partial_sums, pass.n);
    });
    lesson.add_reduction("reduce0a", {.elements_per_thread = 1}, [](const harness::Pass& pass) {
        reduce0a<<<pass.grid, pass.block, pass.shared_bytes>>>(pass.input, pass.partial_sums, pass.n);
    });

    return lesson.run(argc, argv);
}
