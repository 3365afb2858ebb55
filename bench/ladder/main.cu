// The whole ladder: the eleven kernels of lessons 00 to 09 on the same ints.
//
//     make ladder

#include <algorithm>
#include <array>

#include "../../lessons/lesson00_interleaved_pairs/kernels.cuh"
#include "../../lessons/lesson01_strided_index/kernels.cuh"
#include "../../lessons/lesson02_sequential_addressing/kernels.cuh"
#include "../../lessons/lesson03_first_add_on_load/kernels.cuh"
#include "../../lessons/lesson04_unroll_last_warp/kernels.cuh"
#include "../../lessons/lesson05_unroll_the_tree/kernels.cuh"
#include "../../lessons/lesson06_algorithm_cascading/kernels.cuh"
#include "../../lessons/lesson07_warp_shuffles/kernels.cuh"
#include "../../lessons/lesson08_vectorized_loads/kernels.cuh"
#include "../../lessons/lesson09_one_launch/kernels.cuh"
#include "harness/launch_size.hpp"
#include "harness/lesson.hpp"
#include "harness/verification.hpp"

namespace {

using harness::Lesson, harness::Pass, harness::KernelRun;
using Kernel = void (*)(const int* input, int* partial_sums, std::size_t n);

/// reduce0 to reduce4: the block's size is known at launch, and its index determines which elements it sums.
template <Kernel kernel> void add_plain(Lesson& lesson, const char* name, unsigned int elements_per_thread) {
    lesson.add_reduction(name, {.elements_per_thread = elements_per_thread}, [](const Pass& pass) {
        kernel<<<pass.grid, pass.block, pass.shared_bytes>>>(pass.input, pass.partial_sums, pass.n);
    });
}

/// reduce6 to reduce8: compiled for each block size, with a loop over the grid, which is sized for the card.
/// \param pick from a block size to the kernel for it
template <class Pick>
void take_turn_of_looping(KernelRun& run, unsigned int elements_per_thread,
                          unsigned int shared_ints_per_thread, const Pick& pick) {
    harness::with_block_size(run.block(), [&](auto block_size) {
        const Kernel kernel = pick(block_size);
        const unsigned int shared_bytes = block_size * shared_ints_per_thread * sizeof(int);
        run.measure_reduction({.elements_per_thread = elements_per_thread,
                               .most_blocks = harness::resident_blocks(kernel, block_size, shared_bytes),
                               .shared_ints_per_thread = shared_ints_per_thread},
                              [&](const Pass& pass) {
                                  kernel<<<pass.grid, pass.block, pass.shared_bytes>>>(
                                      pass.input, pass.partial_sums, pass.n);
                              });
    });
}

/// reduce9: one launch; the partial sums never leave the device.
void take_turn_of_reduce9(KernelRun& run) {
    harness::with_block_size(run.block(), [&](auto block_size) {
        const harness::RandomInts& input = run.input_of_any_values();
        const std::size_t blocks = harness::ceil_div(run.n(), 16 * block_size); // four vectors a thread
        const auto grid = static_cast<unsigned int>(
            std::min<std::size_t>(blocks, harness::resident_blocks(reduce9<block_size>, block_size)));
        harness::DeviceBuffer<int> result(1), partial_sums(grid);
        harness::DeviceBuffer<unsigned int> blocks_done(1);
        blocks_done.write(std::array{0u}); // only once: each launch leaves it so

        const auto prepare = [&] { result.poison(), partial_sums.poison(); };
        const auto launch = [&] {
            reduce9<block_size><<<grid, run.block()>>>(input.data(), result.data(), run.n(),
                                                       partial_sums.data(), blocks_done.data());
        };
        const auto verify = [&] { return harness::compare_value(input.sum(), result.read().front()); };
        const std::size_t ints_moved = run.n() + 2 * std::size_t{grid} + 1; // partial sums: out and in
        run.measure({.grid = dim3(grid), .block = dim3(run.block()), .bytes = ints_moved * sizeof(int)},
                    {.prepare = prepare, .launch = launch, .verify = verify});
    });
}

} // namespace

#ifdef WITH_CUB
void add_limit(harness::Lesson& lesson); // limit.cu
void add_cub(harness::Lesson& lesson);   // bench/cub/ladder.cu
#endif

int main(int argc, char** argv) {
    Lesson lesson({.name = "ladder", .title = "The whole ladder, reduce0 to reduce9"});

    add_plain<reduce0>(lesson, "reduce0", 1);
    add_plain<reduce0a>(lesson, "reduce0a", 1);
    add_plain<reduce1>(lesson, "reduce1", 1);
    add_plain<reduce2>(lesson, "reduce2", 1);
    add_plain<reduce3>(lesson, "reduce3", 2);
    add_plain<reduce4>(lesson, "reduce4", 2);
    lesson.add_reduction("reduce5", {.elements_per_thread = 2}, [](const Pass& pass) {
        harness::with_block_size(pass.block, [&](auto block_size) {
            reduce5<block_size>
                <<<pass.grid, pass.block, pass.shared_bytes>>>(pass.input, pass.partial_sums, pass.n);
        });
    });
    lesson.add_kernel("reduce6", [](KernelRun& run) {
        take_turn_of_looping(run, 2, 1, [](auto block_size) { return reduce6<block_size>; });
    });
    lesson.add_kernel("reduce7", [](KernelRun& run) {
        take_turn_of_looping(run, 2, 0, [](auto block_size) { return reduce7<block_size>; });
    });
    lesson.add_kernel("reduce8", [](KernelRun& run) {
        take_turn_of_looping(run, 8, 0, [](auto block_size) { return reduce8<block_size>; });
    });
    lesson.add_kernel("reduce9", take_turn_of_reduce9);
#ifdef WITH_CUB
    add_limit(lesson);
    add_cub(lesson);
#endif

    return lesson.run(argc, argv);
}
