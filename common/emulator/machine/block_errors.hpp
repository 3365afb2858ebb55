/// \file
/// Errors that end a launch, with the place in the program.
#pragma once

#include "emulator/machine/block.hpp"
#include "emulator/machine/fault.hpp"

namespace emulator {

/// A thread of the warp has failed.
[[noreturn]] void report_fault(const Fault& fault, const Warp& warp);
/// The block has ended before the copy to its shared memory.
[[noreturn]] void report_pending_copy(const Block& block, const AsyncCopies::Bulk& bulk);
/// Every thread of the block waits, and nothing can end that.
[[noreturn]] void report_deadlock(const Block& block);

} // namespace emulator
