/// \file
/// Happens-before between the blocks of a cluster, by its barrier.
#pragma once

#include "emulator/check/race/grid_clock.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace emulator {

/// Accesses before an arrival happen before those after the wait of the same phase, in any of the blocks. A
/// warp that has waited has acquired what all warps released when they arrived. No warp is more than one
/// phase ahead of another.
class ClusterOrder {
public:
    static constexpr std::size_t max_blocks = 16;

    void start() { *this = {}; }

    void arrive(const GridClock& released) { released_.join(released); }
    /// The warp goes on when the phase ends.
    void wait(std::uint32_t rank, std::uint32_t warp) { waiting_[rank] |= 1u << warp; }
    void phase_ended() { ended_ = released_; }

    /// What all warps had released at the end of the last phase.
    const GridClock& ended() const { return ended_; }
    /// The warps that wait; clears them.
    std::uint32_t take_waiting(std::uint32_t rank) { return std::exchange(waiting_[rank], 0); }
    /// Stamps begin anew.
    void forget() {
        released_.clear();
        ended_.clear();
    }

private:
    GridClock released_, ended_;
    std::array<std::uint32_t, max_blocks> waiting_{}; // one bit for each warp
};

} // namespace emulator
