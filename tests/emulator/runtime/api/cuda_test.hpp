/// \file
/// What the CUDA programs among the tests share.
#pragma once

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

inline void PrintTo(cudaError_t error, std::ostream* out) { *out << cudaGetErrorName(error); }

#define EXPECT_CUDA(call) EXPECT_EQ(call, cudaSuccess)
#define ASSERT_CUDA(call) ASSERT_EQ(call, cudaSuccess)

/// `count` ints on the device, all zero.
class DeviceInts {
public:
    explicit DeviceInts(std::size_t count) : count_(count) {
        EXPECT_CUDA(cudaMalloc(&data_, count * sizeof(int)));
        EXPECT_CUDA(cudaMemset(data_, 0, count * sizeof(int)));
    }
    ~DeviceInts() { cudaFree(data_); }
    DeviceInts(const DeviceInts&) = delete;
    DeviceInts& operator=(const DeviceInts&) = delete;

    int* data() const { return data_; }

    std::vector<int> copy_back() const {
        std::vector<int> values(count_);
        EXPECT_CUDA(cudaMemcpy(values.data(), data_, count_ * sizeof(int), cudaMemcpyDeviceToHost));
        return values;
    }

private:
    int* data_ = nullptr;
    std::size_t count_;
};
