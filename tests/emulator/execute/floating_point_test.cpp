// Floating-point arithmetic. Rounding is checked by its definition: the exact result, in 113-bit arithmetic,
// must lie where the rounding mode says, between the result and its neighbors. `-` of two quads has the
// right sign even where it rounds.

#include "reference.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

using namespace emulator::fixture;
using std::uint32_t, std::uint64_t;
using quad [[gnu::mode(TF)]] = float; // of 128 bits: __float128 on x86-64, long double on aarch64

namespace {

constexpr std::string_view rounding_modes[] = {".rn", ".rz", ".rm", ".rp"};

int sign_of(quad value) { return value > 0 ? 1 : value < 0 ? -1 : 0; }

/// `below(x)` is the sign of (exact result - x). True when `result` is that result under `mode`.
template <class T> bool is_rounded(T result, std::string_view mode, const std::function<int(quad)>& below) {
    const T up = std::nextafter(result, std::numeric_limits<T>::infinity()),
            down = std::nextafter(result, -std::numeric_limits<T>::infinity());
    const bool from_below = below(result) >= 0 && below(up) < 0;   // the largest number that is not above
    const bool from_above = below(result) <= 0 && below(down) > 0; // the smallest that is not below
    if (mode == ".rm") return from_below;
    if (mode == ".rp") return from_above;
    if (mode == ".rz") return below(0) >= 0 ? from_below : from_above;
    const int to_upper = below((quad{result} + quad{up}) / 2),
              to_lower = below((quad{result} + quad{down}) / 2);
    const bool even = bits_of(result) % 2 == 0;
    return (to_upper < 0 || (to_upper == 0 && even)) && (to_lower > 0 || (to_lower == 0 && even));
}

/// A finite number of either sign with an exponent from -range to range.
template <class T> T some_number(Numbers& numbers, int range) {
    const T fraction = static_cast<T>(1) + static_cast<T>(numbers.next() >> 11) * static_cast<T>(0x1p-53);
    const T value = std::ldexp(
        fraction, static_cast<int>(numbers.next() % (2u * static_cast<unsigned int>(range) + 1)) - range);
    return numbers.next() % 2 == 0 ? value : -value;
}

/// Runs `opcode` with `arity` operands on numbers that look random and returns operands and results; no
/// expectations.
template <class T> struct Sample { T a, b, c, result; };

template <class T>
std::vector<Sample<T>> samples(const std::string& opcode, int arity, int range, bool positive = false) {
    constexpr std::size_t count = 512;
    Program program(
        module_of("mul.wide.u32 %rd50, %r62, " + std::to_string(sizeof(Sample<T>)) +
                  "; add.s64 %rd51, %rd60, %rd50;\n" +
                  [] {
                      const std::string type = "b" + std::to_string(8 * sizeof(T)), r = register_name<T>();
                      std::string loads;
                      for (int k = 0; k < 3; ++k)
                          loads += "ld.global." + type + ' ' + r + std::to_string(k + 1) + ", [%rd51+" +
                                   std::to_string(k * sizeof(T)) + "];\n";
                      return loads;
                  }() +
                  instruction_of<T>(opcode, arity) + ";\nst.global.b" + std::to_string(8 * sizeof(T)) +
                  " [%rd51+" + std::to_string(3 * sizeof(T)) + "], " + register_name<T>() + "0;"));
    auto* const memory = program.allocate<Sample<T>>(count);
    Numbers numbers;
    for (std::size_t i = 0; i < count; ++i) {
        memory[i] = {some_number<T>(numbers, range), some_number<T>(numbers, range),
                     some_number<T>(numbers, range), 0};
        if (positive) memory[i].a = std::fabs(memory[i].a);
        if (i % 3 == 0)
            memory[i].c = -static_cast<T>(quad{memory[i].a} * quad{memory[i].b}); // cancels in an fma
        if (i % 5 == 0) memory[i].b = std::ldexp(memory[i].b, -20);
    }
    program.launch("k", grid_of(128, count / 128), {memory});
    return {memory, memory + count};
}

template <class T>
void expect_rounded(const std::string& opcode, int arity, int range, bool positive,
                    const std::function<int(const Sample<T>&, quad)>& below) {
    for (const std::string_view mode : rounding_modes) {
        const std::string name = opcode + std::string(mode) + '.';
        int failures = 0;
        for (const Sample<T>& s : samples<T>(name, arity, range, positive))
            if (!is_rounded<T>(s.result, mode, [&](quad x) { return below(s, x); }) && ++failures < 4)
                ADD_FAILURE() << name << type_name<T>() << std::hexfloat << " of " << s.a << ", " << s.b
                              << ", " << s.c << " gives " << s.result;
    }
}

/// Operands and result as bits of f32.
struct Bits {
    uint32_t expected, a, b, c;
};

std::vector<LaneCase> lanes(std::initializer_list<Bits> rows) {
    std::vector<LaneCase> result;
    for (const Bits& row : rows) result.push_back({row.expected, row.a, row.b, row.c});
    return result;
}

constexpr uint32_t one = 0x3F80'0000, minus_one = 0xBF80'0000, two = 0x4000'0000, infinity = 0x7F80'0000,
                   minus_infinity = 0xFF80'0000, nan_bits = 0x7FFF'FFFF, minus_zero = 0x8000'0000, tiny = 1,
                   minus_tiny = 0x8000'0001, least = 0x0080'0000, greatest = 0x7F7F'FFFF,
                   half_ulp_of_one = 0x3380'0000 /* 2^-24 */, after_one = 0x3F80'0001;

} // namespace

TEST(FloatingPoint, adds_subtracts_multiplies_and_divides_as_ieee_does) {
    for_types<float, double>([]<class T>() {
        expect_like<T>("add.", [](T a, T b) { return a + b; });
        expect_like<T>("sub.", [](T a, T b) { return a - b; });
        expect_like<T>("mul.", [](T a, T b) { return a * b; });
        expect_like<T>("div.rn.", [](T a, T b) { return a / b; });
        expect_like<T>("rcp.rn.", [](T a) { return 1 / a; });
        expect_like<T>("sqrt.rn.", [](T a) { return std::sqrt(a); });
        expect_like<T>("fma.rn.", [](T a, T b, T c) { return std::fma(a, b, c); });
        expect_like<T>("mad.rn.", [](T a, T b, T c) { return std::fma(a, b, c); });
    });
}

TEST(FloatingPoint, rounds_sums_and_products_in_every_mode) {
    for_types<float, double>([]<class T>() {
        expect_rounded<T>("add", 2, 12, false,
                          [](const Sample<T>& s, quad x) { return sign_of(quad{s.a} + quad{s.b} - x); });
        expect_rounded<T>("sub", 2, 12, false,
                          [](const Sample<T>& s, quad x) { return sign_of(quad{s.a} - quad{s.b} - x); });
        expect_rounded<T>("mul", 2, 40, false,
                          [](const Sample<T>& s, quad x) { return sign_of(quad{s.a} * quad{s.b} - x); });
    });
    // Of two floats the product has 48 bits, and the sum with a third fits as well.
    expect_rounded<float>("fma", 3, 10, false, [](const Sample<float>& s, quad x) {
        return sign_of(quad{s.a} * quad{s.b} + quad{s.c} - x);
    });
}

TEST(FloatingPoint, rounds_quotients_and_roots_in_every_mode) {
    for_types<float, double>([]<class T>() {
        expect_rounded<T>("div", 2, 30, false, [](const Sample<T>& s, quad x) {
            return sign_of(quad{s.a} - x * quad{s.b}) * sign_of(s.b);
        });
        expect_rounded<T>("rcp", 1, 30, false, [](const Sample<T>& s, quad x) {
            return sign_of(1 - x * quad{s.a}) * sign_of(s.a);
        });
        expect_rounded<T>("sqrt", 1, 30, true,
                          [](const Sample<T>& s, quad x) { return x < 0 ? 1 : sign_of(quad{s.a} - x * x); });
    });
}

TEST(FloatingPoint, rounds_where_the_modes_differ) {
    // 1 + 2^-24 lies in the middle between 1 and the number after it; -1 - 2^-24 likewise.
    expect_lanes("add.rn.f32 %r0, %r1, %r2",
                 lanes({{one, one, half_ulp_of_one, 0}, {0x3F80'0002, after_one, half_ulp_of_one, 0}}));
    expect_lanes(
        "add.rz.f32 %r0, %r1, %r2",
        lanes({{one, one, half_ulp_of_one, 0}, {minus_one, minus_one, half_ulp_of_one | minus_zero, 0}}));
    expect_lanes(
        "add.rm.f32 %r0, %r1, %r2",
        lanes({{one, one, half_ulp_of_one, 0}, {minus_one + 1, minus_one, half_ulp_of_one | minus_zero, 0}}));
    expect_lanes("add.rp.f32 %r0, %r1, %r2",
                 lanes({{after_one, one, half_ulp_of_one, 0},
                        {minus_one, minus_one, half_ulp_of_one | minus_zero, 0}}));
    // Beyond the greatest number: to infinity, or not past it.
    expect_lanes("add.rn.f32 %r0, %r1, %r2", lanes({{infinity, greatest, greatest, 0}}));
    expect_lanes("add.rz.f32 %r0, %r1, %r2",
                 lanes({{greatest, greatest, greatest, 0}, {0xFF7F'FFFF, 0xFF7F'FFFF, 0xFF7F'FFFF, 0}}));
    expect_lanes("add.rm.f32 %r0, %r1, %r2",
                 lanes({{greatest, greatest, greatest, 0}, {minus_infinity, 0xFF7F'FFFF, 0xFF7F'FFFF, 0}}));
    expect_lanes("add.rp.f32 %r0, %r1, %r2",
                 lanes({{infinity, greatest, greatest, 0}, {0xFF7F'FFFF, 0xFF7F'FFFF, 0xFF7F'FFFF, 0}}));
    // A zero that comes from canceling is negative only when rounding down.
    expect_lanes("add.rn.f32 %r0, %r1, %r2", lanes({{0, one, minus_one, 0}}));
    expect_lanes("add.rm.f32 %r0, %r1, %r2", lanes({{minus_zero, one, minus_one, 0}}));
}

TEST(FloatingPoint, fuses_multiplication_and_addition) {
    // (1 + 2^-23)^2 = 1 + 2^-22 + 2^-46: only the fused form still has the last term after 1 + 2^-22 is taken
    // away.
    expect_lanes("fma.rn.f32 %r0, %r1, %r2, %r3", lanes({{0x2880'0000, after_one, after_one, 0xBF80'0002},
                                                         {nan_bits, infinity, 0, one},
                                                         {nan_bits, infinity, one, minus_infinity}}));
    // (1 + 2^-52)^2 - (1 + 2^-51) = 2^-104
    expect_lanes("fma.rn.f64 %rd0, %rd1, %rd2, %rd3",
                 std::vector<LaneCase>{{0x3970'0000'0000'0000, 0x3FF0'0000'0000'0001, 0x3FF0'0000'0000'0001,
                                        0xBFF0'0000'0000'0002}});
    // And nothing else is fused: 1 + 2^-23 squared and rounded, then the sum.
    const uint32_t input[] = {after_one};
    EXPECT_EQ(run("mul.rn.f32 %r2, %r1, %r1; add.rn.f32 %r0, %r2, 0fBF800002;", 1, input),
              std::vector<uint32_t>{0});
}

TEST(FloatingPoint, flushes_subnormal_operands_and_results_with_ftz) {
    const uint32_t half = 0x3F00'0000;
    expect_lanes("add.ftz.f32 %r0, %r1, %r2", lanes({{0, tiny, tiny, 0},
                                                     {minus_zero, minus_tiny, minus_tiny, 0},
                                                     {one, one, tiny, 0},
                                                     {least, least, tiny, 0}}));
    expect_lanes("add.f32 %r0, %r1, %r2", lanes({{2, tiny, tiny, 0}, {least + 1, least, tiny, 0}}));
    expect_lanes(
        "mul.ftz.f32 %r0, %r1, %r2",
        lanes({{0, least, half, 0}, {minus_zero, least, half | minus_zero, 0}, {least, least, one, 0}}));
    expect_lanes("mul.f32 %r0, %r1, %r2", lanes({{least / 2, least, half, 0}}));
    expect_lanes("fma.rn.ftz.f32 %r0, %r1, %r2, %r3",
                 lanes({{one, tiny, greatest, one}, {0, least, half, 0}}));
    expect_lanes("sub.ftz.f32 %r0, %r1, %r2", lanes({{0, least + 1, least, 0}}));
    expect_lanes("div.rn.ftz.f32 %r0, %r1, %r2",
                 lanes({{infinity, one, tiny, 0}, {nan_bits, tiny, tiny, 0}}));
    expect_lanes("rcp.rn.ftz.f32 %r0, %r1",
                 lanes({{infinity, tiny, 0, 0}, {minus_infinity, minus_tiny, 0, 0}}));
    expect_lanes("sqrt.rn.ftz.f32 %r0, %r1", lanes({{minus_zero, minus_tiny, 0, 0}}));
    expect_lanes("max.ftz.f32 %r0, %r1, %r2", lanes({{0, tiny, minus_one, 0}, {0, tiny, minus_tiny, 0}}));
    expect_lanes("abs.ftz.f32 %r0, %r1", lanes({{0, minus_tiny, 0, 0}, {one, minus_one, 0, 0}}));
    expect_lanes("neg.ftz.f32 %r0, %r1",
                 lanes({{minus_zero, tiny, 0, 0}, {0, minus_tiny, 0, 0}, {minus_one, one, 0, 0}}));
}

// What counts is the result that is rounded to 24 bits as if exponents had no end: the one rule that fits all
// that an H200 made of the operands of vectors.hpp.
TEST(FloatingPoint, flushes_what_is_subnormal_once_it_is_rounded) {
    const uint32_t sign = minus_zero, before_one = one - 1, after_one = one + 1;
    // 2^-126 (1 - 2^-24) has 24 bits. Rounded to the 23 of a subnormal number it would be 2^-126.
    for (const char* form : {"mul.ftz.f32 %r0, %r1, %r2", "fma.rn.ftz.f32 %r0, %r1, %r2, %r3",
                             "mul.rp.ftz.f32 %r0, %r1, %r2", "fma.rp.ftz.f32 %r0, %r1, %r2, %r3"})
        expect_lanes(form, lanes({{0, least, before_one, 0}, {0, least | sign, before_one | sign, 0}}));
    expect_lanes("mul.ftz.f32 %r0, %r1, %r2", lanes({{sign, least | sign, before_one, 0}}));
    expect_lanes("mul.rm.ftz.f32 %r0, %r1, %r2", lanes({{sign, least | sign, before_one, 0}}));
    expect_lanes("mul.rn.ftz.sat.f32 %r0, %r1, %r2", lanes({{0, least, before_one, 0}}));
    expect_lanes("mul.f32 %r0, %r1, %r2", lanes({{least, least, before_one, 0}}));
    // 2^-126 (1 - 2^-46) and 2^-126 (1 - 2^-126) are rounded to 2^-126, unless toward zero.
    expect_lanes("mul.ftz.f32 %r0, %r1, %r2", lanes({{least, least + 1, one - 2, 0}}));
    expect_lanes("mul.rz.ftz.f32 %r0, %r1, %r2", lanes({{0, least + 1, one - 2, 0}}));
    expect_lanes("mul.rp.ftz.f32 %r0, %r1, %r2",
                 lanes({{least, least + 1, one - 2, 0}, {sign, least + 1, (one - 2) | sign, 0}}));
    expect_lanes("fma.rn.ftz.f32 %r0, %r1, %r2, %r3",
                 lanes({{least, least | sign, least, least}, {least | sign, least, least, least | sign}}));
    expect_lanes("fma.rm.ftz.f32 %r0, %r1, %r2, %r3",
                 lanes({{0, least | sign, least, least}, {least | sign, least, least, least | sign}}));
    // 2^-126 (1 - 2^-23 + 2^-46), rounded up to 24 bits and to 23
    expect_lanes("div.rp.ftz.f32 %r0, %r1, %r2", lanes({{0, least, after_one, 0}}));
    expect_lanes("div.rp.f32 %r0, %r1, %r2", lanes({{least, least, after_one, 0}}));
    // And the mode is left again.
    const uint32_t input[] = {least};
    EXPECT_EQ(run("mul.rp.ftz.f32 %r2, %r1, 0f3F000000; mul.f32 %r0, %r1, 0f3F000000;", 1, input),
              std::vector<uint32_t>{least / 2});
}

TEST(FloatingPoint, saturates_to_the_unit_interval) {
    const uint32_t half = 0x3F00'0000;
    expect_lanes("add.sat.f32 %r0, %r1, %r2", lanes({{one, one, one, 0},
                                                     {0, minus_one, 0, 0},
                                                     {half, half, 0, 0},
                                                     {one, infinity, 0, 0},
                                                     {0, minus_infinity, 0, 0},
                                                     {0, nan_bits, 0, 0},
                                                     {tiny, tiny, 0, 0}}));
    expect_lanes("mul.rn.ftz.sat.f32 %r0, %r1, %r2",
                 lanes({{one, two, two, 0}, {0, tiny, one, 0}, {half, half, one, 0}}));
    expect_lanes("fma.rp.sat.f32 %r0, %r1, %r2, %r3", lanes({{one, two, two, one}, {0, minus_one, one, 0}}));
    expect_lanes("sub.sat.f32 %r0, %r1, %r2", lanes({{half, one, half, 0}, {0, half, one, 0}}));
}

TEST(FloatingPoint, minimum_and_maximum_prefer_numbers) {
    for_types<float, double>([]<class T>() {
        // -0 comes before +0, and a NaN only if both are.
        const auto less = [](T a, T b) { return a < b || (a == b && std::signbit(a) && !std::signbit(b)); };
        expect_like<T>("min.", [=](T a, T b) {
            return std::isnan(a) ? b : std::isnan(b) || less(a, b) ? a : b;
        });
        expect_like<T>("max.", [=](T a, T b) {
            return std::isnan(a) ? b : std::isnan(b) || less(b, a) ? a : b;
        });
    });
    expect_like<float>("min.NaN.", [](float a, float b) {
        return std::isnan(a) || std::isnan(b)       ? NAN
               : std::signbit(a) != std::signbit(b) ? (std::signbit(a) ? a : b)
                                                    : std::min(a, b);
    });
    expect_like<float>("max.NaN.", [](float a, float b) {
        return std::isnan(a) || std::isnan(b)       ? NAN
               : std::signbit(a) != std::signbit(b) ? (std::signbit(a) ? b : a)
                                                    : std::max(a, b);
    });
}

TEST(FloatingPoint, changes_signs) {
    // As on an H200: for a NaN, abs and neg give the single pattern in f32, and the same NaN in f64.
    std::vector<LaneCase> absolute_32{{nan_bits, 0xFF80'0001}, {nan_bits, 0x7FC0'1234}},
        negative_32 = absolute_32;
    std::vector<LaneCase> absolute_64{{0xFFF8'1234'5678'9ABC, 0xFFF8'1234'5678'9ABC}},
        negative_64 = absolute_64;
    std::vector<LaneCase> copied_32, copied_64;
    for (const uint64_t a : {0ull, 0x3F80'0000ull, 0x8000'0001ull, 0xFF80'0000ull, 0xBFF1'2345'6789'ABCDull,
                             0x7FF0'0000'0000'0000ull, 0x8000'0000'0000'0001ull}) {
        absolute_32.push_back({a & 0x7FFF'FFFF, a});
        negative_32.push_back({(a ^ 0x8000'0000) & 0xFFFF'FFFF, a});
        absolute_64.push_back({a & ~(1ull << 63), a});
        negative_64.push_back({a ^ 1ull << 63, a});
    }
    for (const uint64_t a : {0ull, 0x3F80'0000ull, 0xFF80'0001ull, 0xFFF8'0000'8000'1234ull}) {
        // copysign a, b: the sign of a and the rest of b
        copied_32.push_back({(a & 0x8000'0000) | 0x4048'F5C3, a, 0xC048'F5C3});
        copied_64.push_back({(a & 1ull << 63) | 0x4009'1EB8'51EB'851F, a, 0xC009'1EB8'51EB'851F});
    }
    expect_lanes("abs.f32 %r0, %r1", absolute_32);
    expect_lanes("neg.f32 %r0, %r1", negative_32);
    expect_lanes("abs.f64 %rd0, %rd1", absolute_64);
    expect_lanes("neg.f64 %rd0, %rd1", negative_64);
    expect_lanes("copysign.f32 %r0, %r1, %r2", copied_32);
    expect_lanes("copysign.f64 %rd0, %rd1, %rd2", copied_64);
}

TEST(FloatingPoint, approximates_within_the_bounds_of_the_isa) {
    struct Row {
        const char* instruction;
        double (*exact)(double);
        double least, greatest, tolerance; ///< relative, or absolute for results below 1
    };
    // Tolerances: those of the PTX ISA. `rcp` and `sqrt` are computed exactly here.
    const Row rows[] = {{"sin.approx.f32", [](double a) { return std::sin(a); }, -6.28, 6.28, 0x1p-20},
                        {"cos.approx.ftz.f32", [](double a) { return std::cos(a); }, -6.28, 6.28, 0x1p-20},
                        {"lg2.approx.f32", [](double a) { return std::log2(a); }, 0.001, 1000, 0x1p-21},
                        {"ex2.approx.f32", [](double a) { return std::exp2(a); }, -20, 20, 0x1p-21},
                        {"tanh.approx.f32", [](double a) { return std::tanh(a); }, -5, 5, 0x1p-10},
                        {"rsqrt.approx.f32", [](double a) { return 1 / std::sqrt(a); }, 0.001, 1000, 0x1p-22},
                        {"rcp.approx.ftz.f32", [](double a) { return 1 / a; }, 0.001, 1000, 0x1p-23},
                        {"sqrt.approx.f32", [](double a) { return std::sqrt(a); }, 0.001, 1000, 0x1p-23}};
    for (const Row& row : rows) {
        std::vector<uint32_t> input;
        for (int i = 0; i < 64; ++i)
            input.push_back(
                std::bit_cast<uint32_t>(static_cast<float>(row.least + (row.greatest - row.least) * i / 63)));
        const auto results = run(std::string(row.instruction) + " %r0, %r1;", 64, input);
        for (std::size_t i = 0; i < 64; ++i) {
            const double exact = row.exact(std::bit_cast<float>(input[i]));
            EXPECT_NEAR(std::bit_cast<float>(results[i]), exact,
                        row.tolerance * std::max(1.0, std::fabs(exact)))
                << row.instruction;
        }
    }
}

TEST(FloatingPoint, approximations_end_where_the_isa_says) {
    expect_lanes("rcp.approx.f32 %r0, %r1", lanes({{infinity, 0, 0, 0},
                                                   {minus_infinity, minus_zero, 0, 0},
                                                   {0, infinity, 0, 0},
                                                   {minus_zero, minus_infinity, 0, 0},
                                                   {nan_bits, nan_bits, 0, 0}}));
    expect_lanes(
        "sqrt.approx.f32 %r0, %r1",
        lanes({{nan_bits, minus_one, 0, 0}, {minus_zero, minus_zero, 0, 0}, {infinity, infinity, 0, 0}}));
    expect_lanes("rsqrt.approx.f32 %r0, %r1", lanes({{nan_bits, minus_one, 0, 0},
                                                     {infinity, 0, 0, 0},
                                                     {minus_infinity, minus_zero, 0, 0},
                                                     {0, infinity, 0, 0},
                                                     {0x3F00'0000, 0x4080'0000, 0, 0}}));
    expect_lanes("lg2.approx.f32 %r0, %r1", lanes({{minus_infinity, 0, 0, 0},
                                                   {minus_infinity, minus_zero, 0, 0},
                                                   {nan_bits, minus_one, 0, 0},
                                                   {infinity, infinity, 0, 0},
                                                   {0, one, 0, 0}}));
    expect_lanes("ex2.approx.f32 %r0, %r1", lanes({{0, minus_infinity, 0, 0},
                                                   {one, 0, 0, 0},
                                                   {one, minus_zero, 0, 0},
                                                   {infinity, infinity, 0, 0},
                                                   {two, one, 0, 0}}));
    expect_lanes("sin.approx.f32 %r0, %r1",
                 lanes({{nan_bits, infinity, 0, 0}, {minus_zero, minus_zero, 0, 0}, {0, 0, 0, 0}}));
    expect_lanes("cos.approx.f32 %r0, %r1", lanes({{nan_bits, minus_infinity, 0, 0}, {one, 0, 0, 0}}));
    expect_lanes("tanh.approx.f32 %r0, %r1", lanes({{one, infinity, 0, 0},
                                                    {minus_one, minus_infinity, 0, 0},
                                                    {0, 0, 0, 0},
                                                    {nan_bits, nan_bits, 0, 0}}));
    expect_lanes("div.full.f32 %r0, %r1, %r2", lanes({{two, two, one, 0}, {infinity, one, 0, 0}}));
    expect_lanes("div.approx.ftz.f32 %r0, %r1, %r2", lanes({{two, two, one, 0}, {nan_bits, 0, 0, 0}}));
}

TEST(FloatingPoint, leaves_the_rounding_mode_as_it_was) {
    const uint32_t input[] = {one};
    // If rounding were still upward, the second sum would be the number after one.
    EXPECT_EQ(run("add.rp.f32 %r2, %r1, 0f33800000; add.f32 %r0, %r1, 0f33800000;", 1, input),
              std::vector<uint32_t>{one});
}

TEST(FloatingPoint, begins_f64_divisions_with_the_upper_half) {
    // The low word of the operand does not count, and that of the result is zero: 1 / 3 =
    // 0x3FD55555'55555555.
    expect_lanes("rcp.approx.ftz.f64 %rd0, %rd1",
                 std::vector<LaneCase>{{0x3FE0'0000'0000'0000, 0x4000'0000'0000'0000},
                                       {0x3FD5'5555'0000'0000, 0x4008'0000'0000'0000},
                                       {0x3FE0'0000'0000'0000, 0x4000'0000'FFFF'FFFF},
                                       {0x7FF0'0000'0000'0000, 0x0000'0000'0000'0001}, // subnormal: a zero
                                       {0xFFF0'0000'0000'0000, 0x8000'0000'0000'0000},
                                       {0, 0x7FF0'0000'0000'0000}});
    expect_lanes("rsqrt.approx.ftz.f64 %rd0, %rd1",
                 std::vector<LaneCase>{{0x3FE0'0000'0000'0000, 0x4010'0000'0000'0000},
                                       {0x7FF0'0000'0000'0000, 0x0000'0000'0000'0001}});
}
