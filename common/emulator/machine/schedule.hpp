/// A random order of a launch's blocks, warps and lanes.
#pragma once

#include <cstdint>
#include <random>
#include <span>
#include <utility>

namespace emulator {

/// Makes all choices of order at random: the same seed gives the same choices. A correct kernel computes the
/// same in every order.
///
/// It also chooses how long each runs before the next gets its turn, down to single instructions, and makes
/// lanes diverge: CUDA does not promise that they stay together between two warp barriers.
class Schedule {
public:
    explicit Schedule(std::uint64_t seed)
        : engine_(seed), winning_lane_(static_cast<int>(std::mt19937_64(~seed)() % 32)) {}

    std::uint64_t below(std::uint64_t limit) { return engine_() % limit; }
    bool once_in(std::uint64_t times) { return below(times) == 0; }

    /// Instructions of a turn. Short turns expose assumptions about the order; an occasional long one lets
    /// one warp run far ahead of the others.
    std::uint64_t turn() {
        constexpr std::uint64_t longest = 12; // 4,096 instructions
        return std::uint64_t{1} + below(std::uint64_t{1} << below(longest + 1));
    }

    /// Whether lanes diverge. If they do not, those of a loop come together again.
    void let_diverge(bool lets) { diverges_ = lets; }
    bool diverges() const { return diverges_; }

    /// Of the lanes that store to one address at once, the one nearest to it by `^` wins.
    int winning_lane() const { return winning_lane_; }

    template <class T> void shuffle(std::span<T> values) {
        for (std::size_t left = values.size(); left > 1; --left)
            std::swap(values[left - 1], values[below(left)]);
    }

private:
    std::mt19937_64 engine_; // the standard defines its output: a seed means the same everywhere
    int winning_lane_;
    bool diverges_ = true;
};

} // namespace emulator
