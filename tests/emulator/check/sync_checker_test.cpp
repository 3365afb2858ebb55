// Barriers and masks on which threads disagree: what is wrong, what is not, and what the finding reports.

#include "../machine/ptx_fixture.hpp"

#include "emulator/check/race/race_checker.hpp"
#include "emulator/check/sync_checker.hpp"

#include <gmock/gmock.h>

#include <numeric>

using namespace emulator::fixture;
using emulator::Finding, emulator::Findings, emulator::SyncChecker, emulator::Watcher;
using std::uint32_t;
using testing::ElementsAre, testing::Field, testing::HasSubstr, testing::IsEmpty, testing::SizeIs;

namespace {

using Kinds = std::vector<std::string>;

struct Checked {
    std::vector<Finding> findings;
    std::vector<uint32_t> left;     ///< what each thread has left in its word: 1 if it has reached the end
    std::uint64_t instructions = 0; ///< executed by all warps
};

/// Runs `body`. In it: %p9, %p8, %p7 hold in thread 0, in warp 0 and in lanes 0 to 15; %p6 in odd threads;
/// %r4 is the warp, %r3 the lane, %rd1 this thread's word in global memory.
Checked check(const std::string& body, uint32_t threads = 64, uint32_t blocks = 1,
              std::optional<std::uint64_t> schedule = {}) {
    Program program(module_of(R"(
        setp.eq.u32 %p9, %r60, 0; setp.lt.u32 %p8, %r60, 32; and.b32 %r3, %r60, 31; setp.lt.u32 %p7, %r3, 16;
        and.b32 %r2, %r60, 1; setp.eq.u32 %p6, %r2, 1; shr.u32 %r4, %r60, 5; mul.wide.u32 %rd1, %r62, 4;
        add.u64 %rd1, %rd60, %rd1; mov.u32 %r20, 1;)" +
                              body + " END: st.global.u32 [%rd1], %r20;"));
    Findings findings;
    SyncChecker checker(findings);
    Watcher* const watchers[] = {&checker};
    const std::size_t count = std::size_t{threads} * blocks;
    auto* const words = program.allocate<uint32_t>(count);
    const emulator::Counters counters =
        program.launch("k", grid_of(threads, blocks), {words},
                       {.host_threads = 1, .watchers = watchers, .schedule = schedule});
    return {findings.list(), {words, words + count}, counters[emulator::Metric::warp_instructions]};
}

Kinds kinds(const std::string& body, uint32_t threads = 64) {
    Kinds result;
    for (const Finding& finding : check(body, threads).findings) result.push_back(finding.kind);
    return result;
}

const Kinds none;
const Kinds not_reached{"barrier not reached by all"}, missing_lanes{"mask names lanes that do not arrive"},
    divergent{"barrier in divergent code"}, wrong_number{"wrong number of threads"};

} // namespace

// ---- block barriers ----

TEST(Sync, barriers_that_all_reach_are_right) {
    EXPECT_EQ(kinds("bar.sync 0; bar.sync 0; barrier.sync 1; bar.sync 1, 64; bar.red.popc.u32 %r5, 0, %p9;"),
              none);
    EXPECT_EQ(kinds("bar.sync 0; bar.sync 1, 64;", 40), none);
    // Threads may exit when no barrier is left.
    EXPECT_EQ(kinds("bar.sync 0; @%p6 exit; @%p8 exit;"), none);
}

// Since compute capability 7.0 a barrier waits for the threads that have not exited.
TEST(Sync, threads_that_have_exited_are_not_missing) {
    EXPECT_EQ(kinds("@!%p8 exit; bar.sync 0;"), none);
    EXPECT_EQ(kinds("@%p6 exit; bar.sync 0;"), none);
    EXPECT_EQ(kinds("bar.sync 0; @%p9 exit; barrier.sync 0;"), none);
    EXPECT_EQ(kinds("@%p8 bar.sync 0;"), none); // warp 1 goes by, and exits
    EXPECT_EQ(check("@%p6 exit; bar.sync 0;", 4).left, (std::vector<uint32_t>{1, 0, 1, 0}));
}

TEST(Sync, lanes_that_go_around_a_barrier_of_their_warp_are_found) {
    const auto findings = check("@%p6 bar.sync 0;").findings; // the even ones store, and exit
    ASSERT_THAT(findings, SizeIs(1));
    EXPECT_EQ(findings[0].kind, not_reached[0]);
    EXPECT_EQ(findings[0].count, 1u);
    EXPECT_EQ(
        findings[0].message,
        "lanes 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28 and 30 of warp 0 bypassed barrier 0 "
        "while other lanes of the warp waited there");
    ASSERT_THAT(findings[0].parties, SizeIs(2));
    EXPECT_EQ(findings[0].parties[0].thread, "(1,0,0)");
    EXPECT_THAT(findings[0].parties[0].ptx, HasSubstr("bar.sync 0"));
    EXPECT_EQ(findings[0].parties[1].thread, "(0,0,0)");
    EXPECT_THAT(findings[0].parties[1].ptx, HasSubstr("st.global"));
    // In a loop, as in a tree where only the adding lanes wait: 32, 16, … lanes.
    const std::string tree = "mov.u32 %r5, 32; LOOP: setp.ge.u32 %p1, %r60, %r5; @%p1 bra NEXT; bar.sync 0;"
                             "NEXT: shr.u32 %r5, %r5, 1; setp.ne.u32 %p1, %r5, 0; @%p1 bra LOOP;";
    EXPECT_EQ(kinds(tree, 32), not_reached);
    // Leaving early is no bypass, whatever the thread does before, and wherever the exit is.
    EXPECT_EQ(kinds("@%p6 bra GO; bra REST; GO: st.global.u32 [%rd1], %r60; exit; REST: bar.sync 0;"), none);
    EXPECT_EQ(kinds("@%p6 bra GO; bar.sync 0; bra END; GO: st.global.u32 [%rd1], %r60; exit;"), none);
    EXPECT_EQ(kinds("@%p6 bra GO; bar.sync 0; st.global.u32 [%rd1], %r60; GO: exit;"), none);
}

TEST(Sync, named_barriers_leave_out_whom_they_like) {
    EXPECT_EQ(kinds("@!%p8 exit; bar.sync 1, 32;"), none);
    EXPECT_EQ(kinds("@%p8 bar.sync 1, 32; @!%p8 bar.sync 2, 32; bar.sync 0;"), none);
    EXPECT_EQ(kinds("@%p8 bar.arrive 1, 64; @!%p8 bar.sync 1, 64;"), none);
    EXPECT_EQ(
        kinds(
            "@%p8 bra LOW; bar.sync 1, 64; bar.sync 2, 64; bra END; LOW: bar.arrive 1, 64; bar.sync 2, 64;"),
        none);
}

TEST(Sync, warps_may_come_to_one_barrier_at_different_places) {
    EXPECT_EQ(kinds("@!%p8 bra LOW; bar.sync 0; bra END; LOW: bar.sync 0;"), none);
    EXPECT_EQ(kinds("@!%p8 bra ON; bar.sync 0; ON: bar.sync 0;"), none) << "and warp 1 exits";
}

TEST(Sync, lanes_of_a_warp_come_to_one_barrier_together) {
    const std::string two_barriers = "@%p6 bra ODD; bar.sync 0; bra END; ODD: bar.sync 0;";
    EXPECT_EQ(kinds(two_barriers), divergent);
    EXPECT_EQ(kinds("@%p6 bra ODD; barrier.sync 0; bra END; ODD: barrier.sync 0;"), none);
    EXPECT_EQ(kinds("@%p6 bra ODD; barrier.sync.aligned 0; bra END; ODD: barrier.sync 0;"), divergent);
    // The even ones take the second barrier for the first, and then go around the second.
    EXPECT_EQ(kinds("@!%p6 bra ON; bar.sync 0; ON: bar.sync 0;"), (Kinds{divergent[0], not_reached[0]}));
    const auto findings = check(two_barriers).findings;
    EXPECT_EQ(findings.at(0).message, "lanes of warp 0 reach barrier 0 at different instructions");
    EXPECT_THAT(findings.at(0).parties, ElementsAre(Field(&emulator::Party::thread, "(0,0,0)"),
                                                    Field(&emulator::Party::thread, "(1,0,0)")));
}

TEST(Sync, lanes_that_come_to_one_barrier_one_after_the_other_are_together) {
    const std::string apart =
        "mov.u32 %r5, 0; LOOP: add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, %r60; @%p1 bra LOOP;"
        "bar.sync 0; bar.warp.sync -1; bar.sync 0;";
    EXPECT_EQ(kinds(apart), none);
    for (std::uint64_t seed = 0; seed < 30; ++seed)
        EXPECT_THAT(check(apart, 64, 3, seed).findings, IsEmpty()) << seed;
}

TEST(Sync, numbers_of_threads_have_to_agree_and_to_be_possible) {
    EXPECT_EQ(kinds("@%p8 bar.sync 1, 64; @!%p8 bar.sync 1, 32;").at(0), wrong_number[0]);
    EXPECT_EQ(kinds("bar.sync 1, 96;"), wrong_number);
    EXPECT_EQ(kinds("bar.sync 1, 33;"), Kinds{"wrong barrier"});
    EXPECT_EQ(kinds("mov.u32 %r5, 16; bar.sync %r5;"), Kinds{"wrong barrier"});
    EXPECT_EQ(kinds("bar.sync %r3;", 32), Kinds{"wrong barrier"});
    EXPECT_EQ(check("bar.sync 1, 33;").left, std::vector<uint32_t>(64, 1)); // and they go on
    EXPECT_EQ(check("bar.arrive 1, 33;").left, std::vector<uint32_t>(64, 1));
}

// ---- deadlocks ----

TEST(Sync, threads_that_wait_for_ever_are_told_of_and_let_go) {
    const auto checked = check("@%p8 bar.sync 1, 64; @!%p8 bar.sync 2, 64; bar.sync 0;", 64, 2);
    ASSERT_THAT(checked.findings, SizeIs(1));
    const Finding& finding = checked.findings[0];
    EXPECT_EQ(finding.kind, not_reached[0]);
    EXPECT_EQ(finding.count, 2u);
    EXPECT_EQ(finding.message,
              "no thread of the block can go on: 32 threads wait at barrier 1 for 64, 32 threads wait "
              "at barrier 2 for 64");
    EXPECT_THAT(finding.parties, ElementsAre(Field(&emulator::Party::role, "waits at barrier 1"),
                                             Field(&emulator::Party::role, "waits at barrier 2")));
    EXPECT_EQ(finding.parties[1].thread, "(32,0,0)");
    EXPECT_EQ(checked.left, std::vector<uint32_t>(128, 1));
}

TEST(Sync, who_waits_for_ever_at_one_barrier_in_two_places_is_told_of_once) {
    const auto findings = check("@%p8 bar.sync 1, 96; @!%p8 bar.sync 1, 96;").findings;
    ASSERT_THAT(findings, SizeIs(1));
    EXPECT_EQ(findings[0].kind, wrong_number[0]);
    EXPECT_EQ(
        findings[0].message,
        "no thread of the block can go on: 64 threads wait at barrier 1 for 96; the block has 64 threads");
    EXPECT_THAT(findings[0].parties, SizeIs(2));
    EXPECT_EQ(findings[0].parties[1].thread, "(32,0,0)");
}

TEST(Sync, a_barrier_for_more_than_are_left_waits_for_ever) {
    const auto findings = check("@%p6 exit; bar.sync 0; @!%p8 exit; bar.sync 1, 64;").findings;
    ASSERT_THAT(findings, SizeIs(1));
    EXPECT_EQ(findings[0].kind, not_reached[0]);
    EXPECT_THAT(findings[0].message, HasSubstr("16 threads wait at barrier 1 for 64"));
    EXPECT_EQ(findings[0].parties.back().role, "has exited");
}

TEST(Sync, threads_that_wait_at_an_mbarrier_for_ever_are_told_of_and_let_go) {
    // For 65 arrivals, of which 64 come; warp 1 waits at a barrier of the block meanwhile.
    const std::string wait = "WAIT: mbarrier.try_wait.parity.shared.b64 %p5, [%r11], 0; @!%p5 bra WAIT;";
    const std::string begin = "mov.u32 %r11, bar; @%p9 mbarrier.init.shared.b64 [%r11], 65; bar.sync 0; "
                              "mbarrier.arrive.shared.b64 %rd5, [%r11];";
    const std::string bar = ".shared .align 8 .b64 bar;";
    const auto checked = check(bar + begin + wait, 64, 2);
    ASSERT_THAT(checked.findings, SizeIs(1));
    const Finding& finding = checked.findings[0];
    EXPECT_EQ(finding.kind, not_reached[0]);
    EXPECT_EQ(finding.count, 2u);
    EXPECT_EQ(finding.message,
              "no thread of the block can go on: 64 threads wait at the mbarrier at 0x0 (bar, 8 bytes of "
              "shared memory), which lacks 1 of 65 arrivals");
    EXPECT_THAT(finding.parties, ElementsAre(Field(&emulator::Party::role, "waits at the mbarrier at 0x0")));
    EXPECT_THAT(finding.cause, HasSubstr("An mbarrier's phase ends after as many arrivals"));
    EXPECT_EQ(checked.left, std::vector<uint32_t>(128, 1));
    // They are released after all have failed a test, not at the end of their block's turn.
    EXPECT_LT(checked.instructions, 1000u);

    const auto both = check(bar + begin + "@!%p8 bra OVER;" + wait + "OVER: bar.sync 0;");
    ASSERT_THAT(both.findings, SizeIs(1));
    EXPECT_EQ(
        both.findings[0].message,
        "no thread of the block can go on: 32 threads wait at barrier 0, 32 threads wait at the mbarrier "
        "at 0x0 (bar, 8 bytes of shared memory), which lacks 1 of 65 arrivals");
    EXPECT_EQ(both.left, std::vector<uint32_t>(64, 1));
}

TEST(Sync, an_mbarrier_that_is_initialized_again_is_the_cause_of_a_wait) {
    const auto findings =
        check(".shared .align 8 .b64 bar; mov.u32 %r11, bar; @%p9 mbarrier.init.shared.b64 [%r11], 64; "
              "bar.sync 0; @%p9 mbarrier.init.shared.b64 [%r11], 64; "
              "mbarrier.arrive.shared.b64 %rd5, [%r11]; "
              "WAIT: mbarrier.try_wait.parity.shared.b64 %p5, [%r11], 0; @!%p5 bra WAIT;")
            .findings;
    ASSERT_THAT(findings, SizeIs(1));
    EXPECT_EQ(findings[0].kind, not_reached[0]);
    EXPECT_THAT(findings[0].message, HasSubstr("it was initialized again while it was in use, at "));
    EXPECT_THAT(findings[0].cause, HasSubstr("put a __syncthreads() in front"));
}

TEST(Sync, an_mbarrier_is_invalidated_once) {
    const std::string init = ".shared .align 8 .b64 bar; mov.u32 %r11, bar; @!%p9 bra END; "
                             "mbarrier.init.shared.b64 [%r11], 1;",
                      invalidate = "mbarrier.inval.shared.b64 [%r11];";
    EXPECT_EQ(kinds(init + invalidate), none);
    const auto checked = check(init + invalidate + invalidate, 64, 2);
    ASSERT_THAT(checked.findings, SizeIs(1));
    const Finding& finding = checked.findings[0];
    EXPECT_EQ(finding.kind, "no mbarrier to invalidate");
    EXPECT_EQ(finding.count, 2u);
    EXPECT_THAT(finding.message, HasSubstr("there is no mbarrier at 0x0 (bar, 8 bytes of shared memory)"));
    EXPECT_EQ(checked.left, std::vector<uint32_t>(128, 1));
}

TEST(Sync, without_it_a_deadlock_ends_the_launch) {
    Program program(module_of("setp.lt.u32 %p8, %r60, 32; @%p8 bar.sync 1, 64; @!%p8 bar.sync 2, 64;"));
    Findings findings;
    emulator::RaceChecker race(findings);
    Watcher* const watchers[] = {&race};
    EXPECT_THAT(error_of([&] {
                    program.launch("k", grid_of(64), {}, {.host_threads = 1, .watchers = watchers});
                }).what(),
                HasSubstr("can go on"));
}

TEST(Sync, after_a_deadlock_no_races_are_made_up) {
    Program program(
        module_of("mov.u32 %r12, tile; mad.lo.u32 %r10, %r60, 4, %r12; setp.lt.u32 %p8, %r60, 32; @%p8 "
                  "bar.sync 1, 64; @!%p8 bar.sync 2, 64; st.shared.u32 [%r12], %r60;",
                  ".shared .align 16 .b8 tile[4096];"));
    Findings findings;
    SyncChecker sync(findings);
    emulator::RaceChecker race(findings);
    for (const bool sync_first : {true, false}) {
        Watcher* const watchers[] = {sync_first ? static_cast<Watcher*>(&sync) : &race,
                                     sync_first ? static_cast<Watcher*>(&race) : &sync};
        program.launch("k", grid_of(64), {}, {.host_threads = 1, .watchers = watchers});
    }
    EXPECT_THAT(findings.list(), ElementsAre(Field(&Finding::checker, "sync")));
}

// ---- masks ----

TEST(Sync, masks_that_name_who_comes_are_right) {
    EXPECT_EQ(
        kinds("bar.warp.sync -1; shfl.sync.down.b32 %r5, %r60, 16, 31, -1; vote.sync.any.pred %p1, %p9, -1;"),
        none);
    EXPECT_EQ(kinds("@%p7 bar.warp.sync 0xffff; @!%p7 bar.warp.sync 0xffff0000;"), none);
    EXPECT_EQ(kinds("selp.b32 %r5, 0xffff, 0xffff0000, %p7; shfl.sync.bfly.b32 %r6, %r60, 1, 31, %r5;"),
              none);
    // Lanes that do not exist, or that have exited, count no more.
    EXPECT_EQ(kinds("bar.warp.sync -1; shfl.sync.bfly.b32 %r5, %r60, 4, 31, -1;", 40), none);
    EXPECT_EQ(kinds("@%p6 exit; bar.warp.sync -1; vote.sync.ballot.b32 %r5, %p9, -1;"), none);
    // At different places.
    EXPECT_EQ(kinds("@%p6 bra ODD; bar.warp.sync -1; bra END; ODD: bar.warp.sync -1;"), none);
    // Lanes that come late, and do something on the way.
    EXPECT_EQ(
        kinds("@%p7 bra ON; ld.global.u32 %r5, [%rd1]; bar.warp.sync 0xffff0000; ON: bar.warp.sync -1;"),
        none);
}

TEST(Sync, a_mask_has_to_name_its_caller) {
    const auto findings = check("bar.warp.sync 0xffff;", 32).findings;
    ASSERT_THAT(findings, SizeIs(1));
    EXPECT_EQ(findings[0].kind, "mask without its caller");
    EXPECT_EQ(findings[0].message,
              "lanes 16 to 31 of warp 0 execute this with the mask 0xffff, which does not name them");
    EXPECT_EQ(findings[0].parties.at(0).thread, "(16,0,0)");
    EXPECT_EQ(kinds("shfl.sync.idx.b32 %r5, %r60, 0, 31, 0x7fffffff;"), Kinds{"mask without its caller"});
    EXPECT_EQ(kinds("vote.sync.ballot.b32 %r5, %p9, 1;"), Kinds{"mask without its caller"});
}

TEST(Sync, lanes_that_wait_elsewhere_do_not_come) {
    const auto checked = check("@%p7 bar.warp.sync -1; bar.sync 0;", 32);
    ASSERT_THAT(checked.findings, SizeIs(1));
    const Finding& finding = checked.findings[0];
    EXPECT_EQ(finding.kind, missing_lanes[0]);
    EXPECT_EQ(finding.message,
              "lanes 0 to 15 of warp 0 wait for lanes 16 to 31, which their mask 0xffffffff names, "
              "and which wait elsewhere");
    EXPECT_THAT(finding.parties, ElementsAre(Field(&emulator::Party::thread, "(0,0,0)"),
                                             Field(&emulator::Party::thread, "(16,0,0)")));
    EXPECT_THAT(finding.parties[0].ptx, HasSubstr("bar.warp.sync -1"));
    EXPECT_THAT(finding.parties[1].ptx, HasSubstr("bar.sync 0"));
    EXPECT_EQ(checked.left, std::vector<uint32_t>(32, 1));
    EXPECT_EQ(kinds("@%p7 bra LOW; shfl.sync.idx.b32 %r5, %r60, 0, 31, -1; bra END; LOW: shfl.sync.idx.b32 "
                    "%r5, %r60, "
                    "0, 31, -1;",
                    32),
              missing_lanes);
    EXPECT_EQ(kinds("@%p7 bar.warp.sync -1; @!%p7 bar.warp.sync 0xffff0001;", 32), missing_lanes);
}

TEST(Sync, lanes_that_go_by_do_not_come) {
    // They store at the end, and exit.
    for (const std::string exchange : {"bar.warp.sync -1;", "vote.sync.ballot.b32 %r5, %p9, -1;",
                                       "shfl.sync.idx.b32 %r5, %r60, 0, 31, -1;"}) {
        const auto findings = check("@%p7 " + exchange, 32).findings;
        ASSERT_THAT(findings, SizeIs(1)) << exchange;
        EXPECT_EQ(findings[0].kind, missing_lanes[0]);
        EXPECT_EQ(findings[0].message,
                  "the mask 0xffffffff names lanes 16 to 31 of warp 0, which went on without arriving here");
        EXPECT_EQ(findings[0].parties.at(1).role, "went on");
        EXPECT_THAT(findings[0].parties.at(1).ptx, HasSubstr("st.global"));
    }
    // An early return is another thing, also with something done before it.
    EXPECT_EQ(kinds("@%p7 bra ON; st.global.u32 [%rd1], %r20; exit; ON: bar.warp.sync -1;", 32), none);
    EXPECT_EQ(kinds("@!%p7 exit; bar.warp.sync -1;", 32), none);
}

TEST(Sync, an_exited_lane_has_no_value) {
    const auto findings =
        check("setp.gt.u32 %p1, %r3, 19; @%p1 exit; shfl.sync.down.b32 %r5, %r60, 8, 31, -1;").findings;
    ASSERT_THAT(findings, SizeIs(1));
    EXPECT_EQ(findings[0].kind, "shuffle from an exited lane");
    EXPECT_EQ(findings[0].message,
              "lane 12 of warp 0 reads the value of lane 20, which has exited: what it gets is undefined");
    EXPECT_EQ(findings[0].count, 16u); // lanes 12 to 19 of two warps
    EXPECT_THAT(findings[0].parties.at(1).ptx, HasSubstr("exit"));
    EXPECT_THAT(findings[0].cause, HasSubstr("throws the value away"));
    EXPECT_EQ(kinds("setp.gt.u32 %p1, %r3, 19; @%p1 exit; shfl.sync.idx.b32 %r5, %r60, 0, 31, -1;"), none);
}

// 40 threads: the second warp has lanes 0 to 7.
TEST(Sync, a_lane_without_a_thread_has_no_value) {
    const auto findings = check("shfl.sync.down.b32 %r5, %r60, 4, 31, -1;", 40).findings;
    ASSERT_THAT(findings, SizeIs(1));
    EXPECT_EQ(findings[0].kind, "shuffle from a lane that does not exist");
    EXPECT_EQ(findings[0].message,
              "lane 4 of warp 1 reads the value of lane 8, for which the block has no thread: "
              "what it gets is undefined");
    EXPECT_EQ(findings[0].count, 4u);
    EXPECT_EQ(kinds("shfl.sync.down.b32 %r5, %r60, 4, 0x1807, -1; shfl.sync.bfly.b32 %r5, %r60, 4, 31, -1; "
                    "bar.warp.sync -1;",
                    40),
              none);
}

TEST(Sync, a_lane_outside_the_mask_has_no_value) {
    const std::string down = "@%p7 shfl.sync.down.b32 %r20, %r60, ";
    const auto findings = check(down + "8, 31, 0xffff;").findings;
    ASSERT_THAT(findings, SizeIs(1));
    EXPECT_EQ(findings[0].kind, "shuffle from a lane outside its mask");
    EXPECT_EQ(findings[0].message, "lane 8 of warp 0 reads the value of lane 16, which its mask 0xffff does "
                                   "not name: what it gets is undefined");
    EXPECT_EQ(findings[0].count, 16u); // lanes 8 to 15 of two warps
    EXPECT_EQ(findings[0].parties.at(0).thread, "(8,0,0)");
    EXPECT_THAT(findings[0].cause,
                HasSubstr("throws the value away can be right, but CUDA allows reads only from"));
    const Kinds outside{findings[0].kind};
    EXPECT_EQ(kinds("setp.gt.u32 %p1, %r3, 19; @%p1 exit; shfl.sync.down.b32 %r5, %r60, 8, 31, 0xfffff;"),
              outside)
        << "not named, and gone too";
    EXPECT_EQ(kinds("selp.b32 %r5, 0xffff, 0xffff0000, %p7; shfl.sync.idx.b32 %r6, %r60, 0, 31, %r5;"),
              outside);
    // Outside its segment, a lane gets its own value.
    EXPECT_EQ(kinds(down + "8, 15, 0xffff;"), none);
    EXPECT_EQ(kinds(down + "8, 0x101f, 0xffff;"), none);
    EXPECT_EQ(kinds(down + "0, 31, 0xffff;"), none);

    // Each random order gives another value. None gives a wrong one where it is defined.
    const auto sum_of = [&](const std::string& operands, std::uint64_t seed) {
        const auto left = check(down + operands, 32, 1, seed).left;
        return std::accumulate(left.begin(), left.begin() + 16, std::uint64_t{0});
    };
    EXPECT_NE(sum_of("8, 31, 0xffff;", 1), sum_of("8, 31, 0xffff;", 2));
    EXPECT_EQ(sum_of("8, 15, 0xffff;", 1), (8u + 15u) * 8);
    EXPECT_EQ(sum_of("8, 15, 0xffff;", 2), (8u + 15u) * 8);
}

TEST(Sync, right_kernels_are_right_in_every_order) {
    const std::string body =
        "@%p7 bra LOW; bar.warp.sync 0xffff0000; bra MEET; LOW: bar.warp.sync 0xffff; MEET: "
        "bar.warp.sync -1; shfl.sync.bfly.b32 %r5, %r60, 1, 31, -1; bar.sync 0; @%p8 bar.arrive 1, 64; "
        "@!%p8 bar.sync 1, 64;";
    for (std::uint64_t seed = 0; seed < 30; ++seed)
        EXPECT_THAT(check(body, 64, 4, seed).findings, IsEmpty()) << seed;
}
