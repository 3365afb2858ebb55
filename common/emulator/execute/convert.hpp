/// \file
/// Conversion between types: the pure function of every `cvt`.
#pragma once

#include "emulator/ptx/types.hpp"

#include <cstdint>

namespace emulator {

struct Conversion {
    ptx::Type to = ptx::Type::none, from = ptx::Type::none;
    int rounding = 0;             ///< an FE_ macro of `<cfenv>`
    bool to_whole_number = false; ///< .rni .rzi .rmi .rpi
    bool ftz = false, sat = false, relu = false;
};

/// Converts the value in the low bits of `bits`. The result is sign- or zero-extended to 64 bits, depending
/// on `to`.
std::uint64_t convert(std::uint64_t bits, const Conversion& conversion);

} // namespace emulator
