/// Atomics in global memory whose scope is too narrow for what they share.
#pragma once

#include "emulator/check/race/block_state.hpp"
#include "emulator/check/race/current_access.hpp"

#include <cstddef>
#include <cstdint>
#include <unordered_map>

namespace emulator {

/// A block-scope atomic does not exclude an atomic of another block. (A cluster-scope one may.)
class NarrowAtomics {
public:
    explicit NarrowAtomics(bool has_clusters) : has_clusters_(has_clusters) {}

    void clear() { last_.clear(); }
    void forget(std::uint64_t first, std::size_t bytes) {
        std::erase_if(last_, [&](const auto& entry) { return entry.first - first < bytes; });
    }

    /// Calls `conflicts(lane, record)` for the first lane that meets another block's.
    template <class Conflicts> void access(const CurrentAccess& now, Conflicts conflicts) {
        const Scope scope = now.instruction.scope;
        const bool is_narrow = scope == Scope::block || (scope == Scope::cluster && !has_clusters_);
        if (!is_narrow && last_.empty()) return;
        bool is_found = false;
        for_each_lane(now.access.active, [&](int lane) {
            const std::uint64_t address = now.access.addresses[lane];
            const auto found = is_narrow ? last_.try_emplace(address).first : last_.find(address);
            if (found == last_.end()) return;
            GridActor::Record& last = found->second;
            if (!is_found && last.stamp != 0 && block_of(last.stamp) != now.state.number &&
                !now.state.others.knows(now.warp.index(), block_of(last.stamp), in_block(last.stamp))) {
                is_found = true;
                conflicts(lane, last);
            }
            if (is_narrow && now.access.kind != AccessKind::load)
                last = {GridStamp{now.state.number + 1} << 32 | now.state.order.stamp(now.warp.index()),
                        LaneMask{1} << lane, now.id};
        });
    }

private:
    const bool has_clusters_;
    std::unordered_map<std::uint64_t, GridActor::Record> last_; // the last block-scope one, by address
};

} // namespace emulator
