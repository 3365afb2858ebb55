#include "program.hpp"

#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda/pipeline>

namespace cg = cooperative_groups;

// Two buffers filled by cuda::memcpy_async, each with a cuda::barrier: the next part is on its way while a
// block adds the last one.
namespace barrier_pipeline {

constexpr int block_size = 128, parts = 5;

__global__ void sum_parts(const int* input, int* sums) {
    using Barrier = cuda::barrier<cuda::thread_scope_block>;
    __shared__ alignas(16) int buffer[2][block_size];
#pragma nv_diag_suppress static_var_with_dynamic_init
    __shared__ Barrier filled[2];
    const cg::thread_block block = cg::this_thread_block();
    if (block.thread_rank() < 2) init(&filled[block.thread_rank()], block.size());
    block.sync();
    const int* const own = input + blockIdx.x * parts * block_size;
    const auto fetch = [&](int part) {
        cuda::memcpy_async(block, buffer[part % 2], own + part * block_size,
                           cuda::aligned_size_t<16>(block_size * sizeof(int)), filled[part % 2]);
    };
    fetch(0);
    int sum = 0;
    for (int part = 0; part < parts; ++part) {
        if (part + 1 < parts) fetch(part + 1);
        filled[part % 2].arrive_and_wait();
        sum += buffer[part % 2][block_size - 1 - threadIdx.x];
        block.sync(); // All have read the buffer before it is filled again.
    }
    sums[blockIdx.x * block_size + threadIdx.x] = sum;
}

int main() {
    const int blocks = 7;
    const auto input = random_values<int>(blocks * parts * block_size, -1'000, 1'000);
    std::vector<int> expected(blocks * block_size);
    for (int i = 0; i < static_cast<int>(input.size()); ++i)
        expected[i / (parts * block_size) * block_size + block_size - 1 - i % block_size] += input[i];
    const Device<int> device_input(input), sums(blocks * block_size);
    sum_parts<<<blocks, block_size>>>(device_input.data(), sums.data());
    return verify(sums.copy_back(), expected);
}

} // namespace barrier_pipeline

// A cuda::pipeline of three stages: each thread copies for all, and all wait for a stage's copies. The calls
// are in the order that CUDA's programming guide has them in. On an H200 compute-sanitizer of CUDA 13.0 finds
// nothing with memcheck and racecheck; its synccheck reports 'Missing wait' in producer_commit(), which is
// cuda::pipeline's own arrival at the barrier of the next stage.
namespace pipeline {

constexpr int block_size = 64, parts = 8, stages = 3;

__global__ void sum_parts(const int* input, int* sums) {
    __shared__ alignas(16) int buffer[stages][block_size];
#pragma nv_diag_suppress static_var_with_dynamic_init
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, stages> state;
    const cg::thread_block block = cg::this_thread_block();
    auto pipeline = cuda::make_pipeline(block, &state);
    const int* const own = input + blockIdx.x * parts * block_size;
    int sum = 0;
    for (int part = 0, fetched = 0; part < parts; ++part) {
        for (; fetched < parts && fetched < part + stages; ++fetched) {
            pipeline.producer_acquire();
            cuda::memcpy_async(block, buffer[fetched % stages], own + fetched * block_size,
                               cuda::aligned_size_t<16>(block_size * sizeof(int)), pipeline);
            pipeline.producer_commit();
        }
        pipeline.consumer_wait();
        sum += buffer[part % stages][block_size - 1 - threadIdx.x];
        pipeline.consumer_release();
    }
    sums[blockIdx.x * block_size + threadIdx.x] = sum;
}

int main() {
    const int blocks = 6;
    const auto input = random_values<int>(blocks * parts * block_size, -1'000, 1'000);
    std::vector<int> expected(blocks * block_size);
    for (int i = 0; i < static_cast<int>(input.size()); ++i)
        expected[i / (parts * block_size) * block_size + block_size - 1 - i % block_size] += input[i];
    const Device<int> device_input(input), sums(blocks * block_size);
    sum_parts<<<blocks, block_size>>>(device_input.data(), sums.data());
    return verify(sums.copy_back(), expected);
}

} // namespace pipeline
