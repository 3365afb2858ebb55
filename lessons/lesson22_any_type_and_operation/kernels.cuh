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
