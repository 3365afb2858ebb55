// Lesson 12: shared memory that is sized at launch.
//
//     make lesson12 && ./lesson12 --n 2^24

#include "../lesson10_shared_against_global/kernels.cuh"
#include "../lesson11_unroll_four_blocks/kernels.cuh"
#include "harness/launch_size.hpp"
#include "harness/lesson.hpp"
#include "kernels.cuh"

int main(int argc, char** argv) {
    harness::Lesson lesson({.name = "lesson12", .title = "Dynamic shared memory"});
    const harness::ReductionShape one_static{.elements_per_thread = 1, .shared_ints_per_thread = 0};
    const harness::ReductionShape one_dynamic{.elements_per_thread = 1, .shared_ints_per_thread = 1};
    const harness::ReductionShape four_static{.elements_per_thread = 4, .shared_ints_per_thread = 0};
    const harness::ReductionShape four_dynamic{.elements_per_thread = 4, .shared_ints_per_thread = 1};

    lesson.add_reduction("reduceSmem", one_static, [](const harness::Pass& pass) {
        harness::with_block_size(pass.block, [&](auto block_size) {
            reduceSmem<block_size><<<pass.grid, pass.block>>>(pass.input, pass.partial_sums, pass.n);
        });
    });
    lesson.add_reduction("reduceSmemDyn", one_dynamic, [](const harness::Pass& pass) {
        reduceSmemDyn<<<pass.grid, pass.block, pass.shared_bytes>>>(pass.input, pass.partial_sums, pass.n);
    });
    lesson.add_reduction("reduceSmemUnroll", four_static, [](const harness::Pass& pass) {
        harness::with_block_size(pass.block, [&](auto block_size) {
            reduceSmemUnroll<block_size><<<pass.grid, pass.block>>>(pass.input, pass.partial_sums, pass.n);
        });
    });
    lesson.add_reduction("reduceSmemUnrollDyn", four_dynamic, [](const harness::Pass& pass) {
        reduceSmemUnrollDyn<<<pass.grid, pass.block, pass.shared_bytes>>>(pass.input, pass.partial_sums,
                                                                          pass.n);
    });

    return lesson.run(argc, argv);
}
