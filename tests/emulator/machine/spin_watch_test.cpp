// Launches that take turns: which pause because they only spin, and for how long.

#include "emulator/machine/counters.hpp"
#include "ptx_fixture.hpp"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>

using namespace emulator::fixture;
using emulator::Metric, emulator::RunningLaunch;
using std::uint32_t, std::uint64_t;

namespace {

/// A launch of `body` that takes turns, and two zeroed words: %rd60 and %rd61 point there.
class Spinning {
public:
    explicit Spinning(const std::string& body, uint32_t threads = 1, uint32_t blocks = 1,
                      std::optional<uint64_t> schedule = {})
        : program_(module_of(body, ".shared .b32 found;")),
          words(program_.allocate<uint32_t>(2)), parameters_{reinterpret_cast<uint64_t>(words),
                                                             reinterpret_cast<uint64_t>(words + 1), 0},
          launch(emulator::begin_launch(program_.module.kernel("k"), grid_of(threads, blocks),
                                        std::as_bytes(std::span(parameters_)), program_.memory,
                                        {.schedule = schedule, .takes_turns = true})) {}

    void free_words() { program_.memory.release(reinterpret_cast<uint64_t>(words)); }

private:
    Program program_;

public:
    uint32_t* const words;

private:
    const std::array<uint64_t, 3> parameters_;

public:
    const std::unique_ptr<RunningLaunch> launch;
};

const std::string wait_for_flag =
    "L: ld.volatile.global.u32 %r1, [%rd60]; setp.eq.u32 %p1, %r1, 0; @%p1 bra L; "
    "st.global.u32 [%rd61], %r1;";

constexpr uint64_t long_enough = 10'000'000;

} // namespace

TEST(SpinWatch, pauses_a_launch_until_what_it_reads_has_changed) {
    for (const std::optional<uint64_t> schedule : {std::optional<uint64_t>(), std::optional<uint64_t>(1)}) {
        const Spinning one(wait_for_flag, 64, 3, schedule);
        ASSERT_FALSE(one.launch->run_for(long_enough));
        EXPECT_TRUE(one.launch->spins());
        EXPECT_EQ(one.words[1], 0u);
        one.words[1] = 5; // nobody reads this
        EXPECT_TRUE(one.launch->spins());
        one.words[0] = 42;
        EXPECT_FALSE(one.launch->spins());
        EXPECT_TRUE(one.launch->run_for(long_enough));
        EXPECT_EQ(one.words[1], 42u);
    }
}

// A block of three warps has three turns of 500 instructions and a few more until it is known to spin: far fewer than
// are allowed here.
TEST(SpinWatch, pauses_soon) {
    const Spinning one(wait_for_flag, 96);
    ASSERT_FALSE(one.launch->run_for(long_enough));
    one.words[0] = 1;
    ASSERT_TRUE(one.launch->run_for(long_enough));
    EXPECT_LT(one.launch->counters()[Metric::warp_instructions], 20'000u);
}

// One thread looks, and tells the others by shared memory, which it writes in each turn.
TEST(SpinWatch, sees_through_a_loop_that_stores_the_same_again) {
    const Spinning one("L: setp.ne.u32 %p2, %r60, 0; @%p2 bra NEXT; "
                       "ld.volatile.global.u32 %r1, [%rd60]; st.shared.u32 [found], %r1; NEXT: bar.sync 0; "
                       "ld.shared.u32 %r1, [found]; bar.sync 0; setp.eq.u32 %p1, %r1, 0; @%p1 bra L;",
                       64);
    ASSERT_FALSE(one.launch->run_for(long_enough));
    EXPECT_TRUE(one.launch->spins());
    one.words[0] = 1;
    EXPECT_TRUE(one.launch->run_for(long_enough));
}

TEST(SpinWatch, sees_through_an_atomic_that_changes_nothing) {
    const Spinning one("L: atom.global.cas.b32 %r1, [%rd60], 1, 2; setp.ne.u32 %p1, %r1, 1; @%p1 bra L;");
    ASSERT_FALSE(one.launch->run_for(long_enough));
    EXPECT_TRUE(one.launch->spins());
    one.words[0] = 1;
    EXPECT_TRUE(one.launch->run_for(long_enough));
    EXPECT_EQ(one.words[0], 2u);
}

// The program is wrong. It gets the error that it would get on a card.
TEST(SpinWatch, looks_at_no_memory_that_has_been_freed) {
    Spinning one(wait_for_flag);
    ASSERT_FALSE(one.launch->run_for(long_enough));
    one.free_words();
    EXPECT_FALSE(one.launch->spins());
    EXPECT_THROW(one.launch->run_for(long_enough), emulator::Error);
}

// They might end by themselves.
TEST(SpinWatch, takes_loops_that_count_for_work) {
    for (const char* const body :
         {"mov.u32 %r2, 0; L: add.u32 %r2, %r2, 1; ld.volatile.global.u32 %r1, [%rd60]; "
          "setp.eq.u32 %p1, %r1, 0; @%p1 bra L;",
          "L: atom.global.add.u32 %r1, [%rd60], 2; setp.ne.u32 %p1, %r1, 1; @%p1 bra L;",
          "L: ld.volatile.global.u32 %r1, [%rd60]; red.global.add.u32 [%rd61], 1; setp.eq.u32 %p1, %r1, 0; "
          "@%p1 bra L;"}) {
        const Spinning one(body);
        EXPECT_FALSE(one.launch->run_for(100'000));
        EXPECT_FALSE(one.launch->spins()) << body;
    }
}

// The lanes above 0 wait for lane 0, which counts to 30,000 meanwhile: it is their turn first, and for long.
TEST(SpinWatch, waits_until_all_groups_of_a_warp_have_had_their_turn) {
    const Spinning one(
        "setp.ne.u32 %p1, %r60, 0; @!%p1 bra COUNT; "
        "L: ld.volatile.global.u32 %r1, [%rd60]; setp.eq.u32 %p2, %r1, 0; @%p2 bra L; bra END; "
        "COUNT: mov.u32 %r2, 0; M: add.u32 %r2, %r2, 1; setp.lt.u32 %p3, %r2, 10000; @%p3 bra M; "
        "st.volatile.global.u32 [%rd60], %r2; END:",
        32);
    EXPECT_TRUE(one.launch->run_for(long_enough));
    EXPECT_EQ(one.words[0], 10000u);
}

// 4,224 = 132 multiprocessors x 32 blocks are resident, and one more waits for their end.
TEST(SpinWatch, knows_that_a_block_which_has_no_room_does_not_help) {
    const Spinning one("setp.eq.u32 %p1, %r61, 4224; @%p1 bra LAST; " + wait_for_flag +
                           " bra END; LAST: st.volatile.global.u32 [%rd60], 1; END:",
                       1, 4225);
    ASSERT_FALSE(one.launch->run_for(100 * long_enough));
    EXPECT_TRUE(one.launch->spins());
}
