/// \file
/// What went wrong inside a kernel. The block turns it into an Error that says where.
#pragma once

#include "emulator/error.hpp"
#include "emulator/machine/observer.hpp"
#include "emulator/program/lanes.hpp"
#include "emulator/ptx/types.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace emulator {

struct Instruction;
class Warp;

/// What one lane of a memory instruction does. Space and address are as in Access.
struct LaneAccess {
    static constexpr std::uint32_t own = UINT32_MAX;

    ptx::Space space = ptx::Space::global;
    AccessKind kind = AccessKind::load;
    std::uint32_t bytes = 0;
    std::uint64_t address = 0;
    std::uint32_t rank = own; ///< of the other block of the cluster whose shared memory it is
};

/// Thrown by handlers.
struct Fault {
    Failure failure = Failure::launch_failure;
    int lane = 0; ///< the first lane concerned
    const Instruction* instruction = nullptr;
    std::string message{};
    std::optional<LaneAccess> access{}; ///< the access at fault, if it is one: see diagnose()
};

/// Whether an observer absorbs the fault of `lanes`: then they go on as if they had not come to the
/// instruction. Every observer sees it.
bool is_absorbed(const Warp& warp, const Fault& fault, LaneMask lanes);

} // namespace emulator
