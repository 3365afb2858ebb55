// The kernels of lesson 29, on every size that has a boundary near it, with every block, and with one to 16
// blocks.
#include <cooperative_groups.h>
#include <cuda/atomic>
#include <gtest/gtest.h>

#include <array>
#include <cstddef>

#include "harness/check.hpp"
#include "harness/random_input.hpp"
#include "sizes.hpp"
#include "test_device.hpp"

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
};
constexpr Kernel kernels[] = {
    {"two_launches", launch_two},
    {"last_block", launch_last_block},
    {"atomic_per_block", launch_atomic},
    {"counted_sum", launch_counted},
};
constexpr Kernel cluster_kernels[] = {
    {"reduce12", launch_cluster<reduce12>},
    {"reduce12a", launch_cluster<reduce12a>},
};

/// Checks with every block; on a device without clusters, all kernels but the two that need them.
template <class Checks> void with_every_kernel_that_can_run(const Checks& check) {
    with_every_kernel_and_block(kernels, check);
    int major = 0;
    HARNESS_CHECK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0));
    if (major < 9) GTEST_SKIP() << "no clusters here: reduce12 and reduce12a were left out";
    with_every_kernel_and_block(cluster_kernels, check);
}

/// What a kernel works with, kept from launch to launch.
struct Memory {
    DeviceBuffer<int> result{1}, partial_sums{16};
    DeviceBuffer<unsigned int> blocks_done{1};
    DeviceBuffer<unsigned long long> sum_and_count{1};

    Memory() {
        blocks_done.write(std::array{0u});
        sum_and_count.write(std::array{0ull});
    }

    /// Launches the kernel twice: the first launch must leave its counter ready for the second.
    void expect_sum(const Kernel& kernel, const RandomInts& input, unsigned int grid, unsigned int block) {
        for (const char* launch : {"first", "second"}) {
            result.poison();
            partial_sums.poison();
            kernel.launch({input.data(), result.data(), input.size(), grid, block, partial_sums.data(),
                           blocks_done.data(), sum_and_count.data()});
            check_launch(kernel.name);
            synchronize(kernel.name);
            EXPECT_EQ(result.read().front(), input.sum())
                << "n = " << input.size() << ", offset " << input.offset() << ", " << grid << " blocks, "
                << launch << " launch";
        }
    }
};

TEST(Lesson29OneCluster, is_right_for_every_size_and_number_of_blocks) {
    with_every_kernel_that_can_run([](const Kernel& kernel, unsigned int block) {
        Memory memory;
        for (const std::size_t n : sizes) {
            const RandomInts input(n, n);
            for (const unsigned int grid : small_grids) memory.expect_sum(kernel, input, grid, block);
        }
    });
}

TEST(Lesson29OneCluster, is_right_for_large_sizes) {
    with_every_kernel_that_can_run([](const Kernel& kernel, unsigned int block) {
        Memory memory;
        const std::size_t n = large_size_for(block);
        const RandomInts input(n, n);
        for (const unsigned int grid : {1u, 5u, 16u}) memory.expect_sum(kernel, input, grid, block);
    });
}

TEST(Lesson29OneCluster, is_right_for_every_alignment) {
    with_every_kernel_that_can_run([](const Kernel& kernel, unsigned int block) {
        Memory memory;
        for (const std::size_t offset : {1, 2, 3, 5}) {
            for (const std::size_t n : {1u, 2u, 3u, 4u, 7u, 1000u, 4097u}) {
                const RandomInts input(n, n, offset);
                for (const unsigned int grid : {1u, 3u, 16u}) memory.expect_sum(kernel, input, grid, block);
            }
        }
    });
}

} // namespace lesson29_kernels
