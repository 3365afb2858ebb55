// What one block did, as pictures need it: by hand.

#include "../machine/ptx_fixture.hpp"

#include "emulator/machine/memory_traffic.hpp"
#include "emulator/observe/access_trace.hpp"

#include <gmock/gmock.h>

#include <string>
#include <tuple>
#include <vector>

using namespace emulator::fixture;
using emulator::AccessKind, emulator::AccessTrace, emulator::AccessTracing, emulator::LaneMask,
    emulator::TracedAccess, emulator::TracedStep, emulator::TraceOptions;
using emulator::ptx::Space;
using std::uint32_t, std::uint64_t;
using testing::ElementsAre, testing::HasSubstr, testing::IsEmpty, testing::SizeIs;

namespace {

constexpr const char* declarations = R"(
    .file 1 "/home/me/kernels.cuh"
    .shared .align 16 .b8 _ZZ6kernelPiE4tile[8192];
)";

/// Runs `body` with p0 = 64 KiB of memory at a sector's start, %r1 = the address of tile.
AccessTrace trace(const std::string& body, uint32_t threads = 32, TraceOptions options = {},
                  uint32_t blocks = 1, unsigned int host_threads = 1) {
    Program program(module_of("mov.u32 %r1, _ZZ6kernelPiE4tile;" + body, declarations));
    AccessTracing tracing(options);
    emulator::Watcher* const watchers[] = {&tracing};
    program.launch("k", grid_of(threads, blocks), {program.allocate<uint32_t>(16384)},
                   {.host_threads = host_threads, .watchers = watchers});
    return tracing.trace();
}

/// A tree as in reduce3, in a block of 128 threads: strides 64 to 1, a barrier after each.
constexpr const char* tree = R"(
    shl.b32 %r2, %r60, 2; add.u32 %r2, %r2, %r1;
    .loc 1 5 0
    st.shared.u32 [%r2], %r60; bar.sync 0; mov.u32 %r3, 64;
    LOOP: setp.ge.u32 %p1, %r60, %r3; @%p1 bra SKIP;
    shl.b32 %r4, %r3, 2; add.u32 %r4, %r4, %r2;
    .loc 1 9 0
    ld.shared.u32 %r5, [%r2]; ld.shared.u32 %r6, [%r4]; add.u32 %r5, %r5, %r6; st.shared.u32 [%r2], %r5;
    SKIP: bar.sync 0; shr.u32 %r3, %r3, 1; setp.ne.u32 %p2, %r3, 0; @%p2 bra LOOP;
    setp.ne.u32 %p3, %r60, 0; @%p3 bra END;
    .loc 1 14 0
    st.global.u32 [%rd60], %r5;
    END:)";

std::vector<std::vector<LaneMask>> masks(const AccessTrace& trace) {
    std::vector<std::vector<LaneMask>> result;
    for (const TracedStep& step : trace.steps) result.push_back(step.active);
    return result;
}
std::vector<uint32_t> lines(const AccessTrace& trace) {
    std::vector<uint32_t> result;
    for (const TracedStep& step : trace.steps) result.push_back(step.place.line);
    return result;
}
std::vector<uint32_t> barriers(const AccessTrace& trace) {
    std::vector<uint32_t> result;
    for (const TracedStep& step : trace.steps) result.push_back(step.barriers);
    return result;
}

/// Per step and warp, the lanes that wait at a barrier.
std::vector<std::vector<LaneMask>> waiting(const AccessTrace& trace) {
    std::vector<std::vector<LaneMask>> result;
    for (const TracedStep& step : trace.steps) {
        result.emplace_back(trace.warps());
        for (const emulator::TracedWait& wait : step.waiting) {
            EXPECT_EQ(result.back()[wait.warp] & wait.lanes, 0u) << "twice";
            result.back()[wait.warp] |= wait.lanes;
        }
    }
    return result;
}

} // namespace

TEST(AccessTrace, keeps_the_worst_request_of_each_instruction_and_counts_all) {
    // Words 1, 4 and 2 lanes apart: 1, 4 and 2 wavefronts, by both warps.
    const AccessTrace t = trace(R"(
        mov.u32 %r2, 1; and.b32 %r9, %r60, 31;
        LOOP: mul.lo.u32 %r3, %r9, %r2; shl.b32 %r3, %r3, 2; add.u32 %r3, %r3, %r1;
        ld.shared.u32 %r4, [%r3];
        shl.b32 %r2, %r2, 2; setp.eq.u32 %p1, %r2, 16; @%p1 mov.u32 %r2, 2;
        setp.ne.u32 %p2, %r2, 8; @%p2 bra LOOP;)",
                                64);
    ASSERT_THAT(t.accesses, SizeIs(1));
    const TracedAccess& load = t.accesses[0];
    EXPECT_EQ(load.space, Space::shared);
    EXPECT_EQ(load.kind, AccessKind::load);
    EXPECT_EQ(load.bytes, 4u);
    EXPECT_EQ(load.requests, 6u);
    EXPECT_EQ(load.cost, 2u * (1 + 4 + 2));
    EXPECT_EQ(load.ideal, 6u);
    EXPECT_EQ(load.worst.warp, 0u);
    EXPECT_EQ(load.worst.turn, 1u);
    EXPECT_EQ(load.worst.cost, 4u);
    EXPECT_EQ(load.worst.ideal, 1u);
    EXPECT_EQ(load.worst.active, emulator::all_lanes);
    EXPECT_EQ(load.worst.addresses[31], 31u * 4 * 4);
    EXPECT_EQ(emulator::wavefronts(load.worst_access()), (emulator::Wavefronts{4, 1}));
    EXPECT_EQ(load.place.ptx, "ld.shared.u32 %r4, [%r3];");
    EXPECT_EQ(load.place.path, "");
    EXPECT_GT(load.place.line, 1u); // of the PTX
}

TEST(AccessTrace, counts_sectors_and_names_the_allocation) {
    const AccessTrace t = trace(R"(
        mul.wide.u32 %rd1, %r60, 64; add.u64 %rd1, %rd60, %rd1;
        .loc 1 7 0
        ld.global.u32 %r2, [%rd1]; red.global.add.u32 [%rd60], %r60;)");
    ASSERT_THAT(t.accesses, SizeIs(2));
    EXPECT_EQ(t.accesses[0].worst.cost, 32u);
    EXPECT_EQ(t.accesses[0].worst.ideal, 4u); // 32 x 4 B
    EXPECT_EQ(t.accesses[0].place.path, "/home/me/kernels.cuh");
    EXPECT_EQ(t.accesses[0].place.line, 7u);
    EXPECT_EQ(t.accesses[1].kind, AccessKind::red);
    EXPECT_EQ(t.accesses[1].worst.cost, 1u); // the compiler has one lane do it
    ASSERT_THAT(t.allocations, SizeIs(1));
    EXPECT_EQ(t.allocations[0].name, "cudaMalloc");
    EXPECT_EQ(t.allocations[0].bytes, 65536u);
    EXPECT_EQ(t.accesses[0].worst.addresses[1] - t.allocations[0].address, 64u);
}

TEST(AccessTrace, tells_which_words_of_which_arrays_were_touched) {
    const AccessTrace t = trace(R"(
        mul.lo.u32 %r2, %r60, 8; add.u32 %r2, %r2, %r1; st.shared.u16 [%r2+2], %rs1;
        setp.eq.u32 %p1, %r60, 0; @%p1 ld.shared.v2.u32 {%r3, %r4}, [_ZZ6kernelPiE4tile+400];)");
    ASSERT_THAT(t.shared, SizeIs(1));
    EXPECT_EQ(t.shared[0].name, "tile");
    EXPECT_EQ(t.shared[0].address, 0u);
    EXPECT_EQ(t.shared[0].bytes, 8192u);
    ASSERT_THAT(t.touched, SizeIs(2048));
    for (uint32_t word = 0; word < 2048; ++word)
        EXPECT_EQ(t.touched[word], (word < 64 && word % 2 == 0) || word == 100 || word == 101) << word;
}

TEST(AccessTrace, steps_are_the_shrinking_tree) {
    const AccessTrace t = trace(tree, 128);
    const LaneMask all = emulator::all_lanes;
    EXPECT_THAT(masks(t),
                ElementsAre(ElementsAre(all, all, all, all), ElementsAre(all, all, 0, 0),
                            ElementsAre(all, 0, 0, 0), ElementsAre(0xFFFF, 0, 0, 0),
                            ElementsAre(0xFF, 0, 0, 0), ElementsAre(0xF, 0, 0, 0), ElementsAre(3, 0, 0, 0),
                            ElementsAre(1, 0, 0, 0), ElementsAre(1, 0, 0, 0)));
    EXPECT_THAT(lines(t), ElementsAre(5, 9, 9, 9, 9, 9, 9, 9, 14));
    EXPECT_THAT(barriers(t), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8));
    EXPECT_EQ(t.steps[1].what, "shared store");
    EXPECT_EQ(t.steps[8].what, "global store");
    EXPECT_EQ(t.steps_left_out, 0u);
}

TEST(AccessTrace, warps_that_skip_a_step_wait_at_the_barrier_after_it) {
    // All store before the first barrier. The tree's steps are left to warps 0 and 1, then to warp 0, which
    // arrives as a whole. After the last barrier the other warps exit.
    const AccessTrace t = trace(tree, 128);
    const LaneMask all = emulator::all_lanes;
    EXPECT_THAT(waiting(t), ElementsAre(ElementsAre(0, 0, 0, 0), ElementsAre(0, 0, all, all),
                                        ElementsAre(0, all, all, all), ElementsAre(0, all, all, all),
                                        ElementsAre(0, all, all, all), ElementsAre(0, all, all, all),
                                        ElementsAre(0, all, all, all), ElementsAre(0, all, all, all),
                                        ElementsAre(0, 0, 0, 0)));
    EXPECT_EQ(t.steps[1].waiting[0].line, 9u); // the line in force at SKIP
}

TEST(AccessTrace, a_warp_without_steps_waits_at_each_barrier_once) {
    const AccessTrace t = trace(R"(
        setp.ge.u32 %p1, %r60, 32; mov.u32 %r3, 2;
        LOOP: @%p1 bra SKIP; st.shared.u32 [%r1], %r60;
        SKIP: bar.sync 0; sub.u32 %r3, %r3, 1; setp.ne.u32 %p2, %r3, 0; @%p2 bra LOOP;
        st.shared.u32 [%r1+4], %r60;)",
                                64);
    const LaneMask all = emulator::all_lanes;
    EXPECT_THAT(waiting(t), ElementsAre(ElementsAre(0, all), ElementsAre(0, all), ElementsAre(0, 0)));
}

TEST(AccessTrace, a_warp_does_not_wait_in_its_last_step) {
    // Warp 0 has arrived when warp 1 makes the step that comes before it.
    const AccessTrace t = trace(R"(
        setp.ge.u32 %p1, %r60, 32; @!%p1 bra SKIP; st.shared.u32 [%r1], %r60;
        SKIP: st.shared.u32 [%r1], %r60; bar.sync 0;)",
                                64);
    const LaneMask all = emulator::all_lanes;
    EXPECT_THAT(masks(t), ElementsAre(ElementsAre(0, all), ElementsAre(all, all)));
    EXPECT_THAT(waiting(t), ElementsAre(ElementsAre(0, 0), ElementsAre(0, 0)));
}

TEST(AccessTrace, consumers_wait_at_their_own_barrier_until_the_producers_arrive) {
    // Warp 0 stores once and warp 1 twice. They arrive and go on to another store. Warp 2 waits for them, and
    // warp 3 exits.
    const AccessTrace t = trace(R"(
        setp.ge.u32 %p1, %r60, 96; @%p1 bra END; setp.ge.u32 %p2, %r60, 64; @%p2 bra CONSUME;
        shr.u32 %r3, %r60, 5; add.u32 %r3, %r3, 1;
        LOOP: st.shared.u32 [%r1], %r60; sub.u32 %r3, %r3, 1; setp.ne.u32 %p3, %r3, 0; @%p3 bra LOOP;
        bar.arrive 1, 96; st.shared.u32 [%r1+4], %r60; bra END;
        CONSUME: bar.sync 1, 96; st.shared.u32 [%r1+8], %r60;
        END:)",
                                128);
    const LaneMask all = emulator::all_lanes;
    EXPECT_THAT(masks(t), ElementsAre(ElementsAre(all, all, 0, 0), ElementsAre(0, all, 0, 0),
                                      ElementsAre(all, all, 0, 0), ElementsAre(0, 0, all, 0)));
    EXPECT_THAT(waiting(t), ElementsAre(ElementsAre(0, 0, all, 0), ElementsAre(0, 0, all, 0),
                                        ElementsAre(0, 0, 0, 0), ElementsAre(0, 0, 0, 0)));
}

TEST(AccessTrace, warps_wait_for_one_that_exits) {
    const AccessTrace t = trace(R"(
        setp.ge.u32 %p1, %r60, 32; @%p1 bra LAST; bar.sync 0; st.shared.u32 [%r1], %r60; bra END;
        LAST: st.shared.u32 [%r1+4], %r60;
        END:)",
                                64);
    const LaneMask all = emulator::all_lanes;
    EXPECT_THAT(masks(t), ElementsAre(ElementsAre(0, all), ElementsAre(all, 0)));
    EXPECT_THAT(waiting(t), ElementsAre(ElementsAre(all, 0), ElementsAre(0, 0)));
}

TEST(AccessTrace, steps_keep_the_words_that_they_write) {
    const AccessTrace t = trace(tree, 128, {.values = true});
    // Thread k stores k. The first step of the tree adds those 64 apart: word k becomes k + (k + 64) for k
    // < 64. The next adds those 32 apart: 2k + 64 + 2(k + 32) + 64 = 4k + 192 for k < 32. The last leaves 0 +
    // … + 127.
    for (const auto& [step, words, each, constant] :
         {std::tuple(0, 128u, 1u, 0u), std::tuple(1, 64u, 2u, 64u), std::tuple(2, 32u, 4u, 192u),
          std::tuple(7, 1u, 0u, 127u * 128 / 2)}) {
        const auto& writes = t.steps[static_cast<std::size_t>(step)].writes;
        ASSERT_THAT(writes, SizeIs(words)) << step;
        for (const emulator::TracedWrite& write : writes)
            EXPECT_EQ(write.value, each * write.word + constant)
                << "step " << step << ", word " << write.word;
    }
    EXPECT_THAT(t.steps[8].writes, IsEmpty()); // to global memory
    EXPECT_THAT(trace(tree, 128).steps[1].writes, IsEmpty());
    EXPECT_THAT(trace(tree, 128).steps[1].requests, IsEmpty());
    // 128 threads store in 4 requests, 64 in 2, thread 0 the last sum and the result in 1.
    for (const auto& [step, requests] :
         {std::pair(0, 4u), std::pair(1, 2u), std::pair(7, 1u), std::pair(8, 1u)})
        ASSERT_THAT(t.steps[static_cast<std::size_t>(step)].requests, SizeIs(requests)) << step;
    // Warp 1 stores words 32 to 63 in the first step of the tree: its second request, after that of its elements.
    const emulator::TracedRequest& request = t.steps[1].requests[1];
    EXPECT_EQ(request.warp, 1u);
    EXPECT_EQ(request.active, emulator::all_lanes);
    EXPECT_EQ(request.cost, 1u);
    EXPECT_EQ(request.addresses[31], 4u * 63);
    EXPECT_THAT(trace(tree, 128, {.max_steps = 1, .values = true}).steps[0].writes, SizeIs(128));
}

TEST(AccessTrace, steps_of_a_line_include_its_loads) {
    const AccessTrace t = trace(tree, 128, {.line = 9});
    ASSERT_THAT(t.steps, SizeIs(7 * 3));
    for (std::size_t i = 0; i < t.steps.size(); ++i) {
        EXPECT_EQ(t.steps[i].is_load, i % 3 != 2) << i;
        EXPECT_EQ(t.steps[i].place.line, 9u);
        EXPECT_EQ(t.steps[i].active, t.steps[i / 3 * 3].active);
    }
    EXPECT_THAT(t.accesses, SizeIs(5)); // all of the kernel's all the same
    EXPECT_THAT(trace(tree, 128, {.line = 10}).steps, IsEmpty());
}

TEST(AccessTrace, steps_of_warps_that_do_not_wait_for_each_other_meet_by_their_turn) {
    // Warp w stores 3 - w times, then once more elsewhere; no barrier.
    const AccessTrace t = trace(R"(
        shr.u32 %r2, %r60, 5; sub.u32 %r3, 3, %r2;
        LOOP:
        .loc 1 5 0
        st.shared.u32 [%r1], %r60; sub.u32 %r3, %r3, 1; setp.ne.u32 %p1, %r3, 0; @%p1 bra LOOP;
        .loc 1 8 0
        st.shared.u32 [%r1+4], %r60;)",
                                96);
    const LaneMask all = emulator::all_lanes;
    EXPECT_THAT(lines(t), ElementsAre(5, 5, 5, 8));
    EXPECT_THAT(masks(t), ElementsAre(ElementsAre(all, all, all), ElementsAre(all, all, 0),
                                      ElementsAre(all, 0, 0), ElementsAre(all, all, all)));
}

TEST(AccessTrace, turns_are_counted_from_the_last_barrier_of_the_whole_block) {
    // Before the barrier warp 0 stores twice and the others once. Warps 0 and 1 meet at their own barrier.
    const AccessTrace t = trace(R"(
        mov.u32 %r5, 0; setp.lt.u32 %p3, %r60, 32; setp.ge.u32 %p4, %r60, 64;
        ROUND: mov.u32 %r3, 1; setp.eq.u32 %p1, %r5, 0; and.pred %p1, %p1, %p3; @%p1 mov.u32 %r3, 2;
        LOOP: st.shared.u32 [%r1], %r60; sub.u32 %r3, %r3, 1; setp.ne.u32 %p1, %r3, 0; @%p1 bra LOOP;
        @%p4 bra ALL; bar.sync 1, 64;
        ALL: bar.sync 0; add.u32 %r5, %r5, 1; setp.ne.u32 %p2, %r5, 2; @%p2 bra ROUND;)",
                                96);
    const LaneMask all = emulator::all_lanes;
    EXPECT_THAT(masks(t),
                ElementsAre(ElementsAre(all, all, all), ElementsAre(all, 0, 0), ElementsAre(all, all, all)));
    EXPECT_THAT(barriers(t), ElementsAre(0, 0, 1));
}

TEST(AccessTrace, each_turn_of_a_loop_is_a_step_with_the_lanes_that_are_left) {
    // The even lanes go round once more than the odd ones.
    const AccessTrace t = trace(R"(
        and.b32 %r2, %r60, 1; sub.u32 %r2, 2, %r2;
        LOOP: st.shared.u32 [%r1], %r60; sub.u32 %r2, %r2, 1; setp.ne.u32 %p1, %r2, 0; @%p1 bra LOOP;)");
    EXPECT_THAT(masks(t), ElementsAre(ElementsAre(emulator::all_lanes), ElementsAre(0x5555'5555)));
}

TEST(AccessTrace, steps_of_a_path_that_only_later_warps_take_stand_where_the_program_has_them) {
    const AccessTrace t = trace(R"(
        .loc 1 1 0
        setp.ge.u32 %p1, %r60, 32; st.shared.u32 [%r1], %r60; @!%p1 bra SKIP;
        .loc 1 2 0
        st.shared.u32 [%r1], %r60;
        SKIP:
        .loc 1 3 0
        st.shared.u32 [%r1], %r60;)",
                                64);
    EXPECT_THAT(lines(t), ElementsAre(1, 2, 3));
    EXPECT_THAT(t.steps[1].active, ElementsAre(0, emulator::all_lanes));
}

TEST(AccessTrace, shuffles_are_steps_and_warp_barriers_are_not) {
    const AccessTrace t = trace(
        "bar.warp.sync -1; shfl.sync.bfly.b32 %r3, %r60, 16, 31, -1; shfl.sync.bfly.b32 %r3, %r3, 8, 31, -1;",
        40);
    ASSERT_THAT(t.steps, SizeIs(2));
    EXPECT_EQ(t.steps[0].what, "exchange");
    EXPECT_THAT(t.steps[0].active, ElementsAre(emulator::all_lanes, 0xFF));
    EXPECT_THAT(t.accesses, IsEmpty());
}

TEST(AccessTrace, keeps_no_more_steps_than_it_is_told) {
    const AccessTrace t = trace(R"(
        mov.u32 %r2, 1000;
        LOOP: st.shared.u32 [%r1], %r60; sub.u32 %r2, %r2, 1; setp.ne.u32 %p1, %r2, 0; @%p1 bra LOOP;)",
                                32, {.max_steps = 10});
    EXPECT_THAT(t.steps, SizeIs(10));
    EXPECT_EQ(t.steps_left_out, 990u);
    EXPECT_EQ(t.accesses[0].requests, 1000u);
}

TEST(AccessTrace, is_of_the_block_that_was_asked_for) {
    const std::string body =
        "mul.wide.u32 %rd1, %r62, 4; add.u64 %rd1, %rd60, %rd1; ld.global.u32 %r2, [%rd1];";
    for (const unsigned int host_threads : {1u, 3u}) {
        const AccessTrace t = trace(body, 64, {.block = 5}, 8, host_threads);
        EXPECT_TRUE(t.ran);
        EXPECT_EQ(t.index.x, 5u);
        EXPECT_EQ(t.grid.x, 8u);
        ASSERT_THAT(t.accesses, SizeIs(1));
        EXPECT_EQ(t.accesses[0].requests, 2u);
        EXPECT_EQ(t.accesses[0].worst.addresses[0] - t.allocations.at(0).address, 5u * 64 * 4);
    }
    EXPECT_FALSE(trace(body, 64, {.block = 8}, 8).ran);
}

TEST(AccessTrace, knows_blocks_in_three_dimensions_and_memory_sized_at_launch) {
    Program program(module_of("st.shared.u32 [dynamic], %r60;", ".extern .shared .align 4 .b8 dynamic[];"));
    AccessTracing tracing(TraceOptions{.block = 7}); // 1 + 2 x (0 + 3 x 1)
    emulator::Watcher* const watchers[] = {&tracing};
    program.launch("k", {.grid = {2, 3, 2}, .block = {32, 1, 1}, .dynamic_shared_bytes = 256}, {},
                   {.watchers = watchers});
    const AccessTrace& t = tracing.trace();
    EXPECT_EQ(t.index.x, 1u);
    EXPECT_EQ(t.index.y, 0u);
    EXPECT_EQ(t.index.z, 1u);
    ASSERT_THAT(t.shared, SizeIs(1));
    EXPECT_EQ(t.shared[0].name, "dynamic");
    EXPECT_EQ(t.shared[0].bytes, 256u);
    EXPECT_THAT(t.touched, SizeIs(64));
}

TEST(AccessTrace, is_the_same_on_any_number_of_host_threads) {
    // Block 0 asks again and again until block 1 has answered.
    const std::string body = R"(
        setp.eq.u32 %p1, %r61, 0; @%p1 bra ASK;
        st.volatile.global.u32 [%rd60], 1; bra END;
        ASK: ld.volatile.global.u32 %r2, [%rd60]; setp.eq.u32 %p2, %r2, 0; @%p2 bra ASK;
        END:)";
    const auto requests = [&](unsigned int host_threads) {
        return trace(body, 32, {}, 2, host_threads).accesses.at(0).requests;
    };
    EXPECT_EQ(requests(2), requests(1));
}

TEST(AccessTrace, says_what_a_block_did_before_it_failed) {
    // Warp 0 waits at the barrier when warp 1 fails.
    Program program(module_of(
        "setp.ge.u32 %p1, %r60, 32; @%p1 bra FAIL; bar.sync 0; FAIL: st.shared.u32 [tile], %r60; trap;",
        ".shared .align 4 .b8 tile[4];"));
    AccessTracing tracing;
    emulator::Watcher* const watchers[] = {&tracing};
    EXPECT_THROW(program.launch("k", grid_of(64), {}, {.host_threads = 1, .watchers = watchers}),
                 emulator::Error);
    EXPECT_THAT(tracing.trace().accesses, SizeIs(1));
    EXPECT_THAT(waiting(tracing.trace()), ElementsAre(ElementsAre(emulator::all_lanes, 0)));
}
