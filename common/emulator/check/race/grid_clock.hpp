/// A vector clock over the blocks of a launch, and what a cluster's barrier does with it.
#pragma once

#include "emulator/check/race/memory_order.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <variant>

namespace emulator {

/// For each block of a launch, the stamps up to which its warps' accesses are known to have been made.
///
/// A block may know about thousands of others, and pass that on to thousands. So clocks are persistent trees:
/// copies share equal parts, and joining two visits only what differs.
class GridClock {
public:
    using Clock = MemoryOrder::Clock;

    bool empty() const { return !root_; }
    void clear() { *this = {}; }

    /// Adds the knowledge about one block, or all of another clock.
    void join(std::uint32_t block, const Clock& clock);
    void join(const GridClock& other);

    /// The knowledge about a block; null: none.
    const Clock* find(std::uint32_t block) const;
    bool knows(std::uint32_t block, Stamp stamp) const {
        const Clock* const clock = find(block);
        return clock && stamp < (*clock)[warp_of(stamp)];
    }

private:
    static constexpr int fan_out_bits = 3;
    static constexpr std::size_t fan_out = std::size_t{1} << fan_out_bits;

    struct Node;
    using Tree = std::shared_ptr<const Node>;
    using Parts = std::array<Tree, fan_out>;
    struct Node {
        std::variant<Clock, Parts> content; // of one block, or of fan_out parts
    };

    static std::size_t part_of(std::uint32_t block, int level) {
        return block >> (fan_out_bits * (level - 1)) & (fan_out - 1);
    }
    static Tree joined(const Tree& a, const Tree& b);
    static Tree inner(Parts parts);
    void raise_to(int levels);

    Tree root_;
    int levels_ = 0; // above the blocks' own clocks
};

/// Happens-before between the blocks of a cluster, by its barrier.
///
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
