#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/exit_status.hpp"
#include "harness/reduction.hpp"

using namespace harness;
using testing::ElementsAre, testing::HasSubstr, testing::ThrowsMessage;

namespace {

TEST(CeilDiv, rounds_up_without_overflow) {
    EXPECT_EQ(ceil_div(0, 256), 0u);
    EXPECT_EQ(ceil_div(1, 256), 1u);
    EXPECT_EQ(ceil_div(256, 256), 1u);
    EXPECT_EQ(ceil_div(257, 256), 2u);
    EXPECT_EQ(ceil_div(std::size_t(-1), 2), std::size_t{1} << 63);
}

TEST(PlanGrids, goes_on_until_one_value_is_left) {
    EXPECT_THAT(plan_grids(1, 256, {}), ElementsAre(1));
    EXPECT_THAT(plan_grids(256, 256, {}), ElementsAre(1));
    EXPECT_THAT(plan_grids(257, 256, {}), ElementsAre(2, 1));
    EXPECT_THAT(plan_grids(1 << 24, 256, {}), ElementsAre(65536, 256, 1));
    EXPECT_THAT(plan_grids(1 << 24, 256, {.elements_per_thread = 2}), ElementsAre(32768, 64, 1));
    EXPECT_THAT(plan_grids(1025, 32, {}), ElementsAre(33, 2, 1));
}

TEST(PlanGrids, keep_to_the_most_blocks) {
    // Two elements a thread would make 32,768 blocks.
    EXPECT_THAT(plan_grids(1 << 24, 256, {.elements_per_thread = 2, .most_blocks = 1056}),
                ElementsAre(1056, 3, 1));
    EXPECT_THAT(plan_grids(1 << 24, 256, {.elements_per_thread = 2, .most_blocks = 1}), ElementsAre(1));
    EXPECT_THAT(plan_grids(1000, 256, {.elements_per_thread = 2, .most_blocks = 1056}), ElementsAre(2, 1));
    // Blocks that no grid could hold, if there were not a limit.
    EXPECT_THAT(plan_grids(std::size_t{1} << 40, 32, {.most_blocks = 4}), ElementsAre(4, 1));
    EXPECT_THAT(plan_grids(1 << 24, 1024, {.elements_per_thread = 1u << 30}), ElementsAre(1));
}

TEST(PlanGrids, counts_beyond_32_bits) {
    // 2^36 elements in blocks of 64: 2^30 blocks.
    EXPECT_EQ(plan_grids(std::size_t{1} << 36, 64, {}).front(), 1u << 30);
}

TEST(PlanGrids, refuses_more_blocks_than_a_grid_holds) {
    const std::size_t most = std::size_t{2'147'483'647} * 32;
    EXPECT_EQ(plan_grids(most, 32, {}).front(), 2'147'483'647u);
    EXPECT_THAT(
        [&] { plan_grids(most + 1, 32, {}); },
        ThrowsMessage<UsageError>(HasSubstr("makes 2,147,483,648 blocks, and a grid holds 2,147,483,647")));
}

} // namespace
