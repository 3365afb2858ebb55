/// \file
/// What there is for 128 bits: mov, ld, st, and atom with .exch and .cas. A cell has 16 bytes.
#pragma once

#include "emulator/ptx/decoder.hpp"

namespace emulator {

void decode_move_128(ptx::Decoding& statement);

/// Of a load or store whose modifiers are taken.
void decode_access_128(ptx::Decoding& statement, ptx::Space space, bool is_load);

/// Of an atomic with a result whose modifiers are taken.
void decode_atomic_128(ptx::Decoding& statement, ptx::Space space, std::string_view operation);

} // namespace emulator
