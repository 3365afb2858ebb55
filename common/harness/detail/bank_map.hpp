/// Which word of a tile in shared memory each thread accesses, in which bank that word lies, how many
/// wavefronts that takes, and a picture of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace harness {

inline constexpr unsigned int banks = 32; ///< banks of shared memory, each 4 bytes wide
inline constexpr unsigned int most_padding = 33;

/// A tile of ints in shared memory. One block fills it, with one thread per int.
struct Tile {
    unsigned int width = 32;
    unsigned int height = 32;
    unsigned int padding = 0; ///< unused ints after each row

    unsigned int threads() const { return width * height; }
    unsigned int warps() const { return (threads() + 31) / 32; }
    /// The distance from one row to the next, in ints.
    unsigned int pitch() const { return width + padding; }
    /// Size in shared memory, padding included.
    std::size_t words() const { return std::size_t{pitch()} * height; }
};

/// The order in which threads 0, 1, 2, … access the tile.
enum class Order { by_rows, by_columns };
inline constexpr Order by_rows = Order::by_rows, by_columns = Order::by_columns;

/// The word that a thread accesses. \param thread its index in the block
unsigned int word_of(const Tile& tile, Order order, unsigned int thread);

/// The words that the lanes of a warp access, at most 32.
std::vector<unsigned int> words_of_warp(const Tile& tile, Order order, unsigned int warp);

/// Wavefronts of one request for these words: the most different words that lie in one bank.
unsigned int wavefronts(const std::vector<unsigned int>& words);

/// Wavefronts of all warps together.
std::uint64_t wavefronts(const Tile& tile, Order order);

/// Whether every warp is free of bank conflicts.
bool is_conflict_free(const Tile& tile, Order order);

/// The smallest padding up to most_padding that avoids bank conflicts in all of these orders.
/// \param tile its padding is ignored
std::optional<unsigned int> smallest_padding(Tile tile, const std::vector<Order>& orders);

/// A picture of what warp 0 stores and loads, in lines of at most 100 characters.
std::string draw_bank_map(const std::string& kernel, const Tile& tile, Order store, Order load);

} // namespace harness
