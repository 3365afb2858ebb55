/// The 16-bit floating-point types, by their bits. Arithmetic on them happens in double precision, rounded
/// once at the end.
#pragma once

#include <cstdint>

namespace emulator {

namespace detail {

/// Bits of the nearest number of a format with `exponent_bits` and `significand_bits` (without the hidden
/// bit). `rounding`: one of the FE_ macros of `<cfenv>`.
std::uint16_t to_16_bits(double value, int exponent_bits, int significand_bits, int rounding);
double from_16_bits(std::uint16_t bits, int exponent_bits, int significand_bits);

} // namespace detail

/// PTX's f16: IEEE binary16.
struct Half {
    std::uint16_t bits = 0;
    static constexpr int exponent_bits = 5, significand_bits = 10;
};

/// PTX's bf16: the upper half of an f32.
struct BFloat {
    std::uint16_t bits = 0;
    static constexpr int exponent_bits = 8, significand_bits = 7;
};

template <class T> double to_double(T value) {
    return detail::from_16_bits(value.bits, T::exponent_bits, T::significand_bits);
}

template <class T> T from_double(double value, int rounding) {
    return {detail::to_16_bits(value, T::exponent_bits, T::significand_bits, rounding)};
}

} // namespace emulator
