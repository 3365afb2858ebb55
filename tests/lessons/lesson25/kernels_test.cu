// The kernels of lesson 25 with matrices of every shape, and with rows that a careless softmax gets wrong.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <ostream>
#include <string>
#include <vector>

#include "../../../lessons/lesson25_rows/data.hpp"
#include "harness/check.hpp"
#include "harness/random_input.hpp"
#include "harness/reduction.hpp"
#include "sizes.hpp"
#include "test_device.hpp"

namespace rows_of_a_matrix {
#include "../../../lessons/lesson25_rows/kernels.cuh"
#include "../../../lessons/lesson25_rows/rows.cuh"
} // namespace rows_of_a_matrix

namespace lesson25_kernels {

using namespace harness;

constexpr std::size_t sizes[] = {1, 2, 31, 32, 33, 255, 256, 257, 1000, 1023, 1024, 1025, 4095, 4096, 4097};
constexpr std::size_t large[] = {65'537, 999'983, (1 << 20) - 1, (1 << 20) + 1};

struct Sums {
    const char* name;
    void (*kernel)(const int*, int*, std::size_t, std::size_t);
    unsigned int threads_per_row; // 0: a block
    friend void PrintTo(const Sums& kernel, std::ostream* out) { *out << kernel.name; }
};
const Sums sums_kernels[] = {{"rows_by_thread", rows_of_a_matrix::rows_by_thread, 1},
                             {"rows_by_warp", rows_of_a_matrix::rows_by_warp, 32},
                             {"rows_by_block", rows_of_a_matrix::rows_by_block, 0}};

constexpr std::size_t beyond = 64; // elements around the output that have to stay as they are

/// One launch, whose sums are compared with the obvious loop.
testing::AssertionResult sums_are_right(const Sums& kernel, std::size_t rows, std::size_t columns,
                                        unsigned int block) {
    const RandomInts input(rows * columns, rows + columns);
    DeviceBuffer<int> output(rows + 2 * beyond);
    output.poison();
    const std::vector<int> poison = output.read(0, beyond);
    const unsigned int per_row = kernel.threads_per_row > 0 ? kernel.threads_per_row : block;
    const auto grid = static_cast<unsigned int>(ceil_div(rows, std::size_t{block / per_row}));
    kernel.kernel<<<grid, block>>>(input.data(), output.data() + beyond, rows, columns);
    check_launch(kernel.name);
    synchronize(kernel.name);

    std::vector<int> expected(rows);
    for (std::size_t row = 0; row < rows; ++row) expected[row] = input.sum(row * columns, columns);
    const Verification result = compare_elements(expected, output.read(beyond, rows));
    const std::string shape = std::to_string(rows) + " x " + std::to_string(columns) + ", blocks of " +
                              std::to_string(block) + ": ";
    if (!result.passed) return testing::AssertionFailure() << shape << result.wrong_places[0];
    if (output.read(0, beyond) != poison || output.read(beyond + rows, beyond) != poison)
        return testing::AssertionFailure() << shape << "writes beyond the output";
    return testing::AssertionSuccess();
}

TEST(Lesson25SumsOfRows, are_right_in_every_shape) {
    with_every_kernel_and_block(sums_kernels, [](const Sums& kernel, unsigned int block) {
        for (const std::size_t size : sizes) {
            EXPECT_TRUE(sums_are_right(kernel, 3, size, block));
            EXPECT_TRUE(sums_are_right(kernel, size, 3, block));
        }
        EXPECT_TRUE(sums_are_right(kernel, 37, 1000, block));
        EXPECT_TRUE(sums_are_right(kernel, 33, 31, block));
    });
}

TEST(Lesson25SumsOfRows, are_right_for_large_sizes) {
    for (const Sums& kernel : sums_kernels) {
        for (std::size_t i = 0; i < std::size(large); ++i) {
            EXPECT_TRUE(sums_are_right(kernel, 2, large[i], blocks[i + 1]));
            // A block of one warp per row takes longest: one of the sizes is enough.
            if (kernel.threads_per_row > 0 || i == 0) {
                EXPECT_TRUE(sums_are_right(kernel, large[i], 2, 32));
            }
        }
    }
}

TEST(Lesson25SumsOfRows, wrap_around_as_unsigned_ints_do) {
    DeviceBuffer<int> input(2 * 33), output(2);
    std::vector<int> values(2 * 33, 2'000'000'000); // 33 of them are 66,000,000,000
    std::fill_n(values.begin(), 33, -2'000'000'000);
    input.write(values);
    for (const Sums& kernel : sums_kernels) {
        output.poison();
        kernel.kernel<<<2, 32>>>(input.data(), output.data(), 2, 33);
        // 66,000,000,000 - 15 x 2^32 = 1,575,490,560
        EXPECT_EQ(output.read(), (std::vector<int>{-1'575'490'560, 1'575'490'560})) << kernel.name;
    }
}

struct Softmax {
    const char* name;
    void (*kernel)(const float*, float*, std::size_t);
    friend void PrintTo(const Softmax& kernel, std::ostream* out) { *out << kernel.name; }
};
const Softmax softmax_kernels[] = {{"softmax_three_passes", rows_of_a_matrix::softmax_three_passes},
                                   {"softmax_online", rows_of_a_matrix::softmax_online}};

/// The softmax of rows of `columns` elements, with a mark around it that has to stay.
std::vector<float> softmax(const Softmax& kernel, const std::vector<float>& values, std::size_t columns,
                           unsigned int block) {
    constexpr float mark = -7;
    DeviceBuffer<float> input(values.size()), output(values.size() + 2 * beyond);
    input.write(values);
    output.write(std::vector<float>(output.size(), mark));
    const auto rows = static_cast<unsigned int>(values.size() / columns);
    kernel.kernel<<<rows, block>>>(input.data(), output.data() + beyond, columns);
    check_launch(kernel.name);
    synchronize(kernel.name);
    const std::vector<float> around(beyond, mark);
    EXPECT_EQ(output.read(0, beyond), around) << kernel.name;
    EXPECT_EQ(output.read(beyond + values.size(), beyond), around) << kernel.name;
    return output.read(beyond, values.size());
}

/// The largest element minus the smallest, of those that are finite.
double range_of(const std::vector<float>& row) {
    double least = std::numeric_limits<double>::infinity(), most = -least;
    for (const double value : row) {
        if (!std::isfinite(value)) continue;
        least = std::min(least, value);
        most = std::max(most, value);
    }
    return most > least ? most - least : 0;
}

void expect_softmax(const Softmax& kernel, const std::vector<float>& row, unsigned int block) {
    const std::vector<float> actual = softmax(kernel, row, row.size(), block);
    const std::vector<double> expected = softmax_in_double(row);
    const double bound = softmax_error_bound(row.size(), block, range_of(row));
    for (std::size_t i = 0; i < row.size(); ++i)
        ASSERT_TRUE(is_near(actual[i], expected[i], bound))
            << kernel.name << ", " << row.size() << " columns, blocks of " << block << ", column " << i
            << ": expected " << expected[i] << ", got " << actual[i] << ", bound " << bound;
}

constexpr float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();

/// Element `col` of a row of `columns`.
struct Row {
    const char* name;
    std::function<float(std::size_t col, std::size_t columns)> element;
    bool has_softmax = true;
};

float drawn(std::size_t col) { return static_cast<float>(random_int(3, col)); }

const Row rows[] = {
    {"differences are rounded", [](std::size_t col, std::size_t) { return drawn(col) * 0.0137F; }},
    {"all are equal", [](std::size_t, std::size_t) { return 3.7F; }},
    {"exp overflows", [](std::size_t col, std::size_t) { return 5000 + drawn(col) / 100; }},
    {"exp underflows", [](std::size_t col, std::size_t) { return -5000 + drawn(col) / 100; }},
    {"far apart", [](std::size_t col, std::size_t) { return drawn(col) * 1e35F; }},
    {"the largest floats",
     [](std::size_t col, std::size_t) {
         return col % 2 == 0 ? std::numeric_limits<float>::max() : std::numeric_limits<float>::lowest();
     }},
    {"the smallest floats", [](std::size_t col, std::size_t) { return drawn(col) * 1e-43F; }},
    // The maximum grows with each element, and never again after the first.
    {"ascending", [](std::size_t col, std::size_t) { return static_cast<float>(col) * 0.1F; }},
    {"descending", [](std::size_t col, std::size_t) { return static_cast<float>(col) * -0.1F; }},
    {"one is left", [](std::size_t col, std::size_t n) { return col == n / 2 ? 5.0F : -inf; }},
    {"the last one is left", [](std::size_t col, std::size_t n) { return col == n - 1 ? -900.0F : -inf; }},
    {"the first half is masked",
     [](std::size_t col, std::size_t n) { return col < n / 2 ? -inf : drawn(col) / 64; }},
    {"a mask for each second one",
     [](std::size_t col, std::size_t n) { return col % 2 == n % 2 ? -inf : drawn(col) / 64; }},
    {"all are masked", [](std::size_t, std::size_t) { return -inf; }, false},
    {"NaN comes first", [](std::size_t col, std::size_t) { return col == 0 ? nan : drawn(col) / 64; }, false},
    {"NaN comes last", [](std::size_t col, std::size_t n) { return col == n - 1 ? nan : drawn(col); }, false},
    {"NaN in a masked row", [](std::size_t col, std::size_t n) { return col == n / 2 ? nan : -inf; }, false},
    {"+inf", [](std::size_t col, std::size_t n) { return col == n / 2 ? inf : drawn(col) / 64; }, false},
    {"+inf among -inf", [](std::size_t col, std::size_t) { return col == 0 ? inf : -inf; }, false},
    {"+inf twice", [](std::size_t col, std::size_t) { return col % 3 == 0 ? inf : drawn(col); }, false},
};

TEST(Lesson25SoftmaxOfRows, is_right_for_hard_rows) {
    for (const Softmax& kernel : softmax_kernels) {
        for (const Row& row : rows) {
            SCOPED_TRACE(testing::Message() << kernel.name << ", " << row.name);
            for (const std::size_t columns : {1, 2, 31, 33, 257, 1025}) {
                std::vector<float> values(columns);
                for (std::size_t col = 0; col < columns; ++col) values[col] = row.element(col, columns);
                for (const unsigned int block : {32, 1024}) expect_softmax(kernel, values, block);
                // The policy in words: a softmax adds up to 1, and a row without one is NaN throughout.
                const std::vector<float> actual = softmax(kernel, values, columns, 64);
                if (!row.has_softmax) {
                    EXPECT_TRUE(
                        std::all_of(actual.begin(), actual.end(), [](float y) { return std::isnan(y); }));
                    continue;
                }
                EXPECT_NEAR(std::accumulate(actual.begin(), actual.end(), 0.0), 1, 1e-4);
                for (std::size_t col = 0; col < columns; ++col)
                    EXPECT_TRUE(values[col] > -inf || actual[col] == 0) << "column " << col;
            }
        }
    }
}

/// The lesson's own input, and its own comparison.
void expect_logits(const Softmax& kernel, std::size_t rows, std::size_t columns, unsigned int block) {
    const RandomInts random(rows * columns, rows + columns);
    const Logits input(random, rows, columns);
    std::vector<float> values;
    for (std::size_t row = 0; row < rows; ++row) {
        const std::vector<float> of_row = input.row(row);
        values.insert(values.end(), of_row.begin(), of_row.end());
    }
    const Verification result =
        input.verify(softmax(kernel, values, columns, block), softmax_error_bound(columns, block));
    EXPECT_TRUE(result.passed) << kernel.name << ", " << rows << " x " << columns << ", blocks of " << block
                               << ": " << result.wrong_places[0];
}

TEST(Lesson25SoftmaxOfRows, is_right_for_every_row_length) {
    for (const Softmax& kernel : softmax_kernels) {
        for (const unsigned int block : blocks)
            for (const std::size_t columns : sizes) expect_logits(kernel, 2, columns, block);
    }
}

TEST(Lesson25SoftmaxOfRows, is_right_for_large_sizes) {
    for (const Softmax& kernel : softmax_kernels) {
        for (std::size_t i = 0; i < std::size(large); ++i) expect_logits(kernel, 1, large[i], blocks[i + 2]);
        expect_logits(kernel, 1, 65'537, 32);
    }
}

TEST(Lesson25SoftmaxOfRows, is_right_for_every_number_of_rows) {
    for (const Softmax& kernel : softmax_kernels) {
        for (std::size_t i = 0; i < std::size(sizes); ++i)
            expect_logits(kernel, sizes[i], 3, blocks[i % std::size(blocks)]);
        expect_logits(kernel, 65'537, 2, 32);
    }
}

// What the lesson gives the kernels, and what it compares them with.
TEST(Lesson25Logits, are_around_three_values_with_masks_and_two_rows_that_have_no_softmax) {
    const RandomInts random(128 * 1000, 42);
    const Logits logits(random, 128, 1000);
    DeviceBuffer<float> copy(128 * 1000);
    copy.write_from_device(logits.data(), 128 * 1000);
    const std::vector<float> on_device = copy.read();
    for (std::size_t row = 0; row < 128; ++row) {
        const std::vector<float> values = logits.row(row);
        std::size_t masked = 0, nans = 0;
        for (std::size_t col = 0; col < 1000; ++col) {
            const float value = values[col];
            masked += value == -inf;
            nans += std::isnan(value);
            if (!std::isnan(value)) {
                ASSERT_EQ(value, on_device[row * 1000 + col]);
            } else {
                ASSERT_TRUE(std::isnan(on_device[row * 1000 + col]));
            }
            if (!std::isfinite(value)) continue;
            EXPECT_LE(std::abs(value - 1000 * (static_cast<float>(row % 3) - 1)), 1000 / 64.0);
            EXPECT_EQ(value * 64, std::floor(value * 64));
        }
        EXPECT_EQ(nans, row % 64 == 63 ? 1 : 0);
        // Else 62 are expected, with a standard deviation of sqrt(1000 / 16) = 8.
        EXPECT_NEAR(static_cast<double>(masked), row % 64 == 62 ? 1000 : 62, row % 64 == 62 ? 0 : 5 * 8);
    }
}

TEST(Lesson25Logits, are_compared_element_by_element) {
    const RandomInts random(3 * 1000, 42);
    const Logits logits(random, 3, 1000);
    std::vector<float> right;
    for (std::size_t row = 0; row < 3; ++row)
        for (const double value : softmax_in_double(logits.row(row)))
            right.push_back(static_cast<float>(value));
    const double bound = softmax_error_bound(1000, 256);
    const Verification all = logits.verify(right, bound);
    EXPECT_TRUE(all.passed);
    EXPECT_EQ(all.actual, 3000);

    // 1,000 / 256 = 3.9: 4 + 5 + 5 merges, 1.01 x 7 (14 + 1) / 2^24 = 6.32e-6.
    EXPECT_NEAR(bound, 6.321e-6, 1e-9);
    // The largest element of row 1: large enough for the bound to matter.
    const auto largest = std::max_element(right.begin() + 1000, right.begin() + 2000);
    const float value = *largest;
    *largest = value * (1 + 6.1e-6F);
    EXPECT_TRUE(logits.verify(right, bound).passed);
    for (const float wrong : {value * (1 + 6.6e-6F), value * (1 - 6.6e-6F), 0.0F, nan, inf, -value}) {
        *largest = wrong;
        const Verification result = logits.verify(right, bound);
        EXPECT_FALSE(result.passed) << wrong;
        EXPECT_EQ(result.actual, 2999);
        ASSERT_EQ(result.wrong_places.size(), 1u);
        EXPECT_EQ(result.wrong_places[0].rfind("row 1, column ", 0), 0u) << result.wrong_places[0];
    }
}

TEST(Lesson25Logits, need_NaN_where_there_is_no_softmax) {
    const RandomInts random(64 * 3, 42);
    const Logits logits(random, 64, 3);
    std::vector<float> right;
    for (std::size_t row = 0; row < 64; ++row)
        for (const double value : softmax_in_double(logits.row(row)))
            right.push_back(static_cast<float>(value));
    EXPECT_TRUE(logits.verify(right, softmax_error_bound(3, 32)).passed);
    for (const std::size_t row : {62, 63}) {
        std::vector<float> wrong = right;
        EXPECT_TRUE(std::isnan(wrong[row * 3]));
        wrong[row * 3] = 0;
        EXPECT_FALSE(logits.verify(wrong, softmax_error_bound(3, 32)).passed);
    }
}

} // namespace lesson25_kernels
