/// \file
/// Shared by the programs mutants_*.cu.
#pragma once

#include <cstdio>
#include <cuda_runtime.h>
#include <initializer_list>

namespace mutants {

/// The fence number `place`: left out in the mutant `place`, and for the block only in the mutant -`place`.
template <int mutant, int place> __device__ void fence() {
    if (mutant == -place)
        __threadfence_block();
    else if (mutant != place)
        __threadfence();
}

struct Named {
    const char* name; ///< begins with "correct" or "mutant"
    void (*kernel)(int* memory);
};

/// Launches each kernel on 64 ints that are 0, and prints what it leaves in the one at `result`. Returns
/// main's status.
inline int run(unsigned int grid, unsigned int block, int result, std::initializer_list<Named> kernels) {
    constexpr std::size_t bytes = 64 * sizeof(int);
    int* memory = nullptr;
    cudaMalloc(&memory, bytes);
    for (const Named& each : kernels) {
        cudaMemset(memory, 0, bytes);
        each.kernel<<<grid, block>>>(memory);
        int value = 0;
        cudaMemcpy(&value, memory + result, sizeof value, cudaMemcpyDeviceToHost);
        std::printf("%s: %d\n", each.name, value);
    }
    return cudaDeviceSynchronize() != cudaSuccess || cudaFree(memory) != cudaSuccess;
}

} // namespace mutants
