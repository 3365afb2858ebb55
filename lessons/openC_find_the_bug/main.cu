// Open exercise C: five sums. Here they are right; in exercise.cuh each has a bug.
//
//     make openC && ./openC --check all

#include "harness/lesson.hpp"
#include "kernels.cuh"

int main(int argc, char** argv) {
    harness::Lesson lesson({.name = "openC", .title = "Five sums", .default_block = 1024});

    lesson.add_reduction("sum_tree", {}, [](const harness::Pass& pass) {
        sum_tree<<<pass.grid, pass.block, pass.shared_bytes>>>(pass.input, pass.partial_sums, pass.n);
    });
    lesson.add_reduction("sum_two_loads", {.elements_per_thread = 2}, [](const harness::Pass& pass) {
        sum_two_loads<<<pass.grid, pass.block, pass.shared_bytes>>>(pass.input, pass.partial_sums, pass.n);
    });
    lesson.add_reduction("sum_last_warp", {}, [](const harness::Pass& pass) {
        sum_last_warp<<<pass.grid, pass.block, pass.shared_bytes>>>(pass.input, pass.partial_sums, pass.n);
    });
    lesson.add_reduction("sum_warps", {.shared_ints_per_thread = 0}, [](const harness::Pass& pass) {
        sum_warps<<<pass.grid, pass.block>>>(pass.input, pass.partial_sums, pass.n);
    });
    lesson.add_reduction("sum_two_levels", {.shared_ints_per_thread = 0}, [](const harness::Pass& pass) {
        sum_two_levels<<<pass.grid, pass.block>>>(pass.input, pass.partial_sums, pass.n);
    });

    return lesson.run(argc, argv);
}
