/// \file
/// Stores and reductions that an mbarrier hears of: the halves of `st` and `red` with .async.
#pragma once

#include "emulator/program/decoder.hpp"

namespace emulator {

void decode_st_async(Decoding& statement);
void decode_red_async(Decoding& statement);

} // namespace emulator
