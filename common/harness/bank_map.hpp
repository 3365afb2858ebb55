/// \file
/// Which word of a tile in shared memory each thread takes, in which bank that lies, what it costs, and a
/// picture of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace harness {

inline constexpr unsigned banks = 32; ///< of shared memory, each 4 bytes wide
inline constexpr unsigned most_padding = 33;

/// A tile of ints in shared memory, for one block with a thread for each.
struct Tile {
    unsigned width = 32;
    unsigned height = 32;
    unsigned padding = 0; ///< unused ints behind each row

    unsigned threads() const { return width * height; }
    unsigned warps() const { return (threads() + 31) / 32; }
    /// From one row to the next, in ints.
    unsigned pitch() const { return width + padding; }
    /// Of shared memory, padding included.
    std::size_t words() const { return std::size_t{pitch()} * height; }
};

/// How the threads go through the tile: which of its words thread 0, 1, 2, … takes.
enum class Order { by_rows, by_columns };

/// The word that a thread takes. \param thread its number in the block
unsigned word_of(const Tile& tile, Order order, unsigned thread);

/// The words of the lanes of a warp, at most 32.
std::vector<unsigned> words_of_warp(const Tile& tile, Order order, unsigned warp);

/// What a request for these words costs: as many wavefronts as the worst bank has different words.
unsigned wavefronts(std::span<const unsigned> words);

/// The sum over all warps.
std::uint64_t wavefronts(const Tile& tile, Order order);

/// Whether no warp has a conflict.
bool is_conflict_free(const Tile& tile, Order order);

/// The smallest padding up to most_padding with which no warp has a conflict in any of these orders.
/// \param tile its padding does not matter
std::optional<unsigned> smallest_padding(Tile tile, std::span<const Order> orders);

/// A picture of what warp 0 stores and loads, in lines of at most 100 characters.
std::string draw_bank_map(const std::string& kernel, const Tile& tile, Order store, Order load);

} // namespace harness
