// Lesson 10: the same two trees in global memory, in place, and in shared memory.
//
//     make lesson10 && ./lesson10 --n 2^24

#include "harness/launch_size.hpp"
#include "harness/lesson.hpp"
#include "kernels.cuh"

int main(int argc, char** argv) {
    harness::Lesson lesson({.name = "lesson10", .title = "Shared against global memory"});
    // None of the kernels has dynamic shared memory. Those in global memory overwrite what they sum.
    const harness::ReductionShape in_place{.shared_ints_per_thread = 0, .in_place = true};
    const harness::ReductionShape static_shared{.shared_ints_per_thread = 0};

    lesson.add_reduction("reduceNeighboredGmem", in_place, [](const harness::Pass& pass) {
        reduceNeighboredGmem<<<pass.grid, pass.block>>>(pass.work, pass.partial_sums, pass.n);
    });
    lesson.add_reduction("reduceNeighboredSmem", static_shared, [](const harness::Pass& pass) {
        harness::with_block_size(pass.block, [&](auto block_size) {
            reduceNeighboredSmem<block_size>
                <<<pass.grid, pass.block>>>(pass.input, pass.partial_sums, pass.n);
        });
    });
    lesson.add_reduction("reduceGmem", in_place, [](const harness::Pass& pass) {
        reduceGmem<<<pass.grid, pass.block>>>(pass.work, pass.partial_sums, pass.n);
    });
    lesson.add_reduction("reduceSmem", static_shared, [](const harness::Pass& pass) {
        harness::with_block_size(pass.block, [&](auto block_size) {
            reduceSmem<block_size><<<pass.grid, pass.block>>>(pass.input, pass.partial_sums, pass.n);
        });
    });

    return lesson.run(argc, argv);
}
