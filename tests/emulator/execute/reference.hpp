/// Instructions against formulas: every combination of edge values, one in each lane.
#pragma once

#include "../machine/ptx_fixture.hpp"

#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

namespace emulator::fixture {

using i128 = __int128;

/// An integer type in which no result of an operation on two `T` overflows.
template <class T> using Exact = std::conditional_t<std::is_unsigned_v<T>, unsigned __int128, i128>;

template <class T> std::string type_name() {
    const char letter = std::floating_point<T> ? 'f' : std::is_signed_v<T> ? 's' : 'u';
    return letter + std::to_string(8 * sizeof(T));
}

/// "%rs", "%r" or "%rd": the registers of `T`.
template <class T> std::string register_name() {
    return sizeof(T) == 8 ? "%rd" : sizeof(T) == 4 ? "%r" : "%rs";
}

/// "add.s32 %r0, %r1, %r2" for "add.", int32_t and 2 operands
template <class T, class Result = T> std::string instruction_of(const std::string& opcode, int operands) {
    std::string text = opcode + type_name<T>() + ' ' + register_name<Result>() + '0';
    for (int k = 1; k <= operands; ++k) text += ", " + register_name<T>() + std::to_string(k);
    return text;
}

template <class T> std::vector<T> edge_values() {
    using Limits = std::numeric_limits<T>;
    if constexpr (std::floating_point<T>) {
        const T nan = Limits::quiet_NaN(), infinity = Limits::infinity(), tiny = Limits::denorm_min(),
                least = Limits::min();
        return {T(0),
                -T(0),
                T(1),
                T(-1),
                T(0.5),
                T(-1.5),
                T(3),
                T(1) + Limits::epsilon(),
                T(1) / 3,
                T(-123456.78),
                tiny,
                -tiny,
                least,
                -least,
                least - tiny,
                Limits::max(),
                Limits::lowest(),
                infinity,
                -infinity,
                nan};
    } else {
        const T top = T(T(1) << (8 * sizeof(T) - 2));
        return {T(0),
                T(1),
                T(2),
                T(-1),
                T(-2),
                T(7),
                T(-100),
                T(0x55),
                T(100),
                top,
                T(Exact<T>(top) * 2),
                Limits::max(),
                Limits::min(),
                T(Limits::max() - 1),
                T(Limits::min() + 1),
                T(0x1234'5678'9ABC'DEF0 & Limits::max())};
    }
}

/// The bits of a number, zero-extended.
template <class T> std::uint64_t bits_of(T value) {
    if constexpr (std::same_as<T, float>)
        return std::bit_cast<std::uint32_t>(value);
    else if constexpr (std::same_as<T, double>)
        return std::bit_cast<std::uint64_t>(value);
    else
        return static_cast<std::uint64_t>(value) &
               (sizeof(T) == 8 ? ~0ull : (1ull << (8 * sizeof(T) % 64)) - 1);
}

/// A result of `reference` in the bits of `Result`: what does not fit is cut off. A NaN of f32 is the
/// device's one pattern.
template <class Result, class Value> std::uint64_t result_bits(Value value) {
    if constexpr (std::same_as<Result, float>)
        return std::isnan(value) ? 0x7FFF'FFFF : bits_of(value);
    else
        return bits_of(static_cast<Result>(value));
}

/// Checks `opcode` with one, two or three operands of type `T` against `reference`, for all combinations of
/// edge values. It is given integers in a type that does not overflow.
template <class T, class Result = T, class Reference>
void expect_like(const std::string& opcode, Reference reference) {
    using Operand = std::conditional_t<std::floating_point<T>, T, Exact<T>>;
    std::vector<LaneCase> cases;
    const auto values = edge_values<T>();
    if constexpr (std::invocable<Reference, Operand>) {
        for (const T a : values) cases.push_back({result_bits<Result>(reference(Operand(a))), bits_of(a)});
        expect_lanes(instruction_of<T, Result>(opcode, 1), cases);
    } else if constexpr (std::invocable<Reference, Operand, Operand>) {
        for (const T a : values)
            for (const T b : values)
                cases.push_back(
                    {result_bits<Result>(reference(Operand(a), Operand(b))), bits_of(a), bits_of(b)});
        expect_lanes(instruction_of<T, Result>(opcode, 2), cases);
    } else {
        for (const T a : values)
            for (const T b : values)
                for (const T c : values)
                    cases.push_back({result_bits<Result>(reference(Operand(a), Operand(b), Operand(c))),
                                     bits_of(a), bits_of(b), bits_of(c)});
        expect_lanes(instruction_of<T, Result>(opcode, 3), cases);
    }
}

/// Calls `check.template operator()<T>()` for each of the types.
template <class... T, class Check> void for_types(Check check) { (check.template operator()<T>(), ...); }

/// Numbers that look random and are the same in every run.
class Numbers {
public:
    std::uint64_t next() {
        state_ += 0x9E37'79B9'7F4A'7C15;
        std::uint64_t x = state_;
        x = (x ^ (x >> 30)) * 0xBF58'476D'1CE4'E5B9;
        x = (x ^ (x >> 27)) * 0x94D0'49BB'1331'11EB;
        return x ^ (x >> 31);
    }

private:
    std::uint64_t state_ = 0;
};

} // namespace emulator::fixture
