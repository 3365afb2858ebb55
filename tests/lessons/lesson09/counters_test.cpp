#include "ladder_counters.hpp"

namespace ladder_counters {

TEST(Lesson09FirstPass, has_the_counters_that_follow_from_its_access_pattern) {
    expect_counters({
        {"lesson09", "reduce8", mega, 256, 512, 139'265, 8194, shuffles_256, 1},
    });
}

// reduce9: at tid == 0 in each of 256 blocks, and again where the last block stores the result.
TEST(Lesson09Divergence, follows_from_the_conditions) {
    expect_divergence({
        {"lesson09", "reduce9", 256 + 1},
    });
}

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

TEST(Lesson09OneLaunch, has_the_counters_that_follow_from_its_access_pattern) {
    const OneLaunch cases[] = {
        // 256 partial sums: 8 requests of 4 sectors. Shared: 256 x (7 + 8) + 7 and 256 x (15 + 1) + 15.
        {mega, 256, 0, 256, 131'072 + 32, 8192 + 8, 3847, 4111},
        // The last thread has three vectors, all others four: it loads them after its warp's other lanes, 3
        // requests more. They touch the last sectors of what the whole warp would have, so that there are no
        // more of those.
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

} // namespace ladder_counters
