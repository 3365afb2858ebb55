/// What families of instructions do for each other. Each function is in the file that the line above it names.
#pragma once

#include "emulator/program/decoder.hpp"

#include <cstddef>
#include <mutex>
#include <string_view>

namespace emulator {

// ---- carry.cpp: the forms of add, sub and mad that set the condition code ----

/// Decodes an add, sub or mad if it has `.cc`. Returns whether it does.
bool decode_carry(Decoding& statement);

// ---- floating_point.cpp: halves of opcodes that integers have too. Each takes the statement after its type ----

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

// ---- fp8.cpp: pairs of 8-bit floating-point numbers, e4m3x2 and e5m2x2 ----

/// Decodes a cvt from or to such a pair. Returns whether it is one.
bool decode_fp8_cvt(Decoding& statement);

// ---- b128.cpp: mov, ld, st, and atom with .exch and .cas, on 128 bits. A cell has 16 bytes ----

/// Held while 16 bytes are read or written: blocks run on several host threads, and not every processor has
/// 16-byte atomics.
std::mutex& vector_access_mutex();

void decode_b128_mov(Decoding& statement);

/// For a load or store whose modifiers are taken.
void decode_b128_access(Decoding& statement, ptx::Space space, bool is_load);

/// For an atomic with a result, whose modifiers are taken.
void decode_b128_atomic(Decoding& statement, ptx::Space space, std::string_view operation);

// ---- async_copy.cpp: stores and reductions that complete at an mbarrier, `st` and `red` with .async ----

void decode_st_async(Decoding& statement);
void decode_red_async(Decoding& statement);

// ---- warp.cpp ----

/// `bar.warp.sync`, after its modifiers.
void decode_warp_barrier(Decoding& statement);

// ---- builtins.cpp: functions that CUDA provides to kernels, vprintf, __assertfail, malloc and free ----

/// The handler of a call to the function `name`, or null. Its arguments are in the CallDetail.
Handler builtin(std::string_view name);

/// How many arguments that function takes.
std::size_t builtin_arguments(std::string_view name);

} // namespace emulator
