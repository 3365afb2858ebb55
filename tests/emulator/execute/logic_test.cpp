// Instructions on bits, against formulas that are not the emulator's, or by hand.

#include "reference.hpp"

#include <gtest/gtest.h>

#include <algorithm>

using namespace emulator::fixture;
using std::int16_t, std::int32_t, std::int64_t, std::uint16_t, std::uint32_t, std::uint64_t;

namespace {

struct BitType {
    std::string name, registers;
    uint64_t mask;
};
const BitType bit_types[] = {{"b16", "%rs", 0xFFFF}, {"b32", "%r", 0xFFFF'FFFF}, {"b64", "%rd", ~0ull}};

constexpr uint64_t patterns[] = {
    0, 1, ~0ull, 0x8000'0000'8000'8000, 0x1234'5678'9ABC'DEF0, 0xFFFF'0000'FF00'F0F0};

/// 32-bit operands that look random.
std::vector<LaneCase> random_lanes(std::size_t count) {
    Numbers numbers;
    std::vector<LaneCase> lanes(count);
    for (LaneCase& lane : lanes) {
        lane.a = numbers.next() & 0xFFFF'FFFF;
        lane.b = numbers.next() & 0xFFFF'FFFF;
        lane.c = numbers.next() & 0xFFFF'FFFF;
    }
    return lanes;
}

} // namespace

TEST(Logic, combines_bits) {
    for (const BitType& type : bit_types) {
        const auto check = [&](const std::string& opcode, int operands, auto reference) {
            std::vector<LaneCase> cases;
            for (const uint64_t a : patterns)
                for (const uint64_t b : patterns)
                    cases.push_back({reference(a & type.mask, b & type.mask) & type.mask, a, b});
            expect_lanes(opcode + '.' + type.name + ' ' + type.registers + "0, " + type.registers + '1' +
                             (operands == 2 ? ", " + type.registers + '2' : ""),
                         cases);
        };
        check("and", 2, [](uint64_t a, uint64_t b) { return a & b; });
        check("or", 2, [](uint64_t a, uint64_t b) { return a | b; });
        check("xor", 2, [](uint64_t a, uint64_t b) { return a ^ b; });
        check("not", 1, [](uint64_t a, uint64_t) { return ~a; });
        check("cnot", 1, [](uint64_t a, uint64_t) { return uint64_t{a == 0}; });
    }
}

TEST(Logic, combines_predicates) {
    const auto truth_table = [](std::initializer_list<int> expected) { // for (a, b) = 00, 01, 10, 11
        std::vector<LaneCase> cases;
        for (const int value : expected)
            cases.push_back({static_cast<uint64_t>(value), cases.size() >> 1, cases.size() & 1});
        for (std::size_t i = 0; i < 100; ++i) cases.push_back(cases[i * 7 % 4]); // in other lanes too
        return cases;
    };
    expect_lanes("and.pred %p0, %p1, %p2", truth_table({0, 0, 0, 1}));
    expect_lanes("and.pred %p0, !%p1, %p2", truth_table({0, 1, 0, 0}));
    expect_lanes("or.pred %p0, %p1, !%p2", truth_table({1, 0, 1, 1}));
    expect_lanes("xor.pred %p0, %p1, %p2", truth_table({0, 1, 1, 0}));
    expect_lanes("xor.pred %p0, !%p1, !%p2", truth_table({0, 1, 1, 0}));
    expect_lanes("not.pred %p0, %p1", truth_table({1, 1, 0, 0}));
    expect_lanes("mov.pred %p0, %p1", truth_table({0, 0, 1, 1}));
    expect_lanes("mov.pred %p0, !%p2", truth_table({1, 0, 1, 0}));
    expect_lanes("and.pred %p0, %p1, 1", truth_table({0, 0, 1, 1}));
    expect_lanes("mov.pred %p0, 0", truth_table({0, 0, 0, 0}));
    expect_lanes("mov.pred %p0, -1", truth_table({1, 1, 1, 1})); // nvcc writes true so
}

TEST(Logic, shifts_everything_out_beyond_the_width) {
    for_types<uint16_t, int16_t, uint32_t, int32_t, uint64_t, int64_t>([]<class T>() {
        constexpr uint32_t width = 8 * sizeof(T);
        std::vector<LaneCase> left, right;
        for (const T a : edge_values<T>())
            for (const uint32_t count :
                 {0u, 1u, 7u, width - 1, width, width + 1, 64u, 0x8000'0000u, 0xFFFF'FFFFu}) {
                const i128 few = std::min(count, 64u); // 64 more bits than T has are enough
                left.push_back(
                    {bits_of(static_cast<T>(static_cast<unsigned __int128>(a) << few)), bits_of(a), count});
                right.push_back({bits_of(static_cast<T>(Exact<T>(a) >> few)), bits_of(a), count});
            }
        const std::string r = register_name<T>(), operands = ' ' + r + "0, " + r + "1, %r2";
        expect_lanes("shr." + type_name<T>() + operands, right);
        expect_lanes("shl.b" + std::to_string(width) + operands, left);
        if (std::is_unsigned_v<T>) expect_lanes("shr.b" + std::to_string(width) + operands, right);
    });
}

TEST(Logic, funnel_shifts_take_32_of_64_bits) {
    // b:a = 0x12345678'9ABCDEF0. Left: the upper word of it shifted left; right: the lower word of it shifted
    // right.
    const uint64_t a = 0x9ABC'DEF0, b = 0x1234'5678;
    const auto lanes = [&](std::initializer_list<std::pair<uint64_t, uint64_t>> expected_at) {
        std::vector<LaneCase> cases;
        for (const auto& [count, expected] : expected_at) cases.push_back({expected, a, b, count});
        return cases;
    };
    expect_lanes("shf.l.wrap.b32 %r0, %r1, %r2, %r3",
                 lanes({{0, b}, {4, 0x2345'6789}, {31, 0x4D5E'6F78}, {32, b}, {36, 0x2345'6789}}));
    expect_lanes("shf.r.wrap.b32 %r0, %r1, %r2, %r3",
                 lanes({{0, a}, {4, 0x89AB'CDEF}, {31, 0x2468'ACF1}, {32, a}, {36, 0x89AB'CDEF}}));
    expect_lanes("shf.l.clamp.b32 %r0, %r1, %r2, %r3",
                 lanes({{0, b}, {4, 0x2345'6789}, {32, a}, {33, a}, {0xFFFF'FFFF, a}}));
    expect_lanes("shf.r.clamp.b32 %r0, %r1, %r2, %r3",
                 lanes({{0, a}, {4, 0x89AB'CDEF}, {32, b}, {33, b}, {0xFFFF'FFFF, b}}));
}

TEST(Logic, counts_bits) {
    struct Row {
        uint64_t a;
        uint32_t set_32, leading_32, set_64, leading_64;
    };
    constexpr Row rows[] = {{0, 0, 32, 0, 64},
                            {1, 1, 31, 1, 63},
                            {0xFFFF'FFFF'FFFF'FFFF, 32, 0, 64, 0},
                            {0x8000'0000'0000'0000, 0, 32, 1, 0},
                            {0x0000'0001'0040'0000, 1, 9, 2, 31},
                            {0x00F0'0000'7FFF'0000, 15, 1, 19, 8}};
    std::vector<LaneCase> set_32, leading_32, set_64, leading_64;
    for (const Row& row : rows) {
        set_32.push_back({row.set_32, row.a});
        leading_32.push_back({row.leading_32, row.a});
        set_64.push_back({row.set_64, row.a});
        leading_64.push_back({row.leading_64, row.a});
    }
    expect_lanes("popc.b32 %r0, %r1", set_32);
    expect_lanes("clz.b32 %r0, %r1", leading_32);
    expect_lanes("popc.b64 %r0, %rd1", set_64);
    expect_lanes("clz.b64 %r0, %rd1", leading_64);
}

TEST(Logic, reverses_bits) {
    expect_lanes("brev.b32 %r0, %r1",
                 std::vector<LaneCase>{{0, 0}, {0x8000'0000, 1}, {0x0F7B'3D59, 0x9ABC'DEF0}, {~0u, ~0u}});
    expect_lanes("brev.b64 %rd0, %rd1",
                 std::vector<LaneCase>{{1ull << 63, 1}, {0x0F7B'3D59'1E6A'2C48, 0x1234'5678'9ABC'DEF0}});
}

TEST(Logic, finds_the_highest_bit_that_is_not_the_sign) {
    constexpr uint64_t none = 0xFFFF'FFFF;
    expect_lanes("bfind.u32 %r0, %r1",
                 std::vector<LaneCase>{{none, 0}, {0, 1}, {31, ~0u}, {30, 0x7FFF'FFFF}, {8, 0x1FF}});
    expect_lanes(
        "bfind.s32 %r0, %r1",
        std::vector<LaneCase>{
            {none, 0}, {0, 1}, {none, ~0u}, {30, 0x7FFF'FFFF}, {30, 0x8000'0000}, {0, ~1u}, {8, ~0x1FFu}});
    expect_lanes("bfind.u64 %r0, %rd1",
                 std::vector<LaneCase>{{none, 0}, {0, 1}, {63, ~0ull}, {32, 1ull << 32 | 5}});
    expect_lanes("bfind.s64 %r0, %rd1",
                 std::vector<LaneCase>{{none, 0}, {none, ~0ull}, {62, 1ull << 63}, {32, ~(1ull << 32)}});
    // The shift that brings the bit to the top: 31 or 63 less its place.
    expect_lanes("bfind.shiftamt.u32 %r0, %r1",
                 std::vector<LaneCase>{{none, 0}, {31, 1}, {0, ~0u}, {23, 0x1FF}});
    expect_lanes("bfind.shiftamt.s32 %r0, %r1",
                 std::vector<LaneCase>{{none, ~0u}, {1, 0x8000'0000}, {31, ~1u}});
    expect_lanes("bfind.shiftamt.u64 %r0, %rd1", std::vector<LaneCase>{{63, 1}, {31, 1ull << 32}});
    expect_lanes("bfind.shiftamt.s64 %r0, %rd1", std::vector<LaneCase>{{none, ~0ull}, {1, 1ull << 63}});
}

TEST(Logic, extracts_bit_fields) {
    for_types<uint32_t, int32_t, uint64_t, int64_t>([]<class T>() {
        constexpr int width = 8 * sizeof(T);
        std::vector<LaneCase> cases;
        for (const T a : edge_values<T>())
            for (const uint32_t first :
                 {0u, 1u, 5u, width - 1u, static_cast<unsigned int>(width), 200u, 255u})
                for (const uint32_t length :
                     {0u, 1u, 8u, width - 1u, static_cast<unsigned int>(width), 200u, 255u}) {
                    // Place and length are 0 to 255. Above the number stand copies of its sign.
                    const Exact<T> above = Exact<T>(a) >> std::min(first, 127u);
                    const unsigned int kept = std::min(length, static_cast<unsigned int>(width)),
                                       unused = 128 - kept;
                    const Exact<T> field =
                        kept == 0 ? 0
                                  : static_cast<Exact<T>>(static_cast<unsigned __int128>(above) << unused) >>
                                        unused;
                    cases.push_back({bits_of(static_cast<T>(field)), bits_of(a), first, length});
                }
        const std::string r = register_name<T>();
        expect_lanes("bfe." + type_name<T>() + ' ' + r + "0, " + r + "1, %r2, %r3", cases);
    });
}

TEST(Logic, inserts_bit_fields) {
    for (const BitType& type : {bit_types[1], bit_types[2]}) {
        const unsigned int width = type.mask == ~0ull ? 64 : 32;
        std::vector<LaneCase> cases;
        for (const uint64_t a : patterns)
            for (const uint64_t first : {0u, 1u, 5u, width - 1, width, 200u, 255u})
                for (const uint64_t length : {0u, 1u, 8u, width - 1, width, 200u, 255u}) {
                    const uint64_t b = 0x0F0F'3C3C'AAAA'5555;
                    const unsigned __int128 ones =
                        ((unsigned __int128){1} << std::min<uint64_t>(length, 64)) - 1;
                    const unsigned __int128 field = first >= 64 ? 0 : ones << first;
                    const unsigned __int128 value = first >= 64 ? 0 : (unsigned __int128){a} << first;
                    cases.push_back({static_cast<uint64_t>((b & ~field) | (value & field)) & type.mask, a, b,
                                     first, length});
                }
        expect_lanes("bfi." + type.name + ' ' + type.registers + "0, " + type.registers + "1, " +
                         type.registers + "2, %r3, %r4",
                     cases);
    }
}

TEST(Logic, makes_masks) {
    expect_lanes("bmsk.clamp.b32 %r0, %r1, %r2", std::vector<LaneCase>{{0, 0, 0},
                                                                       {0xFF, 0, 8},
                                                                       {0xFF0, 4, 8},
                                                                       {0xFFFF'FFF0, 4, 30},
                                                                       {~0u, 0, 32},
                                                                       {~0u, 0, 100},
                                                                       {0, 32, 1},
                                                                       {0, 33, 40},
                                                                       {0x8000'0000, 31, 5}});
    expect_lanes(
        "bmsk.wrap.b32 %r0, %r1, %r2",
        std::vector<LaneCase>{{0xFF0, 4, 8}, {0xFF0, 36, 40}, {0, 0, 32}, {0xFFFF'FFF0, 4, 30}, {1, 32, 1}});
}

TEST(Logic, finds_the_nth_set_bit) {
    constexpr uint64_t none = 0xFFFF'FFFF;
    // The mask's bits are 1, 4, 5 and 31.
    const uint64_t mask = 0x8000'0032;
    expect_lanes("fns.b32 %r0, %r1, %r2, %r3", std::vector<LaneCase>{{1, mask, 0, 1},
                                                                     {4, mask, 0, 2},
                                                                     {31, mask, 0, 4},
                                                                     {none, mask, 0, 5},
                                                                     {4, mask, 4, 1},
                                                                     {4, mask, 2, 1},
                                                                     {4, mask, 4, 0},
                                                                     {none, mask, 3, 0},
                                                                     {31, mask, 31, ~0u},
                                                                     {5, mask, 31, ~1u},
                                                                     {1, mask, 4, ~1u},
                                                                     {none, mask, 0, ~0u},
                                                                     {none, 0, 0, 1}});
}

TEST(Logic, looks_up_any_function_of_three_bits) {
    // The table is what the function gives for a = 0xF0, b = 0xCC, c = 0xAA.
    const auto check = [](uint32_t table, auto reference) {
        auto lanes = random_lanes(100);
        for (LaneCase& lane : lanes) lane.expected = static_cast<uint32_t>(reference(lane.a, lane.b, lane.c));
        expect_lanes("lop3.b32 %r0, %r1, %r2, %r3, " + std::to_string(table), lanes);
    };
    check(0x00, [](uint64_t, uint64_t, uint64_t) { return 0; });
    check(0x80, [](uint64_t a, uint64_t b, uint64_t c) { return a & b & c; });
    check(0xFE, [](uint64_t a, uint64_t b, uint64_t c) { return a | b | c; });
    check(0x96, [](uint64_t a, uint64_t b, uint64_t c) { return a ^ b ^ c; });
    check(0xE8, [](uint64_t a, uint64_t b, uint64_t c) { return (a & b) | (b & c) | (a & c); });
    check(0xCA, [](uint64_t a, uint64_t b, uint64_t c) { return (a & b) | (~a & c); });
    check(0x1A,
          [](uint64_t a, uint64_t b, uint64_t c) { return ((a & b) | c) ^ a; }); // the example of the PTX ISA
    check(0xF0, [](uint64_t a, uint64_t, uint64_t) { return a; });
    check(0xCC, [](uint64_t, uint64_t b, uint64_t) { return b; });
    check(0x55, [](uint64_t, uint64_t, uint64_t c) { return ~c; });
    check(0xFF, [](uint64_t, uint64_t, uint64_t) { return ~0ull; });
}

TEST(Logic, permutes_bytes) {
    // Bytes 0 to 7 of b:a are 10 81 32 F3 and 54 95 76 B7, each starting with its number or that plus 8.
    const uint64_t a = 0xF332'8110, b = 0xB776'9554;
    const auto one = [&](uint64_t selectors, uint64_t expected) {
        return LaneCase{expected, a, b, selectors};
    };
    expect_lanes("prmt.b32 %r0, %r1, %r2, %r3",
                 std::vector<LaneCase>{one(0x3210, a), one(0x7654, b), one(0x0123, 0x1081'32F3),
                                       one(0x5410, 0x9554'8110), one(0x0000, 0x1010'1010),
                                       // 8 and more: the byte's sign, eight times.
                                       one(0xBA98, 0xFF00'FF00), one(0xFEDC, 0xFF00'FF00),
                                       one(0xFFFF'3210, a)});
    const auto modes = [&](uint64_t zero, uint64_t first, uint64_t second, uint64_t third) {
        return std::vector<LaneCase>{one(0, zero), one(1, first), one(2, second), one(3, third),
                                     one(6, second)};
    };
    // The table of the PTX ISA: bytes 3 to 0 of the result, for c = 0, 1, 2, 3.
    expect_lanes("prmt.b32.f4e %r0, %r1, %r2, %r3",
                 modes(0xF332'8110, 0x54F3'3281, 0x9554'F332, 0x7695'54F3)); // 3210 4321 5432 6543
    expect_lanes("prmt.b32.b4e %r0, %r1, %r2, %r3",
                 modes(0x9576'B710, 0x76B7'1081, 0xB710'8132, 0x1081'32F3)); // 5670 6701 7012 0123
    expect_lanes("prmt.b32.rc8 %r0, %r1, %r2, %r3",
                 modes(0x1010'1010, 0x8181'8181, 0x3232'3232, 0xF3F3'F3F3)); // 0000 1111 2222 3333
    expect_lanes("prmt.b32.ecl %r0, %r1, %r2, %r3",
                 modes(0xF332'8110, 0xF332'8181, 0xF332'3232, 0xF3F3'F3F3)); // 3210 3211 3222 3333
    expect_lanes("prmt.b32.ecr %r0, %r1, %r2, %r3",
                 modes(0x1010'1010, 0x8181'8110, 0x3232'8110, 0xF332'8110)); // 0000 1110 2210 3210
    expect_lanes("prmt.b32.rc16 %r0, %r1, %r2, %r3",
                 modes(0x8110'8110, 0xF332'F332, 0x8110'8110, 0xF332'F332)); // 1010 3232 1010 3232
}

TEST(Logic, combines_three_and_a_predicate) {
    // The table 0x80 is a & b & c; %p4 is the lowest bit of d.
    const std::vector<LaneCase> with_and = {
        {1, 0xF0, 0x30, 0x10, 1}, {0, 0xF0, 0x30, 0x10, 0}, {0, 0xF0, 0x0F, 0xFF, 1}, {0, 1, 2, 4, 0}};
    const std::vector<LaneCase> with_or = {
        {1, 0xF0, 0x30, 0x10, 1}, {1, 0xF0, 0x30, 0x10, 0}, {1, 0xF0, 0x0F, 0xFF, 1}, {0, 1, 2, 4, 0}};
    expect_lanes("lop3.and.b32 _|%p0, %r1, %r2, %r3, 0x80, %p4", with_and);
    expect_lanes("lop3.or.b32 %r9|%p0, %r1, %r2, %r3, 0x80, %p4", with_or);
    expect_lanes("lop3.and.b32 _|%p0, %r1, %r2, %r3, 0x80, !%p4",
                 std::vector<LaneCase>{{0, 1, 1, 1, 1}, {1, 1, 1, 1, 0}});
    expect_lanes("lop3.or.b32 %r0|%p5, %r1, %r2, %r3, 0x80, %p4",
                 std::vector<LaneCase>{{0x10, 0xF0, 0x30, 0x10, 1}});
}
