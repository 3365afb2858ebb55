/// \file
/// Instructions on 128 bits: mov, ld, st, and atom with .exch and .cas. A cell has 16 bytes.
#pragma once

#include "emulator/program/decoder.hpp"

#include <mutex>

namespace emulator {

/// Held while 16 bytes are read or written at once: blocks run on several host threads, and not every
/// processor has atomics of this size.
std::mutex& vector_access_mutex();

void decode_b128_mov(Decoding& statement);

/// Of a load or store whose modifiers are taken.
void decode_b128_access(Decoding& statement, ptx::Space space, bool is_load);

/// Of an atomic with a result whose modifiers are taken.
void decode_b128_atomic(Decoding& statement, ptx::Space space, std::string_view operation);

} // namespace emulator
