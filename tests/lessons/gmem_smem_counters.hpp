/// What the counters' tests of lessons 10 to 12 share. What is counted, and where: see ladder_counters.hpp.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <initializer_list>

#include "launch.hpp"

namespace gmem_smem_counters {

// Global memory. A lane's int is 4 bytes, a sector 8 ints, and every block of data begins on a boundary.
//
// The kernels in shared memory load every int once, ceil(4n / 32) sectors in ceil(n / 32) requests, and store
// one int a block.
//
// Shared memory, of W = B / 32 warps; A = the sum, over all steps, of the warps that add. No step has a
// conflict: S = A. The elements are W stores; a step loads twice and stores once; thread 0 loads shared[0].
// So 2 A + 1 wavefronts of loads, W + A of stores.
//     neighbored   B = 256: A = 5 x 8 + 4 + 2 + 1 = 47    95 and 55
//                  B = 128: 5 x 4 + 2 + 1 = 23            47 and 27
//     sequential   B = 256: A = 4 + 2 + 6 = 12            25 and 20
//                  B = 128: 2 + 6 = 8                     17 and 12
//     both         B = 32: A = 5, as in reduceGmem        11 and 6

constexpr std::uint64_t published_n = 16'777'216;

// The sectors that are published for an RTX 3080.
struct Published {
    const char* lesson;
    const char* kernel;
    std::uint64_t loads, stores;
};

void expect_published_sectors(std::initializer_list<Published> cases);

struct Traffic {
    std::uint64_t loads, stores;
};

struct Case {
    const char* lesson;
    const char* kernel;
    std::uint64_t n;
    unsigned int block;
    std::uint64_t blocks;
    Traffic sectors, requests; // of all blocks
    Traffic wavefronts;        // of one block
    std::uint64_t barriers;    // that each thread comes to
};

/// The same for each of `blocks` blocks.
constexpr Traffic operator*(std::uint64_t blocks, Traffic one) {
    return {blocks * one.loads, blocks * one.stores};
}

void expect_counters(std::initializer_list<Case> cases);

constexpr Traffic none{0, 0};
constexpr Traffic neighbored_256{95, 55}, neighbored_128{47, 27};
constexpr Traffic sequential_256{25, 20}, sequential_128{17, 12};
constexpr Traffic of_32{11, 6};

// 2^20 ints: 131,072 sectors and 32,768 requests; 4,096 blocks of 256, or 1,024 of four times as many.
constexpr std::uint64_t mega = 1 << 20, many = mega / 256, few = many / 4;

// Where a warp of B = 256 splits, when n fills all blocks.
//   neighbored: in all 47 warps that have adders, and at tid == 0
//   sequential: at tid == 0 alone. The guards split none, and the last warp's lanes stay together.

} // namespace gmem_smem_counters
