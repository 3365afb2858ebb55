// softmax() and its units, for rows of every length near a boundary, wherever input and output start, in place or not,
// in float and half, and for rows that a careless softmax gets wrong.
#include <cuda_fp16.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "../../../lessons/lesson25_rows/data.hpp"
#include "../../../lessons/lesson31_a_softmax_for_every_shape/data.hpp"
#include "../../../lessons/lesson31_a_softmax_for_every_shape/softmax.cuh"
#include "harness/check.hpp"
#include "harness/random_input.hpp"
#include "harness/reduction.hpp"
#include "test_device.hpp"

namespace lesson31_kernels { // Other lessons have functions of the same names.
#include "../../../lessons/lesson31_a_softmax_for_every_shape/kernels.cuh"

using namespace harness;
using take_home::softmax_detail::Unit, take_home::softmax_detail::Matrix, take_home::softmax_detail::Device,
    take_home::softmax_detail::choose;

constexpr float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
constexpr std::size_t around = 64; // elements before and after the output that have to stay as they are

/// Multiples of 1/64 that lie at most 32 apart: a half holds each of them.
float drawn(std::size_t i) { return static_cast<float>(random_int(31, i)) / 64; }

template <class T> T rounded(float value) {
    if constexpr (std::is_same_v<T, __half>) {
        return __float2half(value);
    } else {
        return value;
    }
}
float widened(float value) { return value; }
float widened(__half value) { return __half2float(value); }

struct Case {
    std::size_t rows, columns, input_offset = 0, output_offset = 0;
    bool in_place = false;
    std::string text() const {
        return std::to_string(rows) + " x " + std::to_string(columns) + ", offsets " +
               std::to_string(input_offset) + " and " + std::to_string(output_offset) +
               (in_place ? ", in place" : "");
    }
};

double range_of(const std::vector<float>& row) {
    double least = inf, most = -inf;
    for (const float value : row) {
        if (!std::isfinite(value)) continue;
        least = std::min<double>(least, value);
        most = std::max<double>(most, value);
    }
    return most > least ? most - least : 0;
}

/// How far a result may be from the softmax: a half adds half a unit in the last place, or of the smallest subnormal.
template <class T> bool is_right(T actual, double expected, double bound) {
    if (std::is_same_v<T, float>) return is_near(widened(actual), expected, bound);
    return std::isnan(expected)
               ? std::isnan(widened(actual))
               : std::abs(widened(actual) - expected) <= (bound + 0x1p-11) * expected + 0x1p-25;
}

using Element = std::function<float(std::size_t row, std::size_t col)>;

/// Queues one softmax by `queue` and compares it, row for row, with the one in double.
template <class T, class Queue>
void expect_softmax(const Case& c, const Element& element, const Queue& queue, bool has_logsumexp = true) {
    SCOPED_TRACE(c.text());
    const std::size_t n = c.rows * c.columns;
    const T mark = rounded<T>(-7);
    DeviceBuffer<T> input(around + c.input_offset + n + around), other(around + c.output_offset + n + around);
    DeviceBuffer<T>& output = c.in_place ? input : other;
    const std::size_t first_in = around + c.input_offset,
                      first_out = c.in_place ? first_in : around + c.output_offset;
    DeviceBuffer<float> logsumexp(c.rows);
    std::vector<T> values(n);
    for (std::size_t i = 0; i < n; ++i) values[i] = rounded<T>(element(i / c.columns, i % c.columns));
    output.write(std::vector<T>(output.size(), mark));
    input.write(values, first_in);
    logsumexp.poison();

    ASSERT_EQ(queue(Matrix<T>{input.data() + first_in, output.data() + first_out, logsumexp.data(), c.rows,
                              c.columns}),
              cudaSuccess);
    synchronize("softmax");

    const std::vector<T> all = output.read();
    const std::vector<float> logs = logsumexp.read();
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (i < first_out || i >= first_out + n)
            ASSERT_EQ(widened(all[i]), widened(mark)) << "beside the output: " << i;
    }
    for (std::size_t row = 0; row < c.rows; ++row) {
        std::vector<float> of_row(c.columns);
        for (std::size_t col = 0; col < c.columns; ++col)
            of_row[col] = widened(values[row * c.columns + col]);
        const std::vector<double> expected = softmax_in_double(of_row);
        const double bound = softmax_bound(c.columns, range_of(of_row));
        for (std::size_t col = 0; col < c.columns; ++col) {
            const T actual = all[first_out + row * c.columns + col];
            ASSERT_TRUE(is_right(actual, expected[col], bound))
                << "row " << row << ", column " << col << ": expected " << expected[col] << ", got "
                << widened(actual);
        }
        if (!has_logsumexp) continue;
        double max = -inf, sum = 0;
        for (const float value : of_row) max = value > max ? value : max;
        for (const float value : of_row) sum += std::exp(value - max);
        const bool is_masked = std::count(of_row.begin(), of_row.end(), -inf) == static_cast<long>(c.columns);
        const double log = is_masked ? -inf : max + std::log(sum);
        EXPECT_TRUE(std::isfinite(log)
                        ? std::abs(logs[row] - log) <= bound + 0x1p-23 * std::max(1.0, std::abs(log))
                        : std::isnan(log) == std::isnan(logs[row]) && (std::isnan(log) || logs[row] == log))
            << "row " << row << ": expected " << log << ", got " << logs[row];
    }
}

Device this_device() {
    Device device;
    HARNESS_CHECK(take_home::softmax_detail::current_device(device));
    return device;
}

/// By the unit that softmax() chooses, in a workspace of the size that it asks for.
template <class T> cudaError_t queue_softmax(const Matrix<T>& m) {
    std::size_t bytes = 0;
    cudaError_t error = take_home::softmax<T>(nullptr, bytes, m.input, m.output, m.rows, m.columns);
    if (error != cudaSuccess) return error;
    static DeviceBuffer<unsigned char> workspace(1 << 20); // outlives the launch
    if (bytes > workspace.size()) return cudaErrorMemoryAllocation;
    workspace.poison();
    return take_home::softmax(workspace.data(), bytes, m.input, m.output, m.rows, m.columns, nullptr,
                              m.logsumexp);
}

Element random_elements(std::size_t columns) {
    return [columns](std::size_t row, std::size_t col) { return drawn(row * columns + col); };
}

template <class T> void expect_softmax(const Case& c) {
    expect_softmax<T>(c, random_elements(c.columns), queue_softmax<T>);
}

template <class T> void expect_softmax_by(Unit unit, const Case& c, const Device& device) {
    DeviceBuffer<unsigned char> workspace(1 << 16);
    expect_softmax<T>(c, random_elements(c.columns), [&](const Matrix<T>& matrix) {
        EXPECT_LE(take_home::softmax_detail::workspace_bytes_of(matrix, device), workspace.size());
        return take_home::softmax_detail::softmax_by(unit, workspace.data() + 1, matrix, nullptr, device);
    });
}

/// Both sides of each length at which lanes, vectors or warps change.
constexpr std::size_t short_rows[] = {
    1,  2,  3,  4,  5,   6,   7,   8,   9,   12,  15,  16,  17,  20,  24,  28,  31,  32,  33,   40,   63,
    64, 65, 72, 96, 127, 128, 129, 132, 136, 200, 255, 256, 257, 264, 511, 512, 513, 520, 1000, 1023, 1024};

TEST(Lesson31Softmax, is_right_for_short_rows) {
    for (const std::size_t columns : short_rows) {
        for (const std::size_t rows : {1, 33}) expect_softmax<float>({rows, columns});
        expect_softmax<__half>({9, columns, 0, 0, true});
    }
    for (const std::size_t rows : {1023, 1024, 1025}) { // a block of 256 threads, and its last vector
        for (const std::size_t columns : {1, 2}) expect_softmax<float>({rows, columns, 0, 0, true});
        for (const std::size_t columns : {1, 2, 4}) expect_softmax<__half>({rows, columns});
    }
}

TEST(Lesson31Softmax, is_right_for_long_rows) {
    for (const std::size_t columns : {1025, 1028, 2048, 2049, 4095, 5000, 8192, 16'383, 16'384, 16'385}) {
        expect_softmax<float>({2, columns});
        expect_softmax<__half>({2, columns, 0, 0, true});
    }
    for (const std::size_t columns : {24'576, 24'577, 50'257, 65'537})
        expect_softmax<float>({1, columns, 0, 0, true});
}

TEST(Lesson31Softmax, is_right_for_large_sizes) {
    for (const std::size_t columns : {131'073, 262'144, 262'145}) expect_softmax<float>({1, columns});
    expect_softmax<__half>({1, 262'143, 3, 3});
    expect_softmax<__half>({1, 1'000'003});
    expect_softmax<float>({65'537, 3});
    expect_softmax<float>({3, 300'001, 1, 2});
}

TEST(Lesson31Softmax, is_right_wherever_input_and_output_start) {
    for (const std::size_t columns : {1, 2, 3, 4, 16, 31, 32, 33, 64, 129, 256, 1001, 1024}) {
        for (std::size_t offset = 0; offset < 4; ++offset) {
            expect_softmax<float>({3, columns, offset, offset});
            expect_softmax<float>({3, columns, offset, (offset + columns) % 4});
            expect_softmax<float>({3, columns, offset, 0, true});
        }
        for (const std::size_t offset : {1, 4, 7}) {
            expect_softmax<__half>({3, columns, offset, offset});
            expect_softmax<__half>({3, columns, offset, 2});
        }
    }
    for (std::size_t offset = 0; offset < 4; ++offset) {
        expect_softmax<float>({2, 3001, offset, offset});
        expect_softmax<float>({1, 17'000, offset, 0});
    }
}

TEST(Lesson31Units, are_right_at_any_length_that_fits) {
    const Device device = this_device();
    for (const Unit unit : {Unit::lanes, Unit::block, Unit::cluster, Unit::grid}) {
        SCOPED_TRACE(static_cast<int>(unit));
        for (const std::size_t columns : {1, 31, 33, 1000, 1024})
            expect_softmax_by<float>(unit, {3, columns, 1, 1}, device);
        if (unit == Unit::lanes) continue;
        expect_softmax_by<float>(unit, {2, 17'001}, device);
        expect_softmax_by<__half>(unit, {2, 17'001, 0, 1}, device);
    }
    expect_softmax_by<float>(Unit::block, {1, 32'768}, device);
}

/// One multiprocessor gets 8 blocks, 4 for each row. Of its 6 pieces a block has one or two.
TEST(Lesson31Units, share_the_pieces_of_a_row) {
    const Device small{1, 9};
    for (const std::size_t columns : {5 * 8192 + 1, 6 * 8192}) {
        expect_softmax_by<float>(Unit::grid, {2, columns, 0, 0, true}, small);
        expect_softmax_by<__half>(Unit::grid, {2, columns, 1, 2}, small);
    }
}

TEST(Lesson31Units, do_without_clusters_before_compute_capability_9) {
    const Device ampere{108, 8};
    const auto chosen = [&](std::size_t columns) {
        return choose(Matrix<float>{nullptr, nullptr, nullptr, 1, columns}, ampere);
    };
    EXPECT_EQ(chosen(16'385), Unit::block);
    EXPECT_EQ(chosen(32'768), Unit::block);
    EXPECT_EQ(chosen(32'769), Unit::grid);
    const Matrix<float> matrix{nullptr, nullptr, nullptr, 1, 100'000};
    EXPECT_EQ(take_home::softmax_detail::softmax_by(Unit::cluster, nullptr, matrix, nullptr, ampere),
              cudaErrorInvalidValue);
    EXPECT_EQ(take_home::softmax_detail::softmax_by(Unit::block, nullptr, matrix, nullptr, ampere),
              cudaErrorInvalidValue);
}

TEST(Lesson31Choice, changes_where_the_page_says) {
    const Device hopper{132, 9};
    const auto chosen = [&](std::size_t columns) {
        return choose(Matrix<float>{nullptr, nullptr, nullptr, 1, columns}, hopper);
    };
    const auto of_halves = [&](std::size_t columns) {
        return choose(Matrix<__half>{nullptr, nullptr, nullptr, 1, columns}, hopper);
    };
    for (const std::size_t columns : {1, 2}) EXPECT_EQ(chosen(columns), Unit::thread);
    for (const std::size_t columns : {3, 4, 1024}) EXPECT_EQ(chosen(columns), Unit::lanes);
    for (const std::size_t columns : {1025, 16 * 1024}) EXPECT_EQ(chosen(columns), Unit::block);
    for (const std::size_t columns : {16 * 1024 + 1, 256 * 1024}) EXPECT_EQ(chosen(columns), Unit::cluster);
    EXPECT_EQ(chosen(256 * 1024 + 1), Unit::grid);
    EXPECT_EQ(of_halves(4), Unit::thread);
    EXPECT_EQ(of_halves(8), Unit::lanes);
    alignas(16) static float floats[4];
    EXPECT_EQ(choose(Matrix<float>{floats + 1, floats + 1, nullptr, 1, 2}, hopper), Unit::lanes);
}

struct HardRow {
    const char* name;
    std::function<float(std::size_t col, std::size_t columns)> element;
};
constexpr float largest = std::numeric_limits<float>::max();
const HardRow hard_rows[] = {
    {"all are equal", [](std::size_t, std::size_t) { return 3.7F; }},
    {"exp overflows", [](std::size_t col, std::size_t) { return 5000 + drawn(col); }},
    {"exp underflows", [](std::size_t col, std::size_t) { return -5000 + drawn(col); }},
    {"far apart", [](std::size_t col, std::size_t) { return drawn(col) * 1e36F; }},
    {"the largest floats", [](std::size_t col, std::size_t) { return col % 2 == 0 ? largest : -largest; }},
    {"masked by the least float", [](std::size_t, std::size_t) { return -largest; }},
    {"the smallest floats", [](std::size_t col, std::size_t) { return drawn(col) * 1e-43F; }},
    {"ascending", [](std::size_t col, std::size_t) { return static_cast<float>(col) * 0.1F; }},
    {"descending", [](std::size_t col, std::size_t) { return static_cast<float>(col) * -0.1F; }},
    {"one is left", [](std::size_t col, std::size_t n) { return col == n / 2 ? 5.0F : -inf; }},
    {"the last one is left", [](std::size_t col, std::size_t n) { return col == n - 1 ? -900.0F : -inf; }},
    {"the first half is masked",
     [](std::size_t col, std::size_t n) { return col < n / 2 ? -inf : drawn(col); }},
    {"all are masked", [](std::size_t, std::size_t) { return -inf; }},
    {"NaN comes first", [](std::size_t col, std::size_t) { return col == 0 ? nan : drawn(col); }},
    {"NaN comes last", [](std::size_t col, std::size_t n) { return col == n - 1 ? nan : drawn(col); }},
    {"NaN in a masked row", [](std::size_t col, std::size_t n) { return col == n / 2 ? nan : -inf; }},
    {"+inf", [](std::size_t col, std::size_t n) { return col == n / 2 ? inf : drawn(col); }},
    {"+inf among -inf", [](std::size_t col, std::size_t) { return col == 0 ? inf : -inf; }},
    {"+inf twice", [](std::size_t col, std::size_t) { return col % 3 == 0 ? inf : drawn(col); }},
};

TEST(Lesson31Softmax, is_right_for_hard_rows) {
    const Device device = this_device();
    DeviceBuffer<unsigned char> workspace(1 << 16);
    const auto expect_each = [&](Unit unit, std::size_t columns) {
        const Case one_of_each{std::size(hard_rows), columns};
        expect_softmax<float>(
            one_of_each,
            [&](std::size_t row, std::size_t col) { return hard_rows[row].element(col, columns); },
            [&](const Matrix<float>& m) {
                return take_home::softmax_detail::softmax_by(unit, workspace.data(), m, nullptr, device);
            });
    };
    for (const std::size_t columns : {1, 2}) expect_each(Unit::thread, columns);
    for (const std::size_t columns : {1, 2, 31, 33, 64, 257, 1024}) expect_each(Unit::lanes, columns);
    for (const std::size_t columns : {2, 33, 1025}) expect_each(Unit::block, columns);
    for (const std::size_t columns : {33, 2050}) expect_each(Unit::cluster, columns);
    for (const std::size_t columns : {33, 9000}) expect_each(Unit::grid, columns);
}

TEST(Lesson31Softmax, of_nothing_queues_nothing) {
    DeviceBuffer<float> output(4);
    DeviceBuffer<unsigned char> workspace(16);
    output.write(std::vector<float>(4, -7));
    for (const auto& [rows, columns] : {std::pair<std::size_t, std::size_t>{0, 4}, {4, 0}, {0, 0}}) {
        std::size_t bytes = 0;
        ASSERT_EQ(take_home::softmax<float>(nullptr, bytes, nullptr, output.data(), rows, columns),
                  cudaSuccess);
        ASSERT_LE(bytes, workspace.size());
        ASSERT_EQ(take_home::softmax<float>(workspace.data(), bytes, nullptr, output.data(), rows, columns),
                  cudaSuccess);
    }
    synchronize("softmax");
    EXPECT_EQ(output.read(), std::vector<float>(4, -7));
}

TEST(Lesson31Softmax, says_how_much_workspace_it_needs_and_refuses_less) {
    const float* input = nullptr;
    float* output = nullptr;
    std::size_t bytes = 0;
    ASSERT_EQ(take_home::softmax(nullptr, bytes, input, output, 1000, 1000), cudaSuccess);
    EXPECT_EQ(bytes, 1u) << "not 0: an allocation of 0 bytes is null, which only asks";
    ASSERT_EQ(take_home::softmax(nullptr, bytes, input, output, 2, 300'000), cudaSuccess);
    // 300,000 columns are 37 pieces, and so many blocks.
    EXPECT_EQ(bytes, 2 * 37 * sizeof(take_home::softmax_detail::Part) + 7);
    unsigned char workspace = 0;
    std::size_t less = bytes - 1;
    EXPECT_EQ(take_home::softmax(&workspace, less, input, output, 2, 300'000), cudaErrorInvalidValue);
}

TEST(Lesson31InRegisters, is_right_for_every_row_length) {
    for (const std::size_t columns : short_rows) {
        for (const unsigned int block : {32u, 128u, 1024u}) {
            const auto queue = [&](const Matrix<float>& m) {
                const auto grid = static_cast<unsigned int>(ceil_div(m.rows * 32, std::size_t{block}));
                softmax_in_registers<<<grid, block>>>(m.input, m.output, m.rows, m.columns);
                return cudaGetLastError();
            };
            expect_softmax<float>({5, columns}, random_elements(columns), queue, false);
        }
    }
}

} // namespace lesson31_kernels
