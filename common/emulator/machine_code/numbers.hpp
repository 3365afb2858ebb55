/// Operands as numbers, for the families of instructions that compute with them.
#pragma once

#include "emulator/machine_code/warp.hpp"

#include <array>
#include <string_view>

namespace emulator::machine_code {

using FloatLanes = std::array<float, warp_size>;

/// An immediate as a number: hexadecimal bits are of a float, or the upper half of a double.
double immediate_number(const Operand& operand);

/// The operand of each lane, with its signs.
FloatLanes floats(const Warp& warp, const Operand& operand);

/// Whether `a` is related so to `b`: "LT", or "LTU", which holds beside a NaN too.
bool holds(std::string_view relation, float a, float b);

} // namespace emulator::machine_code
