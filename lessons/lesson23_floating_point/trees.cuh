#pragma once

#include <cstddef>

// Sums of floats, each in its own order: right for any n and any grid. blockDim.x is a power of two
// from 32 to 1024.

/// One thread, from the first element to the last: n - 1 roundings, one after the other.
__global__ void sum_sequential(const float* input, float* result, std::size_t n) {
    float sum = 0;
    for (std::size_t i = 0; i < n; ++i) {
        sum += input[i];
    }
    *result = sum;
}

/// The sum of the block's elements, for thread 0. First each thread adds up every grid_threads-th element,
/// then the block adds in a tree. Sum: float, double or Compensated.
template <class Sum, class Input> __device__ Sum sum_block(const Input* input, std::size_t n) {
    __shared__ Sum sums[1024];
    const unsigned int tid = threadIdx.x;
    const std::size_t grid_threads = std::size_t{gridDim.x} * blockDim.x;

    Sum sum = 0;
    for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + tid; i < n; i += grid_threads) {
        sum = sum + Sum(input[i]);
    }
    sums[tid] = sum;
    for (unsigned int stride = blockDim.x / 2; stride > 0; stride /= 2) {
        __syncthreads(); // What the step before stored, this one reads.
        if (tid < stride) {
            sums[tid] = sums[tid] + sums[tid + stride];
        }
    }
    return sums[tid];
}

/// A sum of floats, and a sum of what its roundings have lost. The result is sum + lost.
struct alignas(8) Compensated {
    float sum, lost;
    Compensated() = default;
    __host__ __device__ Compensated(float sum, float lost = 0) : sum(sum), lost(lost) {}
    __host__ __device__ explicit operator float() const { return sum + lost; }
};

/// a.sum + b.sum is sum + error exactly, whichever of the two is larger (Knuth's TwoSum).
__host__ __device__ inline Compensated operator+(Compensated a, Compensated b) {
    const float sum = a.sum + b.sum;
    const float of_b = sum - a.sum; // the part of b that is in the sum
    const float of_a = sum - of_b;
    const float error = (a.sum - of_a) + (b.sum - of_b);
    return {sum, error + (a.lost + b.lost)};
}

/// sum_tree, in given.cuh, in compensated arithmetic. Input: float in the first launch, then Compensated.
template <class Input>
__global__ void sum_kahan(const Input* input, Compensated* partial_sums, std::size_t n) {
    const Compensated sum = sum_block<Compensated>(input, n);
    if (threadIdx.x == 0) {
        partial_sums[blockIdx.x] = sum;
    }
}

/// sum_tree in double. Input: float in the first launch, then double. The last sum is rounded to float.
template <class Input>
__global__ void sum_in_double(const Input* input, double* partial_sums, std::size_t n) {
    const double sum = sum_block<double>(input, n);
    if (threadIdx.x == 0) {
        partial_sums[blockIdx.x] = sum;
    }
}
