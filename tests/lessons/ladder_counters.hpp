/// What the counters' tests of lessons 00 to 09 share: the counters of the first pass.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <initializer_list>

#include "launch.hpp"

namespace ladder_counters {

// Global memory, the same for reduce0 to reduce7: neighboring lanes load neighboring ints, so a warp's
// request is 128 bytes, 4 sectors.
//   n ints are ceil(4n / 32) sectors, and ceil(n / 32) requests (a warp beyond n makes none). From reduce3 on
//   each thread makes two requests or more, but there are fewer threads. Each block stores one int: one
//   request, one sector.
//
// Shared memory, for a block of B threads in W = B / 32 warps. Each warp stores its elements: W wavefronts.
// Then, in each step of the tree, an active warp makes two loads (shared[a], shared[a + stride]) and one
// store; at the end one lane loads shared[0]. So with S the sum, over all steps and active warps, of the
// wavefronts of one such access:
//   load wavefronts = 2 S + 1    store wavefronts = W + S
// and with A the number of those accesses, which is the sum without conflicts:
//   load conflicts = 2 (S - A)   store conflicts = S - A
//
// The emulator counts, also where there is a GPU, and it counts on PTX. ptxas may join a thread's loads of
// neighboring words into a wider one; these kernels have none such, so that hardware should count the same.

/// Of one block.
struct Shared {
    std::uint64_t load_wavefronts, store_wavefronts, load_conflicts, store_conflicts;
};

constexpr Shared shared_of(std::uint64_t warps, std::uint64_t accesses, std::uint64_t wavefronts) {
    return {2 * wavefronts + 1, warps + wavefronts, 2 * (wavefronts - accesses), wavefronts - accesses};
}

// reduce0, reduce0a. Lanes whose number is a multiple of 2 * stride use words of their own banks: no
// conflicts, S = A. As long as 2 * stride <= 32, which is 5 steps, every warp has such a lane; after that
// every second warp, every fourth, …
//   B = 256:  5 x 8 + 4 + 2 + 1 = 47      B = 128:  5 x 4 + 2 + 1 = 23      B = 32:  5 x 1 = 5
constexpr Shared interleaved_256 = shared_of(8, 47, 47);
constexpr Shared interleaved_128 = shared_of(4, 23, 23);
constexpr Shared interleaved_32 = shared_of(1, 5, 5);

// reduce1. In the step with stride s the first B / 2s threads use the words 2s * tid. Of the 32 banks these
// are 32 / 2s, or one from s = 16 on; the warp's active lanes are spread evenly over them.
//   B = 256   stride         1   2   4   8  16  32  64  128
//             lanes        128  64  32  16   8   4   2    1
//             warps          4   2   1   1   1   1   1    1   A = 12
//             conflict       2   4   8   8   8   4   2    1   -way
//             wavefronts     8   8   8   8   8   4   2    1   S = 47
//   B = 128   lanes         64  32  16   8   4   2   1
//             warps          2   1   1   1   1   1   1        A = 8
//             conflict       2   4   4   4   4   2   1        -way
//             wavefronts     4   4   4   4   4   2   1        S = 23
//   B = 32    lanes         16   8   4   2   1
//             warps          1   1   1   1   1                A = 5
//             conflict       1   1   1   1   1                -way
constexpr Shared strided_256 = shared_of(8, 12, 47);
constexpr Shared strided_128 = shared_of(4, 8, 23);
constexpr Shared strided_32 = shared_of(1, 5, 5);

// reduce2, reduce3. The first `stride` threads use neighboring words: no conflicts, S = A.
//   B = 256:  4 + 2 + 1 warps for 128, 64, 32 lanes, then five steps of one warp: 12
//   B = 128:  2 + 1 + 5 = 8       B = 32:  5
constexpr Shared sequential_256 = shared_of(8, 12, 12);
constexpr Shared sequential_128 = shared_of(4, 8, 8);
constexpr Shared sequential_32 = shared_of(1, 5, 5);

// reduce4, reduce5, reduce6. Steps down to stride 64 as before. Then the first warp loads shared[tid]; if
// there is a second half, it loads shared[tid + 32] and stores the sum; then it loads its partner's word five
// times and stores four times in between. The sum ends in a register: nothing loads shared[0]. A permutation
// of 32 words has no conflicts.
//   B = 256:  steps of 4 + 2 warps   loads 2 x 6 + 2 + 5 = 19   stores 8 + 6 + 1 + 4 = 19
//   B = 128:  a step of 2 warps      loads 2 x 2 + 2 + 5 = 11   stores 4 + 2 + 1 + 4 = 11
//   B = 32:   no step                loads 1 + 5 = 6            stores 1 + 4 = 5
constexpr Shared last_warp_256{19, 19, 0, 0};
constexpr Shared last_warp_128{11, 11, 0, 0};
constexpr Shared last_warp_32{6, 5, 0, 0};

// reduce7, reduce8. Each warp stores one word, and the first one loads them all at once.
constexpr Shared shuffles_256{1, 8, 0, 0};
constexpr Shared shuffles_128{1, 4, 0, 0};
constexpr Shared shuffles_32{1, 1, 0, 0};

// Grids of reduce6 to reduce8. The emulated card has 132 multiprocessors, each of which holds 2048 threads: 8
// blocks of 256, 132 x 8 = 1056 in all. A grid has no more blocks than that, and no more than n needs: ceil(n
// / 2B), or ceil(n / 8B) for reduce8. In reduce6 and reduce7 it is still true that each warp takes 32
// neighboring ints with each request; only the warps are others.
//
// The cases of each kernel:
//   2^20 ints fill every block.
//   900 ints are 28 warps and 4 lanes: 112.5 sectors. The last warps of the last block load nothing, and add
//   zeros.
//   65 ints: one warp a block, and one lane in the last.
struct Case {
    const char* lesson;
    const char* kernel;
    std::uint64_t n;
    unsigned int block;
    std::uint64_t blocks;   // ceil(n / block), or ceil(n / (2 block)) for reduce3
    std::uint64_t sectors;  // ceil(4n / 32)
    std::uint64_t requests; // ceil(n / 32)
    Shared shared;
    unsigned int offset = 0;
};

void expect_counters(std::initializer_list<Case> cases);

constexpr std::uint64_t mega = 1 << 20; // 4 MiB: 131,072 sectors, 32,768 requests

// Where a warp of B = 256 splits, when n fills all blocks. (ptxas may predicate a short branch: then hardware
// counts less.)
//   reduce0, reduce0a    in all 47 warps that have adders, and at tid == 0: 48 a block
//   reduce1 to reduce3   in the 5 steps with fewer than 32 adders, and at tid == 0: 6
//   reduce4 to reduce6   at tid == 0 alone
//   reduce7, reduce8     at lane == 0 in 8 warps, at lane < 8, and at tid == 0: 10

} // namespace ladder_counters
