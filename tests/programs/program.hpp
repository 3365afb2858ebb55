/// What each program here uses: random input, and a verdict.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#define CHECK(call) check((call), #call, __LINE__)

inline void check(cudaError_t error, const char* call, int line) {
    if (error == cudaSuccess) return;
    std::fprintf(stderr, "line %d: %s: %s\n", line, call, cudaGetErrorName(error));
    std::exit(1);
}

/// Random whole numbers from `low` to `high`, as T.
template <class T>
std::vector<T> random_values(std::size_t count, int low, int high, unsigned int seed = 42) {
    std::mt19937 engine(seed);
    std::uniform_int_distribution<int> any(low, high);
    std::vector<T> values(count);
    for (T& value : values) value = static_cast<T>(any(engine));
    return values;
}

/// Device memory for `count` T.
template <class T> class Device {
public:
    explicit Device(std::size_t count) : count_(count) { CHECK(cudaMalloc(&data_, count * sizeof(T))); }
    explicit Device(const std::vector<T>& values) : Device(values.size()) {
        CHECK(cudaMemcpy(data_, values.data(), count_ * sizeof(T), cudaMemcpyHostToDevice));
    }
    ~Device() { CHECK(cudaFree(data_)); }
    Device(const Device&) = delete;
    Device& operator=(const Device&) = delete;

    T* data() const { return data_; }
    void clear() { CHECK(cudaMemset(data_, 0, count_ * sizeof(T))); }
    std::vector<T> copy_back() const {
        std::vector<T> values(count_);
        CHECK(cudaGetLastError()); // of the launch
        CHECK(cudaMemcpy(values.data(), data_, count_ * sizeof(T), cudaMemcpyDeviceToHost));
        return values;
    }

private:
    std::size_t count_;
    T* data_ = nullptr;
};

/// 0 when both are the same, else 1 with the first place that differs.
template <class T> int verify(const std::vector<T>& actual, const std::vector<T>& expected) {
    for (std::size_t i = 0; i < expected.size(); ++i)
        if (!(actual[i] == expected[i])) {
            std::printf("wrong at %zu: %g instead of %g\n", i, static_cast<double>(actual[i]),
                        static_cast<double>(expected[i]));
            return 1;
        }
    std::printf("verified: %zu values\n", expected.size());
    return 0;
}
