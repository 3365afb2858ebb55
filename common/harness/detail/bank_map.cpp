#include "harness/detail/bank_map.hpp"

#include "harness/numbers.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>

namespace harness {
namespace {

/// The lane that accesses the word, as one character.
char symbol(const Tile& tile, const std::vector<unsigned int>& words, std::size_t word) {
    constexpr const char* lanes = "0123456789abcdefghijklmnopqrstuv";
    const auto lane = std::find(words.begin(), words.end(), word);
    if (lane != words.end()) return lanes[lane - words.begin()];
    if (word >= tile.words()) return ' ';
    return word % tile.pitch() < tile.width ? '.' : '-';
}

/// The 32 words from `first` on, one per bank.
std::string draw_banks(const Tile& tile, const std::vector<unsigned int>& words, std::size_t first) {
    std::string line;
    for (unsigned int bank = 0; bank < banks; ++bank) {
        if (bank > 0 && bank % 8 == 0) line += ' ';
        line += symbol(tile, words, first + bank);
    }
    return line;
}

/// Store and load side by side, one row per 32 words. A tall picture is cut to its first rows and the last
/// row that the warp accesses.
std::string draw_rows(const Tile& tile, const std::vector<unsigned int>& store,
                      const std::vector<unsigned int>& load) {
    constexpr std::size_t most_rows = 8, first_rows = 6;
    const std::size_t rows = (tile.words() + banks - 1) / banks;
    const std::size_t last_word =
        std::max(*std::max_element(store.begin(), store.end()), *std::max_element(load.begin(), load.end()));
    std::string text;
    for (std::size_t row = 0; row < rows; ++row) {
        if (rows <= most_rows || row < first_rows || row == last_word / banks) {
            std::string line =
                fmt::format("{:>5}  {}   {}", row * banks, draw_banks(tile, store, row * banks),
                            draw_banks(tile, load, row * banks));
            line.erase(line.find_last_not_of(' ') + 1);
            text += line + "\n";
        } else if (row == first_rows) {
            text += "  ...\n";
        }
    }
    return text;
}

/// "bank 0: lanes 0, 1, 2, 3, ..."
std::string describe_worst_bank(const std::vector<unsigned int>& words) {
    std::map<unsigned int, std::vector<std::size_t>> lanes;
    for (std::size_t lane = 0; lane < words.size(); ++lane) lanes[words[lane] % banks].push_back(lane);
    const auto worst = std::max_element(lanes.begin(), lanes.end(), [](const auto& a, const auto& b) {
        return a.second.size() < b.second.size();
    });
    const bool many = worst->second.size() > 4;
    if (many) worst->second.resize(4);
    return fmt::format("bank {}: lanes {}{}", worst->first, fmt::join(worst->second, ", "),
                       many ? ", ..." : "");
}

std::string describe_cost(const Tile& tile, Order order) {
    const std::vector<unsigned int> words = words_of_warp(tile, order, 0);
    const unsigned int degree = wavefronts(words);
    std::string text = degree == 1 ? "1 wavefront, no conflict"
                                   : fmt::format("{} wavefronts ({})", degree, describe_worst_bank(words));
    if (tile.warps() == 1) return text;
    return fmt::format("{}; all {} warps: {}", text, tile.warps(), group_digits(wavefronts(tile, order)));
}

std::string describe_padding(const Tile& tile, Order store, Order load) {
    const auto smallest = [&](std::initializer_list<Order> orders) {
        const std::optional<unsigned int> padding = smallest_padding(tile, orders);
        return padding ? fmt::format("{}", *padding) : "none";
    };
    if (store == load) return smallest({store});
    return fmt::format("{} for stores, {} for loads, {} for both", smallest({store}), smallest({load}),
                       smallest({store, load}));
}

const char* name(Order order) { return order == Order::by_rows ? "by rows" : "by columns"; }

} // namespace

unsigned int word_of(const Tile& tile, Order order, unsigned int thread) {
    if (order == Order::by_rows) return thread / tile.width * tile.pitch() + thread % tile.width;
    return thread % tile.height * tile.pitch() + thread / tile.height;
}

std::vector<unsigned int> words_of_warp(const Tile& tile, Order order, unsigned int warp) {
    std::vector<unsigned int> words;
    for (unsigned int thread = 32 * warp; thread < std::min(32 * warp + 32, tile.threads()); ++thread)
        words.push_back(word_of(tile, order, thread));
    return words;
}

unsigned int wavefronts(const std::vector<unsigned int>& words) {
    std::vector<unsigned int> different(words.begin(), words.end()); // lanes share a wavefront for a word
    std::sort(different.begin(), different.end());
    different.erase(std::unique(different.begin(), different.end()), different.end());
    std::array<unsigned int, banks> in_bank{};
    for (const unsigned int word : different) ++in_bank[word % banks];
    return *std::max_element(in_bank.begin(), in_bank.end());
}

std::uint64_t wavefronts(const Tile& tile, Order order) {
    std::uint64_t sum = 0;
    for (unsigned int warp = 0; warp < tile.warps(); ++warp)
        sum += wavefronts(words_of_warp(tile, order, warp));
    return sum;
}

bool is_conflict_free(const Tile& tile, Order order) {
    for (unsigned int warp = 0; warp < tile.warps(); ++warp)
        if (wavefronts(words_of_warp(tile, order, warp)) > 1) return false;
    return true;
}

std::optional<unsigned int> smallest_padding(Tile tile, const std::vector<Order>& orders) {
    for (tile.padding = 0; tile.padding <= most_padding; ++tile.padding) {
        if (std::all_of(orders.begin(), orders.end(),
                        [&](Order order) { return is_conflict_free(tile, order); }))
            return tile.padding;
    }
    return std::nullopt;
}

std::string draw_bank_map(const std::string& kernel, const Tile& tile, Order store, Order load) {
    constexpr const char* bank_numbers = "0        8        16       24";
    std::string text = fmt::format("{}: a tile of {} x {} ints", kernel, tile.width, tile.height);
    if (tile.padding > 0) text += fmt::format(", {} of padding after each row", tile.padding);
    text += fmt::format("\nA column is a bank. 0-9, a-v: words of warp 0's lanes; .: others'{}\n\n",
                        tile.padding > 0 ? "; -: padding" : "");
    text += fmt::format("       {:<38}load {}\n", fmt::format("store {}", name(store)), name(load));
    text += fmt::format(" word  {:<38}{}\n", bank_numbers, bank_numbers);
    text += draw_rows(tile, words_of_warp(tile, store, 0), words_of_warp(tile, load, 0));
    return text + fmt::format("\nstore: {}\nload:  {}\nsmallest padding without conflicts: {}\n",
                              describe_cost(tile, store), describe_cost(tile, load),
                              describe_padding(tile, store, load));
}

} // namespace harness
