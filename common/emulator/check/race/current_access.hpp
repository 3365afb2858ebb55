/// The access that the race checker looks at.
#pragma once

#include "emulator/check/instruction_ids.hpp"
#include "emulator/check/race/access_shadow.hpp"
#include "emulator/machine/block.hpp"
#include "emulator/machine/observer.hpp"
#include "emulator/machine/warp.hpp"

#include <bit>
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
    /// Of the first lane.
    std::uint64_t first() const { return access.addresses[std::countr_zero(access.active)]; }
    /// By a bulk copy from shared memory.
    bool is_read_by_copy() const { return access.is_copy && role == Role::read; }
    /// The owner of the shared memory.
    const Block& owner() const { return access.remote ? *access.remote : warp.block(); }
};

} // namespace emulator
