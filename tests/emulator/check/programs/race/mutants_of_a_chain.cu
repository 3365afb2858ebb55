// Each block waits for the one before it, adds to its prefix, and hands on; mutants as in
// mutants_of_a_message.cu.
// options: --global-races
#include <cstdio>
#include <cuda_runtime.h>

namespace mutants_of_a_chain {

/// The fence number `place`: left out in the mutant `place`, and for the block only in the mutant -`place`.
template <int mutant, int place> __device__ void fence() {
    if (mutant == -place)
        __threadfence_block();
    else if (mutant != place)
        __threadfence();
}

template <int mutant> __global__ void look_back(int* memory) {
    int* const prefixes = memory;
    volatile int* const flags = memory + 32;
    if (threadIdx.x != 0) return;
    int prefix = 1;
    if (blockIdx.x > 0) {
        while (flags[blockIdx.x - 1] == 0) {
        }
        fence<mutant, 1>();
        prefix += prefixes[blockIdx.x - 1]; // expect 4: race, read after write
    }
    prefixes[blockIdx.x] = prefix;
    fence<mutant, 2>();
    flags[blockIdx.x] = 1;
}

/// Prints what the mutant makes of the memory.
template <int mutant> void run(int* memory) {
    cudaMemset(memory, 0, 64 * sizeof(int));
    look_back<mutant><<<4, 32>>>(memory);
    int result = 0;
    cudaMemcpy(&result, memory + 3, sizeof result, cudaMemcpyDeviceToHost);
    if (mutant == 0)
        std::printf("correct: %d\n", result);
    else
        std::printf("mutant %d: %d\n", mutant, result);
}

} // namespace mutants_of_a_chain

int main() {
    using namespace mutants_of_a_chain;
    int* memory = nullptr;
    cudaMalloc(&memory, 64 * sizeof(int));
    run<0>(memory);
    run<1>(memory);
    run<-1>(memory);
    run<2>(memory);
    run<-2>(memory);
    return cudaDeviceSynchronize() != cudaSuccess || cudaFree(memory) != cudaSuccess;
}
