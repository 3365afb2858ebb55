// The kernels of lesson 26, on every size that has a boundary near it, with every block, on uniform and on
// skewed data.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "../../../lessons/lesson26_histogram/data.hpp"
#include "../../../lessons/lesson26_histogram/kernels.cuh"
#include "../../../lessons/lesson26_histogram/vectors.cuh"
#include "harness/check.hpp"
#include "harness/random_input.hpp"
#include "harness/reduction.hpp"
#include "sizes.hpp"
#include "test_device.hpp"

namespace lesson26_kernels {

using namespace harness;

constexpr unsigned int skews[] = {0, 90, 100};

struct Kernel {
    const char* name;
    void (*kernel)(const int*, int*, std::size_t);
    bool per_warp = false;
};
constexpr Kernel kernels[] = {{"histogram_global", histogram_global},
                              {"histogram_shared", histogram_shared},
                              {"histogram_private", histogram_private, true},
                              {"histogram_vectors<8>", histogram_vectors<8>}};

/// Random ints, of which `skew` in 100 are the same one: one that no random int is, with its sign bit set.
std::vector<int> skewed(std::size_t n, unsigned int skew) {
    std::vector<int> values(n);
    for (std::size_t i = 0; i < n; ++i)
        values[i] = static_cast<unsigned int>(random_int(n + 1, i) + 1000) % 100 < skew ? -2'000'000'001
                                                                                        : random_int(n, i);
    return values;
}

/// Each bin's value before the launch. All differ, so that no two can be mixed up.
std::vector<int> found_counts() {
    std::vector<int> counts(bins);
    for (unsigned int bin = 0; bin < bins; ++bin) counts[bin] = static_cast<int>(1'000'003 * (bin + 1));
    return counts;
}

std::vector<int> expected_counts(const std::vector<int>& values) {
    std::vector<int> counts = found_counts();
    for (const int value : values) ++counts[static_cast<unsigned char>(value)];
    return counts;
}

/// One launch, with words around the histogram that have to stay as they are.
/// \param offset the int of a buffer with which the input begins
std::vector<int> run(const Kernel& kernel, const std::vector<int>& values, unsigned int grid,
                     unsigned int block, std::size_t offset = 0) {
    DeviceBuffer<int> input(offset + values.size()), histogram(3 * bins);
    input.write(values, offset);
    histogram.write(std::vector<int>(3 * bins, 77));
    histogram.write(found_counts(), bins);
    const std::size_t shared_bytes = kernel.per_warp ? block / 32 * bins * sizeof(int) : 0;
    kernel.kernel<<<grid, block, shared_bytes>>>(input.data() + offset, histogram.data() + bins,
                                                 values.size());
    check_launch(kernel.name);
    synchronize(kernel.name);
    EXPECT_EQ(histogram.read(0, bins), std::vector<int>(bins, 77));
    EXPECT_EQ(histogram.read(2 * bins, bins), std::vector<int>(bins, 77));
    return histogram.read(bins, bins);
}

TEST(Lesson26Histogram, adds_to_the_bins_for_every_size) {
    with_every_kernel_and_block(kernels, [](const Kernel& kernel, unsigned int block) {
        for (const std::size_t n : sizes_for(block)) {
            for (const unsigned int skew : skews) {
                const std::vector<int> values = skewed(n, skew);
                const auto grid = static_cast<unsigned int>(ceil_div(n, std::size_t{16} * block));
                ASSERT_EQ(run(kernel, values, grid, block), expected_counts(values))
                    << "n = " << n << ", skew " << skew;
            }
        }
    });
}

// One block for all elements, a last round in which some blocks have none, and blocks without any.
TEST(Lesson26Histogram, is_right_with_any_grid) {
    with_every_kernel_and_block(kernels, [](const Kernel& kernel, unsigned int block) {
        for (const std::size_t n : {1, 1000, 10'007}) {
            const std::vector<int> values = skewed(n, 50);
            for (const unsigned int grid : {1u, 2u, 7u, 100u})
                EXPECT_EQ(run(kernel, values, grid, block), expected_counts(values))
                    << n << ", grid " << grid;
        }
    });
}

// Its vectors begin at a line of 32 ints: up to 31 ints come before, and up to three are left. Some inputs
// end before.
TEST(Lesson26HistogramVectors, is_right_from_any_int_on) {
    for (const Kernel& kernel : {kernels[3], Kernel{"histogram_vectors<1>", histogram_vectors<1>}})
        for (const std::size_t offset : {1, 2, 3, 4, 31, 32, 33})
            for (const std::size_t n : {0, 1, 2, 28, 29, 31, 32, 34, 35, 36, 4099}) {
                const std::vector<int> values = skewed(n, 50);
                ASSERT_EQ(run(kernel, values, 2, 64, offset), expected_counts(values))
                    << kernel.name << ", n = " << n << ", from int " << offset << " on";
            }
}

TEST(Lesson26HistogramShared, needs_256_ints_of_shared_memory) {
    cudaFuncAttributes attributes;
    HARNESS_CHECK(cudaFuncGetAttributes(&attributes, histogram_shared));
    EXPECT_EQ(attributes.sharedSizeBytes, 256 * sizeof(int));
    HARNESS_CHECK(cudaFuncGetAttributes(&attributes, histogram_private));
    EXPECT_EQ(attributes.sharedSizeBytes, 0u) << "all of it is dynamic";
}

// The lesson's input for the kernels, and its reference.
TEST(Lesson26SkewedInts, are_zeros_as_often_as_asked_and_random_ints_else) {
    constexpr std::size_t n = 100'003;
    const RandomInts random(n, 42);
    const std::vector<int> values = random.values(0, n);
    for (const unsigned int skew : {0, 1, 50, 90, 100}) {
        const SkewedInts skewed(random, skew);
        DeviceBuffer<int> copy(n);
        copy.write_from_device(skewed.data(), n);
        const std::vector<int> on_device = copy.read();
        std::vector<int> counts(256);
        std::size_t zeros = 0;
        for (std::size_t i = 0; i < n; ++i) {
            ++counts[static_cast<unsigned char>(on_device[i])];
            zeros += on_device[i] == 0;
            if (on_device[i] != 0) ASSERT_EQ(on_device[i], values[i]) << i;
        }
        EXPECT_EQ(skewed.histogram(), counts);
        // Five standard deviations of a binomial distribution: sqrt(n / 4) is 158 at most.
        EXPECT_NEAR(static_cast<double>(zeros), n * skew / 100.0, 5 * 158) << "skew " << skew;
        if (skew == 0) EXPECT_EQ(zeros, 0u);
        if (skew == 100) EXPECT_EQ(zeros, n);
    }
}

} // namespace lesson26_kernels
