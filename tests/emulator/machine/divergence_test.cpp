// Lanes part and meet again: branches, loops, early exits, and lanes that wait for each other.

#include "ptx_fixture.hpp"

#include <gtest/gtest.h>

using namespace emulator::fixture;
using emulator::Metric;
using std::uint32_t, std::uint64_t;

TEST(Divergence, both_sides_of_nested_branches_run_and_meet) {
    // activemask at the end shows that all lanes have met again.
    EXPECT_EQ(
        run(R"(
        and.b32 %r2, %r60, 1; setp.eq.u32 %p1, %r2, 0; setp.lt.u32 %p2, %r60, 10; mov.u32 %r0, 0;
        @%p1 bra EVEN; @%p2 bra ODD_LOW; add.u32 %r0, %r0, 1; bra ODD_END;
        ODD_LOW: add.u32 %r0, %r0, 2;
        ODD_END: add.u32 %r0, %r0, 10; bra END;
        EVEN: @!%p2 bra EVEN_HIGH; add.u32 %r0, %r0, 3; bra EVEN_END;
        EVEN_HIGH: add.u32 %r0, %r0, 4;
        EVEN_END: add.u32 %r0, %r0, 20;
        END: activemask.b32 %r3; setp.eq.u32 %p3, %r3, -1; @%p3 add.u32 %r0, %r0, 1000;)"),
        lanes([](uint32_t i) { return 1000 + (i % 2 == 0 ? (i < 10 ? 23u : 24u) : (i < 10 ? 12u : 11u)); }));
}

TEST(Divergence, each_lane_has_its_own_number_of_turns) {
    EXPECT_EQ(run(R"(
        mov.u32 %r0, 0; mov.u32 %r2, 0;
        LOOP: setp.ge.u32 %p1, %r2, %r60; @%p1 bra END; add.u32 %r0, %r0, %r2; add.u32 %r2, %r2, 1;
        bra LOOP;
        END: activemask.b32 %r3; setp.eq.u32 %p3, %r3, -1; @%p3 add.u32 %r0, %r0, 1000;)"),
              lanes([](uint32_t i) { return 1000 + i * (i - 1) / 2; }));
    // Loops within loops, left by different lanes at different places.
    EXPECT_EQ(run(R"(
        mov.u32 %r0, 0; mov.u32 %r2, 0;
        OUTER: mov.u32 %r3, 0;
        INNER: setp.ge.u32 %p1, %r3, %r2; @%p1 bra NEXT; add.u32 %r0, %r0, 1; add.u32 %r3, %r3, 1;
        setp.gt.u32 %p2, %r0, %r60; @%p2 bra LEAVE; bra INNER;
        NEXT: add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, 9; @%p1 bra OUTER;
        LEAVE: mad.lo.u32 %r0, %r2, 100, %r0;)"),
              lanes([](uint32_t i) {
                  uint32_t count = 0;
                  for (uint32_t outer = 0; outer < 9; ++outer)
                      for (uint32_t inner = 0; inner < outer; ++inner)
                          if (++count > i) return outer * 100 + count;
                  return 900 + count;
              }));
}

TEST(Divergence, after_a_long_time_together_lanes_meet_as_ever) {
    // 12,000 turns of three instructions, then a loop that each lane leaves at its own time.
    EXPECT_EQ(run(R"(
        mov.u32 %r2, 0;
        TOGETHER: add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, 12000; @%p1 bra TOGETHER;
        mov.u32 %r2, 0;
        LOOP: setp.ge.u32 %p1, %r2, %r60; @%p1 bra END; add.u32 %r2, %r2, 1; bra LOOP;
        END: activemask.b32 %r0;)"),
              Words(32, 0xFFFF'FFFF));
}

TEST(Divergence, lanes_that_return_early_leave_the_others_alone) {
    EXPECT_EQ(run(R"(
        mov.u32 %r0, 0;
        LOOP: add.u32 %r0, %r0, 1; setp.eq.u32 %p1, %r0, %r60; @%p1 ret; setp.lt.u32 %p2, %r0, 20;
        @%p2 bra LOOP;)"),
              lanes([](uint32_t i) { return i >= 1 && i <= 20 ? poison : 20u; }));
    EXPECT_EQ(run("mov.u32 %r0, 3; setp.ne.u32 %p1, %r60, 13; @%p1 bra ON; ret; ON: bar.sync 0;", 64),
              lanes([](uint32_t i) { return i == 13 ? poison : 3; }, 64));
}

TEST(Divergence, labels_of_sibling_blocks_are_their_own) {
    EXPECT_EQ(run(R"(
        mov.u32 %r0, 0; setp.lt.u32 %p1, %r60, 4; { .reg .u32 %r0x; @%p1 bra L; add.u32 %r0, %r0, 1;
        L: add.u32 %r0, %r0, 10; } { @!%p1 bra L; add.u32 %r0, %r0, 2;
        L: })"),
              lanes([](uint32_t i) { return i < 4 ? 12 : 11; }));
}

TEST(Divergence, a_split_branch_is_counted_once) {
    const auto count = [](const char* body) {
        Program program(module_of(body));
        return program.launch("k", grid_of(64))[Metric::divergent_branches];
    };
    EXPECT_EQ(count("setp.lt.u32 %p1, %r60, 16; @%p1 bra END; END:"), 1u); // in the first warp only
    EXPECT_EQ(count("setp.lt.u32 %p1, %r60, 32; @%p1 bra END; END:"), 0u);
    EXPECT_EQ(count("bra END; END:"), 0u);
    EXPECT_EQ(count("T: .branchtargets A, B; and.b32 %r1, %r60, 1; brx.idx %r1, T; A: B:"), 2u);
}

TEST(Progress, a_spin_lock_between_lanes_of_a_warp_is_passed_on) {
    // Lock, increment without an atomic, unlock: the way that livelocked before Volta.
    EXPECT_EQ(run(R"(
        LOCK: atom.global.cas.b32 %r2, [%rd61], 0, 1; setp.ne.u32 %p1, %r2, 0; @%p1 bra LOCK;
        ld.volatile.global.u32 %r3, [%rd61+4]; add.u32 %r3, %r3, 1;
        st.volatile.global.u32 [%rd61+4], %r3; membar.gl; atom.global.exch.b32 %r4, [%rd61], 0;
        WAIT: ld.volatile.global.u32 %r0, [%rd61+4]; setp.lt.u32 %p2, %r0, 64; @%p2 bra WAIT;)",
                  64),
              Words(64, 64));
}

TEST(Progress, lanes_may_wait_for_lanes_that_are_in_the_middle) {
    // Lane 0 waits at the lowest program counter, lane 2 at the highest, both for lane 1, which is between
    // them.
    EXPECT_EQ(run(R"(
        setp.eq.u32 %p1, %r60, 1; @%p1 bra MIDDLE; setp.eq.u32 %p1, %r60, 2; @%p1 bra LAST;
        FIRST: ld.volatile.global.u32 %r0, [%rd61]; setp.eq.u32 %p2, %r0, 0; @%p2 bra FIRST;
        bra END;
        MIDDLE: mov.u32 %r5, 0;
        WORK: add.u32 %r5, %r5, 1; setp.lt.u32 %p2, %r5, 5000; @%p2 bra WORK; mov.u32 %r0, 7;
        st.volatile.global.u32 [%rd61], %r0; bra END;
        LAST: ld.volatile.global.u32 %r0, [%rd61]; setp.eq.u32 %p2, %r0, 0; @%p2 bra LAST;
        END:)",
                  3),
              Words(3, 7));
}

TEST(Progress, a_warp_that_sleeps_lets_the_others_run) {
    // Warp 0 sleeps until warp 1 has come: once, as that one runs next.
    Program program(module_of(R"(
        setp.lt.u32 %p1, %r60, 32; @!%p1 bra SECOND;
        WAIT: nanosleep.u32 1; ld.volatile.global.u32 %r0, [%rd60]; setp.eq.u32 %p2, %r0, 0;
        @%p2 bra WAIT; bra END;
        SECOND: st.volatile.global.u32 [%rd60], 1;
        END:)"));
    EXPECT_LT(program.launch("k", grid_of(64), {program.allocate<uint32_t>(1)})[Metric::warp_instructions],
              100u);
}

TEST(Progress, warps_may_wait_for_each_other) {
    // Warp 0 waits for warp 3, that for warp 2, that for warp 1, which goes first.
    EXPECT_EQ(run(R"(
        shr.u32 %r2, %r60, 5; sub.u32 %r3, 4, %r2; setp.eq.u32 %p1, %r2, 1; @%p1 bra GO;
        setp.eq.u32 %p2, %r2, 0; selp.u32 %r3, 3, %r2, %p2; @!%p2 sub.u32 %r3, %r2, 1;
        mul.wide.u32 %rd1, %r3, 4; add.u64 %rd1, %rd61, %rd1;
        WAIT: ld.volatile.global.u32 %r4, [%rd1]; setp.eq.u32 %p3, %r4, 0; @%p3 bra WAIT;
        GO: mul.wide.u32 %rd2, %r2, 4; add.u64 %rd2, %rd61, %rd2; st.volatile.global.u32 [%rd2], 1;
        mov.u32 %r0, 1;)",
                  128),
              Words(128, 1));
}

TEST(Progress, blocks_may_wait_for_later_blocks) {
    for (const unsigned int host_threads : {1u, 3u})
        // Every block waits until all 40 have arrived.
        EXPECT_EQ(run(R"(
        setp.ne.u32 %p1, %r60, 0; @%p1 bra MEET; red.global.add.u32 [%rd61], 1;
        WAIT: ld.volatile.global.u32 %r2, [%rd61]; nanosleep.u32 20; setp.lt.u32 %p2, %r2, 40;
        @%p2 bra WAIT;
        MEET: bar.sync 0; ld.volatile.global.u32 %r0, [%rd61];)",
                      32, {}, "", 40, host_threads),
                  Words(40 * 32, 40));
}
