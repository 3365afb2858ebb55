#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <cuda_fp16.h>
#include <type_traits>

// The frame of lesson 09 for any operation. An operation Op has
//   Op::Value                       what is accumulated: a number, or a struct of some words
//   Op::identity()                  the value that changes no other one
//   Op::of(element, index)          the value of one element
//   Op()(a, b)                      two values in one: associative and commutative

/// What elements of a type are accumulated in: half in float.
template <class T> using Accumulated = std::conditional_t<std::is_same_v<T, __half>, float, T>;

/// An element, and where it was found.
template <class T> struct ValueAt {
    T value;
    long long index;
};

/// Of `count` elements: their mean, and the sum of the squares of their differences from it.
template <class T> struct Moments {
    T mean;
    T m2;
    long long count;
};

/// `value` with the elements of one vector; `index` is the first one's.
template <class T, class Op>
__device__ typename Op::Value take_vector(typename Op::Value value, uint4 vector, std::size_t index) {
    T elements[sizeof vector / sizeof(T)];
    std::memcpy(elements, &vector, sizeof vector);
    for (unsigned int j = 0; j < sizeof vector / sizeof(T); ++j) {
        value = Op()(value, Op::of(elements[j], index + j));
    }
    return value;
}

/// The value of this thread's part of the input: every grid_threads-th vector, and at most one element of the
/// head and one of the tail. vt0 loads at a time, none of which waits for another, go to vt0 values.
template <class T, class Op>
__device__ typename Op::Value reduce_thread(const T* input, std::size_t n, std::size_t thread,
                                            std::size_t grid_threads) {
    constexpr unsigned int vt0 = 4, width = sizeof(uint4) / sizeof(T); // elements in a vector of 16 bytes

    const std::size_t misplaced = reinterpret_cast<std::uintptr_t>(input) / sizeof(T) % width;
    const std::size_t to_boundary = (width - misplaced) % width;
    const std::size_t head = to_boundary < n ? to_boundary : n;
    const std::size_t vectors = (n - head) / width;
    const std::size_t tail = head + width * vectors;
    const uint4* body = reinterpret_cast<const uint4*>(input + head);

    typename Op::Value values[vt0];
    for (unsigned int k = 0; k < vt0; ++k) {
        values[k] = Op::identity();
    }
    std::size_t i = thread;
    for (; i + (vt0 - 1) * grid_threads < vectors; i += vt0 * grid_threads) {
        uint4 four[vt0];
        for (unsigned int k = 0; k < vt0; ++k) {
            four[k] = body[i + k * grid_threads];
        }
        for (unsigned int k = 0; k < vt0; ++k) {
            values[k] = take_vector<T, Op>(values[k], four[k], head + width * (i + k * grid_threads));
        }
    }
    // Fewer than vt0 are left for this thread.
    for (; i < vectors; i += grid_threads) {
        values[0] = take_vector<T, Op>(values[0], body[i], head + width * i);
    }
    if (thread < head) {
        values[0] = Op()(values[0], Op::of(input[thread], thread));
    }
    if (thread < n - tail) {
        values[0] = Op()(values[0], Op::of(input[tail + thread], tail + thread));
    }

    for (unsigned int k = 1; k < vt0; ++k) {
        values[0] = Op()(values[0], values[k]);
    }
    return values[0];
}

/// __shfl_down_sync for a struct, word by word. All lanes of the warp take part.
template <class Value> __device__ Value shuffle_down(Value value, unsigned int distance) {
    constexpr unsigned int all_lanes = 0xffffffff, count = sizeof(Value) / sizeof(unsigned int);
    unsigned int words[count];
    std::memcpy(words, &value, sizeof value);
    for (unsigned int& word : words) {
        word = __shfl_down_sync(all_lanes, word, distance);
    }
    std::memcpy(&value, words, sizeof value);
    return value;
}

/// The value of every thread's `value`, in thread 0. All threads of the block take part. Between two calls
/// there is a barrier: the first warp has read the values of the first call before another warp stores.
template <class Op> __device__ typename Op::Value reduce_block(typename Op::Value value) {
    __shared__ typename Op::Value warp_values[32];
    const unsigned int warp = threadIdx.x / 32, lane = threadIdx.x % 32;

    for (unsigned int distance = 16; distance > 0; distance /= 2) {
        value = Op()(value, shuffle_down(value, distance));
    }
    if (lane == 0) {
        warp_values[warp] = value;
    }
    __syncthreads(); // Every warp's value is stored before the first warp reads it.

    if (warp == 0) {
        value = lane < blockDim.x / 32 ? warp_values[lane] : Op::identity();
        for (unsigned int distance = 16; distance > 0; distance /= 2) {
            value = Op()(value, shuffle_down(value, distance));
        }
    }
    return value;
}
