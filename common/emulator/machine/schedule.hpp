/// \file
/// Another order of a launch's blocks, warps and lanes than the usual one.
#pragma once

#include <cstdint>
#include <random>
#include <span>
#include <utility>

namespace emulator {

/// Makes all choices of order at random, the same ones for the same seed. No correct kernel can tell.
///
/// Beside the order it chooses how long each runs before it is another's turn, down to single instructions,
/// and parts lanes that are together: nothing promises that they stay so between two warp barriers.
class Schedule {
public:
    explicit Schedule(std::uint64_t seed) : engine_(seed) {}

    std::uint64_t below(std::uint64_t limit) { return engine_() % limit; }
    bool once_in(std::uint64_t times) { return below(times) == 0; }

    /// Instructions of a turn. Short turns show where an order is taken for granted; a long one now and then
    /// lets one warp run far ahead of the others.
    std::uint64_t turn() {
        constexpr std::uint64_t longest = 12; // 4,096 instructions
        return std::uint64_t{1} + below(std::uint64_t{1} << below(longest + 1));
    }

    template <class T> void shuffle(std::span<T> values) {
        for (std::size_t left = values.size(); left > 1; --left)
            std::swap(values[left - 1], values[below(left)]);
    }

private:
    std::mt19937_64 engine_; // what it yields is laid down by the standard: a seed means the same everywhere
};

} // namespace emulator
