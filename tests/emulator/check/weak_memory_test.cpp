// Weak memory: which stores of other blocks a load may miss, and which not.

#include "../machine/ptx_fixture.hpp"

#include "emulator/check/race/weak_memory.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <functional>
#include <set>

using namespace emulator::fixture;
using emulator::Dim3, emulator::LaunchConfiguration, emulator::Watcher, emulator::WeakMemory;
using std::uint32_t, std::uint64_t;

namespace {

using GlobalWords = std::vector<uint32_t>;

/// Runs `body` in the order of `seed`, and returns 256 words that were zeros, at p0 (%rd60). In it, %rd1 is
/// the address of this thread's word, counted in its block, and %p9 and %p8 hold in thread 0 and in block 0.
GlobalWords run_weakly(uint64_t seed, const std::string& body, const LaunchConfiguration& configuration) {
    Program program(
        module_of("mul.wide.u32 %rd1, %r60, 4; add.u64 %rd1, %rd60, %rd1; setp.eq.u32 %p9, %r60, 0;"
                  "setp.eq.u32 %p8, %r61, 0;" +
                  body));
    auto* const words = program.allocate<uint32_t>(256);
    WeakMemory weak_memory;
    Watcher* const watchers[] = {&weak_memory};
    program.launch("k", configuration, {words}, {.watchers = watchers, .schedule = seed});
    return {words, words + 256};
}

/// In how many of 50 seeds the words are such. If a load that may be late decides it, in about half of them.
int seeds_with(const std::string& body, const LaunchConfiguration& configuration,
               const std::function<bool(const GlobalWords&)>& are_such) {
    int count = 0;
    for (uint64_t seed = 0; seed < 50; ++seed)
        count += are_such(run_weakly(seed, body, configuration)) ? 1 : 0;
    return count;
}

/// Block 0 stores 42, and then sends a word; the others wait for it, and then load.
struct Message {
    std::string release, send, receive, acquire;

    /// Seeds in which the 42 is not there yet.
    int seeds_without_it() const {
        const std::string body = "@!%p8 bra RECEIVE; st.global.u32 [%rd60], 42; " + release + send +
                                 "bra DONE; RECEIVE: " + receive +
                                 "setp.eq.u32 %p1, %r5, 0; @%p1 bra RECEIVE; " + acquire +
                                 "ld.global.u32 %r6, [%rd60]; st.global.u32 [%rd60+256], %r6; DONE:";
        return seeds_with(body, grid_of(1, 2), [](const GlobalWords& words) {
            EXPECT_EQ(words[0], 42u) << "memory ends with what was stored last";
            return words[64] != 42;
        });
    }
};

const std::string fence = "membar.gl; ", store_flag = "st.volatile.global.u32 [%rd60+128], 1; ",
                  load_flag = "ld.volatile.global.u32 %r5, [%rd60+128]; ";

} // namespace

TEST(WeakMemory, gets_a_message_through_by_release_and_acquire) {
    EXPECT_EQ((Message{fence, store_flag, load_flag, fence}.seeds_without_it()), 0);
    EXPECT_EQ((Message{"fence.acq_rel.gpu;", "st.relaxed.gpu.global.u32 [%rd60+128], 1;",
                       "ld.relaxed.gpu.global.u32 %r5, [%rd60+128];", "fence.acq_rel.gpu;"}
                   .seeds_without_it()),
              0);
    EXPECT_EQ((Message{"membar.sys;", "atom.global.exch.b32 %r7, [%rd60+128], 1;",
                       "atom.global.or.b32 %r5, [%rd60+128], 0;", "membar.sys;"}
                   .seeds_without_it()),
              0);
    EXPECT_EQ((Message{"", "st.release.gpu.global.u32 [%rd60+128], 1;",
                       "ld.acquire.gpu.global.u32 %r5, [%rd60+128];", ""}
                   .seeds_without_it()),
              0);
    EXPECT_EQ((Message{"", "red.release.gpu.global.add.u32 [%rd60+128], 1;",
                       "atom.acquire.sys.global.or.b32 %r5, [%rd60+128], 0;", ""}
                   .seeds_without_it()),
              0);
}

TEST(WeakMemory, loses_a_message_without_the_fence_on_either_side) {
    for (const std::string narrow : {"", "membar.cta;", "fence.acq_rel.cluster;"}) {
        EXPECT_GT((Message{narrow, store_flag, load_flag, fence}.seeds_without_it()), 0) << narrow;
        EXPECT_GT((Message{fence, store_flag, load_flag, narrow}.seeds_without_it()), 0) << narrow;
    }
}

TEST(WeakMemory, loses_a_message_that_was_stored_twice) {
    EXPECT_GT((Message{"st.global.u32 [%rd60], 42;", store_flag, load_flag, fence}.seeds_without_it()), 0);
}

// As in a look-back: the flag announces a first message, then a second one. Whoever sees its first value has
// to see the first message.
TEST(WeakMemory, gets_the_first_of_two_messages_through) {
    const std::string again = fence + "st.volatile.global.u32 [%rd60+128], 2; ";
    EXPECT_EQ((Message{fence, store_flag + again, load_flag, fence}.seeds_without_it()), 0);
    EXPECT_EQ((Message{fence, "atom.global.exch.b32 %r7, [%rd60+128], 1;" + again, load_flag, fence}
                   .seeds_without_it()),
              0);
    EXPECT_GT((Message{"", store_flag + again, load_flag, ""}.seeds_without_it()), 0);
}

TEST(WeakMemory, loses_a_message_by_an_access_that_is_relaxed_or_narrow) {
    const std::string release = "st.release.gpu.global.u32 [%rd60+128], 1;",
                      acquire = "ld.acquire.gpu.global.u32 %r5, [%rd60+128];";
    for (const std::string how : {"relaxed.gpu", "release.cta"})
        EXPECT_GT((Message{"", "st." + how + ".global.u32 [%rd60+128], 1;", acquire, ""}.seeds_without_it()),
                  0);
    for (const std::string how : {"relaxed.gpu", "acquire.cta"})
        EXPECT_GT(
            (Message{"", release, "ld." + how + ".global.u32 %r5, [%rd60+128];", ""}.seeds_without_it()), 0);
    EXPECT_GT((Message{fence, "red.relaxed.cta.global.add.u32 [%rd60+128], 1;", load_flag, fence}
                   .seeds_without_it()),
              0);
}

TEST(WeakMemory, is_the_same_for_the_same_seed) {
    const std::string body =
        "@%p8 st.global.u32 [%rd1], 42; ld.global.u32 %r6, [%rd1]; mul.wide.u32 %rd3, %r62, 4; "
        "add.u64 %rd3, %rd60, %rd3; st.global.u32 [%rd3+128], %r6;";
    std::set<GlobalWords> outcomes;
    for (uint64_t seed = 0; seed < 10; ++seed) {
        const GlobalWords once = run_weakly(seed, body, grid_of(32, 4));
        EXPECT_EQ(once, run_weakly(seed, body, grid_of(32, 4)));
        outcomes.insert(once);
    }
    EXPECT_EQ(outcomes.size(), 10u);
}

TEST(WeakMemory, a_barrier_makes_the_fence_of_one_thread_that_of_all) {
    const auto body = [](const std::string& release, const std::string& acquire) {
        return "@!%p8 bra RECEIVE; add.u32 %r7, %r60, 1; st.global.u32 [%rd1], %r7; bar.sync 0; @%p9 " +
               release +
               "@%p9 st.volatile.global.u32 [%rd60+512], 1; bra DONE; RECEIVE: @!%p9 bra MEET;"
               "WAIT: ld.volatile.global.u32 %r5, [%rd60+512]; setp.eq.u32 %p1, %r5, 0; @%p1 bra WAIT; " +
               acquire + "MEET: bar.sync 0; ld.global.u32 %r6, [%rd1]; st.global.u32 [%rd1+256], %r6; DONE:";
    };
    const auto misses_some = [](const GlobalWords& words) {
        for (uint32_t thread = 0; thread < 64; ++thread)
            if (words[64 + thread] != thread + 1) return true;
        return false;
    };
    EXPECT_EQ(seeds_with(body("membar.gl;", "membar.gl;"), grid_of(64, 2), misses_some), 0);
    EXPECT_GT(seeds_with(body("membar.cta;", "membar.gl;"), grid_of(64, 2), misses_some), 0);
    EXPECT_GT(seeds_with(body("membar.gl;", ""), grid_of(64, 2), misses_some), 0);
}

TEST(WeakMemory, who_knows_of_a_store_can_hand_that_on) {
    // Block k waits for the word k, and sets the word k + 1. The last one loads what block 0 has stored.
    const std::string body =
        "mul.wide.u32 %rd2, %r61, 4; add.u64 %rd2, %rd60, %rd2; @%p8 st.global.u32 [%rd60+256], 42; @%p8 bra "
        "SEND; "
        "WAIT: ld.volatile.global.u32 %r5, [%rd2]; setp.eq.u32 %p1, %r5, 0; @%p1 bra WAIT; membar.gl; "
        "SEND: membar.gl; st.volatile.global.u32 [%rd2+4], 1; setp.ne.u32 %p2, %r61, 3; @%p2 bra DONE; "
        "ld.global.u32 %r6, [%rd60+256]; st.global.u32 [%rd60+512], %r6; DONE:";
    EXPECT_EQ(seeds_with(body, grid_of(1, 4), [](const GlobalWords& words) { return words[128] != 42; }), 0);
}

TEST(WeakMemory, shows_no_older_value_of_a_place_after_a_newer_one) {
    // Block 0 stores 1 to 30 and counts. The others read the count, and then a value that is older if it is
    // late. Their words: 32 if one was late, 64 if a value came after a newer one.
    const std::string body =
        "mov.u32 %r1, 0; mov.u32 %r8, 0; @!%p8 bra READ; WRITE: add.u32 %r1, %r1, 1; st.global.u32 [%rd60], "
        "%r1; "
        "red.global.add.u32 [%rd60+4], 1; and.b32 %r2, %r1, 3; setp.eq.u32 %p1, %r2, 0; @%p1 membar.gl; "
        "setp.lt.u32 %p1, %r1, 30; @%p1 bra WRITE; bra DONE; "
        "READ: add.u32 %r1, %r1, 1; atom.global.add.u32 %r5, [%rd60+4], 0; ld.global.u32 %r6, [%rd60]; "
        "setp.lt.u32 %p1, %r6, %r5; @%p1 st.global.u32 [%rd60+128], 1; "
        "setp.lt.u32 %p1, %r6, %r8; @%p1 st.global.u32 [%rd60+256], 1; mov.u32 %r8, %r6; "
        "setp.lt.u32 %p1, %r1, 60; @%p1 bra READ; DONE:";
    EXPECT_GT(seeds_with(body, grid_of(1, 4), [](const GlobalWords& words) { return words[32] == 1; }), 0);
    EXPECT_EQ(seeds_with(body, grid_of(1, 4), [](const GlobalWords& words) { return words[64] == 1; }), 0);
}

TEST(WeakMemory, shows_no_older_value_to_a_plain_load_after_a_volatile_one) {
    const std::string body = "mov.u32 %r1, 0; @!%p8 bra READ; WRITE: add.u32 %r1, %r1, 1; "
                             "st.volatile.global.u32 [%rd60], %r1; membar.gl; "
                             "setp.lt.u32 %p1, %r1, 30; @%p1 bra WRITE; bra DONE; "
                             "READ: add.u32 %r1, %r1, 1; membar.gl; ld.volatile.global.u32 %r5, [%rd60]; "
                             "ld.global.u32 %r6, [%rd60]; "
                             "setp.lt.u32 %p1, %r6, %r5; @%p1 st.global.u32 [%rd60+256], 1; "
                             "setp.lt.u32 %p1, %r1, 60; @%p1 bra READ; DONE:";
    EXPECT_EQ(seeds_with(body, grid_of(1, 3), [](const GlobalWords& words) { return words[64] == 1; }), 0);
}

TEST(WeakMemory, a_store_after_a_fence_may_be_late_again) {
    // Block 0 sends a 1, and then, without a fence, a 2.
    const std::string wait = "ld.volatile.global.u32 %r5, [%rd60+128]; setp.lt.u32 %p1, %r5, ";
    const std::string body =
        "@!%p8 bra FIRST; st.global.u32 [%rd60], 1; membar.gl; st.volatile.global.u32 [%rd60+128], 1; "
        "st.global.u32 [%rd60], 2; st.volatile.global.u32 [%rd60+128], 2; bra DONE; "
        "FIRST: " +
        wait + "1; @%p1 bra FIRST; membar.gl; SECOND: " + wait +
        "2; @%p1 bra SECOND; membar.gl; "
        "ld.global.u32 %r6, [%rd60]; st.global.u32 [%rd60+256], %r6; DONE:";
    const auto gets = [&](uint32_t value) {
        return seeds_with(body, grid_of(1, 2), [&](const GlobalWords& words) { return words[64] == value; });
    };
    EXPECT_GT(gets(1), 0);
    EXPECT_GT(gets(2), 0);
    EXPECT_EQ(gets(0), 0) << "that the 1 is there, block 1 knows";
}

TEST(WeakMemory, what_one_block_has_seen_is_there_for_those_that_it_tells) {
    // Block 0 stores without a fence. Block 1 sees the store, and notifies block 2.
    const std::string body =
        "@%p8 st.volatile.global.u32 [%rd60], 1; @%p8 bra DONE; setp.eq.u32 %p1, %r61, 2; @%p1 bra LAST; "
        "WAIT: ld.volatile.global.u32 %r5, [%rd60]; setp.eq.u32 %p2, %r5, 0; @%p2 bra WAIT; membar.gl; "
        "st.volatile.global.u32 [%rd60+128], 1; bra DONE; "
        "LAST: ld.volatile.global.u32 %r5, [%rd60+128]; setp.eq.u32 %p2, %r5, 0; @%p2 bra LAST; membar.gl; "
        "ld.volatile.global.u32 %r6, [%rd60]; st.global.u32 [%rd60+256], %r6; DONE:";
    EXPECT_EQ(seeds_with(body, grid_of(1, 3), [](const GlobalWords& words) { return words[64] != 1; }), 0);
}

TEST(WeakMemory, shows_an_access_whole_or_not_at_all) {
    // Block 0 stores i to all words of a vector, the others look for one with different words.
    for (const std::string vector : {"v2", "v4"}) {
        const bool two = vector == "v2";
        const std::string stored = two ? "{%r1, %r1}" : "{%r1, %r1, %r1, %r1}",
                          loaded = two ? "{%r5, %r6}" : "{%r5, %r6, %r7, %r8}", last = two ? "%r6" : "%r8";
        const std::string body =
            "mov.u32 %r1, 0; @!%p8 bra READ; WRITE: add.u32 %r1, %r1, 1; st.volatile.global." + vector +
            ".u32 [%rd60], " + stored +
            "; setp.lt.u32 %p1, %r1, 30; @%p1 bra WRITE; bra DONE; "
            "READ: add.u32 %r1, %r1, 1; ld.volatile.global." +
            vector + ".u32 " + loaded + ", [%rd60]; setp.ne.u32 %p1, %r5, " + last +
            "; @%p1 st.global.u32 [%rd60+256], 1; "
            "setp.lt.u32 %p1, %r1, 60; @%p1 bra READ; DONE:";
        EXPECT_EQ(seeds_with(body, grid_of(1, 3), [](const GlobalWords& words) { return words[64] == 1; }), 0)
            << vector;
    }
}

TEST(WeakMemory, shows_no_half_of_an_access_beside_a_later_store) {
    // Block 0 stores both words, then block 1 one of them. Of what block 0 has stored, the others never see
    // just one half.
    const std::string body =
        "mov.u32 %r1, 0; setp.eq.u32 %p1, %r61, 1; @%p1 bra SECOND; @!%p8 bra READ; "
        "st.volatile.global.v2.u32 [%rd60], {1, 1}; red.global.add.u32 [%rd60+128], 1; bra DONE; "
        "SECOND: atom.global.or.b32 %r5, [%rd60+128], 0; setp.eq.u32 %p1, %r5, 0; @%p1 bra SECOND; "
        "st.volatile.global.u32 [%rd60+4], 2; bra DONE; "
        "READ: add.u32 %r1, %r1, 1; ld.volatile.global.v2.u32 {%r5, %r6}, [%rd60]; "
        "setp.lt.u32 %p1, %r5, %r6; setp.eq.u32 %p2, %r5, 0; and.pred %p1, %p1, %p2; "
        "@%p1 st.global.u32 [%rd60+256], 1; setp.lt.u32 %p1, %r1, 20; @%p1 bra READ; DONE:";
    EXPECT_EQ(seeds_with(body, grid_of(1, 4), [](const GlobalWords& words) { return words[64] == 1; }), 0);
}

TEST(WeakMemory, fences_between_a_store_and_a_load_let_one_of_two_blocks_see_the_other) {
    const auto both_miss = [](const std::string& between) {
        const std::string body =
            "@%p8 st.volatile.global.u32 [%rd60], 1; @!%p8 st.volatile.global.u32 [%rd60+4], 1; " + between +
            "@%p8 ld.volatile.global.u32 %r5, [%rd60+4]; @!%p8 ld.volatile.global.u32 %r5, [%rd60]; "
            "mul.wide.u32 %rd2, %r61, 4; add.u64 %rd2, %rd60, %rd2; add.u32 %r5, %r5, 1; "
            "st.global.u32 [%rd2+256], %r5;";
        return seeds_with(body, grid_of(1, 2),
                          [](const GlobalWords& words) { return words[64] == 1 && words[65] == 1; });
    };
    EXPECT_EQ(both_miss("membar.gl;"), 0);
    EXPECT_GT(both_miss(""), 0) << "not in any order of these four accesses";
}

TEST(WeakMemory, atomics_miss_nothing_unless_they_are_too_narrow) {
    // Each thread draws a number, and counts in the word of that number.
    const auto some_number_is_missing = [](const std::string& scope, uint32_t blocks) {
        const std::string body = "atom" + scope +
                                 ".global.add.u32 %r5, [%rd60], 1; mul.wide.u32 %rd2, %r5, 4; "
                                 "add.u64 %rd2, %rd60, %rd2; red.global.add.u32 [%rd2+128], 1;";
        return seeds_with(body, grid_of(128 / blocks, blocks), [](const GlobalWords& words) {
            return words[0] != 128 || std::count(words.begin() + 32, words.begin() + 160, 1u) != 128;
        });
    };
    EXPECT_EQ(some_number_is_missing("", 4), 0);
    EXPECT_EQ(some_number_is_missing(".relaxed.gpu", 4), 0);
    EXPECT_GT(some_number_is_missing(".relaxed.cta", 4), 0);
    EXPECT_EQ(some_number_is_missing(".relaxed.cta", 1), 0);
}

TEST(WeakMemory, a_block_sees_its_own_stores_at_once) {
    const std::string body =
        "mul.wide.u32 %rd2, %r62, 4; add.u64 %rd2, %rd60, %rd2; st.global.u32 [%rd2], 7; "
        "bar.sync 0; xor.b32 %r1, %r62, 33; mul.wide.u32 %rd3, %r1, 4; add.u64 %rd3, %rd60, %rd3; "
        "ld.global.u32 %r5, [%rd3]; bar.sync 0; add.u32 %r5, %r5, 1; st.global.u32 [%rd2], %r5;";
    EXPECT_EQ(seeds_with(
                  body, grid_of(64, 4),
                  [](const GlobalWords& words) { return std::count(words.begin(), words.end(), 8u) != 256; }),
              0);
}

TEST(WeakMemory, the_barrier_of_a_cluster_orders_its_blocks) {
    const std::string body = "@%p8 st.global.u32 [%rd60], 42; barrier.cluster.arrive; barrier.cluster.wait; "
                             "@!%p8 ld.global.u32 %r5, [%rd60]; @!%p8 st.global.u32 [%rd60+256], %r5;";
    LaunchConfiguration clusters = grid_of(1, 2);
    clusters.cluster = Dim3{2, 1, 1};
    EXPECT_EQ(seeds_with(body, clusters, [](const GlobalWords& words) { return words[64] != 42; }), 0);
}
