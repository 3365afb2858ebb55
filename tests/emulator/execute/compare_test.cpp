// Comparison and selection: every operator on every type.

#include "reference.hpp"

#include <gtest/gtest.h>

#include <functional>

using namespace emulator::fixture;
using std::int16_t, std::int32_t, std::int64_t, std::uint16_t, std::uint32_t, std::uint64_t;

namespace {

template <class T> struct Comparison {
    const char* name;
    std::function<bool(T, T)> holds;
};

template <class T> std::vector<Comparison<T>> ordered_comparisons() {
    return {{"lt", std::less<T>()},
            {"le", std::less_equal<T>()},
            {"gt", std::greater<T>()},
            {"ge", std::greater_equal<T>()},
            {"eq", std::equal_to<T>()}};
}

template <class T> std::vector<Comparison<T>> comparisons() {
    auto all = ordered_comparisons<T>();
    if constexpr (std::floating_point<T>) {
        // "ne" is false for a NaN, unlike != in C++. With a "u", each is true for a NaN.
        const auto unordered = [](T a, T b) { return std::isnan(a) || std::isnan(b); };
        all.push_back({"ne", [=](T a, T b) { return !unordered(a, b) && a != b; }});
        all.push_back({"neu", [](T a, T b) { return a != b; }});
        all.push_back({"num", [=](T a, T b) { return !unordered(a, b); }});
        all.push_back({"nan", unordered});
        const char* const names[] = {"ltu", "leu", "gtu", "geu", "equ"};
        for (std::size_t i = 0; const char* const name : names)
            all.push_back(
                {name, [=, holds = all[i++].holds](T a, T b) { return unordered(a, b) || holds(a, b); }});
    } else {
        all.push_back({"ne", std::not_equal_to<T>()});
        if (std::is_unsigned_v<T>)
            for (const auto& [name, like] :
                 {std::pair("lo", 0), std::pair("ls", 1), std::pair("hi", 2), std::pair("hs", 3)})
                all.push_back({name, all[static_cast<std::size_t>(like)].holds});
    }
    return all;
}

template <class T> std::vector<LaneCase> pairs(const std::function<bool(T, T)>& holds, uint64_t yes = 1) {
    std::vector<LaneCase> cases;
    for (const T a : edge_values<T>())
        for (const T b : edge_values<T>()) cases.push_back({holds(a, b) ? yes : 0, bits_of(a), bits_of(b)});
    return cases;
}

template <class Check> void for_all_types(Check check) {
    for_types<uint16_t, int16_t, uint32_t, int32_t, uint64_t, int64_t, float, double>(check);
}

template <class T> std::string sources() { return register_name<T>() + "1, " + register_name<T>() + '2'; }

uint64_t half(double value) { // exact for the values below
    const uint64_t d = bits_of(value);
    if (value == 0) return d >> 48;
    return (d >> 48 & 0x8000) | (((d >> 52 & 0x7FF) - 1023 + 15) << 10) | (d >> 42 & 0x3FF);
}

} // namespace

TEST(Compare, sets_predicates_for_every_operator_and_type) {
    for_all_types([]<class T>() {
        for (const auto& comparison : comparisons<T>())
            expect_lanes(std::string("setp.") + comparison.name + '.' + type_name<T>() + " %p0, " +
                             sources<T>(),
                         pairs<T>(comparison.holds));
    });
}

TEST(Compare, compares_bits_for_equality_only) {
    for_types<uint16_t, uint32_t, uint64_t>([]<class T>() {
        const std::string type = "b" + std::to_string(8 * sizeof(T));
        expect_lanes("setp.eq." + type + " %p0, " + sources<T>(), pairs<T>(std::equal_to<T>()));
        expect_lanes("setp.ne." + type + " %p0, " + sources<T>(), pairs<T>(std::not_equal_to<T>()));
        const auto error = error_of([&] { run("setp.lt." + type + " %p0, " + sources<T>() + ";"); });
        EXPECT_EQ(error.failure(), emulator::Failure::unsupported) << error.what();
    });
}

TEST(Compare, compares_16_bit_floating_point) {
    const double values[] = {0.0, -0.0, 1.0, 1.5, -1.0, 65504.0, 0.25, -2048.0};
    for (const auto& comparison : comparisons<double>()) {
        std::vector<LaneCase> halves, brains;
        for (const double a : values)
            for (const double b : values) {
                halves.push_back({comparison.holds(a, b), half(a), half(b)});
                if (a == 65504.0 || b == 65504.0) continue; // no bf16
                brains.push_back({comparison.holds(a, b), bits_of(static_cast<float>(a)) >> 16,
                                  bits_of(static_cast<float>(b)) >> 16});
            }
        for (auto* cases : {&halves, &brains}) {
            const bool of_nan = comparison.holds(NAN, 1.0);
            cases->push_back({of_nan, 0x7FFF, 0x3C00});
            cases->push_back({of_nan, 0x3C00, 0xFFFF});
        }
        expect_lanes(std::string("setp.") + comparison.name + ".f16 %p0, %rs1, %rs2", halves);
        expect_lanes(std::string("setp.") + comparison.name + ".bf16 %p0, %rs1, %rs2", brains);
    }
}

TEST(Compare, flushes_subnormal_numbers_with_ftz) {
    const uint64_t tiny = 1, minus_tiny = 0x8000'0001, least = 0x0080'0000;
    expect_lanes("setp.eq.ftz.f32 %p0, %r1, %r2",
                 std::vector<LaneCase>{{1, tiny, 0}, {1, tiny, minus_tiny}, {0, tiny, least}});
    expect_lanes("setp.lt.ftz.f32 %p0, %r1, %r2",
                 std::vector<LaneCase>{{0, minus_tiny, tiny}, {1, tiny, least}});
    expect_lanes("setp.lt.f32 %p0, %r1, %r2", std::vector<LaneCase>{{1, minus_tiny, tiny}, {1, tiny, least}});
    expect_lanes("set.ne.ftz.u32.f32 %r0, %r1, %r2", std::vector<LaneCase>{{0, tiny, 0}, {~0u, least, 0}});
}

TEST(Compare, combines_with_a_third_predicate) {
    struct Row {
        const char* operation;
        std::function<bool(bool, bool)> combine;
    };
    const Row rows[] = {
        {"and", std::logical_and<>()}, {"or", std::logical_or<>()}, {"xor", std::not_equal_to<>()}};
    for (const Row& row : rows)
        for (const bool negated : {false, true}) {
            std::vector<LaneCase> predicates, registers, second;
            for (const int a : {1, 2})
                for (const bool c : {false, true}) {
                    const bool third = c != negated;
                    const bool first = row.combine(a < 2, third);
                    predicates.push_back({first, static_cast<uint64_t>(a), 2, c});
                    registers.push_back({first ? 0x3F80'0000u : 0, static_cast<uint64_t>(a), 2, c});
                    second.push_back({row.combine(a >= 2, third), static_cast<uint64_t>(a), 2,
                                      c}); // p|q: q is of the opposite
                }
            const std::string operation = row.operation,
                              operands = std::string(", %r1, %r2, ") + (negated ? "!%p3" : "%p3");
            expect_lanes("setp.lt." + operation + ".s32 %p0" + operands, predicates);
            expect_lanes("setp.lt." + operation + ".s32 %p8|%p0" + operands, second);
            expect_lanes("setp.lt." + operation + ".s32 _|%p0" + operands, second);
            expect_lanes("setp.lt." + operation + ".s32 %p0|_" + operands, predicates);
            expect_lanes("set.lt." + operation + ".f32.s32 %r0" + operands, registers);
        }
    expect_lanes("setp.lt.and.s32 %p0, %r1, %r2, 1", std::vector<LaneCase>{{1, 1, 2}, {0, 2, 2}});
    expect_lanes("setp.ltu.f32 %p8|%p0, %r1, %r2", pairs<float>([](float a, float b) { return a >= b; }));
}

TEST(Compare, sets_registers_to_all_ones_or_to_one) {
    expect_lanes("set.lt.u32.s32 %r0, %r1, %r2", pairs<int32_t>(std::less<>(), 0xFFFF'FFFF));
    expect_lanes("set.ge.s32.u64 %r0, %rd1, %rd2", pairs<uint64_t>(std::greater_equal<>(), 0xFFFF'FFFF));
    expect_lanes("set.eq.f32.f64 %r0, %rd1, %rd2", pairs<double>(std::equal_to<>(), 0x3F80'0000));
    expect_lanes("set.gtu.u32.f32 %r0, %r1, %r2",
                 pairs<float>([](float a, float b) { return !(a <= b); }, 0xFFFF'FFFF));
}

TEST(Compare, selects_by_a_predicate) {
    const std::vector<LaneCase> by_p{
        {0x1111'2222'3333'4444, 0x1111'2222'3333'4444, 0x5555'6666'7777'8888, 1},
        {0x5555'6666'7777'8888, 0x1111'2222'3333'4444, 0x5555'6666'7777'8888, 0}};
    const auto low = [&](int bits) {
        auto cases = by_p;
        for (LaneCase& lane : cases) lane.expected &= (1ull << bits) - 1;
        return cases;
    };
    for (const char* type : {"b64", "u64", "s64", "f64"})
        expect_lanes(std::string("selp.") + type + " %rd0, %rd1, %rd2, %p3", by_p);
    for (const char* type : {"b32", "u32", "s32", "f32"})
        expect_lanes(std::string("selp.") + type + " %r0, %r1, %r2, %p3", low(32));
    for (const char* type : {"b16", "u16", "s16"})
        expect_lanes(std::string("selp.") + type + " %rs0, %rs1, %rs2, %p3", low(16));
    expect_lanes("selp.b32 %r0, 7, -1, !%p3", std::vector<LaneCase>{{0xFFFF'FFFF, 0, 0, 1}, {7, 0, 0, 0}});
}

TEST(Compare, selects_by_sign) {
    // The third operand decides: at least zero takes a. -0.0 is zero; a NaN takes b.
    const auto cases = [](std::initializer_list<std::pair<uint64_t, bool>> choosers, bool narrow) {
        std::vector<LaneCase> result;
        const uint64_t a = narrow ? 0x1234 : 0x1'0000'0002, b = narrow ? 0x4321 : 0x3'0000'0004;
        for (const auto& [chooser, first] : choosers) result.push_back({first ? a : b, a, b, chooser});
        return result;
    };
    const std::initializer_list<std::pair<uint64_t, bool>> integers = {
        {0, true}, {1, true}, {0x7FFF'FFFF, true}, {0x8000'0000, false}, {~0u, false}};
    const std::initializer_list<std::pair<uint64_t, bool>> floats = {{0, true},
                                                                     {0x8000'0000, true},
                                                                     {0x3F80'0000, true},
                                                                     {0xBF80'0000, false},
                                                                     {0x7FC0'0000, false},
                                                                     {0xFFC0'0000, false},
                                                                     {0x8000'0001, false}};
    expect_lanes("slct.u64.s32 %rd0, %rd1, %rd2, %r3", cases(integers, false));
    expect_lanes("slct.f64.f32 %rd0, %rd1, %rd2, %r3", cases(floats, false));
    expect_lanes("slct.b32.s32 %r0, %r1, %r2, %r3", cases(integers, true));
    expect_lanes("slct.f32.f32 %r0, %r1, %r2, %r3", cases(floats, true));
    expect_lanes("slct.s16.s32 %rs0, %rs1, %rs2, %r3", cases(integers, true));
}

TEST(Compare, tests_properties_of_numbers) {
    // The PTX ISA counts zero among the normal numbers.
    struct Row {
        uint64_t f32, f64;
        bool finite, infinite, number, normal, subnormal;
    };
    const Row rows[] = {{0, 0, true, false, true, true, false},
                        {0x8000'0000, 1ull << 63, true, false, true, true, false},
                        {0x3F80'0000, 0x3FF0'0000'0000'0000, true, false, true, true, false},
                        {0x0080'0000, 0x0010'0000'0000'0000, true, false, true, true, false},
                        {0x807F'FFFF, 0x800F'FFFF'FFFF'FFFF, true, false, true, false, true},
                        {1, 1, true, false, true, false, true},
                        {0xFF7F'FFFF, 0xFFEF'FFFF'FFFF'FFFF, true, false, true, true, false},
                        {0x7F80'0000, 0x7FF0'0000'0000'0000, false, true, true, false, false},
                        {0xFF80'0000, 0xFFF0'0000'0000'0000, false, true, true, false, false},
                        {0x7FC0'0000, 0x7FF8'0000'0000'0000, false, false, false, false, false},
                        {0xFF80'0001, 0xFFF0'0000'0000'0001, false, false, false, false, false}};
    const auto check = [&](const std::string& property, auto expected) {
        std::vector<LaneCase> f32, f64;
        for (const Row& row : rows) {
            f32.push_back({expected(row), row.f32});
            f64.push_back({expected(row), row.f64});
        }
        expect_lanes("testp." + property + ".f32 %p0, %r1", f32);
        expect_lanes("testp." + property + ".f64 %p0, %rd1", f64);
    };
    check("finite", [](const Row& row) { return row.finite; });
    check("infinite", [](const Row& row) { return row.infinite; });
    check("number", [](const Row& row) { return row.number; });
    check("notanumber", [](const Row& row) { return !row.number; });
    check("normal", [](const Row& row) { return row.normal; });
    check("subnormal", [](const Row& row) { return row.subnormal; });
}
