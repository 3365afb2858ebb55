/// What the CUDA programs among the tests share.
#pragma once

#include "emulator/cuda_emulator.h"

#include <cuda_runtime.h>
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

inline void PrintTo(cudaError_t error, std::ostream* out) { *out << cudaGetErrorName(error); }

#define EXPECT_CUDA(call) EXPECT_EQ(call, cudaSuccess)
#define ASSERT_CUDA(call) ASSERT_EQ(call, cudaSuccess)

inline int device_count() {
    int count = 0;
    EXPECT_CUDA(cudaGetDeviceCount(&count));
    return count;
}

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

/// The counters of the last launch, as a program gets at them. Empty on a GPU.
inline std::map<std::string, std::uint64_t> last_counters() {
    const auto read = reinterpret_cast<decltype(&emulator_last_launch_counters)>(
        dlsym(RTLD_DEFAULT, "emulator_last_launch_counters"));
    if (!read) return {};
    std::vector<emulator_counter> counters(read(nullptr, 0));
    read(counters.data(), counters.size());
    std::map<std::string, std::uint64_t> by_name;
    for (const auto& counter : counters) by_name[counter.name] = counter.value;
    return by_name;
}
