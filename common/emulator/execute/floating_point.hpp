/// \file
/// The floating-point halves of opcodes that integers have too. Each takes the statement after its type.
#pragma once

#include "emulator/program/decoder.hpp"

namespace emulator {

void decode_floating_point_add(Decoding& statement, ptx::Type type);
void decode_floating_point_sub(Decoding& statement, ptx::Type type);
void decode_floating_point_mul(Decoding& statement, ptx::Type type);
void decode_floating_point_fma(Decoding& statement, ptx::Type type);
void decode_floating_point_div(Decoding& statement, ptx::Type type);
void decode_floating_point_abs(Decoding& statement, ptx::Type type);
void decode_floating_point_neg(Decoding& statement, ptx::Type type);
void decode_floating_point_min(Decoding& statement, ptx::Type type);
void decode_floating_point_max(Decoding& statement, ptx::Type type);

/// ".rz" -> FE_TOWARDZERO, and so on; nothing or ".rn" -> FE_TONEAREST.
int rounding_mode(std::string_view modifier);

} // namespace emulator
