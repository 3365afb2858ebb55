/// \file
/// The floating-point halves of opcodes that integers have too. Each takes the statement after its type.
#pragma once

#include "emulator/ptx/decoder.hpp"

namespace emulator {

void decode_floating_point_add(ptx::Decoding& statement, ptx::Type type);
void decode_floating_point_sub(ptx::Decoding& statement, ptx::Type type);
void decode_floating_point_mul(ptx::Decoding& statement, ptx::Type type);
void decode_floating_point_fma(ptx::Decoding& statement, ptx::Type type);
void decode_floating_point_div(ptx::Decoding& statement, ptx::Type type);
void decode_floating_point_abs(ptx::Decoding& statement, ptx::Type type);
void decode_floating_point_neg(ptx::Decoding& statement, ptx::Type type);
void decode_floating_point_min(ptx::Decoding& statement, ptx::Type type);
void decode_floating_point_max(ptx::Decoding& statement, ptx::Type type);

/// ".rz" -> FE_TOWARDZERO, and so on; nothing or ".rn" -> FE_TONEAREST.
int rounding_mode(std::string_view modifier);

} // namespace emulator
