/// Arithmetic on f32 and f64 in integers, with PTX's rounding modes and `.ftz`: for hosts that can only round
/// to nearest, such as WebAssembly.
#pragma once

#include <cfenv>
#include <cmath>
#include <limits>
#include <type_traits>

namespace emulator {

struct RoundingMode {
    int direction = FE_TONEAREST; ///< an FE_ macro of `<cfenv>`
    /// A result that is subnormal when rounded with an unbounded exponent becomes a zero. Operands are not
    /// flushed.
    bool ftz = false;
};

// `T` is float or double. The host rounds to nearest meanwhile.
template <class T> T sum_in_mode(T a, T b, RoundingMode mode);
template <class T> T product_in_mode(T a, T b, RoundingMode mode);
template <class T> T fma_in_mode(T a, T b, T c, RoundingMode mode);
template <class T> T quotient_in_mode(T a, T b, RoundingMode mode);
template <class T> T root_in_mode(T a, RoundingMode mode);

/// Result(value). It is the nearest number or the one beside it.
template <class Result, class Source> Result converted_in_mode(Source value, int direction) {
    const Result nearest = static_cast<Result>(value);
    if (direction == FE_TONEAREST) return nearest;
    // A type that holds both exactly: an integer is rounded to an integer.
    using Exact = std::conditional_t<std::is_integral_v<Source>, __int128, double>;
    const Exact difference = static_cast<Exact>(nearest) - static_cast<Exact>(value);
    const bool is_negative = std::signbit(nearest);
    if (difference > 0 && (direction == FE_DOWNWARD || (direction == FE_TOWARDZERO && !is_negative)))
        return std::nextafter(nearest, -std::numeric_limits<Result>::infinity());
    if (difference < 0 && (direction == FE_UPWARD || (direction == FE_TOWARDZERO && is_negative)))
        return std::nextafter(nearest, std::numeric_limits<Result>::infinity());
    return nearest;
}

} // namespace emulator
