// cvt between all types, mov, and addresses.

#include "reference.hpp"

#include <gtest/gtest.h>

#include <algorithm>

using namespace emulator::fixture;
using std::int16_t, std::int32_t, std::int64_t, std::int8_t, std::uint16_t, std::uint32_t, std::uint64_t,
    std::uint8_t;
using quad [[gnu::mode(TF)]] = float; // of 128 bits: __float128 on x86-64, long double on aarch64

namespace {

template <class Check> void for_all_integers(Check check) {
    for_types<uint8_t, int8_t, uint16_t, int16_t, uint32_t, int32_t, uint64_t, int64_t>(check);
}

struct IntegerType {
    std::string name, registers;
    unsigned int bits;

    bool is_signed() const { return name[0] == 's'; }
    i128 least() const { return is_signed() ? -(i128{1} << (bits - 1)) : 0; }
    i128 greatest() const { return least() + ((i128{1} << bits) - 1); }
    uint64_t ones() const { return static_cast<uint64_t>((i128{1} << bits) - 1); }
    /// Of the low bits of `pattern`.
    i128 value_of(uint64_t pattern) const {
        const i128 low = pattern & ones();
        return low > greatest() ? low - (i128{1} << bits) : low;
    }
};
const IntegerType integer_types[] = {{"u8", "%rs", 8},   {"s8", "%rs", 8},  {"u16", "%rs", 16},
                                     {"s16", "%rs", 16}, {"u32", "%r", 32}, {"s32", "%r", 32},
                                     {"u64", "%rd", 64}, {"s64", "%rd", 64}};

/// Numbers at the edges of every integer type.
const std::vector<uint64_t>& integer_patterns() {
    static const std::vector<uint64_t> patterns = [] {
        std::vector<uint64_t> result{0, 1, ~0ull, 0x1234'5678'9ABC'DEF0};
        for (const int bits : {7, 8, 15, 16, 24, 31, 32, 53, 63})
            for (const int64_t distance : {-1, 0, 1}) {
                result.push_back((uint64_t{1} << bits) + static_cast<uint64_t>(distance));
                result.push_back(0 - (uint64_t{1} << bits) + static_cast<uint64_t>(distance));
            }
        return result;
    }();
    return patterns;
}

const std::vector<double>& real_numbers() {
    static const std::vector<double> numbers = [] {
        std::vector<double> result{0.0, 0.25,  0.5,      0.75, 1.0,        1.5,  2.5,
                                   3.5, 1e-30, 0x1p-149, 1e9,  123456.789, 1e30, INFINITY};
        for (const int bits : {7, 8, 15, 16, 31, 32, 63, 64})
            for (const double distance : {-1.0, -0.5, 0.0, 0.5, 1.0})
                result.push_back(std::ldexp(1.0, bits) + distance);
        for (std::size_t i = 0, count = result.size(); i < count; ++i) result.push_back(-result[i]);
        result.push_back(NAN);
        return result;
    }();
    return numbers;
}

/// The whole number that `mode` rounds `value` to.
double rounded(double value, std::string_view mode) {
    const double below = std::floor(value), rest = value - below;
    if (mode == ".rmi" || rest == 0) return below;
    if (mode == ".rpi") return below + 1;
    if (mode == ".rzi") return value < 0 ? below + 1 : below;
    return rest < 0.5 || (rest == 0.5 && std::fmod(below, 2) == 0) ? below : below + 1;
}

/// The result of converting a floating-point number to the integer type `To`: clamped, and the ISA's value
/// for a NaN.
template <class To> To to_integer(double value, std::string_view mode, bool from_f64) {
    using Limits = std::numeric_limits<To>;
    if (std::isnan(value))
        return from_f64 || sizeof(To) == 8
                   ? static_cast<To>(std::make_unsigned_t<To>(1) << (8 * sizeof(To) - 1))
                   : To(0);
    const quad whole = std::isinf(value) ? quad{value} : quad{rounded(value, mode)};
    return whole <= quad(Limits::min())   ? Limits::min()
           : whole >= quad(Limits::max()) ? Limits::max()
                                          : static_cast<To>(whole);
}

constexpr const char* whole_modes[] = {".rni", ".rzi", ".rmi", ".rpi"};

/// Some f16 and their values.
const std::pair<uint64_t, double> halves[] = {{0x3800, 0.5},    {0xBE00, -1.5},     {0x4100, 2.5},
                                              {0xFBFF, -65504}, {0x7C00, INFINITY}, {0x7E00, NAN}};

uint64_t f32(double value) { return bits_of(static_cast<float>(value)); }

} // namespace

TEST(Convert, integers_to_integers_keep_the_low_bits_and_extend_the_sign) {
    for (const IntegerType& to : integer_types)
        for (const IntegerType& from : integer_types) {
            std::vector<LaneCase> wide, exact, saturated;
            for (const uint64_t a : integer_patterns()) {
                const i128 value = from.value_of(a), kept = to.value_of(static_cast<uint64_t>(value));
                // The result goes to a 64-bit register: it is extended as its type says.
                wide.push_back({static_cast<uint64_t>(kept), a});
                exact.push_back({static_cast<uint64_t>(kept) & to.ones(), a});
                saturated.push_back({static_cast<uint64_t>(std::clamp(value, to.least(), to.greatest())), a});
            }
            const std::string types = to.name + '.' + from.name;
            expect_lanes("cvt." + types + " %rd0, %rd1", wide);
            if (to.bits > 8)
                expect_lanes("cvt." + types + ' ' + to.registers + "0, " + from.registers + '1', exact);
            // There is no such instruction if every value fits.
            if (from.least() < to.least() || from.greatest() > to.greatest())
                expect_lanes("cvt.sat." + types + " %rd0, %rd1", saturated);
        }
}

TEST(Convert, floating_point_to_integers_rounds_and_clamps) {
    for_all_integers([]<class To>() {
        for (const char* mode : whole_modes) {
            std::vector<LaneCase> from_f32, from_f64, from_f16;
            for (const double a : real_numbers()) {
                from_f64.push_back({static_cast<uint64_t>(to_integer<To>(a, mode, true)), bits_of(a)});
                from_f32.push_back(
                    {static_cast<uint64_t>(to_integer<To>(static_cast<float>(a), mode, false)), f32(a)});
            }
            for (const auto& [bits, value] : halves)
                from_f16.push_back({static_cast<uint64_t>(to_integer<To>(value, mode, false)), bits});
            const std::string cvt = std::string("cvt") + mode + '.' + type_name<To>();
            expect_lanes(cvt + ".f64 %rd0, %rd1", from_f64);
            expect_lanes(cvt + ".f32 %rd0, %r1", from_f32);
            expect_lanes(cvt + ".f16 %rd0, %rs1", from_f16);
        }
    });
}

TEST(Convert, integers_to_floating_point_rounds_once) {
    // By definition: no number of the format lies nearer (or, directed, on the right side and nearer).
    const auto check = []<class To, class From>(To, From) {
        for (const std::string mode : {"rn", "rz", "rm", "rp"}) {
            std::vector<LaneCase> cases;
            for (const uint64_t pattern : integer_patterns()) {
                const quad value = static_cast<From>(pattern);
                const To near = static_cast<To>(value); // one of the two neighbors, or both
                const To up = std::nextafter(near, std::numeric_limits<To>::infinity()),
                         down = std::nextafter(near, -std::numeric_limits<To>::infinity());
                const To below = near <= value ? near : down, above = near >= value ? near : up;
                const bool to_below = mode == "rm" || (mode == "rz" && value > 0);
                const bool to_above = mode == "rp" || (mode == "rz" && value < 0);
                const bool even = bits_of(below) % 2 == 0;
                const quad distance = (value - below) - (above - value);
                cases.push_back({bits_of(to_below                                  ? below
                                         : to_above                                ? above
                                         : distance < 0 || (distance == 0 && even) ? below
                                                                                   : above),
                                 pattern});
            }
            expect_lanes("cvt." + mode + '.' + type_name<To>() + '.' + type_name<From>() + ' ' +
                             register_name<To>() + "0, %rd1",
                         cases);
        }
    };
    for_all_integers([&]<class From>() {
        check(float{}, From{});
        check(double{}, From{});
    });
}

TEST(Convert, integers_to_16_bit_floating_point) {
    // 2049 lies in the middle between 2048 (0x6800) and 2050 (0x6801); 2^40 + 1 is far beyond f16, and just
    // above 2^40 in bf16.
    expect_lanes("cvt.rn.f16.s32 %rs0, %r1",
                 std::vector<LaneCase>{
                     {0x6800, 2049}, {0x6802, 2051}, {0xBC00, 0xFFFF'FFFF}, {0, 0}, {0x7C00, 1 << 20}});
    expect_lanes("cvt.rz.f16.u16 %rs0, %rs1",
                 std::vector<LaneCase>{{0x6800, 2049}, {0x6801, 2051}, {0x7BFF, 65535}});
    expect_lanes("cvt.rn.f16.u64 %rs0, %rd1", std::vector<LaneCase>{{0x7C00, ~0ull}, {0x3C00, 1}});
    expect_lanes("cvt.rn.bf16.s64 %rs0, %rd1",
                 std::vector<LaneCase>{{0x5380, (1ull << 40) + 1},
                                       {0xD380, 0 - (1ull << 40)},
                                       {0x5381, (1ull << 40) + (1ull << 32) + 1},
                                       {0x5380, (1ull << 40) + (1ull << 32)}});
    // 2^63 + 2^55 is the middle between two bf16. One more decides, and a double does not see it.
    expect_lanes("cvt.rn.bf16.u64 %rs0, %rd1", std::vector<LaneCase>{{0x5F00, 0x8080'0000'0000'0000},
                                                                     {0x5F01, 0x8080'0000'0000'0001},
                                                                     {0x5F00, 0x807F'FFFF'FFFF'FFFF}});
}

TEST(Convert, f64_to_f32_rounds_in_every_mode) {
    // 1 + 2^-25 is a quarter, 1 + 2^-24 half, 1 + 3 * 2^-25 three quarters of the way from 1 to the next f32.
    const double quarter = 1 + 0x1p-25, half = 1 + 0x1p-24, three = 1 + 0x3p-25;
    const uint64_t one = 0x3F80'0000, next = 0x3F80'0001, minus = 0x8000'0000;
    const auto row = [&](double a, uint64_t expected) { return LaneCase{expected, bits_of(a)}; };
    expect_lanes("cvt.rn.f32.f64 %r0, %rd1",
                 std::vector<LaneCase>{row(quarter, one), row(half, one), row(three, next),
                                       row(-three, next | minus), row(1e39, 0x7F80'0000), row(1e-46, 0),
                                       row(-1e-46, minus), row(0x1p-149, 1)});
    expect_lanes("cvt.rz.f32.f64 %r0, %rd1",
                 std::vector<LaneCase>{row(three, one), row(-three, one | minus), row(1e39, 0x7F7F'FFFF),
                                       row(-double{INFINITY}, 0xFF80'0000)});
    expect_lanes("cvt.rm.f32.f64 %r0, %rd1",
                 std::vector<LaneCase>{row(three, one), row(-quarter, next | minus), row(1e39, 0x7F7F'FFFF),
                                       row(-1e-46, 1 | minus)});
    expect_lanes("cvt.rp.f32.f64 %r0, %rd1",
                 std::vector<LaneCase>{row(quarter, next), row(-three, one | minus), row(1e39, 0x7F80'0000),
                                       row(1e-46, 1)});
    expect_lanes("cvt.rn.ftz.f32.f64 %r0, %rd1",
                 std::vector<LaneCase>{row(0x1p-127, 0), row(-0x1p-127, minus), row(0x1p-126, 0x0080'0000)});
    // As an H200 has it: 2^-126 (1 - 2^-24) has 24 bits and is below the smallest normal number, though it
    // would round to that one as a subnormal; 2^-126 (1 - 2^-30) rounds to it with 24 bits.
    const double just_below = 0x1p-126 * (1 - 0x1p-24), nearer = 0x1p-126 * (1 - 0x1p-30);
    expect_lanes(
        "cvt.rn.ftz.f32.f64 %r0, %rd1",
        std::vector<LaneCase>{row(just_below, 0), row(-just_below, minus), row(nearer, 0x0080'0000)});
    expect_lanes("cvt.rp.ftz.f32.f64 %r0, %rd1",
                 std::vector<LaneCase>{row(just_below, 0), row(nearer, 0x0080'0000)});
    expect_lanes("cvt.rz.ftz.f32.f64 %r0, %rd1", std::vector<LaneCase>{row(just_below, 0), row(nearer, 0)});
    expect_lanes("cvt.rn.sat.f32.f64 %r0, %rd1",
                 std::vector<LaneCase>{row(2, one), row(-2, 0), row(0.5, 0x3F00'0000), row(NAN, 0)});
}

TEST(Convert, f32_to_f64_is_exact) {
    std::vector<LaneCase> cases;
    for (const float a : edge_values<float>())
        if (!std::isnan(a)) cases.push_back({bits_of(double{a}), bits_of(a)});
    expect_lanes("cvt.f64.f32 %rd0, %r1", cases);
    expect_lanes("cvt.ftz.f64.f32 %rd0, %r1",
                 std::vector<LaneCase>{{0, 1}, {1ull << 63, 0x8000'0001}, {bits_of(0x1p-126), 0x0080'0000}});
}

TEST(Convert, nans_keep_sign_and_payload_from_and_to_f64_only) {
    // As an H200 has it: the upper bits of the payload stay, made quiet. Without f64 there is one pattern.
    expect_lanes("cvt.rn.f32.f64 %r0, %rd1", std::vector<LaneCase>{{0x7FC0'0000, 0x7FF8'0000'0000'1234},
                                                                   {0xFFE0'0000, 0xFFF4'0000'0000'0000},
                                                                   {0xFFC0'91A2, 0xFFF8'1234'5678'9ABC}});
    expect_lanes("cvt.rn.f16.f64 %rs0, %rd1", std::vector<LaneCase>{{0x7E00, 0x7FF0'0000'0000'0001},
                                                                    {0xFF00, 0xFFF4'0000'0000'0000},
                                                                    {0xFE04, 0xFFF8'1234'5678'9ABC}});
    expect_lanes("cvt.f64.f32 %rd0, %r1", std::vector<LaneCase>{{0x7FF8'0246'8000'0000, 0x7FC0'1234},
                                                                {0xFFFC'0000'0000'0000, 0xFFA0'0000}});
    expect_lanes("cvt.f64.f16 %rd0, %rs1",
                 std::vector<LaneCase>{{0x7FF8'0400'0000'0000, 0x7C01}, {0xFFF9'5400'0000'0000, 0xFE55}});
    expect_lanes("cvt.rn.f16.f32 %rs0, %r1", std::vector<LaneCase>{{0x7FFF, 0xFFC0'1234}});
    expect_lanes("cvt.ftz.f32.f32 %r0, %r1", std::vector<LaneCase>{{0x7FFF'FFFF, 0xFFC0'1234}});
}

TEST(Convert, rounds_to_whole_numbers_in_place) {
    for (const char* mode : whole_modes) {
        std::vector<LaneCase> f32_cases, f64_cases;
        for (const double a : real_numbers()) {
            if (std::isnan(a)) continue;
            const auto whole = [&](double value) {
                return std::isinf(value) ? value : std::copysign(rounded(value, mode), value);
            };
            f64_cases.push_back({bits_of(whole(a)), bits_of(a)});
            f32_cases.push_back({f32(whole(static_cast<float>(a))), f32(a)});
        }
        f32_cases.push_back({0x7FFF'FFFF, 0xFFC1'2345});
        expect_lanes(std::string("cvt") + mode + ".f32.f32 %r0, %r1", f32_cases);
        expect_lanes(std::string("cvt") + mode + ".f64.f64 %rd0, %rd1", f64_cases);
    }
    expect_lanes("cvt.rni.f16.f16 %rs0, %rs1",
                 std::vector<LaneCase>{{0x4000, 0x4100}, {0x8000, 0xB800}, {0x7C00, 0x7C00}}); // 2.5, -0.5
}

TEST(Convert, flushes_and_saturates_f32) {
    expect_lanes("cvt.ftz.f32.f32 %r0, %r1",
                 std::vector<LaneCase>{{0, 1}, {0x8000'0000, 0x8000'0001}, {0x0080'0000, 0x0080'0000}});
    expect_lanes(
        "cvt.sat.f32.f32 %r0, %r1",
        std::vector<LaneCase>{{0x3F80'0000, f32(3)}, {0, f32(-3)}, {f32(0.25), f32(0.25)}, {0, 0x7FC0'0000}});
    expect_lanes("cvt.rn.sat.f32.s32 %r0, %r1", std::vector<LaneCase>{{0x3F80'0000, 3}, {0, 0xFFFF'FFFD}});
    expect_lanes("cvt.rpi.ftz.s32.f32 %r0, %r1", std::vector<LaneCase>{{0, 1}, {1, 0x0080'0000}});
    expect_lanes("cvt.rpi.s32.f32 %r0, %r1", std::vector<LaneCase>{{1, 1}});
}

TEST(Convert, wide_registers_hold_narrow_sources) {
    expect_lanes("cvt.u64.u8 %rd0, %rd1", std::vector<LaneCase>{{0xF0, 0x1234'56F0}});
    expect_lanes("cvt.s32.s8 %r0, %r1", std::vector<LaneCase>{{0xFFFF'FFF0, 0x1234'56F0}});
    expect_lanes("cvt.rn.f32.s16 %r0, %r1", std::vector<LaneCase>{{f32(-1), 0x1234'FFFF}});
    expect_lanes("cvt.rn.f32.u8 %r0, %rs1", std::vector<LaneCase>{{f32(255), 0x12FF}});
}

TEST(Move, copies_every_width_and_constants) {
    expect_lanes("mov.b64 %rd0, %rd1", std::vector<LaneCase>{{0x1234'5678'9ABC'DEF0, 0x1234'5678'9ABC'DEF0}});
    expect_lanes("mov.u16 %rs0, %rs1", std::vector<LaneCase>{{0xDEF0, 0x1234'5678'9ABC'DEF0}});
    expect_lanes("mov.f32 %r0, 0fBF800000", std::vector<LaneCase>{{0xBF80'0000}});
    expect_lanes("mov.f32 %r0, -1.5", std::vector<LaneCase>{{0xBFC0'0000}});
    expect_lanes("mov.f64 %rd0, 0d400921FB54442D18", std::vector<LaneCase>{{0x4009'21FB'5444'2D18}});
    expect_lanes("mov.b32 %r0, 0f3F800000", std::vector<LaneCase>{{0x3F80'0000}});
    expect_lanes("mov.s64 %rd0, -5", std::vector<LaneCase>{{~4ull}});
    expect_lanes("mov.b16 %rs0, -1", std::vector<LaneCase>{{0xFFFF}});
    expect_lanes("mov.u64 %rd0, 0xFFFFFFFFFFFFFFFF", std::vector<LaneCase>{{~0ull}});
}

TEST(Move, packs_and_unpacks) {
    const uint64_t a = 0x1122'3344'5566'7788, b = 0x99AA'BBCC'DDEE'FF00;
    expect_lanes("mov.b64 %rd0, {%r1, %r2}", std::vector<LaneCase>{{0xDDEE'FF00'5566'7788, a, b}});
    expect_lanes("mov.b32 %r0, {%rs1, %rs2}", std::vector<LaneCase>{{0xFF00'7788, a, b}});
    expect_lanes("mov.b64 %rd0, {%rs1, %rs2, %rs2, %rs1}",
                 std::vector<LaneCase>{{0x7788'FF00'FF00'7788, a, b}});
    expect_lanes("mov.b64 %rd0, {%r1, 7}", std::vector<LaneCase>{{0x0000'0007'5566'7788, a}});
    expect_lanes("mov.b64 {%r0, %r20}, %rd1", std::vector<LaneCase>{{0x5566'7788, a}});
    expect_lanes("mov.b64 {%r20, %r0}, %rd1", std::vector<LaneCase>{{0x1122'3344, a}});
    expect_lanes("mov.b64 {_, %r0}, %rd1", std::vector<LaneCase>{{0x1122'3344, a}});
    expect_lanes("mov.b32 {%rs20, %rs0}, %r1", std::vector<LaneCase>{{0x5566, a}});
    expect_lanes("mov.b64 {%rs20, %rs21, %rs0, _}, %rd1", std::vector<LaneCase>{{0x3344, a}});
}

TEST(SpecialRegisters, say_where_a_thread_is) {
    // Thread 37 of block (1, 2, 1): x = 37 % 8, y = 37 / 8 % 3, z = 37 / 24
    struct Row {
        const char* name;
        uint32_t expected;
    };
    const Row rows[] = {{"%tid.x", 5},
                        {"%tid.y", 1},
                        {"%tid.z", 1},
                        {"%ntid.x", 8},
                        {"%ntid.y", 3},
                        {"%ntid.z", 2},
                        {"%ctaid.x", 1},
                        {"%ctaid.y", 2},
                        {"%ctaid.z", 1},
                        {"%nctaid.x", 3},
                        {"%nctaid.y", 4},
                        {"%nctaid.z", 2},
                        {"%laneid", 5},
                        {"%warpid", 1},
                        {"%lanemask_eq", 0x20},
                        {"%lanemask_lt", 0x1F},
                        {"%lanemask_le", 0x3F},
                        {"%lanemask_gt", 0xFFFF'FFC0},
                        {"%lanemask_ge", 0xFFFF'FFE0},
                        {"%dynamic_smem_size", 48},
                        {"%nsmid", 132}};
    std::string body = R"(
        mov.u32 %r10, %tid.z; mov.u32 %r11, %tid.y; mad.lo.u32 %r12, %r10, 3, %r11;
        mov.u32 %r11, %tid.x; mad.lo.u32 %r12, %r12, 8, %r11;
        mov.u32 %r13, %ctaid.z; mov.u32 %r14, %ctaid.y; mad.lo.u32 %r15, %r13, 4, %r14;
        mad.lo.u32 %r15, %r15, 3, %r61;
        setp.eq.u32 %p1, %r12, 37; setp.eq.and.u32 %p2, %r15, 19, %p1; @!%p2 ret;
)";
    std::size_t offset = 0;
    for (const Row& row : rows) {
        body += std::string("mov.u32 %r0, ") + row.name + "; st.global.u32 [%rd60+" + std::to_string(offset) +
                "], %r0;\n";
        offset += 4;
    }
    Program program(module_of(body));
    auto* const out = program.allocate<uint32_t>(std::size(rows));
    emulator::LaunchConfiguration configuration;
    configuration.grid = {3, 4, 2};
    configuration.block = {8, 3, 2};
    configuration.dynamic_shared_bytes = 48;
    program.launch("k", configuration, {out});
    for (std::size_t i = 0; i < std::size(rows); ++i) EXPECT_EQ(out[i], rows[i].expected) << rows[i].name;
}

TEST(SpecialRegisters, clocks_go_forward) {
    EXPECT_EQ(run(R"(
        mov.u64 %rd1, %clock64; mov.u32 %r1, %clock; mov.u64 %rd2, %globaltimer;
        mov.u64 %rd3, %clock64;
        setp.ge.u64 %p1, %rd3, %rd1; selp.b32 %r0, 1, 0, %p1;)"),
              std::vector<uint32_t>(32, 1));
}
