// Sums and products over several words, with the condition code between their instructions.

#include "reference.hpp"

#include <gtest/gtest.h>

using namespace emulator::fixture;
using std::uint32_t, std::uint64_t;
using u128 = unsigned __int128;

namespace {

/// Checks the statements that leave a result in %rd0, of a in %rd1 and %r1, b in %rd2 and %r2.
void expect_all(const std::string& statements, const std::vector<LaneCase>& cases) {
    SCOPED_TRACE(statements);
    Program program(
        module_of("cvt.u64.u32 %rd50, %r62; shl.b64 %rd51, %rd50, 4; add.s64 %rd52, %rd60, %rd51; "
                  "ld.global.b64 %rd1, [%rd52]; ld.global.b64 %rd2, [%rd52+8]; cvt.u32.u64 %r1, "
                  "%rd1; cvt.u32.u64 %r2, %rd2;\n" +
                  statements +
                  "\nshl.b64 %rd51, %rd50, 3; add.s64 %rd52, %rd61, %rd51; st.global.b64 [%rd52], "
                  "%rd0;"));
    auto* const operands = program.allocate<uint64_t>(2 * cases.size());
    auto* const results = program.allocate<uint64_t>(cases.size());
    for (std::size_t i = 0; i < cases.size(); ++i) {
        operands[2 * i] = cases[i].a;
        operands[2 * i + 1] = cases[i].b;
    }
    program.launch("k", grid_of(1, static_cast<uint32_t>(cases.size())), {operands, results});
    for (std::size_t i = 0; i < cases.size(); ++i)
        EXPECT_EQ(results[i], cases[i].expected)
            << std::hex << "a = " << cases[i].a << ", b = " << cases[i].b;
}

/// Each pair of edge values of 64 bits.
template <class Expected> std::vector<LaneCase> pairs(Expected expected) {
    std::vector<LaneCase> cases;
    for (const uint64_t a : edge_values<uint64_t>())
        for (const uint64_t b : edge_values<uint64_t>()) cases.push_back({expected(a, b), a, b});
    return cases;
}

} // namespace

TEST(Carry, goes_from_word_to_word) {
    const std::string halves = "mov.b64 {%r5, %r6}, %rd1; mov.b64 {%r7, %r8}, %rd2; ";
    expect_all(halves + "add.cc.u32 %r9, %r5, %r7; addc.u32 %r10, %r6, %r8; mov.b64 %rd0, {%r9, %r10};",
               pairs([](uint64_t a, uint64_t b) { return a + b; }));
    expect_all(halves + "sub.cc.s32 %r9, %r5, %r7; subc.s32 %r10, %r6, %r8; mov.b64 %rd0, {%r9, %r10};",
               pairs([](uint64_t a, uint64_t b) { return a - b; }));
}

TEST(Carry, is_that_of_the_last_instruction_that_sets_it) {
    const auto carry_of = [](const std::string& first, const std::string& then, auto expected) {
        expect_all(first + "; " + then + " %rd0, 0, 0;", pairs(expected));
    };
    const auto add = [](uint64_t a, uint64_t b) { return uint64_t{a + b < a}; };
    const auto borrow = [](uint64_t a, uint64_t b) { return -uint64_t{a < b}; };
    carry_of("add.cc.u64 %rd3, %rd1, %rd2", "addc.u64", add);
    carry_of("add.cc.s64 %rd3, %rd1, %rd2", "addc.cc.s64", add);
    carry_of("sub.cc.u64 %rd3, %rd1, %rd2", "subc.u64", borrow);
    carry_of("sub.cc.s64 %rd3, %rd1, %rd2", "subc.s64", borrow);
    // Instructions without .cc leave it: the carry of the first sum is still there.
    carry_of("add.cc.u64 %rd3, %rd1, %rd2; add.u64 %rd3, %rd3, -1; addc.u64 %rd3, 5, 5", "addc.u64", add);
    // addc.cc gives out what 2^64 - 1 and the carry give: the carry itself.
    carry_of("add.cc.u64 %rd3, %rd1, %rd2; addc.cc.u64 %rd3, -1, 0", "addc.u64", add);
    // subc.cc of 0 - 0 - borrow borrows again.
    carry_of("sub.cc.u64 %rd3, %rd1, %rd2; subc.cc.u64 %rd3, 0, 0", "subc.u64", borrow);
    // A difference is a + ~b + 1: it carries where it does not borrow.
    carry_of("sub.cc.u64 %rd3, %rd1, %rd2", "addc.u64",
             [](uint64_t a, uint64_t b) { return uint64_t{a >= b}; });
    carry_of("sub.cc.u32 %r3, %r1, %r2; addc.cc.u32 %r3, %r1, 0", "addc.u64", [](uint64_t a, uint64_t b) {
        const auto x = static_cast<uint32_t>(a), y = static_cast<uint32_t>(b);
        return uint64_t{x == UINT32_MAX && x >= y};
    });
    carry_of("add.cc.u64 %rd3, %rd1, %rd2", "subc.u64",
             [](uint64_t a, uint64_t b) { return -uint64_t{a + b >= a}; });
}

TEST(Carry, multiplies_128_bits) {
    // a * b + (a * 2^64 + b), lower and upper word.
    const auto product = [](uint64_t a, uint64_t b) { return u128{a} * b + (u128{a} << 64 | b); };
    const std::string multiply =
        "mad.lo.cc.u64 %rd3, %rd1, %rd2, %rd2; madc.hi.u64 %rd4, %rd1, %rd2, %rd1; mov.b64 %rd0, ";
    expect_all(multiply + "%rd3;",
               pairs([=](uint64_t a, uint64_t b) { return static_cast<uint64_t>(product(a, b)); }));
    expect_all(multiply + "%rd4;",
               pairs([=](uint64_t a, uint64_t b) { return static_cast<uint64_t>(product(a, b) >> 64); }));
}

TEST(Carry, multiplies_halves_of_32_bits) {
    // The upper word of the signed product of the low halves, and what its lower word plus a carries.
    expect_all("mad.lo.cc.s32 %r3, %r1, %r2, %r1; madc.hi.s32 %r4, %r1, %r2, 0; cvt.u64.u32 %rd0, %r4;",
               pairs([](uint64_t a, uint64_t b) -> uint64_t {
                   const auto x = static_cast<std::int32_t>(a), y = static_cast<std::int32_t>(b);
                   const std::int64_t wide = std::int64_t{x} * y;
                   const uint64_t sum = uint64_t{static_cast<uint32_t>(wide)} + static_cast<uint32_t>(x);
                   return static_cast<uint32_t>((wide >> 32) + static_cast<std::int64_t>(sum >> 32));
               }));
}

TEST(Carry, is_each_lane_s_own_and_a_guard_keeps_it) {
    // Even lanes carry; a guard excludes odd lanes from a sum without a carry, so they don't keep one.
    EXPECT_EQ(run("and.b32 %r2, %r60, 1; setp.eq.u32 %p1, %r2, 0; mov.u32 %r3, 0; add.cc.u32 %r3, 0, 0; "
                  "@%p1 add.cc.u32 %r3, -1, 1; addc.u32 %r0, %r60, 0;",
                  4),
              (std::vector<uint32_t>{1, 1, 3, 3}));
}

TEST(Carry, is_refused_where_there_is_none) {
    EXPECT_EQ(error_of([] { run("add.cc.u16 %rs0, %rs1, %rs2;"); }).failure(),
              emulator::Failure::unsupported);
    EXPECT_EQ(error_of([] { run("madc.u32 %r0, %r1, %r2, %r3;"); }).failure(),
              emulator::Failure::invalid_ptx);
}
