/// Notices when a block can only spin until somebody else changes memory.
#pragma once

#include "emulator/machine/observer.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace emulator {

class GlobalMemory;

/// Watches the blocks of a launch that waits for others.
///
/// A block spins if, turn after turn, each of its warps ends with registers and program counters that it has had
/// before, while memory has kept all values that the block reads and writes. What follows then is a repetition, until
/// one of these values changes. So a loop that counts its turns, or reads a clock, does not spin here: it ends by
/// itself, or nobody knows.
class SpinWatch final : public Observer {
public:
    /// `is_random`: the launch has a schedule, so a warp has to repeat itself more often.
    SpinWatch(const GlobalMemory& memory, bool is_random) : memory_(memory), is_random_(is_random) {}

    /// Whether it does now.
    bool spins(const Block& block);
    /// Whether it may: for some turns, nothing that it accesses has changed. Lanes that diverge at random hardly ever
    /// repeat themselves, so they should not from here on.
    bool may_spin(const Block& block) const;

    bool wants(EventKind kind) const override { return kind == EventKind::turn || is_access(kind); }
    void accessed(const Warp& warp, const Instruction& instruction, const Access& access) override;
    void copy_started(const AsyncCopy&) override { changed_ = true; }
    void copy_ended(const AsyncCopy&) override { changed_ = true; }
    void used_heap(const Warp&, const Instruction&, int, HeapUse, std::uint64_t, std::size_t) override {
        changed_ = true;
    }
    void used_mbarrier(const Warp&, const Instruction&, int, MbarrierUse use, const Block&,
                       std::uint64_t) override {
        changed_ |= use != MbarrierUse::wait;
    }
    void cluster_barrier_complete(const Cluster&) override { changed_ = true; }
    void turn_ended(const Block& block, const TurnCounts&) override;
    void block_ended(Block& block) override { blocks_.erase(&block); }

private:
    /// What was there before an access.
    struct Value {
        std::uint32_t bytes = 0;
        std::array<std::byte, 16> value{};

        bool is_still_at(const std::byte* place) const;
    };
    using Values = std::unordered_map<const std::byte*, Value>;

    struct WarpState {
        std::unordered_set<std::uint64_t> seen{}; ///< hashes of its registers
        std::uint32_t repeats = 0;                ///< turns in a row that have ended with one of them
    };
    /// Since something that it accesses has last changed.
    struct BlockState {
        Values accessed{};
        std::vector<WarpState> warps{};
        std::uint64_t releases = 0; ///< GlobalMemory::releases()
        std::uint32_t turns = 0;
        bool spins = false;
    };

    bool has_changed(const BlockState& state) const;
    bool repeats(const Warp& warp, WarpState& state) const;

    const GlobalMemory& memory_;
    const bool is_random_;
    std::unordered_map<const Block*, BlockState> blocks_;
    Values accessed_;      ///< in this turn
    bool changed_ = false; ///< something for sure, or for all that is known, in this turn
};

} // namespace emulator
