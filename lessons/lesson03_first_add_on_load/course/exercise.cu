// Exercise 03: launches `reduce3` with four elements per thread, and verifies the sum of each block.
//
//     make exercise03

#include "harness/lesson.hpp"
#include "solution.cuh"

int main(int argc, char** argv) {
    harness::Lesson lesson({.name = "exercise03", .title = "Four elements per thread"});

    lesson.add_reduction("reduce3", {.elements_per_thread = 4}, [](const harness::Pass& pass) {
        reduce3<<<pass.grid, pass.block, pass.shared_bytes>>>(pass.input, pass.partial_sums, pass.n);
    });

    return lesson.run(argc, argv);
}
