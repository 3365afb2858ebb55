// inclusive_scan(), exclusive_scan() and their strategies: sizes around each choice, input and output that start
// anywhere, types of 1 to 8 bytes, an operation that is not commutative. And scan_in_rounds. Every element is compared.
#include <cuda/atomic>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <vector>

#include "../../../lessons/lesson32_scan_in_rounds/scan.cuh"
#include "harness/check.hpp"
#include "harness/device_buffer.hpp"
#include "harness/random_input.hpp"
#include "test_device.hpp"

namespace lesson32_kernels { // Other lessons have functions of the same names.
#include "../../../lessons/lesson32_scan_in_rounds/kernels.cuh"

using namespace harness;
using take_home::ScanStrategy;
namespace detail = take_home::scan_detail;

constexpr unsigned char garbage = poison_byte;

/// x -> a x + b. Composed: first f, then g.
struct Affine {
    unsigned int a, b;
    bool operator==(const Affine& other) const { return a == other.a && b == other.b; }
};

struct Compose {
    __host__ __device__ Affine operator()(Affine f, Affine g) const { return {g.a * f.a, g.a * f.b + g.b}; }
};

struct Plus {
    template <class T> __host__ __device__ T operator()(T a, T b) const { return static_cast<T>(a + b); }
};

template <class T> T element(std::size_t i) {
    const int bits = random_int(32, i);
    if constexpr (std::is_same_v<T, Affine>)
        return {static_cast<unsigned int>(bits) | 1, static_cast<unsigned int>(bits) * 77};
    else
        return static_cast<T>(bits);
}

/// A scan of one type, in a workspace that was zeroed once.
template <class T, class Op> struct Scans {
    DeviceBuffer<unsigned char> workspace{
        1 << 20}; // To ask for its size would compile the kernels of another scan.
    std::size_t bytes = workspace.bytes();
    detail::Device device;
    T init = element<T>(1 << 20);

    Scans() {
        HARNESS_CHECK(cudaMemset(workspace.data(), 0, bytes));
        HARNESS_CHECK(detail::current_device(device));
    }

    template <bool inclusive> std::vector<T> expected(const std::vector<T>& input) const {
        std::vector<T> prefixes;
        T sum = init;
        for (const T value : input) {
            if (!inclusive) prefixes.push_back(sum);
            sum = inclusive && prefixes.empty() ? value : Op{}(sum, value);
            if (inclusive) prefixes.push_back(sum);
        }
        return prefixes;
    }

    /// \param scan queues one: (input, output, n) -> cudaError_t
    template <bool inclusive, class Scan>
    void expect(std::size_t n, std::size_t from, std::size_t to, Scan scan) {
        std::vector<T> elements(n);
        for (std::size_t i = 0; i < n; ++i) elements[i] = element<T>(i + n);
        constexpr std::size_t guard = 64;
        DeviceBuffer<T> input(from + n), output(to + n + guard);
        HARNESS_CHECK(
            cudaMemcpy(input.data() + from, elements.data(), n * sizeof(T), cudaMemcpyHostToDevice));
        HARNESS_CHECK(cudaMemset(output.data(), garbage, output.bytes()));
        const cudaError_t error = scan(input.data() + from, output.data() + to, n);
        ASSERT_EQ(error, cudaSuccess) << "n = " << n;
        synchronize("scan");
        const std::vector<T> all = output.read(), prefixes = expected<inclusive>(elements);
        const auto first = all.begin() + static_cast<std::ptrdiff_t>(to);
        const auto wrong = std::mismatch(prefixes.begin(), prefixes.end(), first);
        ASSERT_TRUE(wrong.first == prefixes.end())
            << "n = " << n << ", from " << from << " to " << to << ", inclusive " << inclusive << ": element "
            << wrong.first - prefixes.begin();
        const auto* rest = reinterpret_cast<const unsigned char*>(all.data() + to + n);
        ASSERT_TRUE(
            std::all_of(rest, rest + guard * sizeof(T), [](unsigned char byte) { return byte == garbage; }))
            << "past the end, n = " << n;
    }

    template <bool inclusive> void expect_scan(std::size_t n, std::size_t from = 0, std::size_t to = 0) {
        expect<inclusive>(n, from, to, [&](const T* input, T* output, std::size_t count) {
            if constexpr (inclusive)
                return take_home::inclusive_scan(workspace.data(), bytes, input, output, count, Op{});
            else
                return take_home::exclusive_scan(workspace.data(), bytes, input, output, count, Op{}, init);
        });
    }
};

/// Both sides of each choice, in ints: 4 per vector.
constexpr std::size_t sizes[] = {1,    2,    3,    4,    5,    31,    127,   129,   511,   512,  513,
                                 1023, 1025, 4095, 4096, 4097, 16383, 16385, 65535, 65536, 65537};

// Each type and kind of scan is a dozen kernels to compile. So the two kinds that have all of them differ in everything.

TEST(Lesson32Scan, of_ints_is_right_for_every_size) {
    Scans<int, Plus> scans;
    for (const std::size_t n : sizes) scans.expect_scan<true>(n);
    // One after the other, in a workspace that was zeroed once.
    for (const std::size_t n : {300'001, 100'003, 2'100'001, 70'001}) scans.expect_scan<true>(n);
}

TEST(Lesson32Scan, is_right_wherever_input_and_output_start) {
    Scans<int, Plus> scans;
    for (const std::size_t n : {1, 3, 30, 33, 1000, 20'001, 100'001})
        for (const std::size_t from : {0, 1, 2, 3, 31})
            for (const std::size_t to : {std::size_t{0}, std::size_t{3}, from})
                scans.expect_scan<true>(n, from, to);
}

TEST(Lesson32Scan, of_8_bytes_before_each_element_keeps_the_order) {
    Scans<Affine, Compose> scans;
    for (const std::size_t n : {1, 17, 256, 257, 1000, 5003, 30'001, 150'001})
        for (const std::size_t from : {0, 1, 3}) scans.expect_scan<false>(n, from, from / 2);
    if (scans.device.capability_major >= 9) scans.expect_scan<false>(1'100'001);
}

/// A device of 3 multiprocessors: blocks take many tiles, by their number and then by the atomic.
template <bool inclusive, class T, class Op> void expect_many_rounds(std::size_t n) {
    Scans<T, Op> scans;
    scans.device.multiprocessors = 3;
    for (const auto strategy : {ScanStrategy::rounds, ScanStrategy::bulk_rounds}) {
        if (strategy == ScanStrategy::bulk_rounds && scans.device.capability_major < 9) continue;
        for (const std::size_t from : {0, 1})
            scans.template expect<inclusive>(n, from, 0, [&](const T* input, T* output, std::size_t count) {
                return take_home::scan_by<inclusive>(strategy, detail::meeting_in(scans.workspace.data()),
                                                     input, output, count, Op{}, scans.init, nullptr,
                                                     scans.device);
            });
    }
}

TEST(Lesson32Scan, takes_many_rounds) {
    expect_many_rounds<true, int, Plus>(300'001);
    expect_many_rounds<false, Affine, Compose>(150'001);
}

template <class Scan> void expect_bytes(Scan scan) {
    Scans<unsigned char, Plus> scans;
    for (const std::size_t to : {0, 1, 2, 3, 4, 5, 6, 7, 8, 13, 15})
        scans.expect<true>(140'001, 3, to,
                           [&](const unsigned char* input, unsigned char* output, std::size_t n) {
                               return scan(detail::problem_of(input, output, n, Plus{}, {}),
                                           detail::meeting_in(scans.workspace.data()));
                           });
}

TEST(Lesson32Scan, takes_types_of_1_byte) {
    expect_bytes([](const auto& problem, detail::Meeting* meeting) {
        return detail::launch_rounds<true, true, 256, 4, 2, 0>(problem, meeting, 3, nullptr);
    });
}

TEST(Lesson32Scan, of_nothing_queues_nothing) {
    Scans<int, Plus> scans;
    EXPECT_EQ(
        take_home::inclusive_scan<int>(scans.workspace.data(), scans.bytes, nullptr, nullptr, 0, Plus{}),
        cudaSuccess);
    synchronize("scan");
}

TEST(Lesson32Scan, works_in_place) {
    for (const std::size_t n : {1000, 50'001, 200'003}) {
        Scans<int, Plus> scans;
        for (const std::size_t offset : {0, 1}) {
            std::vector<int> elements(n);
            for (std::size_t i = 0; i < n; ++i) elements[i] = element<int>(i);
            DeviceBuffer<int> both(n + offset);
            int* const data = both.data() + offset;
            HARNESS_CHECK(cudaMemcpy(data, elements.data(), n * sizeof(int), cudaMemcpyHostToDevice));
            HARNESS_CHECK(
                take_home::inclusive_scan(scans.workspace.data(), scans.bytes, data, data, n, Plus{}));
            std::vector<int> prefixes(n);
            HARNESS_CHECK(cudaMemcpy(prefixes.data(), data, n * sizeof(int), cudaMemcpyDeviceToHost));
            EXPECT_TRUE(prefixes == scans.expected<true>(elements)) << n << ", offset " << offset;
        }
    }
}

TEST(Lesson32Scan, says_how_much_workspace_it_needs_and_refuses_less) {
    std::size_t bytes = 0, more = 0;
    EXPECT_EQ(take_home::inclusive_scan<int>(nullptr, bytes, nullptr, nullptr, 1000, Plus{}), cudaSuccess);
    EXPECT_EQ(take_home::inclusive_scan<int>(nullptr, more, nullptr, nullptr, 100'000'000, Plus{}),
              cudaSuccess);
    EXPECT_GT(more, bytes);
    Scans<int, Plus> scans;
    scans.bytes = bytes;
    scans.expect_scan<true>(1000);
    --bytes;
    EXPECT_EQ(take_home::inclusive_scan<int>(scans.workspace.data(), bytes, nullptr, nullptr, 1000, Plus{}),
              cudaErrorInvalidValue);
}

/// On a device of 132 multiprocessors and on one of 5, blocks take other tiles.
TEST(Lesson32Scan, of_floats_gives_the_same_bits_whoever_takes_which_tile) {
    const std::size_t n = 300'001;
    Scans<float, Plus> scans;
    std::vector<float> elements(n);
    for (std::size_t i = 0; i < n; ++i) elements[i] = static_cast<float>(random_int(32, i)) / 7;
    DeviceBuffer<float> input(n), output(n);
    input.write(elements);
    std::vector<std::vector<float>> results;
    for (const int multiprocessors : {132, 5}) {
        const auto problem = detail::problem_of(input.data(), output.data(), n, Plus{}, 0.0F);
        detail::Meeting* const meeting = detail::meeting_in(scans.workspace.data());
        HARNESS_CHECK(
            (detail::launch_rounds<true, true, 256, 4, 2, 0>(problem, meeting, multiprocessors, nullptr)));
        results.push_back(output.read());
    }
    EXPECT_EQ(std::memcmp(results[0].data(), results[1].data(), n * sizeof(float)), 0);
}

/// Announces the sum 1 of each tile, and adds up those before `tile`.
__global__ void sum_far_back(detail::Meeting* meeting, std::size_t tile, unsigned int* result) {
    __shared__ unsigned int of_row[detail::max_rows];
    const detail::Region region{meeting, 1};
    for (std::size_t i = threadIdx.x; i < tile; i += blockDim.x)
        detail::Announcement<unsigned int>::write(region, i, 1 + i);
    detail::Known<unsigned int> known{{0, true}, 0};
    const auto before = detail::sum_before<2>(region, tile, known, {}, of_row, Plus{});
    result[threadIdx.x] = before.sum;
}

TEST(Lesson32Scan, adds_up_more_sums_than_fit_between_two_barriers) {
    DeviceBuffer<unsigned char> workspace(1 << 20);
    DeviceBuffer<unsigned int> result(64);
    for (const std::size_t tile : {1, 32, 33, 64 * 32, 64 * 32 + 1, 64 * 32 * 2 + 70}) {
        HARNESS_CHECK(cudaMemset(workspace.data(), 0, workspace.bytes()));
        sum_far_back<<<1, 64>>>(detail::meeting_in(workspace.data()), tile, result.data());
        check_launch("sum_far_back");
        EXPECT_EQ(result.read(),
                  std::vector<unsigned int>(64, static_cast<unsigned int>(tile * (tile + 1) / 2)));
    }
}

TEST(Lesson32Choice, changes_where_the_page_says) {
    constexpr std::size_t Ki = 1024;
    const detail::Device hopper{132, 9, 227 * 1024}, ampere{108, 8, 163 * 1024}, small{24, 12, 99 * 1024};
    using take_home::choose_scan;
    for (const auto& device : {hopper, ampere, small}) {
        EXPECT_EQ(choose_scan(1, device), ScanStrategy::one_block);
        EXPECT_EQ(choose_scan(Ki, device), ScanStrategy::one_block);
        EXPECT_EQ(choose_scan(512 * Ki - 1, device), ScanStrategy::rounds);
    }
    EXPECT_EQ(choose_scan(16 * Ki, hopper), ScanStrategy::one_cluster);
    EXPECT_EQ(choose_scan(16 * Ki, ampere), ScanStrategy::rounds);
    EXPECT_EQ(choose_scan(512 * Ki, hopper), ScanStrategy::bulk_rounds);
    EXPECT_EQ(choose_scan(512 * Ki, ampere), ScanStrategy::rounds);
    EXPECT_EQ(choose_scan(512 * Ki, small), ScanStrategy::rounds);
}

TEST(Lesson32Rounds, are_right_for_every_size_and_grid) {
    Scans<int, Plus> scans;
    for (const unsigned int block : {32u, 256u, 1024u})
        for (const unsigned int grid : {1u, 3u, 50u})
            for (const std::size_t n : {1, 31, 1000, 4099, 20'001}) {
                const auto tiles = static_cast<unsigned int>((n + block - 1) / block);
                DeviceBuffer<Word> words(tiles);
                scans.expect<true>(n, 0, 0, [&](const int* input, int* output, std::size_t count) {
                    HARNESS_CHECK(cudaMemset(words.data(), 0, words.bytes()));
                    return detail::launch(scan_in_rounds, std::min(tiles, grid), block, 0, 0, nullptr, input,
                                          output, count, words.data());
                });
            }
}

} // namespace lesson32_kernels
