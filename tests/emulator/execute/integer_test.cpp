// Integer arithmetic against 128-bit arithmetic on the host.

#include "reference.hpp"

#include <gtest/gtest.h>

#include <algorithm>

using namespace emulator::fixture;
using std::int16_t, std::int32_t, std::int64_t, std::uint16_t, std::uint32_t, std::uint64_t;

namespace {

template <class Check> void for_all_integers(Check check) {
    for_types<uint16_t, int16_t, uint32_t, int32_t, uint64_t, int64_t>(check);
}
template <class Check> void for_integers_to_32_bits(Check check) {
    for_types<uint16_t, int16_t, uint32_t, int32_t>(check);
}
template <class Check> void for_signed_integers(Check check) { for_types<int16_t, int32_t, int64_t>(check); }

template <class T> struct Twice;
template <> struct Twice<uint16_t> { using type = uint32_t; };
template <> struct Twice<int16_t> { using type = int32_t; };
template <> struct Twice<uint32_t> { using type = uint64_t; };
template <> struct Twice<int32_t> { using type = int64_t; };

template <class T> Exact<T> high_half(Exact<T> product) { return product >> (8 * sizeof(T)); }

} // namespace

TEST(IntegerArithmetic, adds_and_subtracts_and_wraps) {
    for_all_integers([]<class T>() {
        expect_like<T>("add.", [](Exact<T> a, Exact<T> b) { return a + b; });
        expect_like<T>("sub.", [](Exact<T> a, Exact<T> b) { return a - b; });
    });
}

TEST(IntegerArithmetic, saturates_s32) {
    const auto clamp = [](i128 value) { return std::clamp<i128>(value, INT32_MIN, INT32_MAX); };
    expect_like<int32_t>("add.sat.", [=](i128 a, i128 b) { return clamp(a + b); });
    expect_like<int32_t>("sub.sat.", [=](i128 a, i128 b) { return clamp(a - b); });
    expect_like<int32_t>("mad.hi.sat.", [=](i128 a, i128 b, i128 c) { return clamp((a * b >> 32) + c); });
}

TEST(IntegerArithmetic, multiplies_to_each_half) {
    for_all_integers([]<class T>() {
        expect_like<T>("mul.lo.", [](Exact<T> a, Exact<T> b) { return a * b; });
        expect_like<T>("mul.hi.", [](Exact<T> a, Exact<T> b) { return high_half<T>(a * b); });
    });
}

TEST(IntegerArithmetic, multiplies_to_twice_the_width) {
    for_integers_to_32_bits([]<class T>() {
        expect_like<T, typename Twice<T>::type>("mul.wide.", [](Exact<T> a, Exact<T> b) { return a * b; });
    });
}

TEST(IntegerArithmetic, multiplies_and_adds) {
    for_all_integers([]<class T>() {
        expect_like<T>("mad.lo.", [](Exact<T> a, Exact<T> b, Exact<T> c) { return a * b + c; });
        expect_like<T>("mad.hi.", [](Exact<T> a, Exact<T> b, Exact<T> c) { return high_half<T>(a * b) + c; });
    });
}

TEST(IntegerArithmetic, multiplies_and_adds_at_twice_the_width) {
    for_integers_to_32_bits([]<class T>() {
        using Wide = typename Twice<T>::type;
        std::vector<LaneCase> cases;
        for (const T a : edge_values<T>())
            for (const T b : edge_values<T>())
                for (const Wide c : edge_values<Wide>())
                    cases.push_back({bits_of(static_cast<Wide>(i128{a} * i128{b} + c)), bits_of(a),
                                     bits_of(b), bits_of(c)});
        const std::string narrow = register_name<T>(), wide = register_name<Wide>();
        expect_lanes("mad.wide." + type_name<T>() + ' ' + wide + "0, " + narrow + "1, " + narrow + "2, " +
                         wide + '3',
                     cases);
    });
}

TEST(IntegerArithmetic, divides_toward_zero) {
    // PTX leaves division by zero to the machine. NVIDIA's routines return all ones, for the remainder too.
    for_all_integers([]<class T>() {
        expect_like<T>("div.", [](Exact<T> a, Exact<T> b) { return b == 0 ? Exact<T>(-1) : a / b; });
        expect_like<T>("rem.", [](Exact<T> a, Exact<T> b) { return b == 0 ? Exact<T>(-1) : a % b; });
    });
}

// As programs mostly do. Quotients of multiples and of their neighbors are where a rounded inverse would
// show.
TEST(IntegerArithmetic, divides_whole_warps_by_one_number) {
    Numbers numbers;
    std::vector<uint32_t> divisors{1,           2,           3,           5,           7,
                                   10,          641,         0xFFFF,      0x1'0000,    0x1'0001,
                                   0x7FFF'FFFF, 0x8000'0000, 0x8000'0001, 0xFFFF'FFFE, 0xFFFF'FFFF};
    for (int k = 0; k < 100; ++k)
        divisors.push_back(std::max(1u, static_cast<uint32_t>(numbers.next() >> (32 + k % 32))));
    for (const uint32_t b : divisors) {
        std::vector<LaneCase> quotients, remainders;
        for (int k = 0; k < 64; ++k) {
            const uint32_t multiple = static_cast<uint32_t>(numbers.next()) / b * b;
            const uint32_t a = k < 8    ? UINT32_MAX - static_cast<uint32_t>(k)
                               : k < 12 ? static_cast<uint32_t>(k - 8)
                                        : multiple + static_cast<uint32_t>(k % 3) - 1;
            quotients.push_back({a / b, a, b});
            remainders.push_back({a % b, a, b});
        }
        expect_lanes("div.u32 %r0, %r1, %r2", quotients);
        expect_lanes("rem.u32 %r0, %r1, %r2", remainders);
    }
}

TEST(IntegerArithmetic, chooses_the_smaller_and_the_larger) {
    for_all_integers([]<class T>() {
        expect_like<T>("min.", [](Exact<T> a, Exact<T> b) { return a < b ? a : b; });
        expect_like<T>("max.", [](Exact<T> a, Exact<T> b) { return a > b ? a : b; });
    });
}

TEST(IntegerArithmetic, negates_and_takes_absolute_values) {
    for_signed_integers([]<class T>() {
        expect_like<T>("neg.", [](i128 a) { return -a; });
        expect_like<T>("abs.", [](i128 a) { return a < 0 ? -a : a; });
    });
}

TEST(IntegerArithmetic, sums_absolute_differences) {
    for_all_integers([]<class T>() {
        expect_like<T>("sad.",
                       [](Exact<T> a, Exact<T> b, Exact<T> c) { return c + (a < b ? b - a : a - b); });
    });
}

TEST(IntegerArithmetic, multiplies_24_bits) {
    const auto low_24 = [](i128 a) { return a & 0xFF'FFFF; };
    const auto signed_24 = [](i128 a) { return (a & 0xFF'FFFF) - ((a & 0x80'0000) << 1); };
    expect_like<uint32_t>("mul24.lo.", [=](i128 a, i128 b) { return low_24(a) * low_24(b); });
    expect_like<uint32_t>("mul24.hi.", [=](i128 a, i128 b) { return low_24(a) * low_24(b) >> 16; });
    expect_like<int32_t>("mul24.lo.", [=](i128 a, i128 b) { return signed_24(a) * signed_24(b); });
    expect_like<int32_t>("mul24.hi.", [=](i128 a, i128 b) { return signed_24(a) * signed_24(b) >> 16; });
    expect_like<uint32_t>("mad24.lo.", [=](i128 a, i128 b, i128 c) { return low_24(a) * low_24(b) + c; });
    expect_like<int32_t>("mad24.hi.",
                         [=](i128 a, i128 b, i128 c) { return (signed_24(a) * signed_24(b) >> 16) + c; });
}

TEST(IntegerArithmetic, multiplies_packed_bytes) {
    // a = {0x01, 0x80, 0xFF, 0x7F} and b = {0x02, 0xFF, 0x80, 0x7F}, lowest byte first:
    // unsigned 1*2 + 128*255 + 255*128 + 127*127 = 81411; signed 1*2 + -128*-1 + -1*-128 + 127*127 = 16387
    // a signed, b unsigned: 2 - 128*255 - 1*128 + 16129 = -16637; a unsigned, b signed: 2 - 128 - 255*128 +
    // 16129 = -16637
    const LaneCase operands{0, 0x7FFF8001, 0x7F80FF02, 1000};
    const auto with = [&](std::int64_t sum) {
        LaneCase lane = operands;
        lane.expected = static_cast<uint32_t>(sum + 1000);
        return std::vector<LaneCase>(33, lane);
    };
    expect_lanes("dp4a.u32.u32 %r0, %r1, %r2, %r3", with(81411));
    expect_lanes("dp4a.s32.s32 %r0, %r1, %r2, %r3", with(16387));
    expect_lanes("dp4a.s32.u32 %r0, %r1, %r2, %r3", with(-16637));
    expect_lanes("dp4a.u32.s32 %r0, %r1, %r2, %r3", with(-16637));
    // dp2a: the halves of a are 0x8001 and 0x7FFF; .lo takes b's bytes 2 and 255, .hi 128 and 127.
    expect_lanes("dp2a.lo.u32.u32 %r0, %r1, %r2, %r3", with(32769 * 2 + 32767 * 255));
    expect_lanes("dp2a.hi.u32.u32 %r0, %r1, %r2, %r3", with(32769 * 128 + 32767 * 127));
    expect_lanes("dp2a.lo.s32.s32 %r0, %r1, %r2, %r3", with(-32767 * 2 + 32767 * -1));
    expect_lanes("dp2a.hi.s32.u32 %r0, %r1, %r2, %r3", with(-32767 * 128 + 32767 * 127));
    expect_lanes("dp2a.hi.u32.s32 %r0, %r1, %r2, %r3", with(32769 * -128 + 32767 * 127));
}

TEST(IntegerArithmetic, takes_constants_in_every_place) {
    const auto one = [](uint64_t expected, uint64_t a) { return std::vector<LaneCase>{{expected, a}}; };
    expect_lanes("add.s32 %r0, %r1, -1", one(4, 5));
    expect_lanes("sub.s32 %r0, 0x10, %r1", one(11, 5));
    expect_lanes("add.s64 %rd0, %rd1, -1", one(4, 5));
    expect_lanes("mad.wide.s32 %rd0, %r1, -4, 100", one(80, 5));
    expect_lanes("add.u16 %rs0, %rs1, 70000", one((5 + 70000) & 0xFFFF, 5));
    expect_lanes("add.u32 %r0, %r1, WARP_SZ", one(37, 5));
}
