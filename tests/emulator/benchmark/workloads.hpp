/// The launches whose speed on the emulator is measured: every kernel of the lessons. They stand apart
/// because nvcc compiles them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

/// A kernel over ints in device memory, ready to be launched again and again. `data` holds n of them, and may
/// be overwritten; `output` has room for one for each block, or for n where a kernel transposes tiles.
struct Workload {
    std::string name;
    void (*launch)(int* data, int* output, std::size_t n);
    unsigned int launches = 1; ///< all alike
};

const std::vector<Workload>& workloads();
