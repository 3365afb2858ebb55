/// \file
/// The launches whose speed on the emulator is measured. They stand apart because nvcc compiles them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

/// A kernel over random ints in device memory, ready to be launched again and again.
struct Workload {
    std::string name;
    void (*launch)(const int* input, int* partial_sums, std::size_t n, unsigned int block);
    unsigned int elements_per_thread = 1;
};

const std::vector<Workload>& workloads();
