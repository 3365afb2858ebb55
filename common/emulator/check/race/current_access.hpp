/// \file
/// The access that the race checker looks at.
#pragma once

#include "emulator/check/instruction_ids.hpp"
#include "emulator/check/race/access_shadow.hpp"
#include "emulator/machine/block.hpp"
#include "emulator/machine/observer.hpp"
#include "emulator/machine/warp.hpp"

#include <cstdint>

namespace emulator {

struct BlockState;

struct CurrentAccess {
    BlockState& state; ///< of the warp's block
    const Warp& warp;
    const Instruction& instruction;
    const Access& access;
    InstructionId id;
    Role role;
    const AsyncCopy* copy = nullptr; ///< that starts with it

    std::uint64_t last_byte(int lane) const { return access.addresses[lane] + access.bytes - 1; }
    /// The owner of the shared memory.
    const Block& owner() const { return access.remote ? *access.remote : warp.block(); }
};

} // namespace emulator
