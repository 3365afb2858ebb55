// The counters of the first pass, to the digit, as they follow from each kernel's access pattern.
//
// Global memory, the same for all: neighbouring lanes load neighbouring ints, so a warp's request is 128
// bytes, 4 sectors.
//   n ints are ceil(4n / 32) sectors, and ceil(n / 32) requests (a warp beyond n makes none). In reduce3 each
//   thread makes two requests, but there are half as many threads. Each block stores one int: one request,
//   one sector.
//
// Shared memory, for a block of B threads in W = B / 32 warps. Each warp stores its elements: W wavefronts.
// Then, in each step of the tree, an active warp makes two loads (shared[a], shared[a + stride]) and one
// store; at the end one lane loads shared[0]. So with S the sum, over all steps and active warps, of the
// wavefronts of one such access:
//   load wavefronts = 2 S + 1    store wavefronts = W + S
// and with A the number of those accesses, which is the sum without conflicts:
//   load conflicts = 2 (S - A)   store conflicts = S - A
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <ostream>
#include <string>

#include "device_main.hpp"
#include "run_program.hpp"

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

// reduce2, reduce3. The first `stride` threads use neighbouring words: no conflicts, S = A.
//   B = 256:  4 + 2 + 1 warps for 128, 64, 32 lanes, then five steps of one warp: 12
//   B = 128:  2 + 1 + 5 = 8       B = 32:  5
constexpr Shared sequential_256 = shared_of(8, 12, 12);
constexpr Shared sequential_128 = shared_of(4, 8, 8);
constexpr Shared sequential_32 = shared_of(1, 5, 5);

struct Case {
    const char* lesson;
    const char* kernel;
    std::uint64_t n;
    unsigned int block;
    std::uint64_t blocks;   // ceil(n / block), or ceil(n / (2 block)) for reduce3
    std::uint64_t sectors;  // ceil(4n / 32)
    std::uint64_t requests; // ceil(n / 32)
    Shared shared;
    friend void PrintTo(const Case& c, std::ostream* out) {
        *out << c.kernel << ", n = " << c.n << ", block " << c.block;
    }
};

class FirstPassOnEmulator : public testing::TestWithParam<Case> {};

TEST_P(FirstPassOnEmulator, has_the_counters_that_follow_from_its_access_pattern) {
    const Case& expected = GetParam();
    const ProgramResult result = run_lesson(
        expected.lesson, "--format json --kernel " + std::string(expected.kernel) + " --n " +
                             std::to_string(expected.n) + " --block " + std::to_string(expected.block));
    ASSERT_EQ(result.status, 0) << result.err;
    const nlohmann::json kernel = nlohmann::json::parse(result.out)["kernels"][0];
    const nlohmann::json& counters = kernel["counters"];
    const auto count = [&](const std::string& middle, const std::string& end) {
        return counters.at("l1tex__" + middle + end + ".sum").get<std::uint64_t>();
    };
    EXPECT_EQ(kernel["grid"], nlohmann::json::array({expected.blocks, 1, 1}));
    EXPECT_EQ(count("t_sectors_pipe_lsu_mem_global_op", "_ld"), expected.sectors);
    EXPECT_EQ(count("t_requests_pipe_lsu_mem_global_op", "_ld"), expected.requests);
    EXPECT_EQ(count("t_sectors_pipe_lsu_mem_global_op", "_st"), expected.blocks);
    EXPECT_EQ(count("t_requests_pipe_lsu_mem_global_op", "_st"), expected.blocks);
    EXPECT_EQ(count("t_sectors_pipe_lsu_mem_global_op", "_atom"), 0u);
    EXPECT_EQ(count("t_sectors_pipe_lsu_mem_global_op", "_red"), 0u);
    EXPECT_EQ(count("data_pipe_lsu_wavefronts_mem_shared_op", "_ld"),
              expected.blocks * expected.shared.load_wavefronts);
    EXPECT_EQ(count("data_pipe_lsu_wavefronts_mem_shared_op", "_st"),
              expected.blocks * expected.shared.store_wavefronts);
    EXPECT_EQ(count("data_bank_conflicts_pipe_lsu_mem_shared_op", "_ld"),
              expected.blocks * expected.shared.load_conflicts);
    EXPECT_EQ(count("data_bank_conflicts_pipe_lsu_mem_shared_op", "_st"),
              expected.blocks * expected.shared.store_conflicts);
}

constexpr std::uint64_t mega = 1 << 20; // 4 MiB: 131,072 sectors, 32,768 requests

INSTANTIATE_TEST_SUITE_P(Lessons, FirstPassOnEmulator,
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
                             // 900 ints are 28 warps and 4 lanes: 112.5 sectors. The last warps of the last
                             // block load nothing, and add zeros.
                             Case{"lesson00", "reduce0", 900, 128, 8, 113, 29, interleaved_128},
                             Case{"lesson00", "reduce0a", 900, 128, 8, 113, 29, interleaved_128},
                             Case{"lesson01", "reduce1", 900, 128, 8, 113, 29, strided_128},
                             Case{"lesson02", "reduce2", 900, 128, 8, 113, 29, sequential_128},
                             Case{"lesson03", "reduce3", 900, 128, 4, 113, 29, sequential_128},
                             // One warp a block, and one lane in the last.
                             Case{"lesson00", "reduce0", 65, 32, 3, 9, 3, interleaved_32},
                             Case{"lesson01", "reduce1", 65, 32, 3, 9, 3, strided_32},
                             Case{"lesson02", "reduce2", 65, 32, 3, 9, 3, sequential_32},
                             Case{"lesson03", "reduce3", 65, 32, 2, 9, 3, sequential_32}),
                         [](const auto& info) {
                             const Case& c = info.param;
                             return std::string(c.lesson) + "_" + c.kernel + "_n_" + std::to_string(c.n) +
                                    "_block_" + std::to_string(c.block);
                         });

} // namespace
