// Blocks that repeat another block are not checked; all others are, as if no deduplication took place.

#include "../machine/ptx_fixture.hpp"

#include "emulator/check/block_deduplication.hpp"
#include "emulator/check/init_checker.hpp"
#include "emulator/check/race/race_checker.hpp"
#include "emulator/machine/block.hpp"
#include "emulator/machine/warp.hpp"

#include <gmock/gmock.h>

#include <functional>
#include <map>
#include <memory>

using namespace emulator;
using namespace emulator::fixture;
using std::uint32_t, std::uint64_t;
using testing::Contains, testing::Key, testing::Not, testing::SizeIs;

namespace {

/// The events that the checkers get of a launch, by block number and by launch.
using Heard = std::map<uint32_t, std::vector<std::string>>;

/// With addresses within a page: which pages global memory gets, the system chooses anew for each run.
std::string text_of(const Access& access) {
    std::string text = std::to_string(static_cast<int>(access.kind)) + ' ' + std::to_string(access.bytes) +
                       " bytes, lanes " + std::to_string(access.active);
    for (int lane = 0; lane < warp_size; ++lane) text += ' ' + std::to_string(access.addresses[lane] % 4096);
    return text;
}

/// Records its events. Remarks whatever `remarks_on` holds for.
class Listener final : public Watcher {
public:
    class Ear final : public Observer {
    public:
        explicit Ear(Listener& owner) : owner_(owner) {}

        bool wants(EventKind kind) const override {
            return kind == EventKind::shared_access || kind == EventKind::synchronizing_access ||
                   kind == EventKind::barrier || kind == EventKind::warp_sync;
        }
        std::uint64_t findings_or_reads() const override { return findings_or_reads_; }

        void block_started(Block& block) override { hear(block, "starts"); }
        void block_ended(Block& block) override { hear(block, "ends"); }
        void accessed(const Warp& warp, const Instruction& instruction, const Access& access) override {
            hear(warp, instruction,
                 (access.space == ptx::Space::shared ? "shared " : "global ") + text_of(access));
        }
        void barrier_arrive(const Warp& warp, const Instruction& instruction,
                            const BarrierArrival& arrival) override {
            if (arrival.expected != 0) // otherwise its completion is the only event
                hear(warp, instruction, "comes to barrier " + std::to_string(arrival.barrier));
        }
        void barrier_complete(Block& block, const BarrierCompletion& completion) override {
            hear(block, "barrier " + std::to_string(completion.barrier));
        }
        void warp_sync_complete(const Warp& warp, const Instruction& instruction, LaneMask lanes,
                                bool) override {
            hear(warp, instruction, "warp barrier " + std::to_string(lanes));
        }
        void fenced(const Warp& warp, const Instruction& instruction, LaneMask lanes) override {
            hear(warp, instruction, "fence " + std::to_string(lanes));
        }

    private:
        void hear(const Block& block, const std::string& what) {
            owner_.heard[block.index().x].push_back(what);
            if (owner_.remarks_on && owner_.remarks_on(block, what)) ++findings_or_reads_;
        }
        void hear(const Warp& warp, const Instruction& instruction, const std::string& what) {
            hear(warp.block(), "warp " + std::to_string(warp.index()) + ", instruction " +
                                   std::to_string(warp.block().grid().kernel.code().index_of(instruction)) +
                                   ": " + what);
        }

        Listener& owner_;
        std::uint64_t findings_or_reads_ = 0;
    };

    std::unique_ptr<Observer> observer(const Grid&) override { return std::make_unique<Ear>(*this); }
    bool judges_blocks() const override { return true; }

    Heard heard;
    std::function<bool(const Block&, const std::string&)> remarks_on;
};

/// In `body`, in blocks of 64 threads:
///   %r10, %r11      the words of this thread and of the next one in shared memory, `tile`
///   %p9, %p8, %p7   thread 0; warp 0; lanes 0 to 15
///   %p1 %p2 %p3     block 1, 2, 3
///   %rd1            this thread's word of the 64 of all blocks, in global memory
std::string kernel_of(const std::string& body) {
    return module_of(R"(
        mov.u32 %r12, tile; mad.lo.u32 %r10, %r60, 4, %r12; add.u32 %r2, %r60, 1; and.b32 %r2, %r2, 63;
        mad.lo.u32 %r11, %r2, 4, %r12; setp.eq.u32 %p9, %r60, 0; setp.lt.u32 %p8, %r60, 32;
        and.b32 %r3, %r60, 31; setp.lt.u32 %p7, %r3, 16; mul.wide.u32 %rd1, %r60, 4;
        add.u64 %rd1, %rd60, %rd1; setp.eq.u32 %p1, %r61, 1; setp.eq.u32 %p2, %r61, 2;
        setp.eq.u32 %p3, %r61, 3;)" +
                         body,
                     ".shared .align 16 .b8 tile[4096];");
}

void launch(const std::string& body, uint32_t blocks, std::initializer_list<Watcher*> watchers,
            std::optional<uint64_t> schedule = {}) {
    Program program(kernel_of(body));
    const std::vector<Watcher*> all(watchers);
    program.launch("k", grid_of(64, blocks), {program.allocate<uint32_t>(64)},
                   {.host_threads = 1, .watchers = all, .schedule = schedule});
}

/// The events of a listener that accepts repeated blocks.
Heard heard(const std::string& body, uint32_t blocks,
            std::function<bool(const Block&, const std::string&)> remarks_on = {}) {
    Listener listener;
    listener.remarks_on = std::move(remarks_on);
    BlockDeduplication repeated;
    repeated.add(listener);
    launch(body, blocks, {&repeated});
    return listener.heard;
}
/// … that hears everything.
Heard heard_by_all(const std::string& body, uint32_t blocks) {
    Listener listener;
    launch(body, blocks, {&listener});
    return listener.heard;
}

std::vector<uint32_t> blocks_of(const Heard& heard) {
    std::vector<uint32_t> blocks;
    for (const auto& [block, what] : heard) blocks.push_back(block);
    return blocks;
}

using Blocks = std::vector<uint32_t>;

const std::string tree = "st.shared.u32 [%r10], %r60; bar.sync 0; ld.shared.u32 %r5, [%r11]; bar.sync 0;"
                         "@%p8 st.shared.u32 [%r10], %r5; bar.warp.sync -1; membar.cta;";

} // namespace

TEST(BlockDeduplication, are_not_told) {
    EXPECT_EQ(blocks_of(heard(tree, 100)), Blocks{0});
    EXPECT_EQ(heard(tree, 100).at(0), heard_by_all(tree, 1).at(0));
}

// Each of these makes block 2 do something else than the others, and only there.
TEST(BlockDeduplication, end_where_a_block_does_something_else) {
    const std::string differences[] = {
        "@%p2 ld.shared.u32 %r5, [%r10];",                                  // one more
        "@!%p2 ld.shared.u32 %r5, [%r10]; @%p2 ld.shared.u32 %r5, [%r10];", // by another instruction
        "@%p2 add.u32 %r10, %r10, 4; ld.shared.u32 %r5, [%r10];",           // elsewhere
        "@%p2 mad.lo.u32 %r10, %r60, 8, %r12; ld.shared.u32 %r5, [%r10];",  // in other steps
        "@%p2 xor.b32 %r10, %r10, 4; ld.shared.u32 %r5, [%r10];",           // scattered
        // scattered in both, one lane of warp 1 elsewhere
        "xor.b32 %r10, %r10, 4; setp.eq.and.u32 %p4, %r60, 50, %p2; @%p4 mov.u32 %r10, 2048;"
        "ld.shared.u32 %r5, [%r10];",
        "not.pred %p4, %p2; or.pred %p4, %p4, %p7; @%p4 ld.shared.u32 %r5, [%r12];", // other lanes
        "bar.sync 0; setp.lt.u32 %p4, %r60, 32; xor.pred %p4, %p4, %p2; @%p4 ld.shared.u32 %r5, [%r12];"
        "bar.sync 0;", // another warp
        "@%p2 bar.sync 0;", "@!%p2 bar.sync 0; @%p2 bar.sync 5;", "@%p2 bar.warp.sync -1;",
        "@!%p2 bar.warp.sync -1; @%p2 bar.warp.sync -1;", "@%p2 membar.gl;",
        "@!%p2 membar.gl; @%p2 membar.gl;", "@%p2 red.global.add.u32 [%rd1], 1;",
        "@%p2 ld.volatile.global.u32 %r5, [%rd1];",
        "@%p2 add.u64 %rd1, %rd1, 4; @%p8 red.global.add.u32 [%rd1], 1;"};
    for (const std::string& difference : differences) {
        const std::string body = tree + difference + tree;
        const Heard all = heard_by_all(body, 6), told = heard(body, 6);
        ASSERT_NE(all.at(2), all.at(0)) << difference;
        EXPECT_EQ(blocks_of(told), (Blocks{0, 2})) << difference;
        EXPECT_EQ(told.at(2), all.at(2)) << difference;
    }
}

TEST(BlockDeduplication, may_end_early) {
    // All that block 2 does, the others have done before.
    EXPECT_EQ(blocks_of(heard(tree + "bar.sync 0; @%p2 exit;" + tree, 6)), Blocks{0});
    // Of the last block, one more event.
    EXPECT_EQ(blocks_of(heard(tree + "@!%p3 exit; ld.shared.u32 %r5, [%r10];", 4)), (Blocks{0, 3}));
}

TEST(BlockDeduplication, do_not_repeat_what_has_a_remark) {
    const auto in_block = [](uint32_t number) {
        return [=](const Block& block, const std::string& what) {
            return block.index().x == number && what == "barrier 0";
        };
    };
    EXPECT_EQ(blocks_of(heard(tree, 100, in_block(0))), (Blocks{0, 1}));
    EXPECT_EQ(blocks_of(heard(tree, 5, [](const Block&, const std::string& what) { return what == "ends"; })),
              (Blocks{0, 1, 2, 3, 4}));
}

TEST(BlockDeduplication, find_another_script) {
    // From block 3 on all blocks do something else: 3 leaves the trace, 4 too, and 5 records another one.
    const std::string two_kinds = "setp.ge.u32 %p4, %r61, 3; @%p4 bar.sync 0;" + tree;
    EXPECT_EQ(blocks_of(heard(two_kinds, 50)), (Blocks{0, 3, 4, 5}));
    // The first block is the only one of its kind: 1 leaves its trace at once, and 2 writes the next one.
    const std::string first_differs = "setp.eq.u32 %p4, %r61, 0; @%p4 bar.sync 0;" + tree;
    EXPECT_EQ(blocks_of(heard(first_differs, 50)), (Blocks{0, 1, 2}));
    // Each fourth block differs: it is checked, and the trace stays.
    const std::string now_and_then = "and.b32 %r5, %r61, 3; setp.eq.u32 %p4, %r5, 3; @%p4 bar.sync 0;" + tree;
    EXPECT_EQ(blocks_of(heard(now_and_then, 12)), (Blocks{0, 3, 7, 11}));
    // Another kind every four blocks: two leave the trace, one writes the next one, and one follows it.
    const std::string in_fours =
        "shr.u32 %r5, %r61, 2; mad.lo.u32 %r5, %r5, 4, %r12; st.shared.u32 [%r5], %r60;" + tree;
    const Heard told = heard(in_fours, 80);
    for (uint32_t block = 3; block < 80; block += 4) EXPECT_THAT(told, Not(Contains(Key(block)))) << block;
}

TEST(BlockDeduplication, are_not_looked_for_for_ever) {
    // No two blocks do the same for 60 blocks. Then all do, but traces are no longer recorded.
    const std::string all_differ =
        "min.u32 %r5, %r61, 60; mad.lo.u32 %r5, %r5, 4, %r12; st.shared.u32 [%r5], %r60;";
    const Heard told = heard(all_differ, 100);
    EXPECT_THAT(told, SizeIs(100));
    EXPECT_EQ(told, heard_by_all(all_differ, 100));
}

TEST(BlockDeduplication, do_only_what_can_be_told_again) {
    for (const std::string special :
         {"bar.sync 1, 64;", "setp.lt.u32 %p4, %r3, 16; @%p4 bar.warp.sync 0xffff;",
          "cp.async.ca.shared.global [%r10], [%rd1], 4; cp.async.wait_all;",
          "@%p9 cp.async.bulk.global.shared::cta.bulk_group [%rd60], [tile], 16; cp.async.bulk.commit_group;"
          "cp.async.bulk.wait_group 0;",
          "@%p9 mbarrier.init.shared.b64 [tile+2048], 1;"}) {
        const std::string body = tree + special;
        EXPECT_EQ(heard(body, 5), heard_by_all(body, 5)) << special;
        // … also where a trace has been followed up to it.
        const std::string in_block_2 = tree + "@!%p2 exit;" + special + tree;
        EXPECT_EQ(heard(in_block_2, 5).at(2), heard_by_all(in_block_2, 5).at(2)) << special;
    }
}

TEST(BlockDeduplication, may_be_in_progress_together) {
    // Block 1 begins and waits for block 2; both follow what block 0 has done.
    const std::string body = tree +
                             "@!%p1 bra NOT_1; WAIT: ld.global.u32 %r5, [%rd60]; setp.eq.u32 %p4, %r5, 0;"
                             "@%p4 bra WAIT; NOT_1: @%p2 st.global.u32 [%rd60], 1; bar.sync 0;" +
                             tree;
    EXPECT_EQ(blocks_of(heard(body, 4)), Blocks{0});
    const std::string differs = body + "@%p1 ld.shared.u32 %r5, [%r10];";
    EXPECT_EQ(blocks_of(heard(differs, 4)), (Blocks{0, 1}));
    EXPECT_EQ(heard(differs, 4).at(1), heard_by_all(differs, 4).at(1));
}

// ---- what the checkers find ----

namespace {

/// As lines of text.
std::vector<std::string> findings(const std::string& body, uint32_t blocks, bool matches_trace,
                                  std::optional<uint64_t> schedule = {}) {
    Findings found;
    InitChecker init(found);
    RaceChecker race(found);
    BlockDeduplication repeated;
    repeated.add(init);
    repeated.add(race);
    if (matches_trace)
        launch(body, blocks, {&repeated}, schedule);
    else
        launch(body, blocks, {&init, &race}, schedule);
    std::vector<std::string> result;
    for (const Finding& finding : found.list()) {
        std::string text = finding.checker + ": " + finding.message + ' ' + std::to_string(finding.count) +
                           " times, " + finding.allocation + ", " + finding.cause;
        for (const Party& party : finding.parties)
            text += "; " + party.role + ' ' + party.block + ' ' + party.thread + ' ' + party.ptx;
        result.push_back(text);
    }
    return result;
}

} // namespace

TEST(BlockDeduplication, hide_no_finding) {
    const std::string store = "st.shared.u32 [%r10], %r60;", load = "ld.shared.u32 %r5, [%r11];";
    const std::string bodies[] = {
        // The last of 5 blocks, or the third, has no barrier, or leaves something unwritten.
        store + "setp.eq.u32 %p4, %r61, 4; @!%p4 bar.sync 0;" + load,
        store + "@!%p2 bar.sync 0;" + load,
        "@%p2 mov.u32 %r10, %r12;" + store + "bar.sync 0;" + load,
        "not.pred %p4, %p2; or.pred %p4, %p4, %p8; @%p4 " + store + "bar.sync 0;" + load,
        // Lanes of a warp, with and without a barrier.
        "@%p8 " + store +
            "@!%p2 bar.warp.sync -1; xor.b32 %r13, %r60, 16; mad.lo.u32 %r13, %r13, 4, %r12;"
            "@%p8 ld.shared.u32 %r5, [%r13];",
        "@%p8 " + store +
            "@!%p2 bar.warp.sync -1; @%p2 bar.warp.sync 0xffff; xor.b32 %r13, %r60, 16;"
            "mad.lo.u32 %r13, %r13, 4, %r12; @%p8 ld.shared.u32 %r5, [%r13];",
        // All threads store one value at one location; in one block they store different ones.
        "mov.u32 %r5, 7; @%p2 mov.u32 %r5, %r60; st.shared.u32 [%r12], %r5;",
        "mov.u32 %r5, 7; @%p2 mov.u32 %r5, %r60; @%p8 st.shared.u32 [%r12], %r5;",
        "mov.u32 %r5, 7; @%p2 mov.u32 %r5, %r60; @%p9 st.shared.u32 [%r12], %r5; bar.warp.sync -1;"
        "setp.eq.u32 %p5, %r60, 32; @%p5 st.shared.u32 [%r12], %r5;",
        // A fence that one block leaves out between the data and the flag.
        "@%p9 st.shared.u32 [tile], %r60; @!%p2 membar.cta; @%p9 st.volatile.shared.u32 [tile+64], 1;"
        "setp.eq.u32 %p5, %r60, 32; @%p5 ld.volatile.shared.u32 %r5, [tile+64]; membar.cta;"
        "@%p5 ld.shared.u32 %r5, [tile];",
        // Atomics on a counter in global memory, then plain accesses that they order, or not.
        "@%p8 " + store +
            "@!%p2 membar.gl; @%p8 atom.global.add.u32 %r5, [%rd60], 1; setp.ge.u32 %p5, %r60, 32;"
            "@%p5 atom.global.add.u32 %r5, [%rd60], 1; membar.gl; @%p5 ld.shared.u32 %r5, [%r10+-128];",
        // Barriers for some threads.
        "@%p8 " + store + "@!%p2 bar.sync 1, 64; @%p2 bar.sync 1, 64; @!%p8 ld.shared.u32 %r5, [%r10+-128];",
        "@%p8 " + store +
            "@!%p2 bar.sync 1, 64; @%p2 bar.warp.sync -1; @!%p8 ld.shared.u32 %r5, [%r10+-128];",
        // Every block has a finding.
        store + load,
        load,
        // Nothing is wrong.
        tree,
    };
    std::size_t with_findings = 0;
    for (const std::string& body : bodies) {
        const auto expected = findings(body, 5, false);
        EXPECT_EQ(findings(body, 5, true), expected) << body;
        with_findings += expected.empty() ? 0 : 1;
        for (uint64_t seed = 0; seed < 5; ++seed)
            EXPECT_EQ(findings(body, 5, true, seed), findings(body, 5, false, seed)) << body;
    }
    EXPECT_GE(with_findings, std::size(bodies) - 3);
}
