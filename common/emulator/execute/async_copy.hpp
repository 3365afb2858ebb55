/// \file
/// Stores and reductions that complete at an mbarrier: `st` and `red` with .async.
#pragma once

#include "emulator/program/decoder.hpp"

namespace emulator {

void decode_st_async(Decoding& statement);
void decode_red_async(Decoding& statement);

} // namespace emulator
