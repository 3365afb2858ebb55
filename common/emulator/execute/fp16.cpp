#include "emulator/execute/fp16.hpp"

#include <algorithm>
#include <cfenv>
#include <cmath>

namespace emulator::detail {

std::uint16_t to_16_bits(double value, int exponent_bits, int significand_bits, int rounding) {
    const int bias = (1 << (exponent_bits - 1)) - 1;
    const auto infinity = static_cast<std::uint16_t>(((1 << exponent_bits) - 1) << significand_bits);
    const auto sign = static_cast<std::uint16_t>(std::signbit(value) ? 0x8000 : 0);
    if (std::isnan(value)) return 0x7FFF; // the device's canonical NaN
    if (std::isinf(value)) return sign | infinity;

    // The value in units of the format's last place at its magnitude, then rounded to a whole number of them.
    const double magnitude = std::fabs(value);
    const int smallest_exponent = 1 - bias;
    const int exponent =
        magnitude == 0 ? smallest_exponent : std::max(std::ilogb(magnitude), smallest_exponent);
    const double units = std::ldexp(magnitude, significand_bits - exponent);
    double whole = std::floor(units);
    const double rest = units - whole;
    const bool odd = std::fmod(whole, 2) != 0;
    const bool away_from_zero = rounding == (sign ? FE_DOWNWARD : FE_UPWARD);
    if ((rounding == FE_TONEAREST && (rest > 0.5 || (rest == 0.5 && odd))) || (away_from_zero && rest > 0))
        whole += 1;

    // The hidden bit of a normal number adds one to the biased exponent by itself.
    const auto bits = static_cast<std::uint32_t>(whole) +
                      (static_cast<std::uint32_t>(exponent - smallest_exponent) << significand_bits);
    if (bits < infinity) return static_cast<std::uint16_t>(sign | bits);
    const bool to_infinity = rounding == FE_TONEAREST || away_from_zero;
    return static_cast<std::uint16_t>(sign | (to_infinity ? infinity : infinity - 1));
}

double from_16_bits(std::uint16_t bits, int exponent_bits, int significand_bits) {
    const int bias = (1 << (exponent_bits - 1)) - 1;
    const int largest = (1 << exponent_bits) - 1;
    const int exponent = (bits >> significand_bits) & largest;
    const int significand = bits & ((1 << significand_bits) - 1);
    const double sign = (bits & 0x8000) != 0 ? -1.0 : 1.0;
    if (exponent == largest) return significand != 0 ? std::nan("") : sign * INFINITY;
    if (exponent == 0) return sign * std::ldexp(significand, 1 - bias - significand_bits);
    return sign * std::ldexp(significand + (1 << significand_bits), exponent - bias - significand_bits);
}

} // namespace emulator::detail
