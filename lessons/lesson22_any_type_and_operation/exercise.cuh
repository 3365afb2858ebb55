#pragma once

#include <cstddef>

#include "given.cuh"

/// The largest element and its index; of several the one with the lowest index.
template <class T> struct ArgMax {
    using Value = ValueAt<T>;
    // TODO, about 4 lines: the value of no element, the value of one element, and the better one of two
    // values.
    __host__ __device__ static Value identity() { return {0, 0}; }
    __device__ static Value of(T element, std::size_t) { return {element, 0}; }
    __device__ Value operator()(Value a, Value) const { return a; }
};

/// Mean and variance: Welford's method, as Chan, Golub and LeVeque merge two groups.
template <class T> struct MeanAndVariance {
    using Value = Moments<T>;
    __host__ __device__ static Value identity() { return {0, 0, 0}; }
    __device__ static Value of(T element, std::size_t) { return {element, 0, 1}; }
    __device__ Value operator()(Value a, Value b) const {
        // TODO, about 6 lines: count, mean and M2 of both groups together. Either may be empty.
        return {a.mean, a.m2, a.count + b.count};
    }
};
