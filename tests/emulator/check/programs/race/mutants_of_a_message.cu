// A block leaves a value and sets a flag, another one waits for the flag and reads the value. Correct is
// mutant 0 only: each other one lacks a fence, or has one that is too narrow, as is the atomic of mutant 3.
// options: --global-races
#include <cstdio>
#include <cuda_runtime.h>

namespace mutants_of_a_message {

/// The fence number `place`: left out in the mutant `place`, and for the block only in the mutant -`place`.
template <int mutant, int place> __device__ void fence() {
    if (mutant == -place)
        __threadfence_block();
    else if (mutant != place)
        __threadfence();
}

template <int mutant> __global__ void pass_a_message(int* memory) {
    int *const value = memory, *const flag = memory + 32, *const out = memory + 8;
    if (threadIdx.x != 0) return;
    if (blockIdx.x == 0) {
        *value = 42;
        fence<mutant, 1>();
        if (mutant == 3)
            atomicExch_block(flag, 1);
        else
            atomicExch(flag, 1);
    } else {
        while (*static_cast<volatile int*>(flag) == 0) {
        }
        fence<mutant, 2>();
        *out = *value; // expect 5: race, read after write
    }
}

/// Prints what the mutant makes of the memory.
template <int mutant> void run(int* memory) {
    cudaMemset(memory, 0, 64 * sizeof(int));
    pass_a_message<mutant><<<2, 32>>>(memory);
    int result = 0;
    cudaMemcpy(&result, memory + 8, sizeof result, cudaMemcpyDeviceToHost);
    if (mutant == 0)
        std::printf("correct: %d\n", result);
    else
        std::printf("mutant %d: %d\n", mutant, result);
}

} // namespace mutants_of_a_message

int main() {
    using namespace mutants_of_a_message;
    int* memory = nullptr;
    cudaMalloc(&memory, 64 * sizeof(int));
    run<0>(memory);
    run<1>(memory);
    run<-1>(memory);
    run<2>(memory);
    run<-2>(memory);
    run<3>(memory);
    return cudaDeviceSynchronize() != cudaSuccess || cudaFree(memory) != cudaSuccess;
}
