// An ordinary CUDA program: it knows nothing of the emulator, and runs on a GPU as well.

#include "cuda_test.hpp"

#include <cooperative_groups.h>

namespace {

/// Parameters of several sizes and alignments; each is written where the host can see it.
struct Pair {
    char letter;
    double number;
};

__global__ void store_parameters(int* out, char c, short s, Pair pair, long long l, float f) {
    out[0] = c;
    out[1] = s;
    out[2] = pair.letter;
    out[3] = static_cast<int>(pair.number);
    out[4] = static_cast<int>(l);
    out[5] = static_cast<int>(f);
}

__global__ void count_threads(int* out) { atomicAdd(out, 1); }

__global__ void store_extents(int* out) {
    if (threadIdx.x + threadIdx.y + threadIdx.z + blockIdx.x + blockIdx.y + blockIdx.z > 0) return;
    out[0] = gridDim.x, out[1] = gridDim.y, out[2] = gridDim.z;
    out[3] = blockDim.x, out[4] = blockDim.y, out[5] = blockDim.z;
}

__global__ void sum_of_shared(int* out, int count) {
    extern __shared__ int shared[];
    for (int i = threadIdx.x; i < count; i += blockDim.x) shared[i] = i;
    __syncthreads();
    if (threadIdx.x > 0) return;
    int sum = 0;
    for (int i = 0; i < count; ++i) sum += shared[i];
    *out = sum;
}

__global__ void use_static_shared(int* out) {
    __shared__ int shared[1024];
    shared[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = shared[blockDim.x - 1 - threadIdx.x];
}

__global__ void use_static_and_dynamic_shared(int* out, int count) {
    extern __shared__ int dynamic[];
    __shared__ int shared[1024];
    shared[threadIdx.x] = threadIdx.x;
    dynamic[count - 1 - threadIdx.x] = 1;
    __syncthreads();
    out[threadIdx.x] = shared[blockDim.x - 1 - threadIdx.x] + dynamic[count - 1 - threadIdx.x];
}

/// Spins until the host has stored something.
__global__ void wait_for_host(const volatile int* stored, int* out) {
    while (*stored == 0) {
    }
    *out = *stored + 1;
}
__managed__ int managed_word;

__global__ void __launch_bounds__(128) at_most_128_threads(int* out) { atomicAdd(out, 1); }

__global__ void do_nothing() {}

template <int N> __global__ void store_constant(int* out) { *out = N; }

int unregistered_function() { return 0; }

/// Each block adds one, waits for the grid, and keeps what it then sees.
__global__ void wait_for_the_grid(int* arrived, int* seen) {
    if (threadIdx.x == 0) atomicAdd(arrived, 1);
    cooperative_groups::this_grid().sync();
    if (threadIdx.x == 0) seen[blockIdx.x] = *arrived;
}

} // namespace

TEST(Launch, passes_parameters_of_every_size) {
    DeviceInts out(6);
    store_parameters<<<1, 1>>>(out.data(), 'a', -2, Pair{'b', 3.5}, 1LL << 20, 5.0f);
    EXPECT_CUDA(cudaGetLastError());
    EXPECT_EQ(out.copy_back(), (std::vector<int>{'a', -2, 'b', 3, 1 << 20, 5}));
}

TEST(Launch, runs_every_thread_of_every_block) {
    DeviceInts out(1);
    count_threads<<<dim3(3, 5, 7), dim3(4, 8, 2)>>>(out.data());
    EXPECT_CUDA(cudaDeviceSynchronize());
    EXPECT_EQ(out.copy_back()[0], 3 * 5 * 7 * 4 * 8 * 2);
}

TEST(Launch, passes_grid_and_block) {
    DeviceInts out(6);
    store_extents<<<dim3(3, 5, 7), dim3(4, 8, 2)>>>(out.data());
    EXPECT_EQ(out.copy_back(), (std::vector<int>{3, 5, 7, 4, 8, 2}));
}

TEST(Launch, takes_a_kernel_without_parameters) {
    do_nothing<<<1, 32>>>();
    EXPECT_CUDA(cudaGetLastError());
    EXPECT_CUDA(
        cudaLaunchKernel(reinterpret_cast<const void*>(do_nothing), dim3(1), dim3(1), nullptr, 0, nullptr));
}

TEST(Launch, tells_template_instances_apart) {
    DeviceInts out(2);
    store_constant<3><<<1, 1>>>(out.data());
    store_constant<4><<<1, 1>>>(out.data() + 1);
    EXPECT_EQ(out.copy_back(), (std::vector<int>{3, 4}));
}

TEST(Launch, works_through_the_api) {
    DeviceInts out(1);
    int* pointer = out.data();
    int count = 100;
    void* arguments[] = {&pointer, &count};
    EXPECT_CUDA(cudaLaunchKernel(reinterpret_cast<const void*>(sum_of_shared), dim3(1), dim3(64), arguments,
                                 count * sizeof(int), nullptr));
    EXPECT_EQ(out.copy_back()[0], 4950);
}

TEST(Launch, works_with_a_configuration) {
    DeviceInts out(1);
    cudaLaunchAttribute priority{};
    priority.id = cudaLaunchAttributePriority;
    cudaLaunchConfig_t config{};
    config.gridDim = 1;
    config.blockDim = 32;
    config.dynamicSmemBytes = 40;
    config.attrs = &priority;
    config.numAttrs = 1;
    EXPECT_CUDA(cudaLaunchKernelEx(&config, sum_of_shared, out.data(), 10));
    EXPECT_EQ(out.copy_back()[0], 45);
}

TEST(Launch, works_in_a_stream) {
    cudaStream_t stream;
    ASSERT_CUDA(cudaStreamCreate(&stream));
    DeviceInts out(1);
    count_threads<<<1, 32, 0, stream>>>(out.data());
    EXPECT_CUDA(cudaStreamSynchronize(stream));
    EXPECT_EQ(out.copy_back()[0], 32);
    EXPECT_CUDA(cudaStreamDestroy(stream));
}

TEST(Launch, takes_a_kernels_handle) {
    cudaKernel_t kernel;
    ASSERT_CUDA(cudaGetKernel(&kernel, reinterpret_cast<const void*>(store_constant<5>)));
    DeviceInts out(1);
    int* pointer = out.data();
    void* arguments[] = {&pointer};
    EXPECT_CUDA(
        cudaLaunchKernel(reinterpret_cast<const void*>(kernel), dim3(1), dim3(1), arguments, 0, nullptr));
    EXPECT_EQ(out.copy_back()[0], 5);
}

TEST(Launch, refuses_grids_and_blocks_that_no_device_takes) {
    struct Launch {
        dim3 grid, block;
    };
    const Launch wrong[] = {{dim3(0), dim3(32)},          {dim3(1), dim3(0)},
                            {dim3(1), dim3(1025)},        {dim3(1), dim3(32, 33)},
                            {dim3(1), dim3(1, 1, 65)},    {dim3(1, 65536), dim3(1)},
                            {dim3(1, 1, 65536), dim3(1)}, {dim3(1u << 31), dim3(1)}};
    for (const auto& [grid, block] : wrong) {
        do_nothing<<<grid, block>>>();
        EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue)
            << grid.x << ' ' << grid.y << ' ' << grid.z << ", " << block.x << ' ' << block.y << ' '
            << block.z;
    }
    do_nothing<<<1, 1024>>>(); // and goes on
    EXPECT_CUDA(cudaGetLastError());
}

// As on an H100.
TEST(Launch, refuses_a_captured_one_at_once) {
    cudaStream_t stream = nullptr;
    cudaGraph_t graph = nullptr;
    ASSERT_CUDA(cudaStreamCreate(&stream));
    for (const dim3 grid : {dim3(0), dim3(1, 65536)}) {
        ASSERT_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
        do_nothing<<<grid, 32, 0, stream>>>();
        EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
        EXPECT_EQ(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureInvalidated);
    }
    ASSERT_CUDA(cudaGraphCreate(&graph, 0));
    cudaGraphNode_t node = nullptr;
    cudaKernelNodeParams kernel{};
    kernel.func = reinterpret_cast<void*>(&do_nothing);
    kernel.gridDim = dim3(1);
    kernel.blockDim = dim3(0);
    EXPECT_EQ(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &kernel), cudaErrorInvalidValue);
    EXPECT_CUDA(cudaGraphDestroy(graph));
    EXPECT_CUDA(cudaStreamDestroy(stream));
    (void)cudaGetLastError();
}

TEST(CooperativeLaunch, is_too_large_with_too_much_shared_memory) {
    EXPECT_EQ(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(do_nothing), dim3(1), dim3(32),
                                          nullptr, 1 << 20, nullptr),
              cudaErrorCooperativeLaunchTooLarge);
    EXPECT_EQ(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(do_nothing), dim3(0), dim3(32),
                                          nullptr, 1 << 20, nullptr),
              cudaErrorInvalidValue);
    EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
}

TEST(Launch, refuses_more_threads_than_the_launch_bounds) {
    DeviceInts out(1);
    at_most_128_threads<<<1, 129>>>(out.data());
    EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
    at_most_128_threads<<<1, 128>>>(out.data());
    EXPECT_CUDA(cudaGetLastError());
    EXPECT_EQ(out.copy_back()[0], 128);
}

TEST(Launch, gives_more_than_48_KiB_of_shared_memory_on_request_only) {
    DeviceInts out(1);
    const int count = 50 * 1024; // ints: 200 KiB
    const std::size_t bytes = count * sizeof(int);
    sum_of_shared<<<1, 32, bytes>>>(out.data(), count);
    EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
    EXPECT_CUDA(cudaFuncSetAttribute(sum_of_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    sum_of_shared<<<1, 32, bytes>>>(out.data(), count);
    EXPECT_CUDA(cudaGetLastError());
    EXPECT_EQ(out.copy_back()[0], 50 * 1024 / 2 * (50 * 1024 - 1));
    sum_of_shared<<<1, 32, bytes + 1>>>(out.data(), count);
    EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
    EXPECT_EQ(
        cudaFuncSetAttribute(sum_of_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, 227 * 1024 + 1),
        cudaErrorInvalidValue);
    EXPECT_EQ(
        cudaFuncSetAttribute(use_static_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, 224 * 1024),
        cudaErrorInvalidValue); // 4 KiB are static
}

TEST(Launch, gives_static_shared_memory_on_top_of_the_dynamic_that_was_asked_for) {
    cudaGetLastError(); // of the test before this one
    DeviceInts out(32);
    for (const int count : {32 * 1024, 12 * 1024}) { // ints: 128 KiB or 48 KiB, and 4 KiB are static
        EXPECT_CUDA(cudaFuncSetAttribute(use_static_and_dynamic_shared,
                                         cudaFuncAttributeMaxDynamicSharedMemorySize, count * sizeof(int)));
        use_static_and_dynamic_shared<<<1, 32, count * sizeof(int)>>>(out.data(), count);
        EXPECT_CUDA(cudaGetLastError());
        EXPECT_EQ(out.copy_back()[0], 32);
    }
}

TEST(Launch, refuses_what_is_no_kernel) {
    EXPECT_EQ(cudaLaunchKernel(reinterpret_cast<const void*>(unregistered_function), dim3(1), dim3(1),
                               nullptr, 0, nullptr),
              cudaErrorInvalidResourceHandle);
    EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidResourceHandle);
}

TEST(Function, has_attributes) {
    cudaFuncAttributes attributes{};
    EXPECT_CUDA(cudaFuncGetAttributes(&attributes, use_static_shared));
    EXPECT_EQ(attributes.sharedSizeBytes, 4096u);
    EXPECT_EQ(attributes.maxThreadsPerBlock, 1024);
    EXPECT_EQ(attributes.maxDynamicSharedSizeBytes, 48 * 1024 - 4096);
    EXPECT_GT(attributes.numRegs, 0);
    EXPECT_CUDA(cudaFuncGetAttributes(&attributes, at_most_128_threads));
    EXPECT_EQ(attributes.maxThreadsPerBlock, 128);
    EXPECT_EQ(cudaFuncGetAttributes(&attributes, reinterpret_cast<const void*>(unregistered_function)),
              cudaErrorInvalidResourceHandle);
}

TEST(Function, has_a_name_and_parameters) {
    const char* name = nullptr;
    EXPECT_CUDA(cudaFuncGetName(&name, reinterpret_cast<const void*>(do_nothing)));
    EXPECT_NE(std::string(name).find("do_nothing"), std::string::npos);
    std::size_t offset = 0, bytes = 0; // int* char short Pair: 0, 8, 10, 16
    EXPECT_CUDA(cudaFuncGetParamInfo(reinterpret_cast<const void*>(store_parameters), 3, &offset, &bytes));
    EXPECT_EQ(offset, 16u);
    EXPECT_EQ(bytes, sizeof(Pair));
    EXPECT_EQ(cudaFuncGetParamInfo(reinterpret_cast<const void*>(store_parameters), 6, &offset, &bytes),
              cudaErrorInvalidValue);
}

TEST(Function, has_an_occupancy) {
    int blocks = 0, grid = 0, block = 0;
    EXPECT_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, do_nothing, 256, 0));
    EXPECT_EQ(blocks, 8); // 2048 / 256
    EXPECT_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, use_static_shared, 32, 30 * 1024));
    EXPECT_EQ(blocks, 6); // 228 KiB / (4 + 30 + 1) KiB
    EXPECT_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, at_most_128_threads, 256, 0));
    EXPECT_EQ(blocks, 8); // its launch bounds don't matter
    EXPECT_CUDA(cudaOccupancyMaxPotentialBlockSize(&grid, &block, do_nothing));
    EXPECT_EQ(block, 1024);
    EXPECT_GT(grid, 0);
    EXPECT_CUDA(cudaOccupancyMaxPotentialBlockSize(&grid, &block, at_most_128_threads));
    EXPECT_EQ(block, 128);
    EXPECT_EQ(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, do_nothing, 0, 0),
              cudaErrorInvalidValue);
}

TEST(CooperativeLaunch, lets_the_grid_wait_for_itself) {
    constexpr int blocks = 100;
    for (const bool by_attribute : {false, true}) {
        DeviceInts arrived(1), seen(blocks);
        int *arrived_pointer = arrived.data(), *seen_pointer = seen.data();
        if (by_attribute) {
            cudaLaunchAttribute cooperative{};
            cooperative.id = cudaLaunchAttributeCooperative;
            cooperative.val.cooperative = 1;
            cudaLaunchConfig_t config{};
            config.gridDim = blocks;
            config.blockDim = 64;
            config.attrs = &cooperative;
            config.numAttrs = 1;
            EXPECT_CUDA(cudaLaunchKernelEx(&config, wait_for_the_grid, arrived_pointer, seen_pointer));
        } else {
            void* arguments[] = {&arrived_pointer, &seen_pointer};
            EXPECT_CUDA(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(wait_for_the_grid),
                                                    dim3(blocks), dim3(64), arguments));
        }
        EXPECT_EQ(seen.copy_back(), std::vector<int>(blocks, blocks));
    }
}

TEST(CooperativeLaunch, is_refused_when_the_device_cannot_hold_it) {
    int blocks = 0, multiprocessors = 0;
    ASSERT_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, wait_for_the_grid, 1024, 0));
    ASSERT_CUDA(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
    DeviceInts arrived(1), seen(1);
    int *arrived_pointer = arrived.data(), *seen_pointer = seen.data();
    void* arguments[] = {&arrived_pointer, &seen_pointer};
    EXPECT_EQ(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(wait_for_the_grid),
                                          dim3(blocks * multiprocessors + 1), dim3(1024), arguments),
              cudaErrorCooperativeLaunchTooLarge);
    EXPECT_EQ(cudaGetLastError(), cudaErrorCooperativeLaunchTooLarge);
    EXPECT_EQ(arrived.copy_back()[0], 0);
}

TEST(CooperativeLaunch, is_what_the_device_says_it_has) {
    int supported = 0;
    EXPECT_CUDA(cudaDeviceGetAttribute(&supported, cudaDevAttrCooperativeLaunch, 0));
    EXPECT_EQ(supported, 1);
}

TEST(Launch, goes_on_while_the_host_stores_what_the_kernel_waits_for) {
    int own = 0, *pinned = nullptr;
    ASSERT_CUDA(cudaMallocHost(&pinned, sizeof(int)));
    ASSERT_CUDA(cudaHostRegister(&own, sizeof own, cudaHostRegisterMapped));
    for (int* const word : {pinned, &own, &managed_word}) {
        volatile int& stored = *word;
        stored = 0;
        const DeviceInts out(1);
        wait_for_host<<<1, 1>>>(word, out.data());
        EXPECT_CUDA(cudaGetLastError());
        EXPECT_EQ(cudaStreamQuery(nullptr), cudaErrorNotReady);
        stored = 41;
        EXPECT_EQ(out.copy_back(), std::vector<int>{42});
    }
    EXPECT_CUDA(cudaHostUnregister(&own));
    EXPECT_CUDA(cudaFreeHost(pinned));
}
