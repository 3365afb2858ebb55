// Lesson 03: the first add happens while the data are loaded.
//
//     make lesson03 && ./lesson03

#include "../lesson02_sequential_addressing/kernels.cuh"
#include "harness/lesson.hpp"
#include "kernels.cuh"

int main(int argc, char** argv) {
    harness::Lesson lesson({.name = "lesson03", .title = "First add during the global load"});

    lesson.add_reduction("reduce2", {.elements_per_thread = 1}, [](const harness::Pass& pass) {
        reduce2<<<pass.grid, pass.block, pass.shared_bytes>>>(pass.input, pass.partial_sums, pass.n);
    });
    lesson.add_reduction("reduce3", {.elements_per_thread = 2}, [](const harness::Pass& pass) {
        reduce3<<<pass.grid, pass.block, pass.shared_bytes>>>(pass.input, pass.partial_sums, pass.n);
    });

    return lesson.run(argc, argv);
}
