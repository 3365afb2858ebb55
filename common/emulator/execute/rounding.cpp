#include "emulator/execute/rounding.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

namespace emulator {

namespace {

using Wide = unsigned __int128;

/// The number `significand` * 2^`exponent`, not 0. If bits were cut off, the last bit is set in their place
/// ("sticky"). It lies below the bits that rounding looks at one by one.
struct Unrounded {
    bool negative = false;
    Wide significand = 0;
    int exponent = 0;
};

int width_of(Wide value) {
    const auto high = static_cast<std::uint64_t>(value >> 64), low = static_cast<std::uint64_t>(value);
    return high != 0 ? 128 - __builtin_clzll(high) : low != 0 ? 64 - __builtin_clzll(low) : 0;
}

/// value / 2^shift, with a sticky last bit.
Wide shifted_right(Wide value, int shift) {
    if (shift >= 128) return value != 0 ? 1 : 0;
    const bool inexact = shift > 0 && value << (128 - shift) != 0;
    return value >> shift | (inexact ? 1 : 0);
}

/// Takes a finite number that is not 0. The significand of a subnormal number is normalized too.
template <class T> Unrounded decompose(T value) {
    int exponent = 0;
    const T fraction = std::frexp(std::fabs(value), &exponent); // 0.5 … 1
    constexpr int digits = std::numeric_limits<T>::digits;
    return {std::signbit(value), static_cast<Wide>(std::ldexp(fraction, digits)), exponent - digits};
}

Unrounded exact_product(const Unrounded& a, const Unrounded& b) {
    return {a.negative != b.negative, a.significand * b.significand, a.exponent + b.exponent};
}

bool is_away_from_zero(int direction, bool negative) {
    return direction == (negative ? FE_DOWNWARD : FE_UPWARD);
}

/// The number in units of 2^`unit`, rounded to a whole one.
Wide in_units(const Unrounded& value, int unit, int direction) {
    const int shift = unit - value.exponent;
    if (shift <= 0) return value.significand << -shift;
    // Two bits below those that stay: half a unit, and the sticky bit.
    const Wide quarters = shifted_right(value.significand << 1, shift - 1);
    const Wide kept = quarters >> 2;
    const auto rest = static_cast<int>(quarters & 3);
    if (direction == FE_TONEAREST) return kept + (rest + (kept & 1) > 2 ? 1 : 0);
    return kept + (rest != 0 && is_away_from_zero(direction, value.negative) ? 1 : 0);
}

template <class T> T compose(const Unrounded& value, RoundingMode mode) {
    using Limits = std::numeric_limits<T>;
    const T sign = value.negative ? T(-1) : T(1);
    constexpr int least = Limits::min_exponent - Limits::digits; // of the last place of subnormal numbers
    const int normal_unit = value.exponent + width_of(value.significand) - Limits::digits;
    if (mode.ftz && normal_unit < least) {
        const Wide kept = in_units(value, normal_unit, mode.direction);
        const bool carries = width_of(kept) > Limits::digits;
        if (normal_unit + (carries ? 1 : 0) < least) return sign * T(0);
    }
    const int unit = std::max(normal_unit, least);
    const Wide kept = in_units(value, unit, mode.direction);
    if (width_of(kept) + unit <= Limits::max_exponent) return sign * std::ldexp(static_cast<T>(kept), unit);
    const bool overflows =
        mode.direction == FE_TONEAREST || is_away_from_zero(mode.direction, value.negative);
    return sign * (overflows ? Limits::infinity() : Limits::max());
}

/// a + b, with a sticky last bit. If bits are cut off, at least 125 stay: more than twice what a result
/// keeps.
Unrounded jammed_sum(Unrounded a, Unrounded b) {
    if (a.exponent < b.exponent) std::swap(a, b);
    // Move up the one with the larger exponent as far as 126 bits hold it, and then move down the other.
    const int left = std::min(a.exponent - b.exponent, 126 - width_of(a.significand));
    a.significand <<= left;
    a.exponent -= left;
    b.significand = shifted_right(b.significand, a.exponent - b.exponent);
    if (a.negative == b.negative) return {a.negative, a.significand + b.significand, a.exponent};
    if (a.significand < b.significand) return {b.negative, b.significand - a.significand, a.exponent};
    return {a.negative, a.significand - b.significand, a.exponent};
}

/// The sum of two zeros, or of a number and its opposite.
template <class T> T sum_of_zeros(bool a_negative, bool b_negative, int direction) {
    const bool negative = a_negative == b_negative ? a_negative : direction == FE_DOWNWARD;
    return negative ? -T(0) : T(0);
}

/// Infinities, NaNs and zeros: products, quotients and roots of them are the same in every mode.
template <class... T> bool is_special(T... operands) {
    return (... || (!std::isfinite(operands) || operands == 0));
}

} // namespace

template <class T> T fma_in_mode(T a, T b, T c, RoundingMode mode) {
    if (!std::isfinite(a) || !std::isfinite(b) || !std::isfinite(c)) return std::fma(a, b, c);
    const bool negative = std::signbit(a) != std::signbit(b);
    if (a == 0 || b == 0)
        return c == 0 ? sum_of_zeros<T>(negative, std::signbit(c), mode.direction)
                      : compose<T>(decompose(c), mode);
    if (c == 0) return compose<T>(exact_product(decompose(a), decompose(b)), mode);
    const Unrounded total = jammed_sum(exact_product(decompose(a), decompose(b)), decompose(c));
    if (total.significand == 0) return sum_of_zeros<T>(negative, !negative, mode.direction);
    return compose<T>(total, mode);
}

template <class T> T sum_in_mode(T a, T b, RoundingMode mode) { return fma_in_mode(a, T(1), b, mode); }

template <class T> T product_in_mode(T a, T b, RoundingMode mode) {
    return is_special(a, b) ? a * b : compose<T>(exact_product(decompose(a), decompose(b)), mode);
}

template <class T> T quotient_in_mode(T a, T b, RoundingMode mode) {
    if (is_special(a, b)) return a / b;
    constexpr int more = std::numeric_limits<T>::digits + 3; // two bits to round by, and one if a < b
    const Unrounded x = decompose(a), y = decompose(b);
    const Wide dividend = x.significand << more, quotient = dividend / y.significand;
    const bool inexact = quotient * y.significand != dividend;
    return compose<T>(
        {x.negative != y.negative, quotient | (inexact ? 1 : 0), x.exponent - y.exponent - more}, mode);
}

template <class T> T root_in_mode(T a, RoundingMode mode) {
    if (is_special(a) || a < 0) return std::sqrt(a);
    Unrounded square = decompose(a);
    const int digits = std::numeric_limits<T>::digits;
    // An even exponent, and two bits to round by.
    const int more = digits + 4 + ((square.exponent - digits) & 1);
    square.significand <<= more;
    square.exponent -= more;
    Wide root = 0;
    for (Wide bit = Wide{1} << (digits + 3); bit != 0; bit >>= 1)
        if ((root | bit) * (root | bit) <= square.significand) root |= bit;
    const bool inexact = root * root != square.significand;
    return compose<T>({false, root | (inexact ? 1 : 0), square.exponent / 2}, mode);
}

template float sum_in_mode(float, float, RoundingMode);
template double sum_in_mode(double, double, RoundingMode);
template float product_in_mode(float, float, RoundingMode);
template double product_in_mode(double, double, RoundingMode);
template float fma_in_mode(float, float, float, RoundingMode);
template double fma_in_mode(double, double, double, RoundingMode);
template float quotient_in_mode(float, float, RoundingMode);
template double quotient_in_mode(double, double, RoundingMode);
template float root_in_mode(float, RoundingMode);
template double root_in_mode(double, RoundingMode);

} // namespace emulator
