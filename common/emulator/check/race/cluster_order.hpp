/// \file
/// Which memory accesses of a cluster's blocks its barrier puts before which.
#pragma once

#include "emulator/check/race/memory_order.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace emulator {

/// What was before an arrival comes before what is after the wait for the same phase, whichever blocks the
/// threads are in. A warp that has waited knows what all had to tell when they arrived; it can be no more
/// than one phase behind another.
class ClusterOrder {
public:
    static constexpr std::size_t max_blocks = 16;
    using Clock = MemoryOrder::Clock;

    void start() { *this = {}; }
    /// `number` is that of the block in the grid.
    void add_block(std::uint32_t rank, std::uint32_t number);

    // ---- events ----

    void arrive(std::uint32_t rank, const Clock& told) { MemoryOrder::join(told_[rank], told); }
    /// `ended`: the phase that the warp waits for. Else it goes on when the phase ends.
    void wait(std::uint32_t rank, std::uint32_t warp, bool ended);
    void phase_ended();
    /// All threads of the block have met: each knows what one of them knew.
    void block_met(std::uint32_t rank);
    /// The block's stamps begin anew.
    void forget(std::uint32_t rank);

    /// Whether an access of another block, made at `stamp`, comes before what the warp does now; or, in the
    /// second form, before what any warp of the block does now.
    bool knows(std::uint32_t rank, std::uint32_t warp, std::uint32_t number, Stamp stamp) const;
    bool knows(std::uint32_t rank, std::uint32_t number, Stamp stamp) const;

private:
    using Clocks = std::array<Clock, max_blocks>; // by rank

    bool is_before(std::uint32_t phases, std::uint32_t number, Stamp stamp) const;

    std::array<std::uint32_t, max_blocks> numbers_{};
    std::size_t blocks_ = 0;
    Clocks told_{};                 // until now
    std::array<Clocks, 2> ended_{}; // at the end of the last two phases; even and odd ones
    std::uint32_t phases_ = 0;      // that have ended
    std::array<std::array<std::uint32_t, MemoryOrder::max_warps>, max_blocks>
        waited_{};                                    // phases, of each warp
    std::array<std::uint32_t, max_blocks> waiting_{}; // one bit for each warp
};

} // namespace emulator
