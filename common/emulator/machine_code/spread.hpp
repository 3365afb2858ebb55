/// How the sectors that a block fetches or stores are spread over memory.
#pragma once

#include "emulator/machine_code/warp.hpp"

#include <cstdint>
#include <map>
#include <vector>

namespace emulator::machine_code {

/// Of an instruction's sectors: how many there are, and how many lie alone, at no even distance from the ones before and behind.
struct Spread {
    std::uint64_t sectors = 0, scattered = 0;
    bool is_scattered() const { return 2 * scattered > sectors; }
};
using Spreads = std::map<std::uint32_t, Spread>; ///< by instruction

/// Adds what the places of one block show. Sorts them.
void add_spread(Spreads& spreads, std::vector<Place>& places);

/// How long pieces are that a block stores, in bytes. 0: they are long, or the next block stores what lies between.
double stored_piece_bytes(std::vector<Place> by_block, std::vector<Place> by_next);

} // namespace emulator::machine_code
