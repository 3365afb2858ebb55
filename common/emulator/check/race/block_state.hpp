/// What the race checker keeps for each block.
#pragma once

#include "emulator/check/race/access_shadow.hpp"
#include "emulator/check/race/cluster_shared_memory.hpp"
#include "emulator/check/race/copies_in_flight.hpp"
#include "emulator/check/race/grid_order.hpp"
#include "emulator/check/race/memory_order.hpp"
#include "emulator/check/race/race_actors.hpp"
#include "emulator/check/race/race_finding.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>

namespace emulator {

struct BlockState {
    BlockState(std::uint32_t ticks, std::size_t shared_bytes) : order(ticks), shared(shared_bytes) {}

    MemoryOrder order;
    AccessShadow<BlockActor> shared;
    ClusterOrder* cluster = nullptr;       ///< null: without clusters
    ClusterSharedMemory shared_in_cluster; ///< with clusters it replaces `shared`
    CopiesInFlight copies;                 ///< to the block's shared memory
    LastExit last_exit;
    std::uint32_t number = 0; ///< of the block in the grid
    Stamp before_start = 0;   ///< whoever knows about it knows that the block has started; 0: all do
    Stamp proxy_fenced = 0;   ///< a fence.proxy.async has followed writes with earlier stamps
    bool is_out_of_step = false;
    bool has_atomics = false;
    GridOrder::View others;
};

/// The states of a launch's blocks. A block that starts in another one's storage takes over its state.
class BlockStates {
public:
    BlockState& start(const Block& block, std::uint32_t ticks) {
        auto& state = blocks_[&block];
        if (!state) state = std::make_unique<BlockState>(ticks, block.shared().size());
        current_ = {&block, state.get()};
        return *state;
    }

    BlockState& of(const Block& block) {
        if (current_.first != &block) current_ = {&block, blocks_.at(&block).get()};
        return *current_.second;
    }
    /// The same, if it is another block than the one that runs.
    BlockState& of_other(const Block& block) const { return *blocks_.at(&block); }

    template <class Visit> void for_each(Visit visit) {
        for (const auto& [block, state] : blocks_) visit(*block, *state);
    }

private:
    std::unordered_map<const Block*, std::unique_ptr<BlockState>> blocks_;
    std::pair<const Block*, BlockState*> current_{};
};

} // namespace emulator
