#pragma once

#include <cstddef>

#include "given.cuh"

/// The largest element and its index; of several the one with the lowest index.
template <class T> struct ArgMax {
    using Value = ValueAt<T>;
    __host__ __device__ static Value identity() { return {lowest<T>, highest<long long>}; }
    __device__ static Value of(T element, std::size_t index) {
        return {element, static_cast<long long>(index)};
    }
    __device__ Value operator()(Value a, Value b) const {
        return b.value > a.value || (b.value == a.value && b.index < a.index) ? b : a;
    }
};

/// Mean and variance: Welford's method, as Chan, Golub and LeVeque merge two groups.
template <class T> struct MeanAndVariance {
    using Value = Moments<T>;
    __host__ __device__ static Value identity() { return {0, 0, 0}; }
    __device__ static Value of(T element, std::size_t) { return {element, 0, 1}; }
    __device__ Value operator()(Value a, Value b) const {
        if (a.count == 0) {
            return b;
        }
        const long long count = a.count + b.count;
        const T delta = b.mean - a.mean;
        const T share = static_cast<T>(b.count) / static_cast<T>(count);
        return {a.mean + delta * share, a.m2 + b.m2 + delta * delta * static_cast<T>(a.count) * share, count};
    }
};

/// Any reduction in one launch, on any alignment of `input`. As reduce9, it expects 0 in blocks_done and
/// leaves it 0. `partials` has room for a value per block. blockDim.x is a multiple of 32.
template <class T, class Op>
__global__ void reduce_any(const T* input, typename Op::Value* result, std::size_t n,
                           typename Op::Value* partials, unsigned int* blocks_done) {
    __shared__ bool is_last;
    const unsigned int tid = threadIdx.x;
    // 64 bits wide: beyond 2^32 elements narrower indices would wrap around.
    const std::size_t thread = std::size_t{blockIdx.x} * blockDim.x + tid;
    const std::size_t grid_threads = std::size_t{gridDim.x} * blockDim.x;

    typename Op::Value value = reduce_block<Op>(reduce_thread<T, Op>(input, n, thread, grid_threads));

    if (tid == 0) {
        partials[blockIdx.x] = value;
        __threadfence(); // Whoever sees this block counted sees its partial result.
        // Counts to gridDim.x - 1 and then starts at 0 again, ready for the next launch.
        is_last = atomicInc(blocks_done, gridDim.x - 1) == gridDim.x - 1;
        __threadfence(); // What this block reads from here on is no older than the count it saw.
    }
    __syncthreads(); // The first thread's verdict, and what it may rely on, holds for all.
    if (!is_last) {
        return; // the whole block: no thread is left to wait at a barrier
    }

    value = Op::identity();
    for (unsigned int b = tid; b < gridDim.x; b += blockDim.x) {
        value = Op()(value, partials[b]);
    }
    value = reduce_block<Op>(value);
    if (tid == 0) {
        *result = value;
    }
}
