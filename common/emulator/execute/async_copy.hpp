/// \file
/// Stores and reductions that an mbarrier hears of: the halves of `st` and `red` with .async.
#pragma once

#include "emulator/ptx/decoder.hpp"

namespace emulator {

void decode_st_async(ptx::Decoding& statement);
void decode_red_async(ptx::Decoding& statement);

} // namespace emulator
