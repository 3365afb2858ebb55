#include "harness/random_input.hpp"

#include <gtest/gtest.h>

#include <set>
#include <vector>

using namespace harness;

namespace {

// SplitMix64 gives these 64-bit numbers first for seed 1234567 (from its author's C code):
//     6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431,
//     16408922859458223821
// The upper 32 bits, times 2000, over 2^32, are 700, 347, 1064, 498, 1779; 0..999 are -1000..-1, and
// 1000..1999 are 1..1000.
TEST(RandomBits, are_splitmix64) {
    EXPECT_EQ(random_bits(1234567, 0), 6457827717110365317u);
    EXPECT_EQ(random_bits(1234567, 4), 16408922859458223821u);
}

TEST(RandomInt, is_the_same_on_every_platform) {
    const std::vector<int> expected{-300, -653, 65, -502, 780};
    for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(random_int(1234567, i), expected[i]) << i;
}

TEST(RandomInt, reaches_every_value_but_zero) {
    std::set<int> seen;
    for (std::uint64_t i = 0; i < 100'000; ++i) seen.insert(random_int(42, i));
    EXPECT_EQ(seen.size(), 2000u);
    EXPECT_EQ(*seen.begin(), -1000);
    EXPECT_EQ(*seen.rbegin(), 1000);
    EXPECT_EQ(seen.count(0), 0u);
}

TEST(RandomInt, depends_on_the_seed) {
    int same = 0;
    for (std::uint64_t i = 0; i < 1000; ++i) same += random_int(1, i) == random_int(2, i);
    EXPECT_LT(same, 10); // one in 2000 by chance
}

TEST(ReferenceSum, is_the_obvious_one) {
    EXPECT_EQ(reference_sum(std::vector<int>{}), 0);
    EXPECT_EQ(reference_sum(std::vector<int>{5, -7, 1}), -1);
}

TEST(ReferenceSum, wraps_as_32_bit_addition_does) {
    EXPECT_EQ(reference_sum(std::vector<int>{2'147'483'647, 1}), -2'147'483'647 - 1);
    EXPECT_EQ(reference_sum(std::vector<int>{-2'147'483'647 - 1, -1}), 2'147'483'647);
}

} // namespace
