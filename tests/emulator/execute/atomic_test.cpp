// atom and red: every operation and type, on shared and global memory, from one thread and from many.

#include "../machine/ptx_fixture.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <utility>

using namespace emulator::fixture;
using std::uint32_t, std::uint64_t;

namespace {

struct Row {
    const char* operation; ///< with its type: "add.u32"
    uint64_t old, operand, expected;
    uint64_t second_operand = 0; ///< of cas
};

const Row rows[] = {
    {"add.u32", 0xFFFF'FFFF, 2, 1},
    {"add.s32", 5, 0xFFFF'FFFF, 4},
    {"add.u64", 0xFFFF'FFFF'FFFF'FFFF, 2, 1},
    {"add.f32", 0x3FC0'0000, 0x4000'0000, 0x4060'0000}, // 1.5 + 2 = 3.5
    {"add.f64", 0x3FF8'0000'0000'0000, 0x4000'0000'0000'0000, 0x400C'0000'0000'0000},
    {"add.noftz.f16", 0x3C00, 0x4000, 0x4200}, // 1 + 2 = 3
    {"add.noftz.f16", 1, 1, 2},
    {"add.noftz.bf16", 0x3F80, 0x4000, 0x4040},
    {"add.noftz.f16x2", 0x3C00'0001, 0x4000'0001, 0x4200'0002},
    {"add.noftz.bf16x2", 0x3F80'7F7F, 0x4000'7F7F, 0x4040'7F80},
    {"min.u32", 5, 0xFFFF'FFFF, 5},
    {"min.s32", 5, 0xFFFF'FFFF, 0xFFFF'FFFF},
    {"max.u32", 5, 0xFFFF'FFFF, 0xFFFF'FFFF},
    {"max.s32", 5, 0xFFFF'FFFF, 5},
    {"min.u64", 5, ~0ull, 5},
    {"min.s64", 5, ~0ull, ~0ull},
    {"max.u64", 5, ~0ull, ~0ull},
    {"max.s64", 5, ~0ull, 5},
    {"and.b32", 0xFF0F, 0x0FF0, 0x0F00},
    {"and.b64", 0xFF0F'0000'0000'0001, 0x0FF0'0000'0000'0001, 0x0F00'0000'0000'0001},
    {"or.b32", 0xF0, 0x0F, 0xFF},
    {"or.b64", 1ull << 40, 1, (1ull << 40) | 1},
    {"xor.b32", 0xFF, 0x0F, 0xF0},
    {"xor.b64", ~0ull, 1, ~1ull},
    {"exch.b32", 7, 9, 9},
    {"exch.b64", 7, 1ull << 40, 1ull << 40},
    {"inc.u32", 4, 5, 5}, // up to the operand, then 0
    {"inc.u32", 5, 5, 0},
    {"inc.u32", 6, 5, 0},
    {"dec.u32", 4, 5, 3}, // down to 0, then the operand; from above the operand too
    {"dec.u32", 0, 5, 5},
    {"dec.u32", 9, 5, 5},
    {"cas.b32", 7, 7, 9, 9},
    {"cas.b32", 7, 8, 7, 9},
    {"cas.b64", 1ull << 40, 1ull << 40, 9, 9},
    {"cas.b64", 7, 7 | 1ull << 40, 7, 9},
    {"cas.b16", 7, 7, 9, 9},
    {"cas.b16", 7, 8, 7, 9},
};

std::string register_of(std::string_view operation) {
    const std::string_view type = operation.substr(operation.rfind('.') + 1);
    return type.ends_with("64") ? "%rd" : type.ends_with("x2") || type.ends_with("32") ? "%r" : "%rs";
}

/// Sets the word, executes the operation, returns {the word in memory, the instruction's result}.
std::pair<uint64_t, uint64_t> execute(const Row& row, const std::string& space, bool returns) {
    const std::string r = register_of(row.operation), store = "st.u64 [%rd60+8], ";
    const bool swaps = std::string_view(row.operation).starts_with("cas");
    const std::string operands = r + "1" + (swaps ? ", " + r + "2" : "");
    const std::string address = space == ".shared" ? "word" : "%rd5";
    std::string body = R"(
        ld.global.v2.u64 {%rd10, %rd11}, [%rd60]; ld.global.u64 %rd12, [%rd60+16]; mov.u64 %rd0, 0;
        mov.u32 %r0, 0; mov.u16 %rs0, 0;
        mov.b64 %rd1, %rd11; cvt.u32.u64 %r1, %rd11; cvt.u16.u64 %rs1, %rd11; mov.b64 %rd2, %rd12;
        cvt.u32.u64 %r2, %rd12; cvt.u16.u64 %rs2, %rd12;
)";
    if (space == ".global")
        body += "add.u64 %rd5, %rd60, 24; ";
    else
        body += "mov.u64 %rd5, word; cvta.shared.u64 %rd5, %rd5; ";
    body += "st.u64 [%rd5], %rd10;\n";
    body += (returns ? "atom" : "red") + (space == ".generic" ? "" : space) + '.' + row.operation +
            (returns ? ' ' + r + "0, " : " ") + '[' + address + "], " + operands + ";\n";
    body += "ld.u64 %rd6, [%rd5]; st.global.u64 [%rd60], %rd6;\n";
    body += r == "%rd"  ? store + "%rd0;"
            : r == "%r" ? "cvt.u64.u32 %rd7, %r0; " + store + "%rd7;"
                        : "cvt.u64.u16 %rd7, %rs0; " + store + "%rd7;";
    Program program(module_of(body, ".shared .align 8 .b64 word;"));
    auto* const memory = program.allocate<uint64_t>(4);
    memory[0] = row.old, memory[1] = row.operand, memory[2] = row.second_operand;
    program.launch("k", grid_of(1), {memory});
    return {memory[0], memory[1]};
}

} // namespace

TEST(Atomic, every_operation_changes_memory_and_returns_the_old_value) {
    for (const Row& row : rows)
        for (const char* const space : {".global", ".shared", ".generic"}) {
            const auto [memory, returned] = execute(row, space, true);
            EXPECT_EQ(memory, row.expected) << row.operation << space;
            EXPECT_EQ(returned, row.old) << row.operation << space;
        }
}

TEST(Atomic, reductions_change_memory_alike) {
    for (const Row& row : rows) {
        const std::string_view operation = row.operation;
        if (operation.starts_with("cas") || operation.starts_with("exch")) continue; // there is no such red
        for (const char* const space : {".global", ".shared", ".generic"})
            EXPECT_EQ(execute(row, space, false).first, row.expected) << row.operation << space;
    }
}

TEST(Atomic, add_f32_flushes_subnormal_numbers_in_global_memory_only) {
    // The PTX ISA: on global memory subnormal operands and results become zeros of their sign; on shared
    // memory they do not.
    const Row subnormal{"add.f32", 1, 2, 3}, result{"add.f32", 0x0080'0001, 0x8080'0000, 1};
    EXPECT_EQ(execute(subnormal, ".shared", true).first, 3u);
    EXPECT_EQ(execute(result, ".shared", false).first, 1u);
    EXPECT_EQ(execute(subnormal, ".global", true).first, 0u);
    EXPECT_EQ(execute(result, ".global", false).first, 0u);
    EXPECT_EQ(execute(subnormal, ".generic", true).first, 3u); // the address is one of shared memory
    EXPECT_EQ(run(R"(
        st.global.u32 [%rd61], 1; atom.add.f32 %r1, [%rd61], 0f00000002; ld.global.u32 %r0, [%rd61];)",
                  1),
              Words{0});
}

TEST(Atomic, add_f32_goes_by_each_lanes_own_space) {
    // Even lanes add to shared memory, odd ones to global memory; each to its own word with 2 * 2^-149.
    const auto results = run(R"(
        mul.wide.u32 %rd1, %r60, 4; cvta.shared.u64 %rd2, tile; add.u64 %rd2, %rd2, %rd1;
        add.u64 %rd3, %rd61, %rd1; and.b32 %r2, %r60, 1; setp.eq.u32 %p1, %r2, 0;
        selp.b64 %rd4, %rd2, %rd3, %p1; st.u32 [%rd4], 2; red.add.f32 [%rd4], 0f00000001;
        ld.u32 %r0, [%rd4];)",
                             32, {}, ".shared .u32 tile[32];");
    for (uint32_t lane = 0; lane < 32; ++lane) EXPECT_EQ(results[lane], lane % 2 == 0 ? 3u : 0u) << lane;
}

TEST(Atomic, lanes_that_meet_at_one_place_come_one_after_the_other) {
    auto tickets = run("atom.global.add.u32 %r0, [%rd61], 1;", 32);
    std::sort(tickets.begin(), tickets.end());
    for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(tickets[i], i);
    // With inactive lanes: 20 of them.
    EXPECT_EQ(run(R"(
        setp.lt.u32 %p1, %r60, 20; @%p1 red.global.add.u32 [%rd61], 1; bar.sync 0;
        ld.global.u32 %r0, [%rd61];)"),
              Words(32, 20));
}

TEST(Atomic, reductions_of_a_whole_warp_at_one_place_take_every_lane) {
    // Lane i brings (i + 3) * 0x9E3779B9: no two alike, of both signs; every third lane stays away.
    const auto operand = [](uint32_t lane) { return (lane + 3) * 0x9E37'79B9u; };
    const auto as_signed = [](uint32_t value) { return static_cast<int32_t>(value); };
    const std::pair<const char*, std::function<uint32_t(uint32_t, uint32_t)>> rows[] = {
        {"add.u32", [](uint32_t a, uint32_t b) { return a + b; }},
        {"min.u32", [](uint32_t a, uint32_t b) { return std::min(a, b); }},
        {"max.u32", [](uint32_t a, uint32_t b) { return std::max(a, b); }},
        {"min.s32", [=](uint32_t a, uint32_t b) { return as_signed(a) < as_signed(b) ? a : b; }},
        {"max.s32", [=](uint32_t a, uint32_t b) { return as_signed(a) < as_signed(b) ? b : a; }},
        {"and.b32", [](uint32_t a, uint32_t b) { return a & b; }},
        {"or.b32", [](uint32_t a, uint32_t b) { return a | b; }},
        {"xor.b32", [](uint32_t a, uint32_t b) { return a ^ b; }}};
    for (const auto& [operation, combine] : rows)
        for (const uint32_t old : {0x1357'9BDFu, 0u, 0xFFFF'FFFFu}) {
            Program program(module_of(R"(
                add.u32 %r1, %r60, 3; mul.lo.u32 %r1, %r1, 0x9E3779B9; rem.u32 %r2, %r60, 3;
                setp.ne.u32 %p1, %r2, 2; @%p1 red.global.)" +
                                      std::string(operation) + " [%rd60], %r1;"));
            auto* const place = program.allocate<uint32_t>(1);
            *place = old;
            program.launch("k", grid_of(32), {place});
            uint32_t expected = old;
            for (uint32_t lane = 0; lane < 32; ++lane)
                if (lane % 3 != 2) expected = combine(expected, operand(lane));
            EXPECT_EQ(*place, expected) << operation << " on " << old;
        }
}

TEST(Atomic, nothing_is_lost_between_host_threads) {
    constexpr uint32_t threads = 96, blocks = 200, turns = 100, count = threads * blocks * turns;
    Program program(module_of(R"(
        mov.u32 %r5, 0; cvt.u64.u32 %rd2, %r62;
        LOOP: atom.global.add.u32 %r1, [%rd60], 1;
        mul.wide.u32 %rd1, %r1, 4; add.u64 %rd1, %rd61, %rd1; st.global.u32 [%rd1], 1;
        red.global.add.f32 [%rd60+4], 0f3F800000; red.global.max.u32 [%rd60+8], %r62;
        red.global.inc.u32 [%rd60+12], 6; red.global.add.u64 [%rd60+16], %rd2;
        add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, 100; @%p1 bra LOOP;)"));
    auto* const totals = program.allocate<uint32_t>(6);
    auto* const tickets = program.allocate<uint32_t>(count);
    program.launch("k", grid_of(threads, blocks), {totals, tickets}, 4);
    EXPECT_EQ(totals[0], count);
    EXPECT_EQ(std::bit_cast<float>(totals[1]), count); // every whole number up to 2^24 is exact
    EXPECT_EQ(totals[2], threads * blocks - 1);
    EXPECT_EQ(totals[3], count % 7); // counts 0 to 6 and starts again
    EXPECT_EQ(totals[4] | uint64_t{totals[5]} << 32,
              uint64_t{turns} * (threads * blocks) * (threads * blocks - 1) / 2);
    EXPECT_EQ(std::count(tickets, tickets + count, 1u), count); // each old value was returned once
}

TEST(Atomic, an_atom_whose_result_nothing_reads_is_a_red) {
    using emulator::Metric;
    struct Case {
        const char* body;
        bool atom;
    };
    for (const Case& one :
         {Case{"atom.global.add.u32 %r1, [%rd60], 1;", false},
          {"atom.global.add.u32 _, [%rd60], 1;", false},
          {"red.global.add.u32 [%rd60], 1;", false},
          {"atom.global.add.u32 %r1, [%rd60], 1; st.global.u32 [%rd60], %r1;", true},
          {"atom.global.add.u32 %r1, [%rd60], 1; brx.idx %r1, targets;", true},
          {"atom.global.add.u32 %r1, [%rd60], 1; nanosleep.u32 %r1;", true},
          {"atom.global.add.u64 %rd1, [%rd60], 1; ld.global.u32 %r1, [%rd1+0];", true},
          {"atom.global.add.u32 %r1, [%rd60], 1; setp.eq.u32 %p1, %r1, 0; @%p1 bra L0;", true}}) {
        Program program(
            module_of(std::string("L0: targets: .branchtargets L1, L1, L1;\n") + one.body + "\nL1:"));
        auto* const word = program.allocate<uint64_t>(1);
        const bool loads = std::string_view(one.body).find("[%rd1+0]") != std::string_view::npos;
        if (loads) *word = reinterpret_cast<uint64_t>(word);
        const emulator::Counters counters = program.launch("k", grid_of(1), {word});
        EXPECT_EQ(counters[Metric::global_atom_sectors] != 0, one.atom) << one.body;
        EXPECT_EQ(counters[Metric::global_red_sectors] != 0, !one.atom) << one.body;
    }
}
