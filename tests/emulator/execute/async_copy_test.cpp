// cp.async with its groups, mbarriers, and bulk copies: what is where, and when.

#include "../machine/ptx_fixture.hpp"

#include "emulator/check/init_checker.hpp"
#include "emulator/check/race/race_checker.hpp"
#include "emulator/machine/finding.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

using namespace emulator::fixture;
using emulator::Failure;
using std::uint32_t;
using testing::HasSubstr;

namespace {

// Thread i: %r10 = the address of tile[i], %r11 of the mbarrier.
constexpr const char* declarations = ".shared .align 128 .b32 tile[1024]; .shared .align 8 .b64 barrier; "
                                     ".shared .align 8 .b64 other;\n";
constexpr const char* addresses = "mov.u32 %r10, tile; shl.b32 %r12, %r60, 2; add.u32 %r10, %r10, %r12; "
                                  "mov.u32 %r11, barrier; mov.u32 %r13, other;\n";

Words iota(uint32_t count, uint32_t first = 0) {
    Words result(count);
    std::iota(result.begin(), result.end(), first);
    return result;
}

/// What threads leave in %r0 that find input[i] at [%rd60].
Words run_async(const std::string& body, uint32_t threads, const Words& input = iota(1024, 1000)) {
    return run(addresses + body, threads, input, declarations);
}

/// The findings of the checkers init and race, by their kinds.
std::vector<std::string> findings_of(const std::string& body, uint32_t threads) {
    emulator::Findings findings;
    emulator::InitChecker init(findings);
    emulator::RaceChecker race(findings);
    Program program(module_of("mul.wide.u32 %rd63, %r62, 4; add.s64 %rd60, %rd60, %rd63;" +
                                  (addresses + body) + "st.global.u32 [%rd60], %r0;",
                              declarations));
    auto* const words = program.allocate<uint32_t>(threads);
    emulator::Watcher* const watchers[] = {&init, &race};
    emulator::RunOptions options;
    options.host_threads = 1;
    options.watchers = watchers;
    program.launch("k", grid_of(threads), {words}, options);
    std::vector<std::string> kinds;
    for (const emulator::Finding& finding : findings.list())
        kinds.push_back(finding.checker + ": " + finding.kind);
    return kinds;
}

constexpr const char* copy_own = "cp.async.ca.shared.global [%r10], [%rd60], 4;\n";
constexpr const char* read_own = "ld.shared.u32 %r0, [%r10];\n";
constexpr const char* neighbor = "xor.b32 %r14, %r12, 4; mov.u32 %r15, tile; add.u32 %r14, %r14, %r15; "
                                 "ld.shared.u32 %r0, [%r14];\n";
/// Waits until the phase of parity 0 is over.
constexpr const char* wait_0 = "WAIT: mbarrier.try_wait.parity.shared.b64 %p5, [%r11], 0; @!%p5 bra WAIT;\n";
constexpr const char* init_for_all = "setp.eq.u32 %p1, %r60, 0; mov.u32 %r20, %ntid.x; @%p1 "
                                     "mbarrier.init.shared.b64 [%r11], %r20; bar.sync 0;\n";

} // namespace

// ---- cp.async ----

TEST(AsyncCopy, is_there_after_the_wait) {
    EXPECT_EQ(run_async(std::string(copy_own) + "cp.async.wait_all;" + read_own, 64), iota(64, 1000));
    EXPECT_EQ(
        run_async(std::string(copy_own) + "cp.async.commit_group; cp.async.wait_group 0;" + read_own, 64),
        iota(64, 1000));
}

TEST(AsyncCopy, is_not_there_before) {
    // The emulator copies as late as possible: the old bytes are still there.
    for (const char* wait : {"", "cp.async.wait_group 0;", "cp.async.commit_group;",
                             "cp.async.commit_group; cp.async.wait_group 1;"})
        EXPECT_EQ(run_async(std::string("st.shared.u32 [%r10], 7;") + copy_own + wait + read_own, 32),
                  Words(32, 7))
            << wait;
}

TEST(AsyncCopy, waits_for_all_but_the_last_groups) {
    // Three groups, to tile[i], tile[32 + i], tile[64 + i]; all but the last one are waited for.
    EXPECT_EQ(run_async("st.shared.u32 [%r10+256], 1;"
                        "cp.async.ca.shared.global [%r10], [%rd60], 4; cp.async.commit_group;"
                        "cp.async.ca.shared.global [%r10+128], [%rd60], 4; cp.async.commit_group;"
                        "cp.async.ca.shared.global [%r10+256], [%rd60], 4; cp.async.commit_group;"
                        "cp.async.wait_group 1; ld.shared.u32 %r1, [%r10]; ld.shared.u32 %r2, [%r10+128];"
                        "ld.shared.u32 %r3, [%r10+256]; add.u32 %r0, %r1, %r2; add.u32 %r0, %r0, %r3;",
                        32, Words(32, 500)),
              Words(32, 1001));
}

TEST(AsyncCopy, copies_4_8_and_16_bytes_and_fills_with_zeros) {
    // Threads 0 to 7 copy 16 bytes each: a whole row of 32 words.
    EXPECT_EQ(
        run_async("mul.lo.u32 %r2, %r60, 12; add.u32 %r3, %r10, %r2; cvt.u64.u32 %rd2, %r2; add.s64 %rd3, "
                  "%rd60, %rd2; setp.lt.u32 %p1, %r60, 8; @%p1 cp.async.cg.shared.global [%r3], [%rd3], "
                  "16; cp.async.wait_all; bar.sync 0;" +
                      std::string(read_own),
                  32),
        iota(32, 1000));
    // 8 bytes, 4 of them read: the next word becomes 0 and does not keep its old value.
    EXPECT_EQ(run_async("and.b32 %r2, %r60, 1; setp.eq.u32 %p1, %r2, 0; st.shared.u32 [%r10], 9; @%p1 "
                        "cp.async.ca.shared.global [%r10], [%rd60], 8, 4; cp.async.wait_all; bar.sync 0;" +
                            std::string(read_own),
                        4),
              (Words{1000, 0, 1002, 0}));
    // A count of 0 and a true predicate read nothing, from wherever.
    EXPECT_EQ(run_async("mov.u64 %rd2, 0; mov.u32 %r2, 0; cp.async.ca.shared.global [%r10], [%rd2], 4, %r2; "
                        "cp.async.wait_all;" +
                            std::string(read_own),
                        32),
              Words(32, 0));
    EXPECT_EQ(run_async("setp.lt.u32 %p1, %r60, 2; cp.async.ca.shared.global [%r10], [%rd60], 4, %p1; "
                        "cp.async.wait_all;" +
                            std::string(read_own),
                        4),
              (Words{0, 0, 1002, 1003}));
}

TEST(AsyncCopy, refuses_what_lies_elsewhere) {
    const auto error = [](const char* body) { return error_of([&] { run_async(body, 32); }); };
    EXPECT_EQ(error("cp.async.ca.shared.global [%r10+8192], [%rd60], 4;").failure(),
              Failure::illegal_address);
    EXPECT_EQ(error("cp.async.ca.shared.global [%r10], [%rd60+400000], 4;").failure(),
              Failure::illegal_address);
    EXPECT_EQ(error("cp.async.ca.shared.global [%r10+2], [%rd60], 4;").failure(),
              Failure::misaligned_address);
    EXPECT_EQ(error("cp.async.cg.shared.global [%r10], [%rd60], 8;").failure(), Failure::invalid_ptx);
    EXPECT_EQ(error("cp.async.ca.shared.global [%r10], [%rd60], 2;").failure(), Failure::invalid_ptx);
    EXPECT_THAT(error("mov.u32 %r2, 5; cp.async.ca.shared.global [%r10], [%rd60], 4, %r2;").what(),
                HasSubstr("5 bytes"));
}

// All lanes read the same 4 bytes: 1 sector. A cp.async does not count as a store.
TEST(AsyncCopy, counts_as_a_load_and_not_as_a_store) {
    Program program(module_of(addresses + std::string("cp.async.ca.shared.global [%r10], [%rd60], 4; "
                                                      "cp.async.wait_all;"),
                              declarations));
    const auto counters = program.launch("k", grid_of(32), {program.allocate<uint32_t>(32)});
    EXPECT_EQ(counters[emulator::Metric::global_load_sectors], 1u);
    EXPECT_EQ(counters[emulator::Metric::global_load_requests], 1u);
    EXPECT_EQ(counters[emulator::Metric::shared_store_wavefronts], 0u);
}

TEST(AsyncCopyChecks, are_silent_where_all_is_waited_for) {
    EXPECT_THAT(findings_of(std::string(copy_own) + "cp.async.wait_all;" + read_own, 64), testing::IsEmpty());
    EXPECT_THAT(findings_of(std::string(copy_own) + "cp.async.wait_all; bar.sync 0;" + neighbor, 64),
                testing::IsEmpty());
    // Two stages: the second copy is in flight while the first one is read.
    EXPECT_THAT(findings_of("cp.async.ca.shared.global [%r10], [%rd60], 4; cp.async.commit_group;"
                            "cp.async.ca.shared.global [%r10+256], [%rd60], 4; cp.async.commit_group;"
                            "cp.async.wait_group 1; bar.sync 0;" +
                                std::string(neighbor) + "cp.async.wait_group 0; bar.sync 0;",
                            64),
                testing::IsEmpty());
}

TEST(AsyncCopyChecks, find_a_read_before_the_wait) {
    const auto kinds = findings_of(std::string(copy_own) + read_own, 32);
    EXPECT_THAT(kinds, testing::Contains("race: read after write"));
    EXPECT_THAT(kinds, testing::Contains("init: uninitialized read"));
    // … if the bytes were written before, and also after a barrier
    EXPECT_THAT(findings_of(std::string("st.shared.u32 [%r10], 7;") + copy_own + "bar.sync 0;" + read_own +
                                "bar.sync 0; cp.async.wait_all;",
                            32),
                testing::ElementsAre("race: read after write"));
    // A wait for all groups except the one that matters.
    EXPECT_THAT(findings_of(std::string("st.shared.u32 [%r10], 7;") + copy_own +
                                "cp.async.commit_group; cp.async.wait_group 1;" + read_own,
                            32),
                testing::ElementsAre("race: read after write"));
}

TEST(AsyncCopyChecks, find_a_missing_barrier_behind_the_wait) {
    EXPECT_THAT(findings_of(std::string(copy_own) + "cp.async.wait_all;" + neighbor, 32),
                testing::Contains("race: read after write"));
}

TEST(AsyncCopyChecks, find_a_copy_to_what_others_may_still_read) {
    EXPECT_THAT(findings_of(std::string("st.shared.u32 [%r10], 7; bar.sync 0;") + neighbor + copy_own +
                                "cp.async.wait_all;",
                            32),
                testing::ElementsAre("race: write after read"));
}

TEST(AsyncCopyChecks, find_different_values_that_lanes_bring_to_one_place) {
    const std::string end =
        "cp.async.wait_all; bar.warp.sync -1; mov.u32 %r10, tile; ld.shared.u32 %r0, [%r10];";
    // Every lane its own word, which is 0 as the others are; then with the lane's number in it.
    const std::string to_one_place =
        "mov.u32 %r16, tile; cp.async.ca.shared.global [%r16], [%rd60], 4;" + end;
    EXPECT_THAT(findings_of(to_one_place, 32), testing::IsEmpty());
    const std::string numbered = "st.global.u32 [%rd60], %r60; bar.sync 0;";
    EXPECT_THAT(findings_of(numbered + to_one_place, 32), testing::ElementsAre("race: write after write"));
    // Zeros for all but the first lane: the same bytes as the first lane copies.
    EXPECT_THAT(findings_of(numbered +
                                "mov.u32 %r16, tile; mov.u32 %r17, 0;"
                                "cp.async.ca.shared.global [%r16], [%rd60], 4, %r17;" +
                                end,
                            32),
                testing::IsEmpty());
    // By one lane after the other.
    EXPECT_THAT(findings_of("mov.u32 %r16, tile; setp.eq.u32 %p1, %r60, 0; "
                            "@%p1 cp.async.ca.shared.global [%r16], [%rd60], 4; "
                            "@!%p1 cp.async.ca.shared.global [%r16], [%rd60], 4;" +
                                end,
                            2),
                testing::ElementsAre("race: write after write"));
}

// ---- mbarrier ----

TEST(Mbarrier, lets_go_when_all_have_come) {
    // Each thread stores, arrives, waits, and reads its neighbor's word: over two warps.
    EXPECT_EQ(
        run_async(std::string(init_for_all) +
                      "st.shared.u32 [%r10], %r60; mbarrier.arrive.shared.b64 "
                      "%rd5, [%r11];\n"
                      "WAIT: mbarrier.test_wait.shared.b64 %p5, [%r11], %rd5; "
                      "@!%p5 bra WAIT;" +
                      "xor.b32 %r14, %r60, 33; shl.b32 %r14, %r14, 2; mov.u32 %r15, tile; add.u32 %r14, "
                      "%r14, %r15; ld.shared.u32 %r0, [%r14];",
                  64)[5],
        5u ^ 33u);
}

TEST(Mbarrier, has_phases_of_changing_parity) {
    // Alone at a barrier for one: after an arrival parity 0 is over, then parity 1, and so on.
    EXPECT_EQ(run_async("mbarrier.init.shared.b64 [%r11], 1;"
                        "mbarrier.test_wait.parity.shared.b64 %p1, [%r11], 0; selp.u32 %r1, 1, 0, %p1;"
                        "mbarrier.test_wait.parity.shared.b64 %p1, [%r11], 1; selp.u32 %r2, 2, 0, %p1;"
                        "mbarrier.arrive.shared.b64 _, [%r11];"
                        "mbarrier.test_wait.parity.shared.b64 %p1, [%r11], 0; selp.u32 %r3, 4, 0, %p1;"
                        "mbarrier.test_wait.parity.shared.b64 %p1, [%r11], 1; selp.u32 %r4, 8, 0, %p1;"
                        "add.u32 %r0, %r1, %r2; add.u32 %r0, %r0, %r3; add.u32 %r0, %r0, %r4;",
                        1),
              Words{2 + 4}); // before: the phase before the first one counts as over
}

TEST(Mbarrier, counts_what_is_pending) {
    // For 10: an arrival of 3 sees 10, one of 1 sees 7; the count is taken from the state before.
    EXPECT_EQ(run_async("mbarrier.init.shared.b64 [%r11], 10; mbarrier.arrive.noComplete.shared.b64 %rd5, "
                        "[%r11], 3; mbarrier.arrive.shared.b64 %rd6, [%r11]; mbarrier.pending_count.b64 %r1, "
                        "%rd5; mbarrier.pending_count.b64 %r2, %rd6; mad.lo.u32 %r0, %r1, 100, %r2;",
                        1),
              Words{1007});
}

TEST(Mbarrier, needs_fewer_after_an_arrival_that_drops_out) {
    // For 2: one drops out, one arrives: phase 0 ends. Then a single arrival ends phase 1.
    EXPECT_EQ(run_async("mbarrier.init.shared.b64 [%r11], 2; mbarrier.arrive_drop.shared.b64 _, [%r11]; "
                        "mbarrier.arrive.shared.b64 _, [%r11]; mbarrier.arrive.shared.b64 _, [%r11]; "
                        "mbarrier.test_wait.parity.shared.b64 %p1, [%r11], 1; selp.u32 %r0, 1, 0, %p1;",
                        1),
              Words{1});
}

TEST(Mbarrier, waits_for_bytes_too) {
    EXPECT_EQ(
        run_async("mbarrier.init.shared.b64 [%r11], 1; mbarrier.arrive.expect_tx.shared.b64 _, [%r11], 64; "
                  "mbarrier.test_wait.parity.shared.b64 %p1, [%r11], 0; selp.u32 %r1, 1, 0, %p1; "
                  "mbarrier.complete_tx.shared.b64 [%r11], 64; "
                  "mbarrier.test_wait.parity.shared.b64 %p1, [%r11], 0; selp.u32 %r2, 2, 0, %p1; "
                  "add.u32 %r0, %r1, %r2;",
                  1),
        Words{2});
}

TEST(Mbarrier, lets_lanes_of_one_warp_wait_for_each_other) {
    // Odd lanes wait for even ones, whose code comes after theirs.
    EXPECT_EQ(run_async("setp.eq.u32 %p1, %r60, 0; @%p1 mbarrier.init.shared.b64 [%r11], 16; bar.sync 0; "
                        "and.b32 %r2, %r60, 1; setp.eq.u32 %p2, %r2, 0; mov.u32 %r0, 5; @%p2 bra EVEN;\n" +
                            std::string(wait_0) +
                            "bra END; EVEN: mbarrier.arrive.shared.b64 _, [%r11]; mov.u32 %r0, 6; END:",
                        32)[1],
              5u);
}

// Tests of libcu++ do so. The checker `sync` reports it.
TEST(Mbarrier, may_be_invalidated_where_there_is_none) {
    EXPECT_EQ(run_async("mbarrier.inval.shared.b64 [%r11]; mbarrier.init.shared.b64 [%r11], 2; "
                        "mbarrier.inval.shared.b64 [%r11]; mbarrier.inval.shared.b64 [%r11]; mov.u32 %r0, 5;",
                        1),
              Words{5});
}

TEST(Mbarrier, says_what_is_wrong) {
    const auto error = [](const char* body) { return error_of([&] { run_async(body, 1); }); };
    EXPECT_THAT(error("mbarrier.arrive.shared.b64 _, [%r11];").what(), HasSubstr("has not been initialized"));
    EXPECT_THAT(error("mbarrier.init.shared.b64 [%r11], 0;").what(), HasSubstr("1 to 1048575"));
    EXPECT_THAT(error("mbarrier.init.shared.b64 [%r11], 2; mbarrier.arrive.shared.b64 _, [%r11], 3;").what(),
                HasSubstr("3 arrivals"));
    EXPECT_THAT(
        error("mbarrier.init.shared.b64 [%r11], 2; mbarrier.arrive.noComplete.shared.b64 %rd1, [%r11], 2; "
              "mov.b64 %rd0, %rd1;")
            .what(),
        HasSubstr(".noComplete"));
    EXPECT_THAT(error("mbarrier.init.shared.b64 [%r11], 2; mbarrier.inval.shared.b64 [%r11]; "
                      "mbarrier.arrive.shared.b64 _, [%r11];")
                    .what(),
                HasSubstr("or invalidated; it was invalidated at mbarrier.inval.shared.b64 [%r11];"));
    EXPECT_EQ(error("mbarrier.init.shared.b64 [%r11+4], 2;").failure(), Failure::misaligned_address);
}

TEST(Mbarrier, tells_who_waits_that_an_arrival_finds_none) {
    const auto error = error_of([] {
        run(std::string(addresses) + R"(.loc 1 5 0
            mbarrier.init.shared.b64 [%r11], 1; call arrive; mbarrier.inval.shared.b64 [%r11]; .loc 1 7 0
            mbarrier.test_wait.parity.shared.b64 %p1, [%r11], 0;)",
            1, {},
            std::string(".file 1 \"wait.cu\"\n") + declarations +
                ".func arrive() { .reg .b32 %r<2>; mov.u32 %r1, barrier; mov.u32 %r0, 0;"
                "cp.async.mbarrier.arrive.noinc.shared.b64 [%r1]; ret; }\n");
    });
    EXPECT_THAT(error.what(), HasSubstr("there is no mbarrier"));
    EXPECT_THAT(error.what(), HasSubstr("at wait.cu:7\n"));
    EXPECT_THAT(error.what(), HasSubstr("\n    mbarrier.test_wait"));
}

TEST(Mbarrier, waits_for_asynchronous_copies) {
    // With .noinc the copy's arrival is one of those that the barrier was initialized for.
    EXPECT_EQ(run_async(init_for_all + std::string(copy_own) +
                            "cp.async.mbarrier.arrive.noinc.shared.b64 [%r11];" + wait_0 + neighbor,
                        64)[4],
              1005u);
    // Without, it comes on top: the thread arrives as well.
    EXPECT_EQ(run_async(init_for_all + std::string(copy_own) +
                            "cp.async.mbarrier.arrive.shared.b64 [%r11]; "
                            "mbarrier.arrive.shared.b64 _, [%r11];" +
                            wait_0 + neighbor,
                        64)[4],
              1005u);
}

TEST(MbarrierChecks, are_silent_where_it_orders) {
    EXPECT_THAT(findings_of(init_for_all + std::string(copy_own) +
                                "cp.async.mbarrier.arrive.noinc.shared.b64 [%r11];" + wait_0 + neighbor,
                            64),
                testing::IsEmpty());
    EXPECT_THAT(findings_of(std::string(init_for_all) +
                                "st.shared.u32 [%r10], %r60; "
                                "mbarrier.arrive.shared.b64 _, [%r11];" +
                                wait_0 + neighbor,
                            64),
                testing::IsEmpty());
}

TEST(MbarrierChecks, find_a_read_without_the_wait) {
    EXPECT_THAT(findings_of(init_for_all + std::string(copy_own) +
                                "cp.async.mbarrier.arrive.noinc.shared.b64 [%r11];" + neighbor + wait_0,
                            64),
                testing::Contains("race: read after write"));
    EXPECT_THAT(findings_of(std::string(init_for_all) +
                                "st.shared.u32 [%r10], %r60; "
                                "mbarrier.arrive.shared.b64 _, [%r11];" +
                                neighbor + wait_0,
                            64),
                testing::Contains("race: read after write"));
}

// ---- bulk copies ----

namespace {

/// Thread 0 issues the copy of 256 bytes; all wait.
constexpr const char* bulk_load =
    "setp.eq.u32 %p1, %r60, 0; @%p1 mbarrier.init.shared.b64 [%r11], 1; bar.sync 0;\n"
    "@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r11], 256;\n"
    "@%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r10], [%rd60], 256, [%r11];\n";

} // namespace

TEST(BulkCopy, brings_a_tile) {
    EXPECT_EQ(run_async(std::string(bulk_load) + wait_0 + read_own, 64), iota(64, 1000));
    EXPECT_THAT(findings_of(std::string(bulk_load) + wait_0 + read_own, 64), testing::IsEmpty());
    EXPECT_THAT(findings_of(std::string(bulk_load) + read_own + wait_0, 64),
                testing::UnorderedElementsAre("init: uninitialized read", HasSubstr("race: ")));
}

TEST(BulkCopy, must_end_before_its_block_does) {
    const auto error = error_of([] { run_async(bulk_load, 64); });
    EXPECT_EQ(error.failure(), Failure::launch_failure);
    EXPECT_THAT(error.what(), HasSubstr("has ended before a bulk copy to its shared memory"));
    EXPECT_THAT(error.what(), HasSubstr("\n    @%p1 cp.async.bulk")) << "the line of PTX";
}

TEST(BulkCopy, takes_a_tile_to_global_memory) {
    // Each thread stores 2 * i; thread 0 copies it all over the input.
    Program program(module_of(
        addresses +
            std::string("shl.b32 %r1, %r60, 1; st.shared.u32 [%r10], %r1; fence.proxy.async.shared::cta; "
                        "bar.sync 0; setp.eq.u32 %p1, %r60, 0; @!%p1 bra END; "
                        "cp.async.bulk.global.shared::cta.bulk_group [%rd60], [%r10], 256; "
                        "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.s32 [%rd60], [%r10], 128; "
                        "cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0; "
                        "cp.async.bulk.wait_group 0; END:"),
        declarations));
    auto* const words = program.allocate<uint32_t>(64);
    program.launch("k", grid_of(64), {words});
    for (uint32_t i = 0; i < 64; ++i) EXPECT_EQ(words[i], i < 32 ? 4 * i : 2 * i) << i;
}

TEST(BulkCopy, copies_pieces_of_16_bytes) {
    EXPECT_THAT(error_of([] {
                    run_async(
                        "mbarrier.init.shared.b64 [%r11], 1; "
                        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r10], [%rd60], "
                        "24, [%r11];",
                        1);
                }).what(),
                HasSubstr("multiple of 16"));
}

// ---- between blocks of a cluster ----

TEST(BetweenBlocks, stores_and_arrivals_reach_the_mbarrier_of_another_block) {
    // Block 1 stores 42 into the tile of block 0 and adds 5 to the next word, both with their bytes at block
    // 0's mbarrier, and arrives there. Block 0 waits and computes the sum of both.
    const std::string body =
        std::string(addresses) +
        "setp.eq.u32 %p1, %r61, 0; @%p1 mbarrier.init.shared.b64 [%r11], 2; mov.u32 %r0, 0;\n"
        "@%p1 st.shared.u32 [%r10+4], 100;\n"
        "@%p1 mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [%r11], 8;\n"
        "barrier.cluster.arrive; barrier.cluster.wait; @%p1 bra OWNER;\n"
        "mapa.shared::cluster.u32 %r20, %r10, 0; mapa.shared::cluster.u32 %r21, %r11, 0;\n"
        "mov.u32 %r22, 42; st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 "
        "[%r20], %r22, [%r21];\n"
        "mov.u32 %r22, 5; red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::"
        "bytes.add.u32 [%r20+4], %r22, [%r21];\n"
        "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r21]; bra END;\n"
        "OWNER:\n" +
        wait_0 +
        "ld.shared.u32 %r1, [%r10]; ld.shared.u32 %r2, [%r10+4]; add.u32 %r0, %r1, %r2;\n"
        "END: barrier.cluster.arrive; barrier.cluster.wait;\n"
        "mul.wide.u32 %rd1, %r61, 4; add.s64 %rd1, %rd60, %rd1; st.global.u32 [%rd1], %r0;";
    emulator::Findings findings;
    emulator::RaceChecker race(findings);
    emulator::InitChecker init(findings);
    emulator::Watcher* const watchers[] = {&race, &init};
    Program program(module_of(body, declarations));
    auto* const results = program.allocate<uint32_t>(2);
    auto configuration = grid_of(1, 2);
    configuration.cluster = emulator::Dim3{2, 1, 1};
    program.launch("k", configuration, {results}, {.watchers = watchers});
    EXPECT_EQ(results[0], 42u + 105u);
    for (const emulator::Finding& finding : findings.list()) ADD_FAILURE() << finding.message;
}
