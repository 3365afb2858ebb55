#pragma once

#include <cstddef>
#include <limits>
#include <type_traits>

#include "frame.cuh"

/// Signed integers wrap around as unsigned ones do: their own overflow is undefined.
template <class T>
using Wrapping =
    typename std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>, std::remove_cv<T>>::type;

/// No number is above the first one, or below the second.
template <class T>
constexpr T highest = std::numeric_limits<T>::has_infinity ? std::numeric_limits<T>::infinity()
                                                           : std::numeric_limits<T>::max();
template <class T>
constexpr T lowest = std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity()
                                                          : std::numeric_limits<T>::min();

/// The operations whose values are numbers like the elements.
template <class T> struct OfNumbers {
    using Value = T;
    __device__ static T of(T element, std::size_t) { return element; }
};

template <class T> struct Sum : OfNumbers<T> {
    __host__ __device__ static T identity() { return 0; }
    __device__ T operator()(T a, T b) const { return static_cast<T>(Wrapping<T>(a) + Wrapping<T>(b)); }
};

template <class T> struct Product : OfNumbers<T> {
    __host__ __device__ static T identity() { return 1; }
    __device__ T operator()(T a, T b) const { return static_cast<T>(Wrapping<T>(a) * Wrapping<T>(b)); }
};

// A NaN is never less and never more. Each element comes in as b, so these three operations skip it.
template <class T> struct Min : OfNumbers<T> {
    __host__ __device__ static T identity() { return highest<T>; }
    __device__ T operator()(T a, T b) const { return b < a ? b : a; }
};

template <class T> struct Max : OfNumbers<T> {
    __host__ __device__ static T identity() { return lowest<T>; }
    __device__ T operator()(T a, T b) const { return b > a ? b : a; }
};

/// Whether all elements are other than 0: 1 or 0.
template <class T> struct All {
    using Value = int;
    __host__ __device__ static int identity() { return 1; }
    __device__ static int of(T element, std::size_t) { return element != T(0); }
    __device__ int operator()(int a, int b) const { return a & b; }
};

/// Whether any element is other than 0: 1 or 0.
template <class T> struct Any : All<T> {
    __host__ __device__ static int identity() { return 0; }
    __device__ int operator()(int a, int b) const { return a | b; }
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
