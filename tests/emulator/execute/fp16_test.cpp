// f16 and bf16: all 65,536 patterns, and arithmetic that must round once.

#include "reference.hpp"

#include "emulator/execute/fp16.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cfenv>

using namespace emulator::fixture;
using std::uint16_t, std::uint32_t, std::uint64_t;

namespace {

/// The value of a 16-bit pattern by the definition of its format.
double value_of(uint32_t pattern, int significand_bits) {
    const int exponent_bits = 15 - significand_bits;
    const int bias = (1 << (exponent_bits - 1)) - 1;
    const int exponent = static_cast<int>(pattern >> significand_bits) & ((1 << exponent_bits) - 1);
    const int significand = static_cast<int>(pattern) & ((1 << significand_bits) - 1);
    const double sign = pattern >> 15 != 0 ? -1 : 1;
    if (exponent == (1 << exponent_bits) - 1) return significand != 0 ? NAN : sign * INFINITY;
    const int hidden = exponent == 0 ? 0 : 1 << significand_bits;
    return sign * (hidden + significand) * std::exp2(std::max(exponent, 1) - bias - significand_bits);
}

uint64_t f32(double value) { return bits_of(static_cast<float>(value)); }

struct Format {
    std::string name;
    int significand_bits;
};
const Format formats[] = {{"f16", 10}, {"bf16", 7}};

} // namespace

TEST(Half, every_f16_widens_to_its_value) {
    std::vector<LaneCase> cases;
    for (uint32_t bits = 0; bits < 0x10000; ++bits) {
        const double value = value_of(bits, 10);
        cases.push_back({std::isnan(value) ? 0x7FFF'FFFF : f32(value), bits});
    }
    expect_lanes("cvt.f32.f16 %r0, %rs1", cases);
}

TEST(Half, every_bf16_is_the_upper_half_of_an_f32) {
    std::vector<LaneCase> cases;
    for (uint32_t bits = 0; bits < 0x10000; ++bits) cases.push_back({bits << 16, bits});
    expect_lanes("cvt.f32.bf16 %r0, %rs1", cases);
}

TEST(Half, every_pattern_comes_back_from_f32) {
    for (const Format& format : formats) {
        std::vector<LaneCase> cases;
        for (uint32_t bits = 0; bits < 0x10000; ++bits) {
            const double value = value_of(bits, format.significand_bits);
            cases.push_back({std::isnan(value) ? 0x7FFF : bits, f32(value)});
        }
        for (const char* mode : {"rn", "rz"})
            expect_lanes(std::string("cvt.") + mode + '.' + format.name + ".f32 %rs0, %r1", cases);
    }
}

TEST(Half, f32_between_two_patterns_rounds_to_the_right_one) {
    // A quarter, a half and three quarters of the way from each finite pattern to the next one away from
    // zero.
    for (const Format& format : formats) {
        std::vector<LaneCase> nearest, toward_zero;
        const uint32_t infinity = 0x7FFF >> format.significand_bits << format.significand_bits;
        for (const uint32_t sign : {0u, 0x8000u})
            for (uint32_t bits = 0; bits < infinity; ++bits) {
                const double low = value_of(bits, format.significand_bits);
                // Infinity takes the place of the next number.
                const double high = bits + 1 < infinity
                                        ? value_of(bits + 1, format.significand_bits)
                                        : 2 * low - value_of(bits - 1, format.significand_bits);
                for (const int quarters : {1, 2, 3}) {
                    const float between = static_cast<float>(low + (high - low) * quarters / 4);
                    if (between != low + (high - low) * quarters / 4)
                        continue; // the smallest bf16 are subnormal in f32
                    const uint64_t input = bits_of(between) | (sign << 16);
                    const bool up = quarters == 3 || (quarters == 2 && bits % 2 == 1);
                    nearest.push_back({sign | (bits + up), input});
                    toward_zero.push_back({sign | bits, input});
                }
            }
        EXPECT_GT(nearest.size(), 150'000u);
        expect_lanes("cvt.rn." + format.name + ".f32 %rs0, %r1", nearest);
        expect_lanes("cvt.rz." + format.name + ".f32 %rs0, %r1", toward_zero);
    }
}

TEST(Half, converts_pairs) {
    // The first source becomes the upper half.
    expect_lanes("cvt.rn.f16x2.f32 %r0, %r1, %r2",
                 std::vector<LaneCase>{{0x3C00'C000, f32(1), f32(-2)}, {0x7C00'7FFF, f32(1e6), 0x7FC0'0000}});
    expect_lanes("cvt.rz.bf16x2.f32 %r0, %r1, %r2",
                 std::vector<LaneCase>{{0x3F80'C000, f32(1.001), f32(-2)}});
    expect_lanes(
        "cvt.rn.relu.f16x2.f32 %r0, %r1, %r2",
        std::vector<LaneCase>{{0x3C00'0000, f32(1), f32(-2)}, {0x7FFF'0000, 0x7FC0'0000, f32(-1e6)}});
    expect_lanes("cvt.rn.relu.bf16.f32 %rs0, %r1",
                 std::vector<LaneCase>{{0, f32(-1)}, {0x3F80, f32(1)}, {0x7FFF, 0xFFC0'0000}});
}

TEST(Half, arithmetic_rounds_once) {
    // Exact in double: products have 22 bits, and sums of numbers that lie this close fit too.
    for (const Format& format : formats) {
        Numbers numbers;
        std::vector<LaneCase> add, sub, mul, fma;
        const auto encode = [&](double value) { // to nearest even, by search
            const uint32_t sign = std::signbit(value) ? 0x8000 : 0;
            uint32_t low = 0, high = 0x7FFF >> format.significand_bits << format.significand_bits;
            if (value == 0) return sign;
            while (high - low > 1) {
                const uint32_t middle = (low + high) / 2;
                (value_of(middle, format.significand_bits) <= std::fabs(value) ? low : high) = middle;
            }
            const double down = std::fabs(value) - value_of(low, format.significand_bits),
                         up = value_of(high, format.significand_bits) - std::fabs(value);
            return sign | (down < up || (down == up && low % 2 == 0) ? low : high);
        };
        for (int i = 0; i < 2000; ++i) {
            const auto some = [&] { // of magnitude 2^-3 to 2^4
                const uint32_t bias = (1u << (14 - format.significand_bits)) - 1;
                const uint32_t exponent = bias - 3 + static_cast<uint32_t>(numbers.next() % 7);
                return exponent << format.significand_bits |
                       static_cast<uint32_t>(numbers.next() & ((1u << format.significand_bits) - 1)) |
                       static_cast<uint32_t>(numbers.next() & 0x8000);
            };
            const uint32_t a = some(), b = some(), c = some();
            const double x = value_of(a, format.significand_bits), y = value_of(b, format.significand_bits),
                         z = value_of(c, format.significand_bits);
            add.push_back({encode(x + y), a, b});
            sub.push_back({encode(x - y), a, b});
            mul.push_back({encode(x * y), a, b});
            fma.push_back({encode(x * y + z), a, b, c});
        }
        expect_lanes("add." + format.name + " %rs0, %rs1, %rs2", add);
        expect_lanes("sub.rn." + format.name + " %rs0, %rs1, %rs2", sub);
        expect_lanes("mul." + format.name + " %rs0, %rs1, %rs2", mul);
        expect_lanes("fma.rn." + format.name + " %rs0, %rs1, %rs2, %rs3", fma);
    }
}

TEST(Half, fma_of_bf16_sees_what_double_precision_cannot) {
    // 7 * 37/256 = 259/256 lies in the middle between 258/256 (0x3F81) and 260/256 (0x3F82). The third
    // operand, 2^-100 of either sign, decides; it is far below what a double keeps beside 259/256.
    const uint64_t seven = 0x40E0, fraction = 0x3E14, little = 0x0D80, minus_little = 0x8D80;
    ASSERT_EQ(value_of(0x40E0, 7) * value_of(0x3E14, 7), 259.0 / 256);
    ASSERT_EQ(value_of(0x0D80, 7), 0x1p-100);
    expect_lanes("fma.rn.bf16 %rs0, %rs1, %rs2, %rs3",
                 std::vector<LaneCase>{{0x3F81, seven, fraction, minus_little},
                                       {0x3F82, seven, fraction, little},
                                       {0x3F82, seven, fraction, 0},
                                       {0xBF82, seven | 0x8000, fraction, minus_little},
                                       {0xBF81, seven | 0x8000, fraction, little},
                                       {0x7F80, 0x7F7F, 0x7F7F, 0xFF7F},
                                       {0x7FFF, 0x7F80, 0, little}});
}

TEST(Half, special_values_and_modifiers) {
    // f16: 1.0 = 3C00, smallest normal 0400, smallest subnormal 0001, largest 7BFF, infinity 7C00
    expect_lanes("add.f16 %rs0, %rs1, %rs2", std::vector<LaneCase>{{0x7C00, 0x7BFF, 0x7BFF},
                                                                   {0x7FFF, 0x7C00, 0xFC00},
                                                                   {0x7FFF, 0x7E01, 0x3C00},
                                                                   {2, 1, 1},
                                                                   {0, 0x3C00, 0xBC00}});
    expect_lanes("add.ftz.f16 %rs0, %rs1, %rs2",
                 std::vector<LaneCase>{{0, 1, 1}, {0x8000, 0x8001, 0x8000}, {0x0400, 0x0400, 1}});
    expect_lanes("mul.ftz.f16 %rs0, %rs1, %rs2",
                 std::vector<LaneCase>{{0, 0x0400, 0x3800}, {0x0400, 0x0400, 0x3C00}});
    // 2^-14 (1 - 2^-11) has 11 bits; rounded to a subnormal number's 10 it would be 2^-14. 2^-14 (1 - 2^-20)
    // and 2^-14 - 2^-28 are 2^-14, rounded to 11.
    expect_lanes(
        "mul.ftz.f16 %rs0, %rs1, %rs2",
        std::vector<LaneCase>{{0, 0x0400, 0x3BFF}, {0x8000, 0x0400, 0xBBFF}, {0x0400, 0x0401, 0x3BFE}});
    expect_lanes("mul.f16 %rs0, %rs1, %rs2", std::vector<LaneCase>{{0x0400, 0x0400, 0x3BFF}});
    expect_lanes("mul.ftz.sat.f16 %rs0, %rs1, %rs2", std::vector<LaneCase>{{0, 0x0400, 0x3BFF}});
    expect_lanes("fma.rn.ftz.f16 %rs0, %rs1, %rs2, %rs3",
                 std::vector<LaneCase>{{0, 0x0400, 0x3BFF, 0}, {0x0400, 0x0400, 0x8400, 0x0400}});
    expect_lanes("fma.rn.ftz.f16x2 %r0, %r1, %r2, %r3",
                 std::vector<LaneCase>{{0x8000'0400, 0x8400'0400, 0x3BFF'3C00, 0}});
    expect_lanes("mul.sat.f16 %rs0, %rs1, %rs2", std::vector<LaneCase>{{0x3C00, 0x4000, 0x4000},
                                                                       {0, 0xBC00, 0x4000},
                                                                       {0, 0x7E00, 0x4000},
                                                                       {0x3800, 0x3800, 0x3C00}});
    expect_lanes("min.f16 %rs0, %rs1, %rs2", std::vector<LaneCase>{{0xBC00, 0x3C00, 0xBC00},
                                                                   {0x3C00, 0x7E00, 0x3C00},
                                                                   {0x8000, 0, 0x8000},
                                                                   {0x7FFF, 0x7E00, 0x7E01}});
    expect_lanes("max.NaN.bf16 %rs0, %rs1, %rs2",
                 std::vector<LaneCase>{{0x3F80, 0x3F80, 0xBF80}, {0x7FFF, 0x7FC0, 0x3F80}, {0, 0, 0x8000}});
    expect_lanes("abs.f16 %rs0, %rs1",
                 std::vector<LaneCase>{{0x3C00, 0xBC00}, {0x7C00, 0xFC00}, {0x7FFF, 0xFE55}});
    expect_lanes("neg.bf16 %rs0, %rs1",
                 std::vector<LaneCase>{{0xBF80, 0x3F80}, {0, 0x8000}, {0x7FFF, 0x7FC1}});
}

TEST(Half, pairs_are_two_separate_numbers) {
    expect_lanes("add.f16x2 %r0, %r1, %r2", std::vector<LaneCase>{{0x4000'C000, 0x3C00'BC00, 0x3C00'BC00},
                                                                  {0x7C00'0002, 0x7BFF'0001, 0x7BFF'0001}});
    expect_lanes("mul.bf16x2 %r0, %r1, %r2", std::vector<LaneCase>{{0x4080'BF80, 0x4000'3F80, 0x4000'BF80}});
    expect_lanes("fma.rn.f16x2 %r0, %r1, %r2, %r3",
                 std::vector<LaneCase>{{0x4500'4000, 0x4000'3C00, 0x4000'3C00, 0x3C00'3C00}});
    expect_lanes("fma.rn.bf16x2 %r0, %r1, %r2, %r3",
                 std::vector<LaneCase>{{0x3F81'3F82, 0x40E0'40E0, 0x3E14'3E14, 0x8D80'0D80}});
    expect_lanes("max.f16x2 %r0, %r1, %r2", std::vector<LaneCase>{{0x4000'3C00, 0x4000'BC00, 0x3C00'3C00}});
    expect_lanes("neg.f16x2 %r0, %r1",
                 std::vector<LaneCase>{{0xBC00'4000, 0x3C00'C000}, {0x7FFF'9234, 0x7FC0'1234}});
    expect_lanes("abs.bf16x2 %r0, %r1", std::vector<LaneCase>{{0x3C00'4000, 0xBC00'C000}});
}

TEST(Half, from_double_rounds_in_every_mode) {
    using emulator::from_double, emulator::Half;
    // 1 + 2^-12 lies a quarter of the way from 1 (0x3C00) to the number after it.
    struct Row {
        double value;
        int rounding;
        uint16_t expected;
    };
    const double quarter = 1 + 0x1p-12;
    for (const Row& row : {Row{quarter, FE_TONEAREST, 0x3C00}, {quarter, FE_TOWARDZERO, 0x3C00},
                           {quarter, FE_DOWNWARD, 0x3C00},     {quarter, FE_UPWARD, 0x3C01},
                           {-quarter, FE_DOWNWARD, 0xBC01},    {-quarter, FE_UPWARD, 0xBC00},
                           {1e300, FE_TONEAREST, 0x7C00},      {1e300, FE_TOWARDZERO, 0x7BFF},
                           {1e300, FE_DOWNWARD, 0x7BFF},       {-1e300, FE_UPWARD, 0xFBFF},
                           {-1e300, FE_DOWNWARD, 0xFC00},      {1e-300, FE_UPWARD, 0x0001},
                           {1e-300, FE_TONEAREST, 0x0000},     {-1e-300, FE_DOWNWARD, 0x8001},
                           {-1e-300, FE_TONEAREST, 0x8000},    {65520, FE_TONEAREST, 0x7C00},
                           {65519.99, FE_TONEAREST, 0x7BFF},   {0x1p-25, FE_TONEAREST, 0x0000},
                           {0x1.01p-25, FE_TONEAREST, 0x0001}, {0x1.8p-24, FE_TONEAREST, 0x0002}})
        EXPECT_EQ(from_double<Half>(row.value, row.rounding).bits, row.expected)
            << row.value << " in mode " << row.rounding;
}

// ---- two at once ----

namespace {

/// Pairs of f16 and how `holds` of the lower and of the upper numbers.
template <class Holds> std::vector<LaneCase> packed_cases(uint64_t yes, Holds holds) {
    std::vector<LaneCase> cases;
    const uint32_t patterns[] = {0, 0x8000, 1, 0x3C00, 0xBC00, 0x7C00, 0x7E00};
    for (const uint32_t a : patterns)
        for (const uint32_t b : patterns) {
            // The upper numbers are in the opposite order.
            const bool low = holds(value_of(a, 10), value_of(b, 10)),
                       high = holds(value_of(b, 10), value_of(a, 10));
            cases.push_back({(low ? yes : 0) | (high ? yes << 16 : 0), b << 16 | a, a << 16 | b});
        }
    return cases;
}

} // namespace

TEST(Half, sets_pairs_by_comparison) {
    const auto less = [](double a, double b) { return a < b; };
    const auto less_or_nan = [](double a, double b) { return !(a >= b); };
    const auto equal_or_nan = [](double a, double b) { return !(a < b) && !(a > b); };
    expect_lanes("set.lt.f16x2.f16x2 %r0, %r1, %r2", packed_cases(0x3C00, less));
    expect_lanes("set.lt.u32.f16x2 %r0, %r1, %r2", packed_cases(0xFFFF, less));
    expect_lanes("set.ltu.u32.f16x2 %r0, %r1, %r2", packed_cases(0xFFFF, less_or_nan));
    expect_lanes("set.equ.f16x2.f16x2 %r0, %r1, %r2", packed_cases(0x3C00, equal_or_nan));
    // With .ftz the subnormal number 1 is a zero.
    expect_lanes("set.eq.ftz.u32.f16x2 %r0, %r1, %r2",
                 std::vector<LaneCase>{{0xFFFF, 0x3C00'0001, 0x4000'8000}});
    expect_lanes("set.eq.u32.f16x2 %r0, %r1, %r2", std::vector<LaneCase>{{0, 0x3C00'0001, 0x4000'8000}});
    expect_lanes("setp.eq.ftz.f16 %p0, %rs1, %rs2", std::vector<LaneCase>{{1, 1, 0x8000}});
    expect_lanes("set.lt.bf16x2.bf16x2 %r0, %r1, %r2",
                 std::vector<LaneCase>{{0x3F80, 0x4000'3F80, 0x3F80'4000}});
    expect_lanes("set.gt.f16.f16 %rs0, %rs1, %rs2",
                 std::vector<LaneCase>{{0x3C00, 0x4000, 0x3C00}, {0, 0x3C00, 0x4000}});
}

TEST(Half, sets_two_predicates_by_comparison) {
    // %p0 for the lower numbers, 1 < 2; %p5 for the upper ones, 2 < 1.
    expect_lanes("setp.lt.f16x2 %p0|%p5, %r1, %r2",
                 std::vector<LaneCase>{{1, 0x4000'3C00, 0x3C00'4000}, {0, 0x3C00'4000, 0x4000'3C00}});
    expect_lanes("setp.lt.f16x2 %p5|%p0, %r1, %r2",
                 std::vector<LaneCase>{{0, 0x4000'3C00, 0x3C00'4000}, {1, 0x3C00'4000, 0x4000'3C00}});
}

TEST(Half, eight_bits_widen_and_come_back) {
    // Every e4m3 by its definition: bias 7, no infinity, 0x7F a NaN; every e5m2 is the upper half of an f16.
    std::vector<LaneCase> e4m3, e5m2, e4m3_back, e5m2_back;
    for (uint32_t bits = 0; bits < 256; ++bits) {
        const int exponent = static_cast<int>(bits >> 3 & 15), significand = static_cast<int>(bits & 7);
        const double magnitude =
            exponent == 0 ? significand * std::exp2(-9) : (8 + significand) * std::exp2(exponent - 10);
        const double value = bits >> 7 != 0 ? -magnitude : magnitude;
        const bool is_nan = (bits & 0x7F) == 0x7F;
        const uint64_t half =
            is_nan ? 0x7FFF : emulator::from_double<emulator::Half>(value, FE_TONEAREST).bits;
        e4m3.push_back({half << 16 | half, bits << 8 | bits});
        if (!is_nan) e4m3_back.push_back({bits << 8 | bits, f32(value), f32(value)});
        const double wide = value_of(bits << 8, 10);
        const uint64_t same = std::isnan(wide) ? 0x7FFF : uint64_t{bits} << 8;
        e5m2.push_back({same << 16 | same, bits << 8 | bits});
        if (std::isfinite(wide)) e5m2_back.push_back({bits << 8 | bits, f32(wide), f32(wide)});
    }
    expect_lanes("cvt.rn.f16x2.e4m3x2 %r0, %rs1", e4m3);
    expect_lanes("cvt.rn.f16x2.e5m2x2 %r0, %rs1", e5m2);
    // Ties go to the even one, what is too large to the largest, a NaN to 0x7F. The first operand is the
    // upper.
    const auto both = [](double high, double low, uint64_t expected) {
        return LaneCase{expected, f32(high), f32(low)};
    };
    e4m3_back.push_back(both(1e9, -double{INFINITY}, 0x7EFE));
    e4m3_back.push_back(both(NAN, 0x1p-10, 0x7F00)); // half of the least one: to zero
    e4m3_back.push_back(both(272, 304, 0x787A)); // between 256 and 288: to 256; between 288 and 320: to 320
    e4m3_back.push_back(both(248, 1.0625, 0x7838)); // to 256; 1 + 1/16: to 1
    e5m2_back.push_back(both(INFINITY, -1e30, 0x7BFB));
    e5m2_back.push_back(both(NAN, 1.125, 0x7F3C)); // 1 + 1/8: to 1
    expect_lanes("cvt.rn.satfinite.e4m3x2.f32 %rs0, %r1, %r2", e4m3_back);
    expect_lanes("cvt.rn.satfinite.e5m2x2.f32 %rs0, %r1, %r2", e5m2_back);
    expect_lanes("cvt.rn.satfinite.relu.e4m3x2.f32 %rs0, %r1, %r2",
                 std::vector<LaneCase>{both(-1, 1, 0x0038)});
    expect_lanes("cvt.rn.satfinite.e4m3x2.f16x2 %rs0, %r1", std::vector<LaneCase>{{0x38B8, 0x3C00'BC00}});
}

TEST(Half, approximates_ex2_and_tanh) {
    expect_lanes("ex2.approx.f16 %rs0, %rs1", std::vector<LaneCase>{{0x4400, 0x4000}, {0x3C00, 0}});
    expect_lanes("tanh.approx.f16x2 %r0, %r1", std::vector<LaneCase>{{0x3C00'8000, 0x7C00'8000}});
    expect_lanes("ex2.approx.ftz.bf16x2 %r0, %r1", std::vector<LaneCase>{{0x4080'3F80, 0x4000'0000}});
}
