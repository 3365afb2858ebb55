// Counters of whole launches, derived by hand.

#include "../machine/ptx_fixture.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

using namespace emulator::fixture;
using emulator::Counters, emulator::Metric;
using std::uint32_t, std::uint64_t;

namespace {

/// The counters of `blocks` blocks of `threads` threads that execute `body` with p0 = 64 KiB of memory at a
/// sector's start.
Counters counters(const std::string& body, uint32_t threads = 32, uint32_t blocks = 1) {
    Program program(module_of(body, ".shared .align 128 .b8 tile[16384];"));
    return program.launch("k", grid_of(threads, blocks), {program.allocate<uint32_t>(16384)});
}

/// %rd1 = p0 + %tid.x * `bytes`; %r1 = tile + %tid.x * `bytes`
std::string addresses(uint32_t bytes) {
    return "mul.lo.u32 %r1, %r60, " + std::to_string(bytes) +
           R"(
        ; cvt.u64.u32 %rd1, %r1; add.u64 %rd1, %rd60, %rd1; mov.u32 %r2, tile;
        add.u32 %r1, %r1, %r2;
)";
}

} // namespace

TEST(Counting, global_loads_and_stores) {
    const Counters c = counters(addresses(4) + R"(
        ld.global.u32 %r3, [%rd1]; st.global.u32 [%rd1+4], %r3; @!%p31 ld.global.u8 %r4, [%rd60];
        @%p31 st.global.u32 [%rd60], %r3;)",
                                96, 2);
    // 6 warps: a row of 4 sectors, a row that starts 4 B off in 5, one sector for all lanes, and a store that
    // no lane makes.
    EXPECT_EQ(c[Metric::global_load_requests], 12u);
    EXPECT_EQ(c[Metric::global_load_sectors], 6u * (4 + 1));
    EXPECT_EQ(c[Metric::global_store_requests], 6u);
    EXPECT_EQ(c[Metric::global_store_sectors], 6u * 5);
    EXPECT_EQ(c[Metric::shared_load_wavefronts], 0u);
}

TEST(Counting, shared_loads_and_stores) {
    const Counters c = counters(addresses(128) +
                                R"(
        st.shared.u32 [%r1], 1; ld.shared.u32 %r3, [tile];
        ld.shared.v4.u32 {%r4, %r5, %r6, %r7}, [%r1];)");
    EXPECT_EQ(c[Metric::shared_store_wavefronts], 32u); // a column
    EXPECT_EQ(c[Metric::shared_store_bank_conflicts], 31u);
    EXPECT_EQ(c[Metric::shared_load_wavefronts], 1u + 32); // a broadcast, and a column of 16-byte elements
    EXPECT_EQ(c[Metric::shared_load_bank_conflicts], 28u);
    EXPECT_EQ(c[Metric::global_load_requests] + c[Metric::global_store_requests], 0u);
}

TEST(Counting, atomics_on_one_address_are_one_sector_only_if_the_text_shows_that_it_is_one) {
    const auto sectors_at = [](const std::string& index) {
        return counters(index + R"(
            cvt.u64.u32 %rd1, %r3; add.u64 %rd1, %rd60, %rd1; red.global.add.u32 [%rd1], 1;)")
            [Metric::global_red_sectors];
    };
    EXPECT_EQ(sectors_at("mov.u32 %r3, 0;"), 1u);
    // All lanes reach 0 here as well, but each by its own condition, or by its own atomic's result.
    EXPECT_EQ(sectors_at("setp.lt.u32 %p1, %r60, 99; mov.u32 %r3, 4; @%p1 mov.u32 %r3, 0;"), 32u);
    EXPECT_EQ(sectors_at("atom.global.and.b32 %r3, [%rd60], 0;"), 32u);
}

TEST(Counting, atomics_apart_from_loads_and_stores) {
    const Counters c = counters(addresses(4) + R"(
        atom.global.add.u32 %r3, [%rd1], 1; red.global.add.u32 [%rd60], %r3;
        atom.shared.add.u32 %r4, [%r1], 1;)");
    EXPECT_EQ(c[Metric::global_atom_sectors], 4u);
    EXPECT_EQ(c[Metric::global_red_sectors], 1u);
    EXPECT_EQ(c[Metric::global_load_sectors] + c[Metric::global_store_sectors] +
                  c[Metric::shared_load_wavefronts] + c[Metric::shared_store_wavefronts],
              0u);
}

TEST(Counting, asynchronous_copies_as_loads_and_under_names_of_their_own) {
    const Counters c = counters(addresses(16) + R"(
        setp.lt.u32 %p1, %r60, 20; @%p1 cp.async.cg.shared.global [%r1], [%rd1], 16;
        setp.gt.u32 %p2, %r60, 99; @%p2 cp.async.cg.shared.global [%r1], [%rd1], 16;
        cp.async.wait_all;)",
                                32, 3);
    // 3 warps, 20 lanes x 16 B = 320 B: 10 sectors, 3 wavefronts of up to 128 B. The second copy has no lane.
    EXPECT_EQ(c[Metric::copy_instructions], 3u);
    EXPECT_EQ(c[Metric::copy_wavefronts], 3u * 3);
    EXPECT_EQ(c[Metric::global_load_requests], 3u);
    EXPECT_EQ(c[Metric::global_load_sectors], 3u * 10);
    EXPECT_EQ(c[Metric::shared_store_wavefronts] + c[Metric::shared_load_wavefronts], 0u);
    EXPECT_EQ(c[Metric::bulk_instructions] + c[Metric::bulk_sectors], 0u);
}

TEST(Counting, bulk_copies_as_no_loads) {
    // In each of 3 blocks lanes 0 and 1 copy 1,040 bytes each: 1,040 / 32 = 32.5, so 33 sectors from a
    // sector's start. Lane 1 begins within a sector, 1,040 B behind: [1,040, 2,080) is in sectors 32 to 64.
    const Counters c = counters(R"(
        .shared .align 8 .b64 arrived; mov.u32 %r3, arrived; setp.lt.u32 %p1, %r60, 2;
        setp.eq.u32 %p2, %r60, 0; @%p2 mbarrier.init.shared.b64 [%r3], 2; bar.sync 0;
        mul.lo.u32 %r1, %r60, 1040; cvt.u64.u32 %rd1, %r1; add.u64 %rd1, %rd60, %rd1; mov.u32 %r2, tile;
        add.u32 %r1, %r1, %r2; @%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r3], 1040;
        @%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1], 1040, [%r3];
        WAIT: mbarrier.try_wait.parity.shared.b64 %p5, [%r3], 0; @!%p5 bra WAIT;)",
                                32, 3);
    EXPECT_EQ(c[Metric::bulk_instructions], 3u * 2);
    EXPECT_EQ(c[Metric::bulk_sectors], 3u * 2 * 33);
    EXPECT_EQ(c[Metric::global_load_requests] + c[Metric::global_load_sectors] +
                  c[Metric::copy_instructions] + c[Metric::copy_wavefronts] +
                  c[Metric::shared_store_wavefronts],
              0u);
}

TEST(Counting, generic_accesses_count_where_they_go) {
    // Lanes 0 to 15 to shared, the others to global memory: a request to each.
    const Counters c = counters(addresses(4) + R"(
        cvt.u64.u32 %rd2, %r1; cvta.shared.u64 %rd2, %rd2; setp.lt.u32 %p1, %r60, 16;
        selp.b64 %rd3, %rd2, %rd1, %p1; ld.u32 %r3, [%rd3]; st.u32 [%rd3], %r3;)");
    EXPECT_EQ(c[Metric::global_load_requests], 1u);
    EXPECT_EQ(c[Metric::global_load_sectors], 2u);
    EXPECT_EQ(c[Metric::shared_load_wavefronts], 1u);
    EXPECT_EQ(c[Metric::global_store_sectors], 2u);
    EXPECT_EQ(c[Metric::shared_store_wavefronts], 1u);
}

TEST(Counting, local_constant_and_parameter_accesses_are_no_global_traffic) {
    const Counters c = counters(
        R"(
        .local .u32 mine; st.local.u32 [mine], 1; ld.local.u32 %r1, [mine]; ld.param.u64 %rd1, [p1];)");
    for (const Metric metric :
         {Metric::global_load_requests, Metric::global_store_requests, Metric::global_load_sectors,
          Metric::global_store_sectors, Metric::shared_load_wavefronts})
        EXPECT_EQ(c[metric], 0u) << emulator::metric_name(metric);
}

TEST(Counting, atomics_in_shared_memory_and_loads_of_local_memory_by_any_address) {
    const Counters c = counters(addresses(4) + R"(
        .local .u32 mine; mov.u64 %rd4, mine; cvta.local.u64 %rd4, %rd4;
        cvt.u64.u32 %rd2, %r1; cvta.shared.u64 %rd2, %rd2;
        atom.shared.add.u32 %r3, [%r1], 1; red.shared.add.u32 [%r1], 1; atom.exch.b32 %r3, [%rd2], %r3;
        red.global.add.u32 [%rd1], 1; st.u32 [%rd4], 1; ld.u32 %r3, [%rd4]; ld.local.u32 %r3, [mine];
        { .param .b32 argument, result; st.param.b32 [argument], 1; ld.param.b32 %r3, [argument]; })");
    EXPECT_EQ(c[Metric::shared_atomics], 3u);
    EXPECT_EQ(c[Metric::local_loads], 2u) << "an argument is none";
    EXPECT_EQ(c[Metric::shared_load_wavefronts] + c[Metric::shared_store_wavefronts], 0u);
    EXPECT_EQ(c[Metric::global_load_sectors], 0u);
}

TEST(Counting, instructions_per_warp_and_per_thread) {
    const auto added = [](const char* body, uint32_t threads) { // beyond an empty kernel
        const Counters with = counters(body, threads), without = counters("", threads);
        return std::pair(with[Metric::warp_instructions] - without[Metric::warp_instructions],
                         with[Metric::thread_instructions] - without[Metric::thread_instructions]);
    };
    using Pair = std::pair<uint64_t, uint64_t>;
    EXPECT_EQ(added("add.u32 %r1, %r1, 1; add.u32 %r1, %r1, 1;", 64), Pair(4, 128));
    EXPECT_EQ(added("add.u32 %r1, %r1, 1;", 40), Pair(2, 40));
    // A branch around one of two additions: setp, bra and the second addition by all, the first by 8 lanes in
    // a turn of its own.
    EXPECT_EQ(
        added("setp.ge.u32 %p1, %r60, 8; @%p1 bra END; add.u32 %r1, %r1, 1; END: add.u32 %r1, %r1, 1;", 32),
        Pair(4, 32 * 3 + 8));
    // The same with a branch where the ways join: the warp executes it once.
    EXPECT_EQ(added("setp.ge.u32 %p1, %r60, 8; @%p1 bra JOIN; add.u32 %r1, %r1, 1; JOIN: bra END; END:", 32),
              Pair(4, 32 * 3 + 8));
    // A guard does not take an instruction away from a warp.
    EXPECT_EQ(added("setp.ge.u32 %p1, %r60, 8; @%p1 add.u32 %r1, %r1, 1;", 32), Pair(2, 64));
}

TEST(Counting, the_tree_of_reduce_gmem_touches_100_sectors_a_block) {
    // The shared plan's check: 256 threads load a row of 1,024 B (32 sectors), add the upper to the lower
    // half in place, and so on.
    std::string body = R"(
        mov.u32 %r9, %tid.x; mul.wide.u32 %rd1, %r62, 4; add.u64 %rd1, %rd60, %rd1;
        setp.lt.u32 %p1, %r9, 128; @%p1 ld.global.u32 %r1, [%rd1];
        @%p1 ld.global.u32 %r2, [%rd1+512]; add.u32 %r1, %r1, %r2; @%p1 st.global.u32 [%rd1], %r1;
        bar.sync 0;
        setp.lt.u32 %p1, %r9, 64; @%p1 ld.global.u32 %r1, [%rd1];
        @%p1 ld.global.u32 %r2, [%rd1+256]; add.u32 %r1, %r1, %r2; @%p1 st.global.u32 [%rd1], %r1;
        bar.sync 0;
        setp.lt.u32 %p1, %r9, 32; @!%p1 ret;
)";
    for (const int offset : {128, 64, 32, 16, 8, 4})
        body += "ld.global.u32 %r1, [%rd1]; ld.global.u32 %r2, [%rd1+" + std::to_string(offset) +
                "]; add.u32 %r1, %r1, %r2; st.global.u32 [%rd1], %r1;\n";
    body +=
        R"(
        setp.eq.u32 %p1, %r9, 0; @!%p1 ret; ld.global.u32 %r1, [%rd1];
        st.global.u32 [%rd60+32768], %r1;)";
    const Counters c = counters(body, 256, 3);
    EXPECT_EQ(c[Metric::global_load_sectors], 3u * 100); // 32 + 16 + (8 + 8 + 8 + 9 + 9 + 9) + 1
    EXPECT_EQ(c[Metric::global_store_sectors], 3u * 49); // 16 + 8 + 6 * 4 + 1
}

TEST(Counters, add_up_and_have_names) {
    Counters a, b;
    a[Metric::global_load_sectors] = 3;
    b[Metric::global_load_sectors] = 4;
    b[Metric::divergent_branches] = 1;
    a += b;
    EXPECT_EQ(a[Metric::global_load_sectors], 7u);
    EXPECT_EQ(a[Metric::divergent_branches], 1u);
    EXPECT_NE(a, b);
    std::set<std::string> names;
    for (std::size_t i = 0; i < emulator::metric_count; ++i)
        names.insert(emulator::metric_name(static_cast<Metric>(i)));
    EXPECT_EQ(names.size(), emulator::metric_count);
    EXPECT_EQ(names.count(""), 0u);
    EXPECT_STREQ(emulator::metric_name(Metric::shared_load_wavefronts),
                 "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum");
}
