#include "harness/detail/bank_map.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

using namespace harness;
using harness::by_columns, harness::by_rows;
using testing::ElementsAre, testing::HasSubstr;

namespace {

/// Every tile that fits a block, without padding.
std::vector<Tile> every_tile() {
    std::vector<Tile> tiles;
    for (unsigned int width = 1; width <= 1024; ++width)
        for (unsigned int height = 1; width * height <= 1024; ++height) tiles.push_back({width, height});
    return tiles;
}

TEST(Words, of_rows_are_neighbors_and_of_columns_lie_a_pitch_apart) {
    const Tile tile{.width = 3, .height = 2};
    std::vector<unsigned int> rows, columns, padded_rows, padded_columns;
    for (unsigned int thread = 0; thread < 6; ++thread) {
        rows.push_back(word_of(tile, by_rows, thread));
        columns.push_back(word_of(tile, by_columns, thread));
        padded_rows.push_back(word_of({3, 2, 4}, by_rows, thread));
        padded_columns.push_back(word_of({3, 2, 4}, by_columns, thread));
    }
    EXPECT_THAT(rows, ElementsAre(0, 1, 2, 3, 4, 5));
    EXPECT_THAT(columns, ElementsAre(0, 3, 1, 4, 2, 5));
    EXPECT_THAT(padded_rows, ElementsAre(0, 1, 2, 7, 8, 9)); // 3 + 4 from row to row
    EXPECT_THAT(padded_columns, ElementsAre(0, 7, 1, 8, 2, 9));
}

TEST(Words, of_a_warp_end_with_the_block) {
    EXPECT_EQ(words_of_warp({32, 32}, by_rows, 31).size(), 32u);
    EXPECT_THAT(words_of_warp({7, 5}, by_rows, 1), ElementsAre(32, 33, 34));
}

TEST(Words, are_swapped_coordinates_in_a_square) {
    for (unsigned int width = 1; width <= 32; ++width) {
        for (unsigned int y = 0; y < width; ++y)
            for (unsigned int x = 0; x < width; ++x)
                ASSERT_EQ(word_of({width, width, 5}, by_columns, y * width + x), x * (width + 5) + y);
    }
}

TEST(Wavefronts, are_the_different_words_of_the_worst_bank) {
    using Words = std::vector<unsigned int>;
    EXPECT_EQ(wavefronts(Words{0, 1, 2, 3}), 1u);
    EXPECT_EQ(wavefronts(Words{0, 32, 64, 1}), 3u);
    EXPECT_EQ(wavefronts(Words{7, 7, 7, 7}), 1u) << "lanes at one word share it";
    EXPECT_EQ(wavefronts(Words{7, 7, 39, 8, 40, 72}), 3u);
}

TEST(Padding, is_the_smallest_that_frees_all_orders) {
    const std::vector<Order> rows{by_rows}, columns{by_columns}, both{by_rows, by_columns};
    const auto smallest = [](Tile tile, const std::vector<Order>& orders) {
        return smallest_padding(tile, orders).value_or(99);
    };
    EXPECT_EQ(smallest({32, 32}, both), 1u);
    EXPECT_EQ(smallest({32, 16}, both), 2u);
    EXPECT_EQ(smallest({32, 16, 1}, both), 2u) << "the tile's own padding does not matter";
    EXPECT_EQ(smallest({16, 16}, rows), 0u);
    EXPECT_EQ(smallest({16, 16}, columns), 2u);
    EXPECT_EQ(smallest({16, 16}, both), 99u);
    EXPECT_EQ(smallest({31, 31}, both), 0u);
    EXPECT_EQ(smallest({24, 24}, columns), 99u);
}

// The rule that lesson 21 states, for a block of at least one full warp. `pitch` = width + padding.
//
// By rows. No conflict with any padding, if a warp never leaves a row: one row, or a width that 32 divides.
// Otherwise a warp goes on in the next row. Where whole rows fill the warp (a width of 1, 2, 4, 8 or 16), the
// rows must fill the banks between them: the pitch is an odd multiple of the width. Else only 32 words in
// sequence do: the padding is a multiple of 32.
bool rule_by_rows(const Tile& tile) {
    if (tile.height == 1 || tile.width % 32 == 0) return true;
    if (32 % tile.width == 0) return tile.pitch() % (2 * tile.width) == tile.width;
    return tile.padding % 32 == 0;
}

// By columns. If a warp never leaves a column (one column, or a height that 32 divides): an odd pitch. If
// whole columns fill it (a height of 2, 4, 8 or 16), 32 / height of them lie side by side in each row, and
// the pitch is an odd multiple of that number. A height of 1 is a row. Else the step from a column's foot to
// the next one's head has to be a pitch too, by banks: pitch x height % 32 = 1, which no even height allows.
bool rule_by_columns(const Tile& tile) {
    if (tile.height == 1) return true;
    if (tile.width == 1 || tile.height % 32 == 0) return tile.pitch() % 2 == 1;
    if (32 % tile.height == 0) {
        const unsigned int side_by_side = 32 / tile.height;
        return tile.pitch() % (2 * side_by_side) == side_by_side;
    }
    return tile.pitch() * tile.height % 32 == 1;
}

TEST(PaddingRule, holds_for_every_tile_and_padding) {
    for (Tile tile : every_tile()) {
        for (tile.padding = 0; tile.padding <= most_padding; ++tile.padding) {
            const bool rows = is_conflict_free(tile, by_rows), columns = is_conflict_free(tile, by_columns);
            if (tile.threads() >= 32) {
                ASSERT_EQ(rows, rule_by_rows(tile))
                    << tile.width << " " << tile.height << " " << tile.padding;
                ASSERT_EQ(columns, rule_by_columns(tile))
                    << tile.width << " " << tile.height << " " << tile.padding;
            } else { // banks to spare: the rule is enough, and more paddings are
                ASSERT_TRUE(rows || !rule_by_rows(tile));
                ASSERT_TRUE(columns || !rule_by_columns(tile));
            }
        }
    }
}

TEST(PaddingRule, tells_which_tiles_have_no_padding) {
    const std::vector<Order> columns{by_columns}, rows{by_rows};
    for (const Tile& tile : every_tile()) {
        if (tile.threads() < 32) continue;
        const unsigned int height = tile.height;
        // An even height that neither divides 32 nor is divided by it, in more than one column.
        const bool none = tile.width > 1 && height % 2 == 0 && 32 % height != 0 && height % 32 != 0;
        ASSERT_EQ(smallest_padding(tile, columns).has_value(), !none) << tile.width << " " << height;
        ASSERT_EQ(smallest_padding(tile, rows), 0u) << "words in sequence";
    }
}

TEST(PaddingRule, leaves_many_tiles_without_a_padding) {
    const std::vector<Order> columns{by_columns}, both{by_rows, by_columns};
    std::size_t tiles = 0, none_for_load = 0, none_for_both = 0;
    for (const Tile& tile : every_tile()) {
        if (tile.threads() < 32) continue;
        ++tiles;
        none_for_load += !smallest_padding(tile, columns);
        none_for_both += !smallest_padding(tile, both);
    }
    EXPECT_EQ(every_tile().size(), 7262u);
    EXPECT_EQ(tiles, 7149u); // as lesson 21 says
    EXPECT_EQ(none_for_load, 1717u);
    EXPECT_EQ(none_for_both, 4925u);
}

TEST(PaddingRule, tells_which_squares_need_padding) {
    const std::vector<Order> both{by_rows, by_columns};
    for (unsigned int width = 6; width <= 32; ++width) {
        const std::optional<unsigned int> padding = smallest_padding({width, width}, both);
        if (width == 32)
            EXPECT_EQ(padding, 1u);
        else if (width == 15 || width == 17 || width == 31) // width x width % 32 = 1
            EXPECT_EQ(padding, 0u);
        else
            EXPECT_EQ(padding, std::nullopt) << width;
    }
}

TEST(BankMap, draws_each_lane_in_its_bank) {
    // 2 columns of 16 in 16 rows of 33 words: 1 and g (lane 16) meet in bank 1.
    EXPECT_EQ(draw_bank_map("kernel", {32, 16, 1}, by_rows, by_columns),
              R"(kernel: a tile of 32 x 16 ints, 1 of padding after each row
A column is a bank. 0-9, a-v: words of warp 0's lanes; .: others'; -: padding

       store by rows                         load by columns
 word  0        8        16       24         0        8        16       24
    0  01234567 89abcdef ghijklmn opqrstuv   0g...... ........ ........ ........
   32  -....... ........ ........ ........   -1h..... ........ ........ ........
   64  .-...... ........ ........ ........   .-2i.... ........ ........ ........
   96  ..-..... ........ ........ ........   ..-3j... ........ ........ ........
  128  ...-.... ........ ........ ........   ...-4k.. ........ ........ ........
  160  ....-... ........ ........ ........   ....-5l. ........ ........ ........
  ...
  480  ........ ......-. ........ ........   ........ ......-f v....... ........

store: 1 wavefront, no conflict; all 16 warps: 16
load:  2 wavefronts (bank 1: lanes 1, 16); all 16 warps: 32
smallest padding without conflicts: 0 for stores, 2 for loads, 2 for both
)");
}

TEST(BankMap, ends_where_the_tile_ends) {
    EXPECT_EQ(draw_bank_map("kernel", {5, 4}, by_rows, by_columns),
              R"(kernel: a tile of 5 x 4 ints
A column is a bank. 0-9, a-v: words of warp 0's lanes; .: others'

       store by rows                         load by columns
 word  0        8        16       24         0        8        16       24
    0  01234567 89abcdef ghij                048cg159 dh26aei3 7bfj

store: 1 wavefront, no conflict
load:  1 wavefront, no conflict
smallest padding without conflicts: 0 for stores, 0 for loads, 0 for both
)");
}

TEST(BankMap, says_when_no_padding_helps) {
    EXPECT_THAT(draw_bank_map("kernel", {16, 16}, by_rows, by_columns),
                HasSubstr("smallest padding without conflicts: 0 for stores, 2 for loads, none for both\n"));
    EXPECT_THAT(draw_bank_map("kernel", {24, 24}, by_columns, by_columns),
                HasSubstr("smallest padding without conflicts: none\n"));
}

TEST(BankMap, fits_a_screen) {
    for (Tile tile : every_tile()) {
        if (tile.threads() < 900) continue; // the largest maps
        tile.padding = tile.width % (most_padding + 1);
        std::istringstream lines(draw_bank_map("setRowReadColDynPad", tile, by_columns, by_columns));
        std::size_t count = 0;
        for (std::string line; std::getline(lines, line); ++count) ASSERT_LE(line.size(), 80u) << line;
        ASSERT_LE(count, 17u);
    }
}

} // namespace
