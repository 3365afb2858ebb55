// The counters of the first pass, to the digit, as they follow from each kernel's access pattern.
//
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
#include <gtest/gtest.h>

#include <iterator>
#include <ostream>
#include <string>
#include <utility>

#include "launch.hpp"

namespace {

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
// reduce8. A request is 32 vectors of 16 bytes: 512 bytes, 16 sectors, a quarter of the requests and the same
// sectors. n ints from the offset K on are a head of h = (4 - K mod 4) mod 4 ints up to a 16-byte boundary,
// v = (n - h) / 4 vectors, and a tail of up to 3 ints. The body takes ceil(v / 32) requests; where it does
// not begin on a 32-byte boundary each full one touches 17 sectors. Head and tail are a request each, of one
// sector.
//   2^20 ints    K = 0   v = 2^18                     8192 requests of 16              8192    131,072
//                K = 4   v = 2^18, at byte 16         8192 requests of 17              8192    139,264
//                K = 1   h = 3, v = 2^18 - 1, at byte 16, tail of 1
//                                                     8191 of 17, one of 31 vectors, which end on a
//                                                     boundary (16 + 31 x 16 = 512): 16
//                                                     and 1 + 1                        8194    139,265
//                K = 5   h = 3, v = 2^18 - 1, at byte 32, tail of 1
//                                                     8191 of 16, one of 15.5: 16
//                                                     and 1 + 1                        8194    131,074
//   900 ints     v = 225                              7 of 16 and one of 1                8        113
//   65 ints      v = 16, tail of 1                    one of 8 and 1                      2          9
// reduce7 with K = 1: each request of 128 bytes begins off a boundary and touches 5 sectors, 32,768 x 5 =
// 163,840.
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
    friend void PrintTo(const Case& c, std::ostream* out) {
        *out << c.kernel << ", n = " << c.n << ", block " << c.block << ", offset " << c.offset;
    }
};

class FirstPass : public testing::TestWithParam<Case> {};

TEST_P(FirstPass, has_the_counters_that_follow_from_its_access_pattern) {
    const Case& expected = GetParam();
    const Launch launch(expected.lesson, expected.kernel,
                        arguments(expected.n, expected.block, expected.offset));
    const std::uint64_t blocks = expected.blocks;
    EXPECT_EQ(launch.blocks(), blocks);
    EXPECT_EQ(launch.sectors("ld"), expected.sectors);
    EXPECT_EQ(launch.requests("ld"), expected.requests);
    EXPECT_EQ(launch.sectors("st"), blocks);
    EXPECT_EQ(launch.requests("st"), blocks);
    EXPECT_EQ(launch.sectors("atom"), 0u);
    EXPECT_EQ(launch.sectors("red"), 0u);
    EXPECT_EQ(launch.wavefronts("ld"), blocks * expected.shared.load_wavefronts);
    EXPECT_EQ(launch.wavefronts("st"), blocks * expected.shared.store_wavefronts);
    EXPECT_EQ(launch.conflicts("ld"), blocks * expected.shared.load_conflicts);
    EXPECT_EQ(launch.conflicts("st"), blocks * expected.shared.store_conflicts);
}

constexpr std::uint64_t mega = 1 << 20; // 4 MiB: 131,072 sectors, 32,768 requests

INSTANTIATE_TEST_SUITE_P(Lessons, FirstPass,
                         testing::Values(
                             // 2^20 ints fill every block.
                             Case{"lesson00", "reduce0", mega, 256, 4096, 131'072, 32'768, interleaved_256},
                             Case{"lesson00", "reduce0a", mega, 256, 4096, 131'072, 32'768, interleaved_256},
                             Case{"lesson01", "reduce0a", mega, 256, 4096, 131'072, 32'768, interleaved_256},
                             Case{"lesson01", "reduce1", mega, 256, 4096, 131'072, 32'768, strided_256},
                             Case{"lesson02", "reduce1", mega, 256, 4096, 131'072, 32'768, strided_256},
                             Case{"lesson02", "reduce2", mega, 256, 4096, 131'072, 32'768, sequential_256},
                             Case{"lesson03", "reduce2", mega, 256, 4096, 131'072, 32'768, sequential_256},
                             Case{"lesson03", "reduce3", mega, 256, 2048, 131'072, 32'768, sequential_256},
                             Case{"lesson04", "reduce3", mega, 256, 2048, 131'072, 32'768, sequential_256},
                             Case{"lesson04", "reduce4", mega, 256, 2048, 131'072, 32'768, last_warp_256},
                             Case{"lesson05", "reduce4", mega, 256, 2048, 131'072, 32'768, last_warp_256},
                             Case{"lesson05", "reduce5", mega, 256, 2048, 131'072, 32'768, last_warp_256},
                             Case{"lesson06", "reduce5", mega, 256, 2048, 131'072, 32'768, last_warp_256},
                             Case{"lesson06", "reduce6", mega, 256, 1056, 131'072, 32'768, last_warp_256},
                             Case{"lesson07", "reduce6", mega, 256, 1056, 131'072, 32'768, last_warp_256},
                             Case{"lesson07", "reduce7", mega, 256, 1056, 131'072, 32'768, shuffles_256},
                             Case{"lesson08", "reduce7", mega, 256, 1056, 131'072, 32'768, shuffles_256},
                             Case{"lesson08", "reduce7", mega, 256, 1056, 163'840, 32'768, shuffles_256, 1},
                             Case{"lesson08", "reduce8", mega, 256, 512, 131'072, 8192, shuffles_256},
                             Case{"lesson08", "reduce8", mega, 256, 512, 139'265, 8194, shuffles_256, 1},
                             Case{"lesson08", "reduce8", mega, 256, 512, 139'264, 8192, shuffles_256, 4},
                             Case{"lesson08", "reduce8", mega, 256, 512, 131'074, 8194, shuffles_256, 5},
                             Case{"lesson08", "reduce8", mega, 256, 512, 131'072, 8192, shuffles_256, 8},
                             Case{"lesson09", "reduce8", mega, 256, 512, 139'265, 8194, shuffles_256, 1},
                             // 900 ints are 28 warps and 4 lanes: 112.5 sectors. The last warps of the last
                             // block load nothing, and add zeros.
                             Case{"lesson00", "reduce0", 900, 128, 8, 113, 29, interleaved_128},
                             Case{"lesson00", "reduce0a", 900, 128, 8, 113, 29, interleaved_128},
                             Case{"lesson01", "reduce1", 900, 128, 8, 113, 29, strided_128},
                             Case{"lesson02", "reduce2", 900, 128, 8, 113, 29, sequential_128},
                             Case{"lesson03", "reduce3", 900, 128, 4, 113, 29, sequential_128},
                             Case{"lesson04", "reduce4", 900, 128, 4, 113, 29, last_warp_128},
                             Case{"lesson05", "reduce5", 900, 128, 4, 113, 29, last_warp_128},
                             Case{"lesson06", "reduce6", 900, 128, 4, 113, 29, last_warp_128},
                             Case{"lesson07", "reduce7", 900, 128, 4, 113, 29, shuffles_128},
                             Case{"lesson08", "reduce8", 900, 128, 1, 113, 8, shuffles_128},
                             // One warp a block, and one lane in the last.
                             Case{"lesson00", "reduce0", 65, 32, 3, 9, 3, interleaved_32},
                             Case{"lesson01", "reduce1", 65, 32, 3, 9, 3, strided_32},
                             Case{"lesson02", "reduce2", 65, 32, 3, 9, 3, sequential_32},
                             Case{"lesson03", "reduce3", 65, 32, 2, 9, 3, sequential_32},
                             Case{"lesson04", "reduce4", 65, 32, 2, 9, 3, last_warp_32},
                             Case{"lesson05", "reduce5", 65, 32, 2, 9, 3, last_warp_32},
                             Case{"lesson06", "reduce6", 65, 32, 2, 9, 3, last_warp_32},
                             Case{"lesson07", "reduce7", 65, 32, 2, 9, 3, shuffles_32},
                             Case{"lesson08", "reduce8", 65, 32, 1, 9, 2, shuffles_32}),
                         [](const auto& info) {
                             const Case& c = info.param;
                             return std::string(c.lesson) + "_" + c.kernel + "_n_" + std::to_string(c.n) +
                                    "_block_" + std::to_string(c.block) +
                                    (c.offset > 0 ? "_offset_" + std::to_string(c.offset) : "");
                         });

// reduce9 has G = ceil(n / 16B) blocks, 1056 at most. It loads as reduce8 does, and then the last block loads
// G partial sums, a warp 32 of them. It stores G partial sums and the result, and adds to the counter G
// times.
//
// One sum over a block: W stores, and in each step down to stride 32 an active warp makes one load (its own
// sum is in a register) and one store. B = 256: steps of 4 + 2 + 1 warps, 7 loads and 15 stores. B = 128:
// steps of 2 + 1, 3 loads and 4 + 3 = 7 stores. B = 32: no loads, 1 store. Every block makes one such sum,
// and the last block another. Besides, in every block thread 0 stores the flag, and each of the W warps loads
// it.
struct OneLaunch {
    std::uint64_t n;
    unsigned int block, offset;
    std::uint64_t blocks;
    std::uint64_t load_sectors, load_requests;
    std::uint64_t shared_loads, shared_stores;
};

TEST(OneLaunch, has_the_counters_that_follow_from_its_access_pattern) {
    const OneLaunch cases[] = {
        // 256 partial sums: 8 requests of 4 sectors. Shared: 256 x (7 + 8) + 7 and 256 x (15 + 1) + 15.
        {mega, 256, 0, 256, 131'072 + 32, 8192 + 8, 3847, 4111},
        // The last thread has three vectors, all others four: it loads them after its warp's other lanes, 3
        // requests
        // more. They touch the last sectors of what the whole warp would have, so that there are no more of
        // those.
        {mega, 256, 1, 256, 139'265 + 32, 8194 + 3 + 8, 3847, 4111},
        // One block: 113 sectors and 8 requests, and one partial sum. 3 + 4 + 3 loads and 7 + 1 + 7 stores.
        {900, 128, 0, 1, 113 + 1, 8 + 1, 10, 15},
        {65, 32, 0, 1, 9 + 1, 2 + 1, 1, 3},
    };
    for (const OneLaunch& expected : cases) {
        SCOPED_TRACE(arguments(expected.n, expected.block, expected.offset));
        const Launch launch("lesson09", "reduce9", arguments(expected.n, expected.block, expected.offset));
        EXPECT_EQ(launch.blocks(), expected.blocks);
        EXPECT_EQ(launch.sectors("ld"), expected.load_sectors);
        EXPECT_EQ(launch.requests("ld"), expected.load_requests);
        EXPECT_EQ(launch.sectors("st"), expected.blocks + 1);
        EXPECT_EQ(launch.requests("st"), expected.blocks + 1);
        EXPECT_EQ(launch.sectors("atom"), expected.blocks);
        EXPECT_EQ(launch.sectors("red"), 0u);
        EXPECT_EQ(launch.wavefronts("ld"), expected.shared_loads);
        EXPECT_EQ(launch.wavefronts("st"), expected.shared_stores);
        EXPECT_EQ(launch.conflicts("ld"), 0u);
        EXPECT_EQ(launch.conflicts("st"), 0u);
    }
}

// A grid with fewer blocks loads the same, and everything that each block adds to it falls: with at least E
// ints a thread, ceil(2^20 / 256 E) blocks.
TEST(ElementsPerThread, take_blocks_away_and_no_loads) {
    for (const auto& [elements, blocks] : {std::pair{4, 1024}, {16, 256}, {1024, 4}, {1 << 30, 1}}) {
        const Launch launch("lesson06", "reduce6",
                            arguments(mega, 256) + " --elements-per-thread " + std::to_string(elements));
        EXPECT_EQ(launch.blocks(), std::uint64_t(blocks));
        EXPECT_EQ(launch.sectors("ld"), 131'072u);
        EXPECT_EQ(launch.requests("ld"), 32'768u);
        EXPECT_EQ(launch.sectors("st"), std::uint64_t(blocks));
        EXPECT_EQ(launch.wavefronts("ld"), std::uint64_t(blocks) * last_warp_256.load_wavefronts);
        EXPECT_EQ(launch.wavefronts("st"), std::uint64_t(blocks) * last_warp_256.store_wavefronts);
    }
}

// Where a warp of B = 256 splits, when n fills all blocks. (ptxas may predicate a short branch: then hardware
// counts less.)
//   reduce0, reduce0a    in all 47 warps that have adders, and at tid == 0: 48 a block
//   reduce1 to reduce3   in the 5 steps with fewer than 32 adders, and at tid == 0: 6
//   reduce4 to reduce6   at tid == 0 alone
//   reduce7, reduce8     at lane == 0 in 8 warps, at lane < 8, and at tid == 0: 10
// reduce9: at tid == 0 in each of 256 blocks, and again where the last block stores the result.
TEST(Divergence, follows_from_the_conditions) {
    const struct {
        const char* lesson;
        const char* kernel;
        std::uint64_t expected;
    } cases[] = {{"lesson00", "reduce0", 48 * 4096}, {"lesson00", "reduce0a", 48 * 4096},
                 {"lesson01", "reduce1", 6 * 4096},  {"lesson02", "reduce2", 6 * 4096},
                 {"lesson03", "reduce3", 6 * 2048},  {"lesson04", "reduce4", 2048},
                 {"lesson05", "reduce5", 2048},      {"lesson06", "reduce6", 1056},
                 {"lesson07", "reduce7", 10 * 1056}, {"lesson08", "reduce8", 10 * 512},
                 {"lesson09", "reduce9", 256 + 1}};
    for (const auto& [lesson, kernel, expected] : cases) {
        EXPECT_EQ(Launch(lesson, kernel, arguments(mega, 256))
                      .counter("smsp__sass_branch_targets_threads_divergent"),
                  expected)
            << kernel;
    }
}

// No exact numbers: another nvcc writes other PTX. (reduce0a takes one PTX instruction more than reduce0 in
// each step, although the machine takes fewer: see lesson 00.)
TEST(Instructions, fall_where_a_lesson_says_so) {
    const auto instructions = [](const char* lesson, const char* kernel) {
        return Launch(lesson, kernel, arguments(mega, 256)).counter("smsp__inst_executed");
    };
    const std::uint64_t counts[] = {instructions("lesson00", "reduce0"), instructions("lesson01", "reduce1"),
                                    instructions("lesson02", "reduce2"), instructions("lesson03", "reduce3"),
                                    instructions("lesson04", "reduce4"), instructions("lesson05", "reduce5"),
                                    instructions("lesson06", "reduce6")};
    for (std::size_t i = 1; i < std::size(counts); ++i) EXPECT_LT(counts[i], counts[i - 1]) << i;
    EXPECT_LT(instructions("lesson08", "reduce8"), instructions("lesson07", "reduce7"));
}

} // namespace
