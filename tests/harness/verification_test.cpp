#include "harness/verification.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

using namespace harness;
using testing::ElementsAre, testing::HasSubstr, testing::Not;

namespace {

TEST(CompareValue, keeps_both_values) {
    EXPECT_TRUE(compare_value(-3, -3).passed);
    const Verification wrong = compare_value(-3, 4);
    EXPECT_FALSE(wrong.passed);
    EXPECT_EQ(wrong.expected, -3);
    EXPECT_EQ(wrong.actual, 4);
}

TEST(CompareFloat, passes_within_the_bound_alone) {
    EXPECT_TRUE(compare_float(0.1f, 0.3f, 0.2, 0.2).passed);
    EXPECT_TRUE(compare_float(0.1f, -0.1f, -0.2, 0.2).passed);
    EXPECT_TRUE(compare_float(0.1f, 0.1f, 0, 0).passed);
    const Verification wrong = compare_float(0.1f, 16777216.0f, -3, 2.5);
    EXPECT_FALSE(wrong.passed);
    EXPECT_THAT(wrong.wrong_places, ElementsAre("off by 3, and the bound is 2.5"));
    EXPECT_FALSE(compare_float(0.1f, NAN, NAN, 2.5).passed);
}

// 2^-1 + 2^-24 is 0.500000059604644775390625; the floats beside it are 0.5 and 0.50000012.
TEST(CompareFloat, tells_values_with_all_their_digits) {
    const Verification result = compare_float(0.5f + 0x1p-24f, -1e-38f, 0, 0);
    EXPECT_EQ(expected_text(result), "0.50000006");
    EXPECT_EQ(actual_text(result), "-9.99999935e-39");
    EXPECT_EQ(expected_text(compare_value(-4096, 17)), "-4,096");
    EXPECT_EQ(actual_text(compare_value(-4096, 17)), "17");
}

TEST(CompareElements, passes_equal_arrays) {
    const std::vector<int> values{4, 5, 6};
    const Verification result = compare_elements(values, values);
    EXPECT_TRUE(result.passed);
    EXPECT_EQ(result.expected, 6);
    EXPECT_EQ(result.actual, 6);
    EXPECT_TRUE(result.wrong_places.empty());
}

TEST(CompareElements, tells_the_first_wrong_places) {
    const std::vector<int> expected{0, 1, 2, 3, 4, 5, 6}, actual{0, 10, 2, 30, 40, 50, 60};
    const Verification result = compare_elements(expected, actual);
    EXPECT_FALSE(result.passed);
    EXPECT_EQ(result.expected, 1);
    EXPECT_EQ(result.actual, 10);
    EXPECT_THAT(result.wrong_places,
                ElementsAre("element 1: expected 1, got 10", "element 3: expected 3, got 30",
                            "element 4: expected 4, got 40", "element 5: expected 5, got 50"));
}

TEST(CompareElements, finds_a_wrong_last_element) {
    EXPECT_FALSE(compare_elements(std::vector<int>{1, 2}, std::vector<int>{1, 3}).passed);
    EXPECT_THAT(compare_elements(std::vector<int>{1, 2}, std::vector<int>{1, 3}, "block").wrong_places,
                ElementsAre("block 1: expected 2, got 3"));
}

TEST(CompareElements, finds_a_difference_in_length) {
    EXPECT_FALSE(compare_elements(std::vector<int>{1, 2}, std::vector<int>{1}).passed);
    EXPECT_FALSE(compare_elements(std::vector<int>{}, std::vector<int>{1}).passed);
}

TEST(DescribeDifference, knows_poison) {
    EXPECT_EQ(describe_difference(1000, -2), "expected 1,000, got -2");
    EXPECT_THAT(describe_difference(1, static_cast<int>(0xA5A5A5A5)), HasSubstr("never written"));
    // 0xA5A5A5A5 + 1000, as an int
    EXPECT_THAT(describe_difference(1000, static_cast<int>(0xA5A5A98D)), HasSubstr("without being set"));
    EXPECT_THAT(describe_difference(1001, static_cast<int>(0xA5A5A98D)), Not(HasSubstr("poison")));
}

} // namespace
