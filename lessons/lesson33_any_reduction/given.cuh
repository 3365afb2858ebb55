#pragma once

#include <cstddef>

#include "../lesson22_any_type_and_operation/given.cuh"

// The frame of lesson 22, in two launches. From compute capability 9.0 on the second one may be queued to
// start while the first one runs: then its block is there already when the last value is stored.

/// The first launch: one value for each block. Any alignment of `input`; blockDim.x is a multiple of 32.
template <class T, class Op>
__global__ void values_of_blocks(const T* input, std::size_t n, typename Op::Value* values) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    cudaTriggerProgrammaticLaunchCompletion(); // The second launch may start.
#endif
    const unsigned int tid = threadIdx.x;
    // 64 bits wide: beyond 2^32 elements narrower indices would wrap around.
    const std::size_t thread = std::size_t{blockIdx.x} * blockDim.x + tid;
    const std::size_t grid_threads = std::size_t{gridDim.x} * blockDim.x;

    typename Op::Value value = reduce_block<Op>(reduce_thread<T, Op>(input, n, thread, grid_threads));

    if (tid == 0) {
        values[blockIdx.x] = value;
    }
}

/// The second launch, one block: always the same values meet in the same order.
template <class Op>
__global__ void value_of_values(const typename Op::Value* values, unsigned int count,
                                typename Op::Value* result) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    cudaGridDependencySynchronize(); // The first launch has ended, and what it stored can be read.
#endif
    const unsigned int tid = threadIdx.x;

    typename Op::Value value = Op::identity();
    for (unsigned int b = tid; b < count; b += blockDim.x) {
        value = Op()(value, values[b]);
    }
    value = reduce_block<Op>(value);
    if (tid == 0) {
        *result = value;
    }
}
