/// Translates PTX addresses to this process's memory: for a whole load, store or atomic, which observers see,
/// or for a single lane.
#pragma once

#include "emulator/machine/block.hpp"
#include "emulator/machine/fault.hpp"
#include "emulator/machine/observer.hpp"
#include "emulator/machine/schedule.hpp"
#include "emulator/machine/warp.hpp"
#include "emulator/program/decoder.hpp"

#include <array>
#include <bit>
#include <cstdint>
#include <optional>

namespace emulator {

// ---- a whole warp ----

/// One address per lane.
struct alignas(64) Addresses {
    std::array<std::uint64_t, warp_size> lane;

    std::uint64_t& operator[](int i) { return lane[static_cast<std::size_t>(i)]; }
    std::uint64_t operator[](int i) const { return lane[static_cast<std::size_t>(i)]; }
};

/// The addresses that the instruction's first source and displacement name. `Base` is the cell of the source:
/// 4 or 8 bytes. Inactive lanes repeat the first active lane's address.
template <class Base>
Addresses effective_addresses(const Warp& warp, const Instruction& instruction, LaneMask active) {
    Addresses result;
    const Base* const base = warp.cells<Base>(instruction.sources[0]);
    const std::uint64_t displacement = instruction.displacement;
    // 32-bit addresses (of shared memory) wrap at 32 bits.
    for (int lane = 0; lane < warp_size; ++lane)
        result[lane] = static_cast<Base>(base[lane] + static_cast<Base>(displacement));
    if (active != all_lanes) {
        const std::uint64_t first = result[std::countr_zero(active)];
        for (int lane = 0; lane < warp_size; ++lane)
            result[lane] = (active >> lane & 1) != 0 ? result[lane] : first;
    }
    return result;
}

/// Where the memory of lanes with evenly spaced addresses is in this process.
struct StridedPointers {
    /// Of the first active lane; null: not evenly spaced, or not all accesses are valid.
    std::byte* first = nullptr;
    std::int64_t stride = 0; ///< bytes
};

/// The fast path of most loads and stores: if the addresses of the active lanes are evenly spaced and all
/// valid, does what `resolve_addresses` does. Otherwise does nothing. `Base`: uint32_t or uint64_t.
template <class Base>
StridedPointers resolve_strided(Warp& warp, const Instruction& instruction, LaneMask active, AccessKind kind);

/// Checks every active lane's access of `instruction.bytes` bytes, notifies the observers, and turns the
/// addresses into pointers to this process's memory. Returns the lanes that have one: all active lanes except
/// those whose fault an observer absorbs. \throws Fault for an address that is out of bounds, misaligned or
/// read-only.
LaneMask resolve_addresses(Warp& warp, const Instruction& instruction, LaneMask active, AccessKind kind,
                           Addresses& addresses);

/// Calls `visit(lane)` for each lane in `active`. If several store to one address, the last one wins: the
/// lowest, as on an H200, or any other with a schedule. CUDA leaves it undefined.
template <class Visit> void for_each_storing_lane(const Warp& warp, LaneMask active, Visit visit) {
    const Schedule* const schedule = warp.block().grid().schedule;
    const int winner = schedule ? schedule->winning_lane() : 0;
    if (active == all_lanes) { // nearly always
        for (int lane = warp_size - 1; lane >= 0; --lane) visit(lane ^ winner);
        return;
    }
    if (winner != 0) active = lanes_where([&](int lane) { return (active >> (lane ^ winner) & 1) != 0; });
    while (active != 0) {
        const int last = warp_size - 1 - std::countl_zero(active);
        active &= ~(LaneMask{1} << last);
        visit(last ^ winner);
    }
}

// ---- one lane ----

/// Where one lane's address lies.
struct ResolvedAddress {
    ptx::Space space = ptx::Space::global; ///< shared or global
    Block* owner = nullptr;                ///< of shared memory
    std::uint64_t address = 0;             ///< an offset in the owner's shared memory, or a global address
    std::byte* host_pointer = nullptr;     ///< in this process
};

/// Finds `count` bytes from `address` on in `space`: shared, global or generic. `kind` is the kind of access.
/// Returns nothing if an observer absorbs the fault. \throws Fault
std::optional<ResolvedAddress> resolve_address(Warp& warp, const Instruction& instruction, int lane,
                                               ptx::Space space, std::uint64_t address, std::uint32_t count,
                                               std::uint32_t alignment, AccessKind kind);

/// An operand with an address: its row and displacement.
struct AddressOperand {
    Row row = no_row;
    std::uint64_t displacement = 0;
    bool wide = false;
    ptx::Space space = ptx::Space::generic;

    std::uint64_t of(const Warp& warp, int lane) const;
};

/// Takes an address operand that the instruction itself does not store.
AddressOperand take_address(Decoding& statement, std::size_t k, ptx::Space space);

/// Calls `act(lane)` for each active lane; an observer may absorb the fault that it throws.
template <class Act> void for_each_lane_absorbing_faults(Warp& warp, LaneMask active, Act act) {
    for_each_lane(active, [&](int lane) {
        try {
            act(lane);
        } catch (const Fault& fault) {
            if (!is_absorbed(warp, fault, LaneMask{1} << lane)) throw;
        }
    });
}

} // namespace emulator
