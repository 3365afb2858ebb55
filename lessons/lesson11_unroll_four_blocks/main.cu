// Lesson 11: one thread block for four blocks of data, in global and in shared memory.
//
//     make lesson11 && ./lesson11 --n 2^24

#include "../lesson10_shared_against_global/kernels.cuh"
#include "harness/launch_size.hpp"
#include "harness/lesson.hpp"
#include "kernels.cuh"

int main(int argc, char** argv) {
    harness::Lesson lesson({.name = "lesson11", .title = "Four blocks of data per thread block"});
    // None of the kernels has dynamic shared memory. Those in global memory overwrite what they sum.
    const harness::ReductionShape in_place{.shared_ints_per_thread = 0, .in_place = true};
    const harness::ReductionShape static_shared{.shared_ints_per_thread = 0};
    const harness::ReductionShape four_in_place{
        .elements_per_thread = 4, .shared_ints_per_thread = 0, .in_place = true};
    const harness::ReductionShape four_static_shared{.elements_per_thread = 4, .shared_ints_per_thread = 0};

    lesson.add_reduction("reduceGmem", in_place, [](const harness::Pass& pass) {
        reduceGmem<<<pass.grid, pass.block>>>(pass.work, pass.partial_sums, pass.n);
    });
    lesson.add_reduction("reduceSmem", static_shared, [](const harness::Pass& pass) {
        harness::with_block_size(pass.block, [&](auto block_size) {
            reduceSmem<block_size><<<pass.grid, pass.block>>>(pass.input, pass.partial_sums, pass.n);
        });
    });
    lesson.add_reduction("reduceGmemUnroll", four_in_place, [](const harness::Pass& pass) {
        reduceGmemUnroll<<<pass.grid, pass.block>>>(pass.work, pass.partial_sums, pass.n);
    });
    lesson.add_reduction("reduceSmemUnroll", four_static_shared, [](const harness::Pass& pass) {
        harness::with_block_size(pass.block, [&](auto block_size) {
            reduceSmemUnroll<block_size><<<pass.grid, pass.block>>>(pass.input, pass.partial_sums, pass.n);
        });
    });

    return lesson.run(argc, argv);
}
