/// The asynchronous copies that are writing to a block's shared memory.
#pragma once

#include "emulator/check/race/current_access.hpp"
#include "emulator/check/race/race_finding.hpp"
#include "emulator/machine/block.hpp"
#include "emulator/machine/observer.hpp"
#include "emulator/program/lanes.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace emulator {

/// From its start to its end, a copy of a lane owns the words that it writes.
class CopiesInFlight {
public:
    void clear() {
        copies_.clear();
        ended_.clear();
        words_.clear();
        lines_.clear();
    }

    /// Lanes start a copy. `access` is theirs, but for the lane.
    void start(const AsyncCopy& copy, EarlierAccess access) {
        words_.resize((copy.target->shared().size() + 3) / 4);
        lines_.resize(words_.size() / words_of_line + 1);
        access.is_copy = true;
        for_each_lane(copy.lanes, [&](int lane) {
            if (ended_.empty()) {
                copies_.emplace_back();
                ended_.push_back(static_cast<std::uint32_t>(copies_.size()));
            }
            const std::uint32_t number = ended_.back();
            ended_.pop_back();
            access.lane = lane;
            copies_[number - 1] = access;
            mark(copy, lane, number);
        });
    }

    void end(const AsyncCopy& copy) {
        for_each_lane(copy.lanes, [&](int lane) {
            const std::uint32_t number = words_[copy.addresses[lane] / 4];
            if (number != 0) ended_.push_back(number);
            mark(copy, lane, 0);
        });
    }

    /// Calls `found(lane, copy)` for each lane that accesses bytes that a copy is writing.
    template <class Found> void for_each_touched(const CurrentAccess& now, Found found) const {
        if (empty()) return;
        const LaneAddresses& all = now.access.addresses;
        if (all.are_strided() && !may_write(all.lowest(), all.highest() + now.access.bytes - 1)) return;
        for_each_lane(now.access.active, [&](int lane) {
            if (const auto* const copy = find(all[lane], now.last_byte(lane))) found(lane, *copy);
        });
    }

    /// Whether none has started yet.
    bool empty() const { return words_.empty(); }

    /// Whether a copy is writing to the lines that hold these bytes, if one has started.
    bool may_write(std::uint64_t first, std::uint64_t last) const {
        const auto* const lines = lines_.data();
        return std::any_of(lines + first / 4 / words_of_line, lines + last / 4 / words_of_line + 1,
                           [](std::uint32_t words) { return words != 0; });
    }

private:
    static constexpr std::size_t words_of_line = 32;

    /// The copy that is writing to one of these bytes; null: none.
    const EarlierAccess* find(std::uint64_t first, std::uint64_t last) const {
        for (std::uint64_t word = first / 4; word <= last / 4; ++word)
            if (const std::uint32_t number = words_[word]; number != 0) return &copies_[number - 1];
        return nullptr;
    }

    void mark(const AsyncCopy& copy, int lane, std::uint32_t number) {
        const std::uint64_t first = copy.addresses[lane] / 4;
        for (std::uint64_t word = first; word < first + copy.bytes / 4; ++word) {
            const std::uint32_t before = std::exchange(words_[word], number);
            lines_[word / words_of_line] += (number != 0 ? 1u : 0u) - (before != 0 ? 1u : 0u);
        }
    }

    std::vector<EarlierAccess> copies_; // numbered from 1 on
    std::vector<std::uint32_t> ended_;  // numbers that are free again
    std::vector<std::uint32_t> words_;  // the number of the copy that is writing there, or 0
    std::vector<std::uint32_t> lines_;  // how many of 32 words have such a number
};

} // namespace emulator
