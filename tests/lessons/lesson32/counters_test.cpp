// The counters of lesson 32's scan_in_rounds, to the digit, and its program in other orders.
//
// T = ceil(n / B) tiles of B elements, W = B / 32 warps each; w = ceil(n / 32) warps have elements.
//   stores   w requests and ceil(n / 8) sectors of the output, and 1 per tile for its word
//   loads    at least as many of the input; how often a word is read depends on the order of the blocks
// Shared memory, per tile: W warps store their sums, the first one loads them and stores them scanned, and the others load
// theirs: W + 1 stores, W loads. The first warp stores the sum before the tile, and each warp with elements loads it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "harness/reduction.hpp"
#include "launch.hpp"

namespace lesson32_counters {

using harness::ceil_div;

TEST(Lesson32, announces_one_word_per_tile) {
    for (const std::uint64_t n : {65'536u, 20'003u}) {
        for (const unsigned int block : {32u, 256u}) {
            const Launch launch("lesson32", "scan_in_rounds", arguments(n, block));
            const std::uint64_t tiles = ceil_div(n, block), warps = block / 32,
                                with_elements = ceil_div(n, 32u);
            EXPECT_EQ(launch.requests("st"), with_elements + tiles) << n << ", " << block;
            EXPECT_EQ(launch.sectors("st"), ceil_div(n, 8u) + tiles);
            EXPECT_GE(launch.sectors("ld"), ceil_div(n, 8u));
            EXPECT_EQ(launch.wavefronts("st"), (warps + 2) * tiles);
            EXPECT_EQ(launch.wavefronts("ld"), warps * tiles + with_elements);
            EXPECT_EQ(launch.conflicts("ld") + launch.conflicts("st"), 0u);
        }
    }
}

TEST(Lesson32, scans_the_same_in_every_order) {
    expect_success("./emulate --schedules 5 ./lesson32 --verify --repeat 2",
                   {"--n 9001 --block 32 --blocks 5", "--n 150001 --kernel rounds --offset 1",
                    "--n 200001 --kernel bulk_rounds"});
}

TEST(Lesson32, says_which_n_is_too_large_for_a_strategy) {
    const ProgramResult result = run_program("./lesson32 --device emulator --n 4097 --kernel one_block");
    EXPECT_EQ(result.status, 3);
    EXPECT_THAT(result.err, testing::HasSubstr("one_block: it scans fewer ints; write a smaller --n"));
}

} // namespace lesson32_counters
