// The kernels of lesson 27, on every size that has a boundary near it, with every block. Every element is
// compared.
#include <cuda/atomic>
#include <gtest/gtest.h>

#include <cstddef>
#include <numeric>
#include <vector>

#include "harness/check.hpp"
#include "harness/random_input.hpp"
#include "harness/reduction.hpp"
#include "sizes.hpp"
#include "test_device.hpp"

namespace lesson27_kernels { // Other lessons have functions of the same names.
#include "../../../lessons/lesson27_scan/in_shared_memory.cuh"
#include "../../../lessons/lesson27_scan/kernels.cuh"
#include "../../../lessons/lesson27_scan/wide_lookback.cuh"

using namespace harness;

std::vector<int> inclusive_sums(const std::vector<int>& values) {
    std::vector<int> sums;
    unsigned int sum = 0;
    for (const int value : values) sums.push_back(static_cast<int>(sum += static_cast<unsigned int>(value)));
    return sums;
}

/// Scans n ints on the device, with tiles of `block`.
using Scan = void (*)(const int* input, int* output, std::size_t n, unsigned int block);

template <auto kernel, unsigned int unused_after> // ints of shared memory per unused one; 0: none unused
void scan_tiles(const int* input, int* output, std::size_t n, unsigned int block) {
    const auto tiles = static_cast<unsigned int>(ceil_div(n, block));
    const std::size_t words = block + (unused_after > 0 ? block / unused_after : 0);
    DeviceBuffer<int> sums(tiles);
    sums.poison();
    kernel<<<tiles, block, words * sizeof(int)>>>(input, output, n, sums.data());
    check_launch("a scan of tiles");
    if (tiles == 1) return;
    scan_tiles<kernel, unused_after>(sums.data(), sums.data(), tiles, block);
    add_tile_sums<<<tiles, block>>>(output, n, sums.data());
    check_launch("add_tile_sums");
    synchronize("add_tile_sums"); // before the sums are freed
}

void scan_in_one_pass(const int* input, int* output, std::size_t n, unsigned int block) {
    const auto tiles = static_cast<unsigned int>(ceil_div(n, block));
    DeviceBuffer<int> sums(tiles), prefixes(tiles);
    DeviceBuffer<unsigned int> next_and_status(1 + std::size_t{tiles});
    sums.poison(), prefixes.poison();
    HARNESS_CHECK(cudaMemset(next_and_status.data(), 0, next_and_status.bytes()));
    unsigned int* const next = next_and_status.data();
    scan_lookback<<<tiles, block>>>(input, output, n, {next, next + 1, sums.data(), prefixes.data()});
    check_launch("scan_lookback");
    synchronize("scan_lookback");
    EXPECT_EQ(next_and_status.read(0, 1).front(), tiles) << "each block takes one number";
}

void scan_in_one_wide_pass(const int* input, int* output, std::size_t n, unsigned int block) {
    const auto tiles = static_cast<unsigned int>(ceil_div(n, elements_per_thread * block));
    DeviceBuffer<unsigned int> next(1);
    DeviceBuffer<unsigned long long> words(tiles);
    HARNESS_CHECK(cudaMemset(next.data(), 0, next.bytes()));
    HARNESS_CHECK(cudaMemset(words.data(), 0, words.bytes()));
    scan_lookback_wide<<<tiles, block>>>(input, output, n, {next.data(), words.data()});
    check_launch("scan_lookback_wide");
    synchronize("scan_lookback_wide");
    EXPECT_EQ(next.read(0, 1).front(), tiles) << "each block takes one number";
}

struct Kernel {
    const char* name;
    Scan scan;
};
constexpr Kernel kernels[] = {
    {"scan_hillis_steele", scan_tiles<scan_hillis_steele, 0>},
    {"scan_blelloch", scan_tiles<scan_blelloch, 0>},
    {"scan_blelloch_padded", scan_tiles<scan_blelloch_padded, 32>},
    {"scan_warps", scan_tiles<scan_warps, 0>},
    {"scan_lookback", scan_in_one_pass},
    {"scan_lookback_wide", scan_in_one_wide_pass},
};

void expect_sums(const Kernel& kernel, unsigned int block, const int* input, const std::vector<int>& values) {
    DeviceBuffer<int> output(values.size() + 1);
    output.poison();
    const int untouched = output.read(0, 1).front();
    kernel.scan(input, output.data(), values.size(), block);
    synchronize(kernel.name);
    std::vector<int> expected = inclusive_sums(values);
    expected.push_back(untouched); // Nothing is written past the end.
    const Verification result = compare_elements(expected, output.read());
    EXPECT_TRUE(result.passed) << "n = " << values.size() << ": "
                               << testing::PrintToString(result.wrong_places);
}

void expect_sums(const Kernel& kernel, unsigned int block, std::size_t n) {
    const RandomInts input(n, n);
    expect_sums(kernel, block, input.data(), input.values(0, n));
}

TEST(Lesson27Scans, are_right_for_every_size) {
    with_every_kernel_and_block(kernels, [](const Kernel& kernel, unsigned int block) {
        for (const std::size_t n : sizes) expect_sums(kernel, block, n);
    });
}

TEST(Lesson27Scans, are_right_for_large_sizes) {
    with_every_kernel_and_block(kernels, [](const Kernel& kernel, unsigned int block) {
        expect_sums(kernel, block, large_size_for(block));
    });
}

// 5,000 values of about 2^30: the sums wrap 1,250 times.
TEST(Lesson27Scans, wrap_as_unsigned_ints_do) {
    std::vector<int> values(5000);
    std::iota(values.begin(), values.end(), 1 << 30);
    DeviceBuffer<int> input(values.size());
    input.write(values);
    with_every_kernel_and_block(kernels, [&](const Kernel& kernel, unsigned int block) {
        expect_sums(kernel, block, input.data(), values);
    });
}

__global__ void look_back_once(WideTiles tiles, unsigned int tile, int* sums) {
    sums[threadIdx.x] = look_back_by_warp(tiles, tile);
}

// Blocks that run side by side rarely leave more than a few tiles without a prefix; here up to 100 do.
TEST(Lesson27WideLookBack, goes_as_far_as_the_nearest_prefix) {
    const RandomInts random(100, 27);
    const std::vector<int> values = random.values(0, 100);
    DeviceBuffer<unsigned long long> words(100);
    DeviceBuffer<int> sums(32);
    for (const unsigned int with_prefix : {0, 5, 31, 32, 67, 68, 99}) {
        std::vector<unsigned long long> announced;
        for (unsigned int tile = 0; tile < 100; ++tile) {
            const unsigned long long status = tile == 0 || tile == with_prefix ? all_up_to_it : its_sum;
            announced.push_back(status << 32 | static_cast<unsigned int>(values[tile]));
        }
        words.write(announced);
        for (const unsigned int tile : {100u, with_prefix + 1}) {
            look_back_once<<<1, 32>>>({nullptr, words.data()}, tile, sums.data());
            synchronize("look_back_once");
            const int expected = std::accumulate(values.begin() + with_prefix, values.begin() + tile, 0);
            EXPECT_EQ(sums.read(), std::vector<int>(32, expected)) << "tile " << tile << ", " << with_prefix;
        }
    }
}

} // namespace lesson27_kernels
