/// Errors inside a kernel. A block turns them into an Error with the place in the program, which ends the launch.
#pragma once

#include "emulator/error.hpp"
#include "emulator/machine/async_copies.hpp"
#include "emulator/machine/observer.hpp"
#include "emulator/program/lanes.hpp"
#include "emulator/ptx/types.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace emulator {

struct Instruction;
class Block;
class Warp;

/// One lane's access of a memory instruction. Space and address are as in Access.
struct LaneAccess {
    static constexpr std::uint32_t own = UINT32_MAX;

    ptx::Space space = ptx::Space::global;
    AccessKind kind = AccessKind::load;
    std::uint32_t bytes = 0;
    std::uint64_t address = 0;
    std::uint32_t rank = own; ///< of the block in the cluster that owns the shared memory
};

/// Thrown by handlers.
struct Fault {
    Failure failure = Failure::launch_failure;
    int lane = 0; ///< the first lane concerned
    const Instruction* instruction = nullptr;
    std::string message{};
    std::optional<LaneAccess> access{}; ///< the access at fault, if it is one: see diagnose()
};

/// Whether an observer absorbs the fault of `lanes`: then they skip the instruction. Every observer sees the
/// fault.
bool is_absorbed(const Warp& warp, const Fault& fault, LaneMask lanes);

/// A thread of the warp has failed.
[[noreturn]] void report_fault(const Fault& fault, const Warp& warp);
/// The block has ended before the copy to its shared memory.
[[noreturn]] void report_pending_copy(const Block& block, const AsyncCopies::Bulk& bulk);
/// Every thread of the block waits, and nothing can end that.
[[noreturn]] void report_deadlock(const Block& block);

} // namespace emulator
