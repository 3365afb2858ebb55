// reduce_any of lesson 22: types and operations on every size that has a boundary near it, with every block.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "../../../lessons/lesson22_any_type_and_operation/data.hpp"
#include "../../../lessons/lesson22_any_type_and_operation/kernels.cuh"
#include "harness/check.hpp"
#include "sizes.hpp"
#include "test_device.hpp"

namespace lesson22_kernels {

using namespace harness;

/// Two launches, since the first must leave the counter of blocks ready for the next.
template <class T, class Op>
typename Op::Value launch(const T* input, std::size_t n, unsigned int grid, unsigned int block) {
    DeviceBuffer<typename Op::Value> result(1), partials(grid);
    DeviceBuffer<unsigned int> blocks_done(1);
    blocks_done.write(std::array{0u});
    for (int run = 0; run < 2; ++run) {
        result.poison(), partials.poison();
        reduce_any<T, Op><<<grid, block>>>(input, result.data(), n, partials.data(), blocks_done.data());
        check_launch("reduce_any");
        synchronize("reduce_any");
    }
    EXPECT_EQ(blocks_done.read().front(), 0u);
    return result.read().front();
}

template <class T_, class Op_, Operation operation_> struct Case {
    using T = T_;
    using Op = Op_;
    static constexpr Operation operation = operation_;
};

template <class Case> class Lesson22AnyType : public testing::Test {};
using Cases = testing::Types<
    Case<int, Sum<int>, Operation::sum>, Case<unsigned int, Product<unsigned int>, Operation::product>,
    Case<long long, Min<long long>, Operation::min>, Case<int, Max<int>, Operation::max>,
    Case<double, Sum<double>, Operation::sum>, Case<__half, Sum<float>, Operation::sum>,
    Case<__half, Product<float>, Operation::product>, Case<float, ArgMax<float>, Operation::argmax>,
    Case<double, ArgMax<double>, Operation::argmax>, Case<int, All<int>, Operation::all>,
    Case<int, Any<int>, Operation::any>, Case<__half, MeanAndVariance<float>, Operation::variance>,
    Case<double, MeanAndVariance<double>, Operation::variance>>;
TYPED_TEST_SUITE(Lesson22AnyType, Cases);

/// On random elements, starting `offset` of them past the start of their allocation.
template <class Case>
void expect_right(std::size_t n, std::size_t offset, unsigned int grid, unsigned int block) {
    using T = typename Case::T;
    const Input<T> input(Case::operation, n + block, n, offset);
    const auto actual = launch<T, typename Case::Op>(input.data(), n, grid, block);
    const Verification result = make_check(input, actual, most_operations(n, sizeof(T), grid, block))(actual);
    ASSERT_TRUE(result.passed) << "n = " << n << ", block " << block << ", grid " << grid << ", offset "
                               << offset << ": expected " << expected_text(result) << ", got "
                               << actual_text(result);
}

/// As many blocks as the lesson launches.
template <class Case> unsigned int grid_for(std::size_t n, unsigned int block) {
    return static_cast<unsigned int>(ceil_div(n * sizeof(typename Case::T), std::size_t{64} * block));
}

TYPED_TEST(Lesson22AnyType, is_right_for_every_size_and_alignment) {
    std::size_t turn = 0;
    for (const unsigned int block : blocks)
        for (const std::size_t n : sizes)
            expect_right<TypeParam>(n, turn++ % 17, grid_for<TypeParam>(n, block), block);
}

TYPED_TEST(Lesson22AnyType, is_right_for_large_sizes) {
    std::size_t turn = 0;
    for (const std::size_t n : large_sizes) {
        const unsigned int block = blocks[turn++ % 6];
        expect_right<TypeParam>(n, turn % 17, grid_for<TypeParam>(n, block), block);
    }
}

// One block for all elements, blocks with fewer than their four vectors, and blocks without any.
TYPED_TEST(Lesson22AnyType, is_right_with_any_grid) {
    for (const std::size_t n : {1, 1000, 10'007})
        for (const unsigned int grid : {1u, 2u, 7u, 100u}) expect_right<TypeParam>(n, 1, grid, 64);
}

template <class T, class Value>
Verification check(const Input<T>& input, Value actual, std::size_t operations) {
    return make_check(input, actual, operations)(actual);
}

template <class T, class Op>
typename Op::Value of_values(const std::vector<T>& values, unsigned int grid = 3, unsigned int block = 64) {
    DeviceBuffer<T> input(values.size());
    input.write(values);
    return launch<T, Op>(input.data(), values.size(), grid, block);
}

// Two equal maxima: in a vector, in two lanes, warps, blocks, rounds of a thread, in body and tail. Three
// blocks of 64 threads take 192 vectors of 4 floats in a round; 10,003 elements are 2,500 vectors and 3 more.
TEST(Lesson22ArgMax, finds_the_lower_index_of_equal_maxima) {
    constexpr std::size_t n = 10'003;
    const std::size_t places[] = {0,   1,   3,   4,    127,  128,  255,    256,
                                  511, 767, 768, 3072, 3076, 9999, 10'000, 10'002};
    for (const std::size_t first : places) {
        for (const std::size_t second : places) {
            std::vector<float> values(n, -3.0f);
            values[first] = values[second] = -2.0f;
            const ValueAt<float> found = of_values<float, ArgMax<float>>(values);
            ASSERT_EQ(found.value, -2.0f);
            ASSERT_EQ(found.index, static_cast<long long>(std::min(first, second)))
                << first << " and " << second;
        }
    }
    EXPECT_EQ((of_values<float, ArgMax<float>>(std::vector<float>(n, 5.0f)).index), 0);
}

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

TEST(Lesson22ArgMax, skips_nans_and_takes_infinities_for_numbers) {
    std::vector<float> values(1000, nan);
    EXPECT_EQ((of_values<float, ArgMax<float>>(values).index), std::numeric_limits<long long>::max())
        << "none";
    values[700] = values[900] = -infinity;
    EXPECT_EQ((of_values<float, ArgMax<float>>(values).index), 700);
    values[800] = 1;
    EXPECT_EQ((of_values<float, ArgMax<float>>(values).index), 800);
    values[999] = infinity;
    EXPECT_EQ((of_values<float, ArgMax<float>>(values).index), 999);
}

TEST(Lesson22Extremes, skip_nans_and_reach_the_ends_of_the_type) {
    std::vector<float> values(1000, nan);
    values[3] = -infinity;
    EXPECT_EQ((of_values<float, Max<float>>(values)), -infinity);
    values[3] = infinity;
    EXPECT_EQ((of_values<float, Min<float>>(values)), infinity);
    values[999] = 7;
    EXPECT_EQ((of_values<float, Min<float>>(values)), 7.0f);
    const std::vector<int> lowest_ints(1000, std::numeric_limits<int>::min());
    EXPECT_EQ((of_values<int, Max<int>>(lowest_ints)), std::numeric_limits<int>::min());
    const std::vector<long long> highest_longs(1000, std::numeric_limits<long long>::max());
    EXPECT_EQ((of_values<long long, Min<long long>>(highest_longs)), std::numeric_limits<long long>::max());
}

// 1, 2, ... 5 have the mean 3 and (4 + 1 + 0 + 1 + 4) / 5 = 2 as variance, around any number.
TEST(Lesson22MeanAndVariance, is_sound_far_from_zero) {
    std::vector<double> values;
    for (int i = 0; i < 10'000; ++i) values.push_back(1e9 + 1 + i % 5);
    const Moments<double> found = of_values<double, MeanAndVariance<double>>(values);
    EXPECT_EQ(found.count, 10'000);
    EXPECT_NEAR(found.mean, 1e9 + 3, 1e-5);
    EXPECT_NEAR(found.m2 / 10'000, 2, 1e-5);
    const Moments<double> one = of_values<double, MeanAndVariance<double>>({7.5});
    EXPECT_EQ(one.mean, 7.5);
    EXPECT_EQ(one.m2, 0);
}

// The reference for the results.
TEST(Lesson22Check, finds_what_rounding_does_not_explain) {
    const Input<double> input(Operation::sum, 42, 1000, 0);
    long double exact = 0;
    for (std::size_t i = 0; i < 1000; ++i) exact += input[i];
    const auto sum = static_cast<double>(exact);
    EXPECT_TRUE(check(input, sum, 10).passed);
    EXPECT_FALSE(check(input, sum + 1e-11, 10).passed) << "10 x 2^-53 x 1,000 is 1.1e-12";
    EXPECT_FALSE(check(input, sum - input[999], 10).passed) << "an element is missing";
    const Verification wrong = check(input, std::nan(""), 10);
    EXPECT_FALSE(wrong.passed);
    EXPECT_EQ(wrong.wrong_places.size(), 1u);
}

TEST(Lesson22Check, finds_a_variance_from_a_sum_of_squares) {
    const Input<double> input(Operation::variance, 42, 100'000, 0);
    double sum = 0, squares = 0;
    for (std::size_t i = 0; i < input.size(); ++i) sum += input[i], squares += input[i] * input[i];
    const double mean = sum / 100'000;
    double m2 = 0; // in a second pass
    for (std::size_t i = 0; i < input.size(); ++i) m2 += (input[i] - mean) * (input[i] - mean);
    const auto passes = [&](double m2, long long count) {
        return check(input, Moments<double>{mean, m2, count}, 40).passed;
    };
    EXPECT_FALSE(passes(squares - sum * mean, 100'000));
    EXPECT_TRUE(passes(m2, 100'000));
    EXPECT_FALSE(passes(m2, 99'999));
    // From -1 to 1 around 2^20, so m2 is about 100,000 / 3. The mean may be off by 40 x 2^-53 x (5 x 2 +
    // 2^20) = 4.7e-9, and m2 by 4 x 4.7e-9 x sqrt(m2 x 50,000 x log2(100,000)) = 0.003, or 1e-7 of it.
    EXPECT_FALSE(passes(m2 * (1 + 1e-6), 100'000));
}

// A factor of the product is 1 or -1, but for 64: 48 twos and 16 halves.
TEST(Lesson22Input, has_factors_whose_products_are_exact) {
    for (const std::size_t n : {1, 63, 64, 65, 1000, 65'536}) {
        const Input<__half> input(Operation::product, 42, n, 3);
        int twos = 0, halves = 0;
        for (std::size_t i = 0; i < n; ++i) {
            const float size = std::abs(static_cast<float>(input[i]));
            twos += size == 2, halves += size == 0.5f;
            ASSERT_TRUE(size == 0.5f || size == 1 || size == 2) << size;
        }
        EXPECT_LE(twos, 48);
        EXPECT_LE(halves, 16);
        if (n >= 64 && n % 64 == 0) {
            EXPECT_EQ(twos + halves, 64);
        }
    }
}

} // namespace lesson22_kernels
