/// The findings of the checker `race`, and their text.
#pragma once

#include "emulator/check/race/race_actors.hpp"
#include "emulator/machine/finding.hpp"

#include <cstdint>
#include <vector>

namespace emulator {

class Block;
struct Grid;
class Warp;

const char* name_of(Role role);

/// One missing barrier makes one finding, whether it appears as read after write or write after read.
enum class RaceSort { read_and_write, two_writes, with_atomic, start_of_block, end_of_block };

RaceSort sort_of(Role now, Role earlier);

/// An earlier access of another thread to the same location.
struct EarlierAccess {
    std::uint32_t block = 0; ///< its number in the grid
    Stamp stamp = 0;
    int lane = 0;
    InstructionId id = 0;
    Role role = Role::read;
    bool at_once = false;           ///< with the same instruction
    bool is_copy = false;           ///< that is still under way
    bool lacks_proxy_fence = false; ///< before the copy that reads it
};

/// An access and an earlier one that nothing orders with it.
struct Race {
    const Warp& warp;
    const Instruction& instruction;
    const Access& access;
    Role role;
    int lane;
    std::uint32_t block;    ///< its number in the grid
    bool block_has_atomics; ///< and has executed them
    EarlierAccess earlier;
    const std::vector<SyncEvent>& history;         ///< of the block
    const std::vector<SyncEvent>& earlier_history; ///< of the other access's block
};

Finding finding(const Grid& grid, const InstructionIds& ids, const Race& race);

/// The last thread of a block to exit.
struct LastExit {
    std::uint32_t warp = 0;
    int lane = 0;
    InstructionId id = 0;
};

/// An access of another block's warp to the block's shared memory.
struct Visit {
    Party thread;
    GridStamp stamp = 0;
    Role role = Role::read;
    std::uint64_t address = 0;
};

/// Nothing shows that the block has started before the visit.
Finding early_visit(const Grid& grid, const Block& block, const Visit& visit);
/// Nothing keeps the block from exiting before the visit.
Finding late_visit(const Grid& grid, const InstructionIds& ids, const Block& block, const LastExit& exit,
                   const Visit& visit);

} // namespace emulator
