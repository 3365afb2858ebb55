/// \file
/// Conversions of pairs of 8-bit floating-point numbers: e4m3x2 and e5m2x2.
#pragma once

#include "emulator/program/decoder.hpp"

#include <cstdint>

namespace emulator {

/// The nearest number of a format with 4 and 3, or 5 and 2 bits; a number that is too large becomes the
/// largest one.
std::uint8_t to_e4m3(double value);
std::uint8_t to_e5m2(double value);
double from_e4m3(std::uint8_t bits);
double from_e5m2(std::uint8_t bits);

/// Decodes a cvt from or to such a pair. Returns whether it is one.
bool decode_fp8_cvt(Decoding& statement);

} // namespace emulator
