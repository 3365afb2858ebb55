// reduce() and reduce_rows() of lesson 33, with its own operations and lesson 22's: on every size that has a boundary near
// it, on inputs that start anywhere, in a workspace that may hold anything; and the lesson's pair of launches.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "../../../lessons/lesson22_any_type_and_operation/data.hpp"
#include "../../../lessons/lesson22_any_type_and_operation/kernels.cuh"
#include "../../../lessons/lesson33_any_reduction/reduce.cuh"
#include "harness/check.hpp"
#include "sizes.hpp"
#include "test_device.hpp"

namespace lesson33_kernels {
#include "../../../lessons/lesson33_any_reduction/kernels.cuh"

using namespace harness;
using take_home::ReducePlan, take_home::ReduceStrategy, take_home::choose_reduce;

/// What a result says, for make_check: take_home's argmax has a type of its own.
template <class Value> Value as_given(Value value) { return value; }
template <class T> ValueAt<T> as_given(take_home::Found<T> found) { return {found.value, found.index}; }

/// A workspace with guards around it, full of garbage.
class GuardedWorkspace {
public:
    GuardedWorkspace(std::size_t bytes, std::size_t misplaced)
        : bytes_(bytes), first_(256 + misplaced), buffer_(first_ + bytes + 256) {
        buffer_.poison();
    }
    void* data() { return buffer_.data() + first_; }

    bool is_kept_to() {
        const std::vector<unsigned char> all = buffer_.read();
        const auto is_garbage = [](unsigned char byte) { return byte == poison_byte; };
        return std::all_of(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(first_), is_garbage) &&
               std::all_of(all.begin() + static_cast<std::ptrdiff_t>(first_ + bytes_), all.end(), is_garbage);
    }

private:
    std::size_t bytes_, first_;
    DeviceBuffer<unsigned char> buffer_;
};

/// The result of reduce(), which runs twice in the same workspace.
template <class Op, class T>
typename Op::Value reduce(const T* input, std::size_t n, std::size_t misplaced = 0) {
    DeviceBuffer<typename Op::Value> result(1);
    std::size_t bytes = 0;
    HARNESS_CHECK(take_home::reduce<Op>(nullptr, bytes, input, result.data(), n));
    GuardedWorkspace workspace(bytes, misplaced);
    for (int run = 0; run < 2; ++run) {
        result.poison();
        HARNESS_CHECK(take_home::reduce<Op>(workspace.data(), bytes, input, result.data(), n));
        synchronize("reduce");
    }
    EXPECT_TRUE(workspace.is_kept_to()) << "n = " << n;
    return result.read().front();
}

/// By this plan, which need not be the chosen one.
template <class Op, class T>
std::vector<typename Op::Value> reduce_by(ReducePlan plan, const T* input, std::size_t rows,
                                          std::size_t columns) {
    DeviceBuffer<typename Op::Value> results(rows), values(rows * plan.blocks);
    results.poison(), values.poison();
    HARNESS_CHECK(
        take_home::reduce_by<Op>(plan, values.data(), input, results.data(), rows, columns, nullptr));
    synchronize("reduce_by");
    return results.read();
}

/// More operations than the plan puts between an element and the result: a block's first pass, and 8 values in a thread of the
/// second one.
std::size_t operations_of(ReducePlan plan, std::size_t n, std::size_t element_bytes) {
    return most_operations(n, element_bytes, plan.blocks, plan.threads) + 16;
}

template <class T, class Value>
void expect_right(const Input<T>& input, Value actual, ReducePlan plan, std::size_t offset) {
    const Verification result =
        make_check(input, actual, operations_of(plan, input.size(), sizeof(T)))(actual);
    ASSERT_TRUE(result.passed) << "n = " << input.size() << ", offset " << offset << ", strategy "
                               << static_cast<int>(plan.strategy) << ", " << plan.blocks << " blocks of "
                               << plan.threads << ": expected " << expected_text(result) << ", got "
                               << actual_text(result);
}

/// Around every place where the choice changes for elements of some size.
constexpr std::size_t switches[] = {
    1,    2,    7,    8,      9,      15,     17,     31,     33,      63,      64,      65,
    255,  256,  257,  511,    513,    1023,   1024,   1025,   2047,    2048,    2049,    4097,
    8191, 8193, 9000, 16'383, 16'384, 16'385, 32'769, 65'537, 131'071, 131'072, 131'073, 150'001};

template <class T, class Op> void expect_right_for_every_size(Operation operation) {
    std::size_t turn = 0;
    for (const std::size_t n : switches) {
        const std::size_t offset = turn++ % 5; // 0 to 3 and one more
        const Input<T> input(operation, n, n, offset);
        const auto actual = as_given(lesson33_kernels::reduce<Op>(input.data(), n, turn % 9));
        expect_right(input, actual, choose_reduce(1, n, sizeof(T)), offset);
    }
}

TEST(Lesson33Reduce, sums_ints_of_every_size) {
    expect_right_for_every_size<int, take_home::Sum<int>>(Operation::sum);
}
TEST(Lesson33Reduce, sums_halves_in_float) {
    expect_right_for_every_size<__half, take_home::Sum<float>>(Operation::sum);
}
TEST(Lesson33Reduce, finds_the_largest_double) {
    expect_right_for_every_size<double, take_home::ArgMax<double>>(Operation::argmax);
}
TEST(Lesson33Reduce, finds_the_least_long_long) {
    expect_right_for_every_size<long long, take_home::Min<long long>>(Operation::min);
}
TEST(Lesson33Reduce, takes_operations_of_lesson_22) {
    expect_right_for_every_size<float, MeanAndVariance<float>>(Operation::variance);
}

/// Plans that no size chooses on its own: every strategy, with few and many blocks, has to be right for any row.
TEST(Lesson33Reduce, is_right_by_every_plan_and_alignment) {
    using Op = take_home::Sum<float>;
    const ReducePlan plans[] = {
        {ReduceStrategy::lanes, 32, 1},           {ReduceStrategy::one_block, 64, 1},
        {ReduceStrategy::one_block, 1024, 1},     {ReduceStrategy::one_cluster, 512, 8},
        {ReduceStrategy::two_launches, 512, 1},   {ReduceStrategy::two_launches, 512, 33},
        {ReduceStrategy::two_launches, 512, 300}, {ReduceStrategy::two_launches, 1024, 8}};
    for (const ReducePlan& plan : plans) {
        for (const std::size_t offset : {0, 1, 2, 3, 31, 32, 33}) {
            for (const std::size_t n : {1, 3, 30, 33, 1000, 4099, 20'011}) {
                const Input<float> input(Operation::sum, n, n, offset);
                expect_right(input, reduce_by<Op>(plan, input.data(), 1, n).front(), plan, offset);
            }
        }
    }
}

// 700,001 / 4 / 512 = 341.8: each of 300 blocks has elements, and the second launch has their values.
TEST(Lesson33Reduce, reduces_the_values_of_many_blocks) {
    const Input<float> input(Operation::sum, 5, 700'001, 1);
    const ReducePlan plan{ReduceStrategy::two_launches, 512, 300};
    expect_right(input, reduce_by<take_home::Sum<float>>(plan, input.data(), 1, input.size()).front(), plan,
                 1);
}

/// Bits, not values: the blocks of a cluster and those of the first of two launches leave the same values, and these meet in the
/// same order. So a device without clusters gets the same sum.
TEST(Lesson33Reduce, has_the_same_bits_with_and_without_a_cluster) {
    using Op = take_home::Sum<float>;
    for (const std::size_t n : {16'385, 40'003, 70'001, 131'072}) {
        const Input<float> input(Operation::sum, n, n, n % 4);
        const ReducePlan plan = choose_reduce(1, n, sizeof(float));
        ASSERT_EQ(plan.strategy, ReduceStrategy::one_cluster);
        const float with = reduce_by<Op>(plan, input.data(), 1, n).front();
        const float without =
            reduce_by<Op>({ReduceStrategy::two_launches, plan.threads, plan.blocks}, input.data(), 1, n)
                .front();
        EXPECT_EQ(std::memcmp(&with, &without, sizeof with), 0) << with << " and " << without;
    }
}

template <class T, class Op>
void expect_right_rows(std::size_t rows, std::size_t columns, std::size_t offset) {
    SCOPED_TRACE(testing::Message() << rows << " x " << columns << ", offset " << offset);
    const Input<T> input(Operation::sum, rows + columns, rows * columns, offset);
    DeviceBuffer<typename Op::Value> results(rows);
    results.poison();
    std::size_t bytes = 0;
    HARNESS_CHECK(take_home::reduce_rows<Op>(nullptr, bytes, input.data(), results.data(), rows, columns));
    GuardedWorkspace workspace(bytes, 1);
    HARNESS_CHECK(
        take_home::reduce_rows<Op>(workspace.data(), bytes, input.data(), results.data(), rows, columns));
    synchronize("reduce_rows");
    EXPECT_TRUE(workspace.is_kept_to());
    const auto actual = results.read();
    for (std::size_t row = 0; row < rows; ++row) {
        typename Op::Value expected = 0; // sums of ints
        for (std::size_t column = 0; column < columns; ++column)
            expected += static_cast<typename Op::Value>(input[row * columns + column]);
        ASSERT_EQ(actual[row], expected) << "row " << row;
    }
}

TEST(Lesson33Rows, are_right_for_every_shape) {
    const std::size_t shapes[][2] = {
        {1000, 1}, {333, 3},  {100, 8},    {50, 9},   {1025, 17},  {40, 63},     {30, 65},    {1030, 70},
        {5, 1000}, {3, 2049}, {130, 2050}, {7, 4099}, {2, 16'385}, {17, 16'400}, {3, 40'001}, {2, 132'000}};
    std::size_t turn = 0;
    for (const auto& shape : shapes)
        expect_right_rows<int, take_home::Sum<int>>(shape[0], shape[1], turn++ % 4);
}

/// Of rows of a byte per element a vector has 16, and a head up to 127.
TEST(Lesson33Rows, are_right_for_small_elements) {
    std::size_t turn = 0;
    for (const std::size_t columns : {5, 100, 3000, 5001})
        expect_right_rows<signed char, take_home::Sum<int>>(3, columns, turn++);
}

TEST(Lesson33Reduce, of_nothing_is_the_identity) {
    const float nothing =
        lesson33_kernels::reduce<take_home::Sum<float>>(static_cast<const float*>(nullptr), 0);
    EXPECT_EQ(nothing, 0.0f);
    EXPECT_EQ((lesson33_kernels::reduce<take_home::Min<int>>(static_cast<const int*>(nullptr), 0)),
              std::numeric_limits<int>::max());
    std::size_t bytes = 0;
    HARNESS_CHECK((take_home::reduce_rows<take_home::Sum<int>, int>(nullptr, bytes, nullptr, nullptr, 0, 5)));
    DeviceBuffer<unsigned char> workspace(bytes);
    EXPECT_EQ(
        (take_home::reduce_rows<take_home::Sum<int>, int>(workspace.data(), bytes, nullptr, nullptr, 0, 5)),
        cudaSuccess);
}

TEST(Lesson33Reduce, refuses_too_small_a_workspace) {
    const Input<int> input(Operation::sum, 1, 200'000, 0);
    DeviceBuffer<int> result(1);
    result.write(std::array{1234});
    std::size_t bytes = 0;
    HARNESS_CHECK(
        take_home::reduce<take_home::Sum<int>>(nullptr, bytes, input.data(), result.data(), input.size()));
    EXPECT_EQ(bytes, (49 + 1) * sizeof(int))
        << "50,000 vectors / 1,024: 49 blocks, and room to align their values";
    DeviceBuffer<unsigned char> workspace(bytes);
    std::size_t less = bytes - 1;
    EXPECT_EQ(take_home::reduce<take_home::Sum<int>>(workspace.data(), less, input.data(), result.data(),
                                                     input.size()),
              cudaErrorInvalidValue);
    synchronize("reduce");
    EXPECT_EQ(result.read().front(), 1234) << "neither call queues anything";
}

template <class T, class Op> typename Op::Value of_values(const std::vector<T>& values) {
    DeviceBuffer<T> input(values.size());
    input.write(values);
    return lesson33_kernels::reduce<Op>(input.data(), values.size());
}

// Two equal maxima: in a vector, in two lanes, warps and blocks, in the head, which comes last in its thread, and in the tail.
TEST(Lesson33ArgMax, finds_the_lower_index_of_equal_maxima) {
    for (const std::size_t n : {1000, 5003, 20'003}) {
        for (const std::size_t first : {0, 1, 2, 3, 4, 127, 128, 999}) {
            for (const std::size_t second : {std::size_t{2}, std::size_t{3}, std::size_t{500}, n - 1}) {
                std::vector<float> values(n, -3.0f);
                values[first] = values[second] = -2.0f;
                const auto found = of_values<float, take_home::ArgMax<float>>(values);
                ASSERT_EQ(found.value, -2.0f);
                ASSERT_EQ(found.index, static_cast<long long>(std::min(first, second)))
                    << n << ": " << first << " and " << second;
            }
        }
    }
}

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

TEST(Lesson33ArgMax, skips_nans_and_takes_infinities_for_numbers) {
    for (const std::size_t n : {1000, 5000}) { // one by one, and in vectors
        std::vector<float> values(n, nan);
        using Op = take_home::ArgMax<float>;
        EXPECT_EQ((of_values<float, Op>(values).index), std::numeric_limits<long long>::max()) << "none";
        values[701] = values[900] = -infinity;
        EXPECT_EQ((of_values<float, Op>(values).index), 701);
        values[703] = 1;
        EXPECT_EQ((of_values<float, Op>(values).index), 703);
        values[999] = infinity;
        EXPECT_EQ((of_values<float, Op>(values).index), 999);
    }
}

TEST(Lesson33Extremes, skip_nans_and_reach_the_ends_of_the_type) {
    std::vector<float> values(5000, nan);
    values[3] = -infinity;
    EXPECT_EQ((of_values<float, take_home::Max<float>>(values)), -infinity);
    values[4999] = 7;
    EXPECT_EQ((of_values<float, take_home::Max<float>>(values)), 7.0f);
    const std::vector<int> lowest_ints(5000, std::numeric_limits<int>::min());
    EXPECT_EQ((of_values<int, take_home::Max<int>>(lowest_ints)), std::numeric_limits<int>::min());
    EXPECT_EQ((of_values<int, take_home::Min<int>>(std::vector<int>(300, 5))), 5);
}

TEST(Lesson33Choice, depends_on_the_shape_alone) {
    constexpr std::size_t Ki = 1024, Mi = 1024 * Ki;
    const auto expect = [](ReducePlan plan, ReduceStrategy strategy, unsigned int threads,
                           unsigned int blocks) {
        EXPECT_EQ(plan.strategy, strategy);
        EXPECT_EQ(plan.threads, threads);
        EXPECT_EQ(plan.blocks, blocks);
    };
    expect(choose_reduce(1, 0, 4), ReduceStrategy::lanes, 1, 1);
    expect(choose_reduce(1, 64, 4), ReduceStrategy::lanes, 8, 1);
    expect(choose_reduce(1, 65, 4), ReduceStrategy::one_block, 64, 1);
    expect(choose_reduce(1, 1024, 4), ReduceStrategy::one_block, 256, 1);
    expect(choose_reduce(1, 4096, 4), ReduceStrategy::one_block, 256, 1); // vectors now
    expect(choose_reduce(1, 16 * Ki, 4), ReduceStrategy::one_block, 1024, 1);
    expect(choose_reduce(1, 16 * Ki + 1, 4), ReduceStrategy::one_cluster, 512, 8);
    expect(choose_reduce(1, 128 * Ki, 4), ReduceStrategy::one_cluster, 1024, 8);
    expect(choose_reduce(1, 128 * Ki + 1, 4), ReduceStrategy::two_launches, 512,
           32); // 32,768 vectors / 1,024
    expect(choose_reduce(1, 64 * Ki + 2, 8), ReduceStrategy::two_launches, 512, 33);
    expect(choose_reduce(1, 1 * Mi, 4), ReduceStrategy::two_launches, 512,
           132); // 262,144 / 2,048 would be 128
    expect(choose_reduce(1, 2 * Mi, 4), ReduceStrategy::two_launches, 512, 256);
    expect(choose_reduce(1, 128 * Mi - 4, 4), ReduceStrategy::two_launches, 512, 264);
    expect(choose_reduce(1, 128 * Mi, 4), ReduceStrategy::two_launches, 512, 4224);
    expect(choose_reduce(4096, 100, 4), ReduceStrategy::lanes, 16, 1);
    expect(choose_reduce(4096, 5000, 4), ReduceStrategy::one_block, 256, 1);
    expect(choose_reduce(128, 1 * Mi, 4), ReduceStrategy::one_block, 1024, 1);
    expect(choose_reduce(16, 1 * Mi, 4), ReduceStrategy::one_cluster, 1024, 8);
    expect(choose_reduce(16, std::size_t{1} << 31, 1), ReduceStrategy::two_launches, 512, 4224);
}

/// The lesson's pair of launches, and the exercise's, on every size and block.
TEST(Lesson33Pair, is_right_for_every_size_and_block) {
    with_every_block([](unsigned int block) {
        for (const std::size_t n : sizes) {
            const std::size_t offset = n % 5;
            const Input<float> input(Operation::sum, n + block, n, offset);
            const auto grid = static_cast<unsigned int>(ceil_div(n, std::size_t{16} * block));
            DeviceBuffer<float> values(grid), result(1);
            DeviceBuffer<float2> ranges(grid), range(1);
            values.poison(), result.poison(), ranges.poison(), range.poison();
            values_of_blocks<float, Sum<float>><<<grid, block>>>(input.data(), n, values.data());
            value_of_values<Sum<float>><<<1, block>>>(values.data(), grid, result.data());
            range_of_blocks<<<grid, block>>>(input.data(), n, ranges.data());
            range_of_values<<<1, block>>>(ranges.data(), grid, range.data());
            check_launch("the pair");
            synchronize("the pair");
            const float sum = result.read().front();
            ASSERT_TRUE(make_check(input, sum, most_operations(n, sizeof(float), grid, block))(sum).passed)
                << n;
            float2 expected{input[0], input[0]};
            for (std::size_t i = 1; i < n; ++i)
                expected = {std::min(expected.x, input[i]), std::max(expected.y, input[i])};
            const float2 actual = range.read().front();
            ASSERT_TRUE(actual.x == expected.x && actual.y == expected.y)
                << n << ": " << actual.x << " to " << actual.y;
        }
    });
}

} // namespace lesson33_kernels
