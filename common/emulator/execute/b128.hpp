/// \file
/// Instructions on 128 bits: mov, ld, st, and atom with .exch and .cas. A cell has 16 bytes.
#pragma once

#include "emulator/program/decoder.hpp"

#include <mutex>

namespace emulator {

/// Held while 16 bytes are read or written: blocks run on several host threads, and not every processor has
/// 16-byte atomics.
std::mutex& vector_access_mutex();

void decode_b128_mov(Decoding& statement);

/// For a load or store whose modifiers are taken.
void decode_b128_access(Decoding& statement, ptx::Space space, bool is_load);

/// For an atomic with a result, whose modifiers are taken.
void decode_b128_atomic(Decoding& statement, ptx::Space space, std::string_view operation);

} // namespace emulator
