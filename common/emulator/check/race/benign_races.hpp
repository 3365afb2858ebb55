/// Unordered accesses that are no race.
#pragma once

#include "emulator/check/instruction_ids.hpp"
#include "emulator/check/race/block_state.hpp"
#include "emulator/check/race/current_access.hpp"
#include "emulator/program/analyses.hpp"

#include <cstddef>
#include <cstring>
#include <unordered_map>

namespace emulator {

class BenignRaces {
public:
    explicit BenignRaces(const InstructionIds& ids) : ids_(ids) {}

    bool includes(const CurrentAccess& now, int lane, const EarlierAccess& earlier) {
        if (synchronize_with_each_other(now, earlier)) return true;
        return now.role == Role::write && earlier.role == Role::write && !frees(earlier.id) &&
               stores_same_value(now, lane);
    }

private:
    /// To free a piece of the heap counts as a write of no value.
    bool frees(InstructionId id) const {
        const ptx::Statement* const statement = ids_.code(id).statements[InstructionIds::pc(id)];
        return statement && statement->opcode == "call";
    }

    /// Volatile accesses and atomics that synchronize by being unordered.
    bool synchronize_with_each_other(const CurrentAccess& now, const EarlierAccess& earlier) {
        const bool is_volatile = now.instruction.ordering == Ordering::as_volatile;
        const bool earlier_is_volatile = ids_.instruction(earlier.id).ordering == Ordering::as_volatile;
        if (now.role == Role::atomic) return earlier_is_volatile || is_cas_load(earlier.id, earlier.role);
        if (earlier.role == Role::atomic) return is_volatile || is_cas_load(now.id, now.role);
        if (!is_volatile || !earlier_is_volatile) return false;
        if (earlier.block != now.state.number) return true;
        const MemoryOrder& order = now.state.order;
        return (now.role == Role::write && order.fenced_before(order.stamp(now.warp.index()))) ||
               (earlier.role == Role::write && order.fenced_before(earlier.stamp));
    }

    /// Loads whose value an atomicCAS compares with.
    bool is_cas_load(InstructionId id, Role role) {
        if (role != Role::read) return false;
        const auto [known, is_new] = cas_loads_.try_emplace(id);
        if (is_new) known->second = is_cas_loop_load(ids_.code(id), InstructionIds::pc(id));
        return known->second;
    }

    static bool stores_same_value(const CurrentAccess& now, int lane) {
        if (now.access.is_copy) return false;
        const std::uint64_t address = now.access.addresses[lane];
        const std::byte* const stored = now.access.space == ptx::Space::shared
                                            ? now.owner().shared().data() + address
                                            : reinterpret_cast<const std::byte*>(address);
        return std::memcmp(now.warp.stored_value(now.instruction, lane).data(), stored,
                           now.instruction.bytes) == 0;
    }

    const InstructionIds& ids_;
    std::unordered_map<InstructionId, bool> cas_loads_; // whether the read there is one, once computed
};

} // namespace emulator
