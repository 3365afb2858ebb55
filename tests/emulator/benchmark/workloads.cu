#include "workloads.hpp"

#include "../../../lessons/lesson00_interleaved_pairs/kernels.cuh"
#include "../../../lessons/lesson01_strided_index/kernels.cuh"
#include "../../../lessons/lesson02_sequential_addressing/kernels.cuh"
#include "../../../lessons/lesson03_first_add_on_load/kernels.cuh"
#include "../../../lessons/lesson04_unroll_last_warp/kernels.cuh"
#include "../../../lessons/lesson05_unroll_the_tree/kernels.cuh"
#include "../../../lessons/lesson06_algorithm_cascading/kernels.cuh"
#include "../../../lessons/lesson07_warp_shuffles/kernels.cuh"
#include "../../../lessons/lesson08_vectorized_loads/kernels.cuh"
#include "../../../lessons/lesson09_one_launch/kernels.cuh"
#include "../../../lessons/lesson10_shared_against_global/kernels.cuh"
#include "../../../lessons/lesson11_unroll_four_blocks/kernels.cuh"
#include "../../../lessons/lesson12_dynamic_shared_memory/kernels.cuh"
#include "../../../lessons/lesson13_atomics/kernels.cuh"
#include "../../../lessons/lesson14_one_block/kernels.cuh"
#include "../../../lessons/lesson15_segments_and_coarsening/kernels.cuh"

// Lessons 16 to 21 have kernels of the same names. They are for one block, which fills one tile: here many
// blocks call them, each with a tile for its output. If all wrote to the same one, the cores would fight for
// its cache lines.
#pragma push_macro("__global__")
#undef __global__
#define __global__ __device__
namespace lesson16 {
#include "../../../lessons/lesson16_square_tile/kernels.cuh"
}
namespace lesson17 {
#include "../../../lessons/lesson17_square_tile_dynamic/kernels.cuh"
}
namespace lesson18 {
#include "../../../lessons/lesson18_square_tile_padded/kernels.cuh"
}
namespace lesson19 {
#include "../../../lessons/lesson19_rectangular_tile/kernels.cuh"
}
namespace lesson20 {
#include "../../../lessons/lesson20_rectangular_tile_dynamic/kernels.cuh"
}
namespace lesson21 {
#include "../../../lessons/lesson21_rectangular_tile_padded/kernels.cuh"
}
#pragma pop_macro("__global__")

#include "harness/check.hpp"
#include "harness/reduction.hpp"

namespace {

constexpr unsigned int block = 256;
constexpr unsigned int cascading_grid = 1024; // where the grid does not follow from n

unsigned int blocks_for(std::size_t n, unsigned int elements_a_thread) {
    return static_cast<unsigned int>(harness::ceil_div(n, std::size_t{block} * elements_a_thread));
}

/// Dynamic shared memory of a block.
constexpr std::size_t int_a_thread = block * sizeof(int);

/// A kernel (input, partial sums, n).
template <auto kernel, unsigned int elements_a_thread, std::size_t shared_bytes = 0>
void reduce(int* data, int* output, std::size_t n) {
    kernel<<<blocks_for(n, elements_a_thread), block, shared_bytes>>>(data, output, n);
}

/// The same with a grid-stride loop.
template <auto kernel, std::size_t shared_bytes = 0> void cascade(int* data, int* output, std::size_t n) {
    kernel<<<cascading_grid, block, shared_bytes>>>(data, output, n);
}

void launch_reduce9(int* data, int* output, std::size_t n) {
    static unsigned int* const blocks_done = [] {
        unsigned int* result = nullptr;
        HARNESS_CHECK(cudaMalloc(&result, sizeof *result));
        HARNESS_CHECK(cudaMemset(result, 0, sizeof *result));
        return result;
    }();
    reduce9<block><<<cascading_grid, block>>>(data, output + cascading_grid, n, output, blocks_done);
}

/// Lesson 14's kernels have one block, of at most 2,048 elements.
constexpr unsigned int launches_of_one_block = 256;
template <auto kernel> void reduce_one_block(int* data, int* output, std::size_t) {
    constexpr unsigned int segment = 2048;
    for (unsigned int k = 0; k < launches_of_one_block; ++k)
        kernel<<<1, segment / 2, segment * sizeof(int)>>>(data + std::size_t{k} * segment, output, segment);
}

/// One thread is slow: it gets a part of the elements.
void launch_sequential(int* data, int* output, std::size_t n) {
    sequential_reduction<<<1, 1>>>(data, output, n / 16);
}

/// A transposing kernel, with or without an int of padding a row.
template <auto kernel, unsigned int tile_ints> __global__ void transpose_tiles(int* output) {
    constexpr unsigned int tiles = 64; // they stay in the cache
    int* const tile = output + blockIdx.x % tiles * tile_ints;
    if constexpr (requires { kernel(tile); })
        kernel(tile);
    else
        kernel(tile, 1u);
}

template <auto kernel, unsigned int width, unsigned int height, std::size_t dynamic_ints = 0>
void transpose(int*, int* output, std::size_t n) {
    constexpr unsigned int tile_ints = width * height;
    transpose_tiles<kernel, tile_ints>
        <<<static_cast<unsigned int>(n / tile_ints), dim3(width, height), dynamic_ints * sizeof(int)>>>(
            output);
}

} // namespace

const std::vector<Workload>& workloads() {
    static const std::vector<Workload> all = {
        {"reduce0", reduce<reduce0, 1, int_a_thread>},
        {"reduce0a", reduce<reduce0a, 1, int_a_thread>},
        {"reduce1", reduce<reduce1, 1, int_a_thread>},
        {"reduce2", reduce<reduce2, 1, int_a_thread>},
        {"reduce3", reduce<reduce3, 2, int_a_thread>},
        {"reduce4", reduce<reduce4, 2, int_a_thread>},
        {"reduce5", reduce<reduce5<block>, 2, int_a_thread>},
        {"reduce6", cascade<reduce6<block>, int_a_thread>},
        {"reduce7", cascade<reduce7<block>>},
        {"reduce8", cascade<reduce8<block>>},
        {"reduce9", launch_reduce9},
        {"reduceNeighboredGmem", reduce<reduceNeighboredGmem, 1>},
        {"reduceNeighboredSmem", reduce<reduceNeighboredSmem<block>, 1>},
        {"reduceGmem", reduce<reduceGmem, 1>},
        {"reduceSmem", reduce<reduceSmem<block>, 1>},
        {"reduceGmemUnroll", reduce<reduceGmemUnroll, 4>},
        {"reduceSmemUnroll", reduce<reduceSmemUnroll<block>, 4>},
        {"reduceSmemDyn", reduce<reduceSmemDyn, 1, int_a_thread>},
        {"reduceSmemUnrollDyn", reduce<reduceSmemUnrollDyn, 4, int_a_thread>},
        {"sequential_reduction", launch_sequential},
        {"naive_reduction", reduce<naive_reduction, 1>},
        {"warp_reduction", reduce<warp_reduction, 1>},
        {"block_reduction", reduce<block_reduction, 1>},
        {"blocked_reduction", reduce_one_block<blocked_reduction>, launches_of_one_block},
        {"strided_reduction", reduce_one_block<strided_reduction>, launches_of_one_block},
        {"smem_reduction", reduce_one_block<smem_reduction>, launches_of_one_block},
        {"segmented_blocked", reduce<segmented_blocked, 2>},
        {"segmented_strided", reduce<segmented_strided, 2>},
        {"segmented_smem", reduce<segmented_smem, 2, int_a_thread>},
        {"coarse_reduction", reduce<coarse_reduction<4>, 8, int_a_thread>},
        {"square/setRowReadRow", transpose<lesson16::setRowReadRow, 32, 32>},
        {"square/setColReadCol", transpose<lesson16::setColReadCol, 32, 32>},
        {"square/setRowReadCol", transpose<lesson16::setRowReadCol, 32, 32>},
        {"square/setRowReadColDyn", transpose<lesson17::setRowReadColDyn, 32, 32, 32 * 32>},
        {"square/setRowReadColPad", transpose<lesson18::setRowReadColPad, 32, 32>},
        {"square/setRowReadColDynPad", transpose<lesson18::setRowReadColDynPad, 32, 32, 33 * 32>},
        {"rectangle/setRowReadRow", transpose<lesson19::setRowReadRow, 32, 16>},
        {"rectangle/setColReadCol", transpose<lesson19::setColReadCol, 32, 16>},
        {"rectangle/setRowReadCol", transpose<lesson19::setRowReadCol, 32, 16>},
        {"rectangle/setRowReadColDyn", transpose<lesson20::setRowReadColDyn, 32, 16, 32 * 16>},
        {"rectangle/setRowReadColPad", transpose<lesson21::setRowReadColPad, 32, 16>},
        {"rectangle/setRowReadColDynPad", transpose<lesson21::setRowReadColDynPad, 32, 16, 33 * 16>},
    };
    return all;
}
