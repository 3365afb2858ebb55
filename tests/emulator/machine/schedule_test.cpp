// Schedules: a different order of blocks, warps and lanes. Right kernels are unaffected; wrong ones fail.

#include "ptx_fixture.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

using namespace emulator::fixture;
using emulator::Counters, emulator::Metric;
using std::uint32_t, std::uint64_t;

namespace {

using Seed = std::optional<uint64_t>;

struct Outcome {
    Words words;
    Counters counters;
};

/// Runs `body`, and returns 4096 words of memory that were zeros, at p0. In it: %r10 is the address of this
/// thread's word in shared memory, %rd1 that of its word in global memory; %p9, %p8 and %p7 hold in thread 0,
/// in warp 0 and in lanes 0 to 15.
Outcome run_in_order(Seed schedule, const std::string& body, uint32_t threads, uint32_t blocks = 1) {
    Program program(module_of(R"(
        mov.u32 %r12, tile; mad.lo.u32 %r10, %r60, 4, %r12; mul.wide.u32 %rd1, %r62, 4;
        add.u64 %rd1, %rd60, %rd1; setp.eq.u32 %p9, %r60, 0; setp.lt.u32 %p8, %r60, 32; and.b32 %r3, %r60, 31;
        setp.lt.u32 %p7, %r3, 16;)" +
                                  body,
                              ".shared .align 16 .b8 tile[4096];"));
    auto* const words = program.allocate<uint32_t>(4096);
    Outcome outcome;
    outcome.counters = program.launch("k", grid_of(threads, blocks), {words, program.allocate<uint32_t>(64)},
                                      {.host_threads = 1, .schedule = schedule});
    outcome.words.assign(words, words + 4096);
    return outcome;
}

/// How many of the seeds 0 to 99 give something else than the usual order.
int different(const std::string& body, uint32_t threads, uint32_t blocks = 1) {
    const Words usual = run_in_order({}, body, threads, blocks).words;
    int count = 0;
    for (uint64_t seed = 0; seed < 100; ++seed)
        count += run_in_order(seed, body, threads, blocks).words != usual ? 1 : 0;
    return count;
}

/// The number of the block or warp in the order in which they come here.
constexpr const char* take_a_ticket = "atom.global.add.u32 %r5, [%rd61], 1;";

} // namespace

TEST(Schedule, is_the_same_for_the_same_seed) {
    const std::string tickets = std::string(take_a_ticket) + "st.global.u32 [%rd1], %r5;";
    std::set<Words> outcomes;
    for (uint64_t seed = 0; seed < 10; ++seed) {
        const Outcome once = run_in_order(seed, tickets, 96, 10), again = run_in_order(seed, tickets, 96, 10);
        EXPECT_EQ(once.words, again.words);
        EXPECT_EQ(once.counters, again.counters);
        outcomes.insert(once.words);
    }
    EXPECT_EQ(outcomes.size(), 10u);
    outcomes.insert(run_in_order({}, tickets, 96, 10).words);
    EXPECT_EQ(outcomes.size(), 11u);
}

TEST(Schedule, lets_any_lane_win_where_several_store_to_one_place) {
    for (const char* store : {"st.global.u32 [%rd60], %r60;", "st.global.v2.u32 [%rd60], {%r60, %r60};",
                              "st.shared.u32 [%r12], %r60; ld.shared.u32 %r5, [%r12]; st.global.u32 [%rd60], "
                              "%r5;"}) {
        std::set<uint32_t> winners;
        for (uint64_t seed = 0; seed < 100; ++seed) winners.insert(run_in_order(seed, store, 5).words[0]);
        EXPECT_EQ(winners, (std::set<uint32_t>{0, 1, 2, 3, 4})) << store;
    }
}

TEST(Schedule, runs_every_thread_once) {
    for (const uint32_t blocks : {1u, 63u, 64u, 65u, 129u})
        for (uint64_t seed = 0; seed < 5; ++seed) {
            const Outcome outcome = run_in_order(seed, "red.global.add.u32 [%rd1], 1;", 31, blocks);
            EXPECT_EQ(std::accumulate(outcome.words.begin(), outcome.words.end(), 0u), 31 * blocks);
            EXPECT_EQ(*std::max_element(outcome.words.begin(), outcome.words.end()), 1u);
            EXPECT_EQ(outcome.counters[Metric::thread_instructions],
                      run_in_order({}, "red.global.add.u32 [%rd1], 1;", 31, blocks)
                          .counters[Metric::thread_instructions]);
        }
}

TEST(Schedule, any_block_may_be_the_first_and_the_last) {
    const std::string ticket = std::string(take_a_ticket) + "st.global.u32 [%rd1], %r5;";
    std::set<uint32_t> first, last;
    for (uint64_t seed = 0; seed < 60; ++seed) {
        const Words words = run_in_order(seed, ticket, 1, 6).words;
        for (uint32_t block = 0; block < 6; ++block) {
            if (words[block] == 0) first.insert(block);
            if (words[block] == 5) last.insert(block);
        }
    }
    EXPECT_EQ(first.size(), 6u);
    EXPECT_EQ(last.size(), 6u);
}

TEST(Schedule, blocks_run_at_once) {
    // Each block adds to a counter, and counts how far the others are when it ends.
    const std::string body =
        "mov.u32 %r6, 0; LOOP: red.global.add.u32 [%rd61], 1; add.u32 %r6, %r6, 1; setp.lt.u32 "
        "%p1, %r6, 50; @%p1 bra LOOP; ld.global.u32 %r7, [%rd61]; st.global.u32 [%rd1], %r7;";
    bool in_the_middle = false;
    for (uint64_t seed = 0; seed < 10; ++seed)
        for (const uint32_t count : run_in_order(seed, body, 1, 4).words) in_the_middle |= count % 50 != 0;
    EXPECT_TRUE(in_the_middle);
}

TEST(Schedule, shows_a_missing_barrier_that_the_usual_order_hides) {
    // Warp 0 writes, all others read: the usual order has warp 0 go first.
    const std::string write = "@%p8 st.shared.u32 [%r10], %r60; mad.lo.u32 %r11, %r3, 4, %r12;",
                      read = "@!%p8 ld.shared.u32 %r5, [%r11]; st.global.u32 [%rd1], %r5;";
    EXPECT_GT(different("mov.u32 %r5, 0;" + write + read, 128), 50);
    EXPECT_EQ(different("mov.u32 %r5, 0;" + write + "bar.sync 0;" + read, 128), 0);
}

TEST(Schedule, shows_a_missing_barrier_in_straight_line_code) {
    // Each warp overwrites what the previous one reads. In the usual order that one has already read it.
    const std::string write = "st.shared.u32 [%r10], 1; bar.sync 0; mad.lo.u32 %r11, %r60, 4, %r12;"
                              "ld.shared.u32 %r5, [%r11+128];",
                      overwrite = "st.shared.u32 [%r10], 2; st.global.u32 [%rd1], %r5;";
    EXPECT_GT(different(write + overwrite, 96), 20);
    EXPECT_EQ(different(write + "bar.sync 0;" + overwrite, 96), 0);
}

TEST(Schedule, shows_a_missing_warp_barrier_between_lanes_that_have_parted) {
    // Lanes 0 to 15 write, and all meet again before they read.
    const std::string write = "@!%p7 bra MEET; st.shared.u32 [%r10], %r60; MEET: xor.b32 %r5, %r60, 16;"
                              "mad.lo.u32 %r11, %r5, 4, %r12;",
                      read = "@!%p7 ld.shared.u32 %r6, [%r11]; @!%p7 st.global.u32 [%rd1], %r6;";
    EXPECT_GT(different(write + read, 32), 20);
    EXPECT_EQ(different(write + "bar.warp.sync -1;" + read, 32), 0);
}

TEST(Schedule, shows_a_missing_warp_barrier_between_lanes_that_are_together) {
    // Each lane adds its neighbor's value, in two steps.
    const auto step = [](const std::string& distance, const std::string& barrier) {
        return "xor.b32 %r5, %r60, " + distance +
               "; mad.lo.u32 %r11, %r5, 4, %r12; ld.shared.u32 %r6, [%r11];" + barrier +
               "ld.shared.u32 %r7, [%r10]; add.u32 %r6, %r6, %r7; st.shared.u32 [%r10], %r6;" + barrier;
    };
    const auto kernel = [&](const std::string& barrier) {
        return "st.shared.u32 [%r10], %r60;" + barrier + step("1", barrier) + step("2", barrier) +
               "ld.shared.u32 %r6, [%r10]; st.global.u32 [%rd1], %r6;";
    };
    EXPECT_GT(different(kernel(""), 32), 20);
    EXPECT_EQ(different(kernel("bar.warp.sync -1;"), 32), 0);
}

// ---- right kernels ----

TEST(Schedule, changes_no_reduction) {
    const std::string tree = R"(
        st.shared.u32 [%r10], %r62; bar.sync 0; mov.u32 %r6, 128;
        LOOP: setp.ge.u32 %p1, %r60, %r6; @%p1 bra NEXT; mad.lo.u32 %r11, %r6, 4, %r10;
        ld.shared.u32 %r7, [%r11]; ld.shared.u32 %r8, [%r10]; add.u32 %r7, %r7, %r8; st.shared.u32 [%r10], %r7;
        NEXT: bar.sync 0; shr.u32 %r6, %r6, 1; setp.gt.u32 %p1, %r6, 16; @%p1 bra LOOP;
        @!%p8 bra END; ld.shared.u32 %r7, [%r10];
        SHUFFLE: shfl.sync.down.b32 %r8, %r7, %r6, 31, -1; add.u32 %r7, %r7, %r8; shr.u32 %r6, %r6, 1;
        setp.gt.u32 %p1, %r6, 0; @%p1 bra SHUFFLE;
        @%p9 red.global.add.u32 [%rd60], %r7;
        END:)";
    EXPECT_EQ(run_in_order(7, tree, 256, 20).words[0], 256 * 20 * (256 * 20 - 1) / 2u);
    EXPECT_EQ(different(tree, 256, 20), 0);
}

TEST(Schedule, changes_nothing_that_masks_and_named_barriers_order) {
    // Halves of warps; then warp 0 gives all others a value each, one at a time.
    const std::string body = R"(
        selp.b32 %r5, 0xffff, 0xffff0000, %p7; @%p7 bra LOW; shfl.sync.bfly.b32 %r6, %r60, 3, 31, %r5; bra MEET;
        LOW: shfl.sync.bfly.b32 %r6, %r60, 5, 31, %r5;
        MEET: vote.sync.ballot.b32 %r7, %p7, -1; match.any.sync.b32 %r8, %r4, -1;
        bar.red.popc.u32 %r9, 0, %p7; bar.red.and.pred %p1, 0, %p8; selp.b32 %r13, 1, 0, %p1;
        add.u32 %r6, %r6, %r7; add.u32 %r6, %r6, %r9; add.u32 %r6, %r6, %r13; mov.u32 %r14, 0;
        TURN: @%p8 bra GIVE; bar.sync 1, 96; ld.shared.u32 %r15, [%r12]; add.u32 %r6, %r6, %r15;
        bar.arrive 2, 96; bra ROUND;
        GIVE: @%p9 st.shared.u32 [%r12], %r14; bar.warp.sync -1; bar.arrive 1, 96; bar.sync 2, 96;
        ROUND: add.u32 %r14, %r14, 1; setp.lt.u32 %p1, %r14, 10; @%p1 bra TURN;
        st.global.u32 [%rd1], %r6;)";
    EXPECT_EQ(different(body, 96, 5), 0);
}

TEST(Schedule, changes_nothing_that_locks_and_flags_order) {
    // A lock that lanes of all blocks take; then a chain in which each block waits for the one before it.
    const std::string body = R"(
        and.b32 %r5, %r3, 7; setp.ne.u32 %p1, %r5, 0; @%p1 bra CHAIN;
        LOCK: atom.global.cas.b32 %r5, [%rd61], 0, 1; setp.ne.u32 %p1, %r5, 0; @%p1 bra LOCK; membar.gl;
        ld.volatile.global.u32 %r6, [%rd61+4]; add.u32 %r6, %r6, 1; st.volatile.global.u32 [%rd61+4], %r6; membar.gl;
        atom.global.exch.b32 %r5, [%rd61], 0;
        CHAIN: @!%p9 bra END; setp.eq.u32 %p1, %r61, 0; mov.u32 %r6, 1; @%p1 bra PASS; mul.wide.u32 %rd5, %r61, 4;
        add.u64 %rd5, %rd60, %rd5;
        WAIT: ld.volatile.global.u32 %r6, [%rd5+-4]; setp.eq.u32 %p1, %r6, 0; @%p1 bra WAIT; add.u32 %r6, %r6, 1;
        PASS: mul.wide.u32 %rd5, %r61, 4; add.u64 %rd5, %rd60, %rd5; st.volatile.global.u32 [%rd5], %r6;
        END: ld.global.u32 %r5, [%rd61+4];)";
    for (uint64_t seed = 0; seed < 3; ++seed) {
        const Words words = run_in_order(seed, body, 32, 100).words; // more blocks than run at once
        for (uint32_t block = 0; block < 100; ++block) ASSERT_EQ(words[block], block + 1) << seed;
    }
}

TEST(Schedule, changes_nothing_in_calls_and_loops) {
    const std::string sum_below = R"(
        .func (.param .b32 total) sum_below(.param .b32 n) {
            .reg .b32 %n, %m, %t; .reg .pred %p; ld.param.b32 %n, [n]; mov.b32 %t, 0;
            setp.eq.u32 %p, %n, 0; @%p bra DONE; sub.u32 %m, %n, 1;
            { .param .b32 a; .param .b32 r; st.param.b32 [a], %m; call (r), sum_below, (a); ld.param.b32 %t, [r]; }
            add.u32 %t, %t, %m;
            DONE: st.param.b32 [total], %t; ret; })";
    const std::string body = R"(
        mov.u32 %r5, 0; mov.u32 %r6, 0;
        LOOP: setp.ge.u32 %p1, %r6, %r60; @%p1 bra DONE; add.u32 %r5, %r5, %r6; add.u32 %r6, %r6, 1; bra LOOP;
        DONE: and.b32 %r7, %r60, 7; { .param .b32 a; .param .b32 r; st.param.b32 [a], %r7;
        call (r), sum_below, (a); ld.param.b32 %r8, [r]; } mul.lo.u32 %r9, %r60, 4; cvt.u64.u32 %rd1, %r9;
        add.u64 %rd1, %rd60, %rd1; mad.lo.u32 %r5, %r8, 10000, %r5; st.global.u32 [%rd1], %r5;)";
    const auto below = [](uint32_t n) { return n * (n - 1) / 2; }; // 0 + 1 + … + n - 1
    for (uint64_t seed = 0; seed < 20; ++seed) {
        Program program(module_of(body, sum_below));
        auto* const words = program.allocate<uint32_t>(100);
        program.launch("k", grid_of(100), {words}, {.schedule = seed});
        for (uint32_t i = 0; i < 100; ++i) ASSERT_EQ(words[i], below(i % 8) * 10000 + below(i)) << seed;
    }
}

TEST(Schedule, lets_lanes_that_call_one_after_the_other_meet_in_the_function) {
    const std::string functions = R"(
        .func (.param .b32 sum) with_partner(.param .b32 value) {
            .reg .b32 %v, %o; ld.param.b32 %v, [value]; shfl.sync.bfly.b32 %o, %v, 1, 31, -1;
            add.u32 %v, %v, %o; st.param.b32 [sum], %v; ret; }
        .func (.param .b32 sum) one_more(.param .b32 value) {
            .reg .b32 %v; ld.param.b32 %v, [value];
            { .param .b32 a; .param .b32 r; st.param.b32 [a], %v; call (r), with_partner, (a);
            ld.param.b32 %v, [r]; } add.u32 %v, %v, 1; st.param.b32 [sum], %v; ret; })";
    // Lane i and its partner i ^ 1 have 4 * (i / 2) + 1 together, and one more.
    Words expected(64);
    for (uint32_t i = 0; i < 64; ++i) expected[i] = 4 * (i / 2) + 2;
    for (uint64_t seed = 0; seed < 20; ++seed) {
        Program program(module_of(R"(
            { .param .b32 a; .param .b32 r; st.param.b32 [a], %r60; call (r), one_more, (a);
            ld.param.b32 %r8, [r]; } mul.wide.u32 %rd1, %r60, 4; add.u64 %rd1, %rd60, %rd1;
            st.global.u32 [%rd1], %r8;)",
                                  functions));
        auto* const words = program.allocate<uint32_t>(64);
        program.launch("k", grid_of(64), {words}, {.schedule = seed});
        ASSERT_EQ(Words(words, words + 64), expected) << seed;
    }
}

TEST(Schedule, of_a_kernel_that_fails_says_so) {
    EXPECT_EQ(error_of([] { run_in_order(1, "mov.u64 %rd5, 0; st.global.u32 [%rd5], 1;", 32, 3); }).failure(),
              emulator::Failure::illegal_address);
    EXPECT_EQ(
        error_of([] { run_in_order(1, "@%p8 bar.sync 1, 64; @!%p8 bar.sync 2, 64;", 64, 3); }).failure(),
        emulator::Failure::launch_failure);
}
