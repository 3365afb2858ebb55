/// \file
/// Where one lane's address lies, for instructions that are no loads, stores or atomics.
#pragma once

#include "emulator/machine/block.hpp"
#include "emulator/machine/fault.hpp"
#include "emulator/machine/warp.hpp"
#include "emulator/program/decoder.hpp"

#include <cstdint>
#include <optional>

namespace emulator {

struct Place {
    ptx::Space space = ptx::Space::global; ///< shared or global
    Block* owner = nullptr;                ///< of shared memory
    std::uint64_t address = 0;             ///< an offset in the owner's shared memory, or in global memory
    std::byte* bytes = nullptr;            ///< in this process
};

/// Where `count` bytes from `address` on lie in `space`, shared, global or generic. `kind` is what is done
/// there. Nothing if an observer takes over what is wrong with it. \throws Fault
std::optional<Place> find_place(Warp& warp, const Instruction& instruction, int lane, ptx::Space space,
                                std::uint64_t address, std::uint32_t count, std::uint32_t alignment,
                                AccessKind kind);

/// An operand with an address: its row and displacement.
struct AddressOperand {
    Row row = no_row;
    std::uint64_t displacement = 0;
    bool wide = false;
    ptx::Space space = ptx::Space::generic;

    std::uint64_t of(const Warp& warp, int lane) const;
};

/// Takes an address operand without a place in the instruction itself.
AddressOperand take_address(Decoding& statement, std::size_t k, ptx::Space space);

/// Calls `act(lane)` for each active lane; what it throws an observer may take over.
template <class Act> void for_each_lane_with_faults(Warp& warp, LaneMask active, Act act) {
    for_each_lane(active, [&](int lane) {
        try {
            act(lane);
        } catch (const Fault& fault) {
            if (!is_absorbed(warp, fault, LaneMask{1} << lane)) throw;
        }
    });
}

} // namespace emulator
