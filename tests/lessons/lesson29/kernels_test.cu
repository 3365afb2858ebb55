// The kernels of lesson 29, on every size that has a boundary near it, with every block, and with one to 16
// blocks.
#include <cooperative_groups.h>
#include <cuda/atomic>
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>

#include "device_main.hpp"
#include "harness/check.hpp"
#include "harness/random_input.hpp"
#include "sizes.hpp"

namespace lesson29_kernels { // Other lessons have functions of the same names.
#include "../../../lessons/lesson29_one_cluster/kernels.cuh"

using namespace harness;

constexpr unsigned int small_grids[] = {1, 2, 3, 7, 8, 13, 16};

/// One launch, or two, that leave the sum in *result.
struct Sum {
    const int* input;
    int* result;
    std::size_t n;
    unsigned int grid, block;
    int* partial_sums;                 ///< one per block
    unsigned int* blocks_done;         ///< 0 before each launch
    unsigned long long* sum_and_count; ///< 0 before each launch
};

void launch_two(const Sum& sum) {
    block_sums<<<sum.grid, sum.block>>>(sum.input, sum.partial_sums, sum.n);
    block_sums<<<1, sum.block>>>(sum.partial_sums, sum.result, sum.grid);
}
void launch_last_block(const Sum& sum) {
    last_block<<<sum.grid, sum.block>>>(sum.input, sum.result, sum.n, sum.partial_sums, sum.blocks_done);
}
void launch_atomic(const Sum& sum) {
    HARNESS_CHECK(cudaMemsetAsync(sum.result, 0, sizeof(int)));
    atomic_per_block<<<sum.grid, sum.block>>>(sum.input, sum.result, sum.n);
}
void launch_counted(const Sum& sum) {
    counted_sum<<<sum.grid, sum.block>>>(sum.input, sum.result, sum.n, sum.sum_and_count);
}
template <auto kernel> void launch_cluster(const Sum& sum) {
    HARNESS_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
    cudaLaunchAttribute cluster{};
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim = {sum.grid, 1, 1};
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(sum.grid);
    config.blockDim = dim3(sum.block);
    config.attrs = &cluster;
    config.numAttrs = 1;
    HARNESS_CHECK(cudaLaunchKernelEx(&config, kernel, sum.input, sum.result, sum.n));
}

struct Kernel {
    const char* name;
    void (*launch)(const Sum&);
    bool needs_clusters = false;
};
constexpr Kernel kernels[] = {
    {"two_launches", launch_two},
    {"last_block", launch_last_block},
    {"atomic_per_block", launch_atomic},
    {"counted_sum", launch_counted},
    {"reduce12", launch_cluster<reduce12>, true},
    {"reduce12a", launch_cluster<reduce12a>, true},
};

class OneCluster : public testing::TestWithParam<std::tuple<Kernel, unsigned int>> {
protected:
    void SetUp() override {
        int major = 0;
        HARNESS_CHECK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0));
        if (std::get<0>(GetParam()).needs_clusters && major < 9) GTEST_SKIP() << "no clusters here";
        blocks_done_.write(std::array{0u});
        sum_and_count_.write(std::array{0ull});
    }

    /// Launches the kernel twice: the first launch must leave its counter ready for the second.
    void expect_sum(const RandomInts& input, unsigned int grid) {
        const auto& [kernel, block] = GetParam();
        for (const char* launch : {"first", "second"}) {
            result_.poison();
            partial_sums_.poison();
            kernel.launch({input.data(), result_.data(), input.size(), grid, block, partial_sums_.data(),
                           blocks_done_.data(), sum_and_count_.data()});
            check_launch(kernel.name);
            synchronize(kernel.name);
            EXPECT_EQ(result_.read().front(), input.sum())
                << "n = " << input.size() << ", offset " << input.offset() << ", " << grid << " blocks, "
                << launch << " launch";
        }
    }

private:
    DeviceBuffer<int> result_{1}, partial_sums_{16};
    DeviceBuffer<unsigned int> blocks_done_{1};
    DeviceBuffer<unsigned long long> sum_and_count_{1};
};

INSTANTIATE_TEST_SUITE_P(lesson29, OneCluster,
                         testing::Combine(testing::ValuesIn(kernels), testing::ValuesIn(blocks)),
                         kernel_and_block);

TEST_P(OneCluster, is_right_for_every_size_and_number_of_blocks) {
    for (const std::size_t n : sizes) {
        const RandomInts input(n, n);
        for (const unsigned int grid : small_grids) expect_sum(input, grid);
    }
}

TEST_P(OneCluster, is_right_for_large_sizes) {
    const std::size_t n = large_size_for(std::get<1>(GetParam()));
    const RandomInts input(n, n);
    for (const unsigned int grid : {1u, 5u, 16u}) expect_sum(input, grid);
}

TEST_P(OneCluster, is_right_for_every_alignment) {
    for (const std::size_t offset : {1, 2, 3, 5}) {
        for (const std::size_t n : {1u, 2u, 3u, 4u, 7u, 1000u, 4097u}) {
            const RandomInts input(n, n, offset);
            for (const unsigned int grid : {1u, 3u, 16u}) expect_sum(input, grid);
        }
    }
}

} // namespace lesson29_kernels
