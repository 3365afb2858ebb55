#include "first_principles_counters.hpp"

namespace first_principles_counters {

TEST(Lesson13SequentialReduction, makes_a_request_for_each_element) {
    for (const std::uint64_t n : {mega, std::uint64_t{900}, std::uint64_t{1}}) {
        const Launch launch("lesson13", "sequential_reduction", arguments(n, 256));
        EXPECT_EQ(launch.blocks(), 1u);
        EXPECT_EQ(launch.requests("ld"), n);
        EXPECT_EQ(launch.sectors("ld"), n); // one lane, one int, one sector
        EXPECT_EQ(launch.requests("st"), 1u);
        EXPECT_EQ(launch.sectors("st"), 1u);
        EXPECT_EQ(launch.sectors("red"), 0u);
        EXPECT_EQ(launch.sectors("atom"), 0u);
    }
}

/// Common to the three kernels with atomics. None stores to global memory, or uses an atomic's result.
void expect_coalesced_loads(const Launch& launch, const Size& size) {
    EXPECT_EQ(launch.blocks(), size.blocks());
    EXPECT_EQ(launch.sectors("ld"), size.sectors());
    EXPECT_EQ(launch.requests("ld"), size.requests());
    EXPECT_EQ(launch.sectors("st"), 0u);
    EXPECT_EQ(launch.sectors("atom"), 0u);
}

TEST(Lesson13NaiveReduction, has_an_atomic_request_for_each_warp_that_has_elements) {
    for (const Size& size : sizes) {
        SCOPED_TRACE(arguments(size.n, size.block));
        const Launch launch("lesson13", "naive_reduction", arguments(size.n, size.block));
        expect_coalesced_loads(launch, size);
        EXPECT_EQ(launch.sectors("red"), size.requests());
        EXPECT_EQ(launch.wavefronts("ld") + launch.wavefronts("st"), 0u);
    }
}

TEST(Lesson13WarpReduction, has_an_atomic_for_each_warp) {
    for (const Size& size : sizes) {
        SCOPED_TRACE(arguments(size.n, size.block));
        const Launch launch("lesson13", "warp_reduction", arguments(size.n, size.block));
        expect_coalesced_loads(launch, size);
        EXPECT_EQ(launch.sectors("red"), size.blocks() * size.block / 32); // also where the sum is of zeros
        EXPECT_EQ(launch.wavefronts("ld") + launch.wavefronts("st"), 0u);
        // Where a warp splits: at lane 0, and at the guard if n ends within it.
        EXPECT_EQ(launch.counter(splits), size.blocks() * size.block / 32 + (size.n % 32 != 0));
    }
}

TEST(Lesson13BlockReduction, has_an_atomic_for_each_block) {
    for (const Size& size : sizes) {
        SCOPED_TRACE(arguments(size.n, size.block));
        const Launch launch("lesson13", "block_reduction", arguments(size.n, size.block));
        expect_coalesced_loads(launch, size);
        EXPECT_EQ(launch.sectors("red"), size.blocks());
        // Shared memory: a zero stored, the sum loaded. (The warps' atomics there are neither.)
        EXPECT_EQ(launch.wavefronts("st"), size.blocks());
        EXPECT_EQ(launch.wavefronts("ld"), size.blocks());
        // Every thread reaches both barriers, including those without an element.
        EXPECT_EQ(launch.counter(barriers), 2 * size.blocks() * size.block);
    }
}

// A run does not leave what the next one needs: results must be zeroed again, and inputs restored.
TEST(Lesson13, prepares_every_run_anew) {
    const ProgramResult result = run_lesson("lesson13", "--n 2000 --repeat 3 --verify");
    EXPECT_EQ(result.status, 0) << result.err;
}

} // namespace first_principles_counters
