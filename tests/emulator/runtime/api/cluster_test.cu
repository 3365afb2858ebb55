// Thread block clusters: launches, errors, and distributed shared memory through cooperative groups.

#include "cuda_test.hpp"

#include <cooperative_groups.h>
#include <gmock/gmock.h>

#include <numeric>

namespace cg = cooperative_groups;

namespace {

/// Each block sums its part of `in`, and block 0 of each cluster the sums of its blocks.
__global__ void sum_by_clusters(const int* in, int n, int* out) {
    __shared__ int values[128];
    __shared__ int sum;
    const cg::cluster_group cluster = cg::this_cluster();
    const unsigned int tid = threadIdx.x, i = blockIdx.x * blockDim.x + tid;
    values[tid] = i < n ? in[i] : 0;
    if (tid == 0) sum = 0;
    cluster.sync();
    for (unsigned int stride = blockDim.x / 2; stride > 0; stride /= 2) {
        if (tid < stride) values[tid] += values[tid + stride];
        __syncthreads();
    }
    if (tid == 0) atomicAdd(cluster.map_shared_rank(&sum, 0), values[0]);
    cluster.sync();
    if (cluster.block_rank() == 0 && tid == 0) out[blockIdx.x / cluster.num_blocks()] = sum;
}

/// Each block hands its values to the next one in the cluster, `turns` times.
__global__ void go_round(int turns, int* out) {
    __shared__ int values[2][64];
    const cg::cluster_group cluster = cg::this_cluster();
    const unsigned int tid = threadIdx.x, blocks = cluster.num_blocks(),
                       next = (cluster.block_rank() + 1) % blocks;
    values[0][tid] = blockIdx.x * blockDim.x + tid;
    for (int turn = 0; turn < turns; ++turn) {
        cluster.sync();
        *cluster.map_shared_rank(&values[(turn + 1) % 2][tid], next) = values[turn % 2][tid];
    }
    cg::cluster_group::arrival_token token = cluster.barrier_arrive();
    cluster.barrier_wait(std::move(token));
    out[blockIdx.x * blockDim.x + tid] = values[turns % 2][tid];
}

__global__ void __cluster_dims__(2, 1, 1) in_pairs(int* out) {
    if (threadIdx.x == 0)
        out[blockIdx.x] = 10 * cg::this_cluster().block_rank() + cg::this_cluster().num_blocks();
}

__global__ void do_nothing_in_clusters() {}

template <class... Parameters, class... Arguments>
cudaError_t launch(void (*kernel)(Parameters...), dim3 grid, dim3 block, dim3 cluster,
                   Arguments... arguments) {
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = cluster.x;
    attribute.val.clusterDim.y = cluster.y;
    attribute.val.clusterDim.z = cluster.z;
    cudaLaunchConfig_t config{};
    config.gridDim = grid;
    config.blockDim = block;
    config.attrs = &attribute;
    config.numAttrs = 1;
    const cudaError_t error = cudaLaunchKernelEx(&config, kernel, arguments...);
    cudaGetLastError();
    return error;
}

} // namespace

TEST(Cluster, sums_through_distributed_shared_memory) {
    for (const unsigned int cluster : {1u, 2u, 3u, 4u, 8u})
        for (const int n : {1, 1000, 24 * 128}) {
            std::vector<int> numbers(n);
            std::iota(numbers.begin(), numbers.end(), 1);
            DeviceInts in(n), out(24);
            EXPECT_CUDA(cudaMemcpy(in.data(), numbers.data(), n * sizeof(int), cudaMemcpyHostToDevice));
            EXPECT_CUDA(launch(sum_by_clusters, 24, 128, cluster, in.data(), n, out.data()));
            std::vector<int> expected(24);
            for (int i = 0; i < n; ++i) expected[i / (128 * cluster)] += i + 1;
            EXPECT_EQ(out.copy_back(), expected) << cluster << ' ' << n;
        }
}

TEST(Cluster, hands_values_round_the_ring) {
    for (const unsigned int cluster : {1u, 2u, 6u}) {
        DeviceInts out(12 * 64);
        EXPECT_CUDA(launch(go_round, 12, 64, cluster, 5, out.data()));
        std::vector<int> expected;
        for (unsigned int block = 0; block < 12; ++block)
            for (unsigned int thread = 0; thread < 64; ++thread) {
                const unsigned int first = block / cluster * cluster;
                expected.push_back((first + (block - first + 5 * (cluster - 1)) % cluster) * 64 + thread);
            }
        EXPECT_EQ(out.copy_back(), expected) << cluster;
    }
}

TEST(Cluster, of_a_kernel_with_cluster_dims_needs_no_attribute) {
    DeviceInts out(4);
    in_pairs<<<4, 32>>>(out.data());
    EXPECT_THAT(out.copy_back(), testing::ElementsAre(2, 12, 2, 12));
    EXPECT_CUDA(launch(in_pairs, 4, 32, 2, out.data()));
    EXPECT_CUDA(launch(in_pairs, 4, 32, dim3(0, 0, 0), out.data())); // as if it had none
    EXPECT_THAT(out.copy_back(), testing::ElementsAre(2, 12, 2, 12));
    cudaFuncAttributes attributes{};
    ASSERT_CUDA(cudaFuncGetAttributes(&attributes, in_pairs));
    EXPECT_EQ(attributes.clusterDimMustBeSet, 1);
    EXPECT_EQ(attributes.requiredClusterWidth, 2);
    EXPECT_EQ(attributes.requiredClusterHeight, 1);
}

TEST(Cluster, of_a_wrong_size_is_refused) {
    DeviceInts out(4);
    const auto wrong = cudaErrorInvalidClusterSize;
    EXPECT_EQ(launch(do_nothing_in_clusters, 3, 32, 2), wrong);
    EXPECT_EQ(launch(do_nothing_in_clusters, 16, 32, 16), wrong);
    EXPECT_EQ(launch(do_nothing_in_clusters, 9, 32, 9), wrong);
    EXPECT_EQ(launch(do_nothing_in_clusters, 4, 32, dim3(2, 0, 0)), wrong);
    EXPECT_EQ(launch(do_nothing_in_clusters, dim3(4, 3), 32, dim3(2, 2)), wrong);
    EXPECT_EQ(launch(in_pairs, 4, 32, 4, out.data()), wrong);
    EXPECT_EQ(launch(in_pairs, 4, 32, 1, out.data()), wrong);
    in_pairs<<<3, 32>>>(out.data());
    EXPECT_EQ(cudaGetLastError(), wrong);
    EXPECT_CUDA(launch(do_nothing_in_clusters, dim3(4, 3), 32, dim3(2, 3))); // and goes on
    EXPECT_CUDA(cudaDeviceSynchronize());
}

TEST(Cluster, may_have_16_blocks_on_request_only) {
    EXPECT_EQ(launch(do_nothing_in_clusters, 16, 32, 16), cudaErrorInvalidClusterSize);
    EXPECT_CUDA(
        cudaFuncSetAttribute(do_nothing_in_clusters, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
    EXPECT_CUDA(launch(do_nothing_in_clusters, 16, 32, 16));
    EXPECT_CUDA(launch(do_nothing_in_clusters, 10, 32, 10));
    EXPECT_EQ(launch(do_nothing_in_clusters, 17, 32, 17), cudaErrorInvalidClusterSize);
    EXPECT_CUDA(
        cudaFuncSetAttribute(do_nothing_in_clusters, cudaFuncAttributeNonPortableClusterSizeAllowed, 0));
    EXPECT_EQ(launch(do_nothing_in_clusters, 16, 32, 16), cudaErrorInvalidClusterSize);
}

TEST(Cluster, has_an_occupancy) {
    cudaLaunchConfig_t config{};
    config.gridDim = 48;
    config.blockDim = 256;
    int clusters = 0, blocks = 0;
    EXPECT_CUDA(cudaOccupancyMaxActiveClusters(&clusters, in_pairs, &config));
    EXPECT_GT(clusters, 100);
    EXPECT_CUDA(cudaOccupancyMaxPotentialClusterSize(&blocks, do_nothing_in_clusters, &config));
    EXPECT_EQ(blocks, 8);
    EXPECT_CUDA(cudaOccupancyMaxActiveClusters(&clusters, do_nothing_in_clusters, &config));
    EXPECT_EQ(clusters, 0); // it is not launched with clusters
    config.gridDim = 47;
    EXPECT_EQ(cudaOccupancyMaxActiveClusters(&clusters, in_pairs, &config), cudaErrorInvalidClusterSize);
    cudaGetLastError();
}
