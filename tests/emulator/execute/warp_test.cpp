// Instructions that lanes execute together: shuffles, votes, matches, redux, elect, warp barriers, with whole
// and partial masks.

#include "../machine/ptx_fixture.hpp"

#include <gtest/gtest.h>

using namespace emulator::fixture;
using std::uint32_t;

namespace {

/// A shuffle of the lanes' indices, plus 100 where the predicate holds.
Words shuffle(const std::string& mode_and_operands) {
    const std::size_t space = mode_and_operands.find(' ');
    return run("shfl.sync." + mode_and_operands.substr(0, space) + ".b32 %r2|%p1, %r60, " +
               mode_and_operands.substr(space + 1) + ", -1; mov.u32 %r0, %r2; @%p1 add.u32 %r0, %r0, 100;");
}

} // namespace

TEST(Shuffle, idx_reads_any_lane) {
    EXPECT_EQ(shuffle("idx 5, 31"), Words(32, 105));
    EXPECT_EQ(run("sub.u32 %r2, 31, %r60; shfl.sync.idx.b32 %r0, %r60, %r2, 31, -1;"),
              lanes([](uint32_t i) { return 31 - i; }));
    EXPECT_EQ(shuffle("idx 37, 31"), Words(32, 105)); // five bits of the index count
    // Segments of 8 (0x181F): the third lane of each.
    EXPECT_EQ(shuffle("idx 3, 0x181F"), lanes([](uint32_t i) { return 100 + i / 8 * 8 + 3; }));
    EXPECT_EQ(shuffle("idx 11, 0x181F"), lanes([](uint32_t i) { return 100 + i / 8 * 8 + 3; }));
    // Clamped to lane 3: a higher one keeps its own value, and the predicate is false.
    EXPECT_EQ(shuffle("idx 5, 3"), lanes([](uint32_t i) { return i; }));
}

TEST(Shuffle, up_and_down_stop_at_the_segment) {
    EXPECT_EQ(shuffle("up 1, 0"), lanes([](uint32_t i) { return i == 0 ? 0 : 100 + i - 1; }));
    EXPECT_EQ(shuffle("up 40, 0"), lanes([](uint32_t i) { return i < 8 ? i : 100 + i - 8; })); // 40 modulo 32
    EXPECT_EQ(shuffle("up 3, 0x1800"), lanes([](uint32_t i) { return i % 8 < 3 ? i : 100 + i - 3; }));
    EXPECT_EQ(shuffle("down 1, 31"), lanes([](uint32_t i) { return i == 31 ? 31 : 100 + i + 1; }));
    EXPECT_EQ(shuffle("down 16, 0x1F"), lanes([](uint32_t i) { return i < 16 ? 100 + i + 16 : i; }));
    EXPECT_EQ(shuffle("down 2, 0x1C1F"), lanes([](uint32_t i) { return i % 4 < 2 ? 100 + i + 2 : i; }));
    EXPECT_EQ(shuffle("down 0, 31"), lanes([](uint32_t i) { return 100 + i; }));
}

TEST(Shuffle, bfly_exchanges) {
    EXPECT_EQ(shuffle("bfly 1, 31"), lanes([](uint32_t i) { return 100 + (i ^ 1); }));
    EXPECT_EQ(shuffle("bfly 31, 31"), lanes([](uint32_t i) { return 100 + 31 - i; }));
    // Segments of 4 (0x1C1F): an exchange with a higher segment fails, one with a lower one is made.
    EXPECT_EQ(shuffle("bfly 4, 0x1C1F"), lanes([](uint32_t i) { return (i & 4) == 0 ? i : 100 + (i ^ 4); }));
}

TEST(Shuffle, leaves_the_predicates_of_lanes_that_take_no_part) {
    const auto results = run(R"(
        setp.ne.u32 %p1, %r60, %r60; setp.lt.u32 %p2, %r60, 16; mov.u32 %r1, 7;
        @%p2 shfl.sync.bfly.b32 %r1|%p1, %r60, 1, 31, 0xFFFF;
        selp.u32 %r2, 100, 0, %p1; add.u32 %r0, %r1, %r2;)");
    for (uint32_t lane = 0; lane < 32; ++lane)
        EXPECT_EQ(results[lane], lane < 16 ? 100 + (lane ^ 1) : 7u) << lane;
}

TEST(Shuffle, takes_offsets_and_bounds_from_each_lane) {
    EXPECT_EQ(run("and.b32 %r2, %r60, 1; mov.b32 %r3, 31; shfl.sync.down.b32 %r0, %r60, %r2, %r3, -1;"),
              lanes([](uint32_t i) { return i % 2 == 0 || i == 31 ? i : i + 1; }));
}

TEST(Shuffle, halves_of_a_warp_shuffle_apart) {
    // One instruction, two masks: each half reads its own last lane.
    EXPECT_EQ(run(R"(
        setp.lt.u32 %p1, %r60, 16; selp.b32 %r2, 0xFFFF, 0xFFFF0000, %p1; selp.b32 %r3, 15, 31, %p1;
        shfl.sync.idx.b32 %r0, %r60, %r3, 31, %r2;)"),
              lanes([](uint32_t i) { return i < 16 ? 15 : 31; }));
    // Two instructions in two branches.
    EXPECT_EQ(run(R"(
        setp.lt.u32 %p1, %r60, 16; @%p1 bra LOW; shfl.sync.idx.b32 %r0, %r60, 20, 31, 0xFFFF0000;
        bra END;
        LOW: shfl.sync.idx.b32 %r0, %r60, 10, 31, 0xFFFF;
        END:)"),
              lanes([](uint32_t i) { return i < 16 ? 10 : 20; }));
    // Under a guard; the others keep their values.
    EXPECT_EQ(run(R"(
        mov.u32 %r0, 99; setp.lt.u32 %p1, %r60, 16;
        @%p1 shfl.sync.bfly.b32 %r0, %r60, 1, 31, 0xFFFF;)"),
              lanes([](uint32_t i) { return i < 16 ? i ^ 1 : 99; }));
}

TEST(Shuffle, waits_for_the_lanes_that_its_mask_names) {
    // The upper lanes take a detour with a loop before they reach the shuffle. The lower ones must wait for
    // their values.
    EXPECT_EQ(run(R"(
        mov.u32 %r2, %r60; setp.lt.u32 %p1, %r60, 16; @%p1 bra MEET; mov.u32 %r3, 0;
        LOOP: add.u32 %r2, %r2, 10; add.u32 %r3, %r3, 1; setp.lt.u32 %p2, %r3, 5;
        @%p2 bra LOOP;
        MEET: shfl.sync.down.b32 %r0, %r2, 16, 31, -1;)"),
              lanes([](uint32_t i) { return i < 16 ? i + 16 + 50 : i + 50; }));
    // The detour lies after the shuffle in the text: the lanes that arrive first have the lowest program
    // counter, and wait all the same.
    EXPECT_EQ(run(R"(
        mov.u32 %r2, %r60; setp.ge.u32 %p1, %r60, 16; @%p1 bra DETOUR;
        MEET: shfl.sync.idx.b32 %r0, %r2, 31, 31, -1; bra END;
        DETOUR: add.u32 %r2, %r2, 7; bra MEET;
        END:)"),
              Words(32, 38));
    // A shuffle in a loop that lanes enter in groups.
    EXPECT_EQ(run(R"(
        mov.u32 %r0, 0; mov.u32 %r5, 0; setp.lt.u32 %p1, %r60, 8; @%p1 bra LOOP;
        add.u32 %r0, %r0, 0;
        LOOP: shfl.sync.bfly.b32 %r2, %r60, 1, 31, -1; add.u32 %r0, %r0, %r2;
        add.u32 %r5, %r5, 1; setp.lt.u32 %p2, %r5, 3; @%p2 bra LOOP;)"),
              lanes([](uint32_t i) { return 3 * (i ^ 1); }));
}

TEST(Shuffle, does_not_wait_for_lanes_that_have_exited) {
    EXPECT_EQ(run("setp.ge.u32 %p1, %r60, 20; @%p1 exit; shfl.sync.bfly.b32 %r0, %r60, 1, 31, -1;"),
              lanes([](uint32_t i) { return i < 20 ? i ^ 1 : poison; }));
    // A block of 40: the second warp never had lanes 8 to 31.
    const Words results = run("setp.lt.u32 %p1, %r60, 100; vote.sync.ballot.b32 %r0, %p1, -1;", 40);
    EXPECT_EQ(results[0], 0xFFFF'FFFFu);
    EXPECT_EQ(results[39], 0xFFu);
    // Those that exit while others wait for them let them go.
    EXPECT_EQ(run(R"(
        setp.lt.u32 %p1, %r60, 16; @%p1 bra MEET; setp.lt.u32 %p2, %r60, 24; @%p2 exit;
        MEET: vote.sync.ballot.b32 %r0, %p1, -1;)"),
              lanes([](uint32_t i) { return i < 16 || i >= 24 ? 0xFFFF : poison; }));
    EXPECT_EQ(run("setp.lt.u32 %p1, %r60, 16; @!%p1 bra LEAVE; vote.sync.ballot.b32 %r0, %p1, -1; bra END; "
                  "LEAVE: exit; END:"),
              lanes([](uint32_t i) { return i < 16 ? 0xFFFF : poison; }));
}

TEST(Vote, says_what_the_lanes_of_the_mask_agree_on) {
    struct Row {
        const char* predicate; ///< sets %p1
        bool all, any, uniform;
        uint32_t ballot;
    };
    for (const Row& row :
         {Row{"setp.lt.u32 %p1, %r60, 32;", true, true, true, 0xFFFF'FFFF},
          {"setp.lt.u32 %p1, %r60, 0;", false, false, true, 0},
          {"setp.eq.u32 %p1, %r60, 31;", false, true, false, 0x8000'0000},
          {"and.b32 %r5, %r60, 1; setp.eq.u32 %p1, %r5, 1;", false, true, false, 0xAAAA'AAAA}}) {
        EXPECT_EQ(run(std::string(row.predicate) +
                      R"(
        vote.sync.all.pred %p2, %p1, -1; vote.sync.any.pred %p3, %p1, -1;
        vote.sync.uni.pred %p4, %p1, -1; selp.u32 %r0, 1, 0, %p2; @%p3 add.u32 %r0, %r0, 2;
        @%p4 add.u32 %r0, %r0, 4;)"),
                  Words(32, row.all + 2u * row.any + 4u * row.uniform))
            << row.predicate;
        EXPECT_EQ(run(std::string(row.predicate) + "vote.sync.ballot.b32 %r0, %p1, -1;"),
                  Words(32, row.ballot))
            << row.predicate;
        EXPECT_EQ(run(std::string(row.predicate) + "vote.sync.ballot.b32 %r0, !%p1, -1;"),
                  Words(32, ~row.ballot))
            << row.predicate;
    }
    // Two masks at one instruction: lanes with other masks take no part in the ballot or in the vote.
    EXPECT_EQ(run(R"(
        setp.lt.u32 %p1, %r60, 16; selp.b32 %r2, 0xFFFF, 0xFFFF0000, %p1;
        vote.sync.all.pred %p2, %p1, %r2; vote.sync.ballot.b32 %r0, %p2, %r2;)"),
              lanes([](uint32_t i) { return i < 16 ? 0xFFFF : 0; }));
}

TEST(Match, finds_lanes_with_the_same_value) {
    EXPECT_EQ(run("rem.u32 %r2, %r60, 3; match.any.sync.b32 %r0, %r2, -1;"), lanes([](uint32_t i) {
                  uint32_t mask = 0;
                  for (uint32_t other = i % 3; other < 32; other += 3) mask |= 1u << other;
                  return mask;
              }));
    // 64 bits: the values differ in the upper half only.
    EXPECT_EQ(run("shr.u32 %r2, %r60, 4; mov.b64 %rd1, {7, %r2}; match.any.sync.b64 %r0, %rd1, -1;"),
              lanes([](uint32_t i) { return i < 16 ? 0xFFFF : 0xFFFF'0000; }));
    EXPECT_EQ(run("mov.u32 %r2, 5; match.all.sync.b32 %r0|%p1, %r2, -1; @!%p1 mov.u32 %r0, 1;"),
              Words(32, 0xFFFF'FFFF));
    EXPECT_EQ(run("match.all.sync.b32 %r0|%p1, %r60, -1; @!%p1 add.u32 %r0, %r0, 1;"), Words(32, 1));
    EXPECT_EQ(run(R"(
        setp.lt.u32 %p2, %r60, 8; selp.u32 %r2, 1, %r60, %p2;
        @%p2 match.all.sync.b32 %r0, %r2, 0xFF; @!%p2 mov.u32 %r0, 3;)"),
              lanes([](uint32_t i) { return i < 8 ? 0xFF : 3; }));
}

TEST(Redux, reduces_over_the_lanes_of_the_mask) {
    struct Row {
        const char* operation;
        uint32_t expected; ///< of 5, -3, 5, -3, ..., and of the upper and lower half of it
    };
    for (const Row& row : {Row{"add.s32", 32},
                           {"add.u32", 32},
                           {"min.s32", ~2u},
                           {"min.u32", 5},
                           {"max.s32", 5},
                           {"max.u32", ~2u},
                           {"and.b32", 5},
                           {"or.b32", ~2u},
                           {"xor.b32", 0}})
        EXPECT_EQ(run("and.b32 %r2, %r60, 1; setp.eq.u32 %p1, %r2, 0; selp.b32 %r2, 5, -3, %p1; redux.sync." +
                      std::string(row.operation) + " %r0, %r2, -1;"),
                  Words(32, row.expected))
            << row.operation;
    EXPECT_EQ(run(R"(
        setp.lt.u32 %p1, %r60, 8; selp.b32 %r2, 0xFF, 0xFFFFFF00, %p1;
        redux.sync.add.u32 %r0, %r60, %r2;)"),
              lanes([](uint32_t i) { return i < 8 ? 28 : 496 - 28; }));
}

TEST(ActiveMask, names_the_lanes_that_execute_it) {
    EXPECT_EQ(run("activemask.b32 %r0;", 40)[33], 0xFFu);
    EXPECT_EQ(run("mov.u32 %r0, 7; setp.lt.u32 %p1, %r60, 4; @%p1 activemask.b32 %r0;"),
              lanes([](uint32_t i) { return i < 4 ? 0xF : 7; }));
}

TEST(Elect, chooses_one_leader) {
    EXPECT_EQ(run("elect.sync %r2|%p1, -1; mov.u32 %r0, %r2; @%p1 add.u32 %r0, %r0, 100;"),
              lanes([](uint32_t i) { return i == 0 ? 100 : 0; }));
    EXPECT_EQ(run(R"(
        mov.u32 %r0, 7; setp.gt.u32 %p2, %r60, 9; @!%p2 bra END; elect.sync _|%p1, 0xFFFFFC00;
        selp.u32 %r0, 1, 0, %p1;
        END:)"),
              lanes([](uint32_t i) { return i < 10 ? 7u : uint32_t{i == 10}; }));
}

TEST(WarpBarrier, lanes_meet_from_different_places) {
    // Each half writes, meets the other at a barrier in its own branch, and reads what the other half wrote.
    const Words results = run(R"(
        shl.b32 %r2, %r60, 2; mov.u32 %r3, tile; add.u32 %r2, %r2, %r3; setp.lt.u32 %p1, %r60, 16;
        @%p1 bra LOW;
        st.shared.u32 [%r2], %r60; bar.warp.sync -1; ld.shared.u32 %r0, [%r2+-64]; bra END;
        LOW: add.u32 %r4, %r60, 100; st.shared.u32 [%r2], %r4; bar.warp.sync -1;
        ld.shared.u32 %r0, [%r2+64];
        END:)",
                              32, {}, ".shared .u32 tile[32];");
    EXPECT_EQ(results, lanes([](uint32_t i) { return i < 16 ? i + 16 : i - 16 + 100; }));
}

TEST(WarpBarrier, masks_keep_groups_apart) {
    // Lanes 0 to 7 wait only for each other, although the others reach no barrier until lane 0 has left it.
    EXPECT_EQ(run(R"(
        mov.u32 %r0, 1; setp.lt.u32 %p1, %r60, 8; @%p1 bra GROUP;
        WAIT: ld.volatile.global.u32 %r2, [%rd61]; setp.eq.u32 %p2, %r2, 0; @%p2 bra WAIT; bra END;
        GROUP: bar.warp.sync 0xFF; st.volatile.global.u32 [%rd61], 1;
        END: bar.warp.sync -1;)"),
              Words(32, 1));
}
