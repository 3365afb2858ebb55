// A lock of all blocks; mutants as in mutants_of_a_message.cu, and 4: the atomic that takes the lock is
// narrow.
//
// options: --global-races
#include <cstdio>
#include <cuda_runtime.h>

namespace mutants_of_a_lock {

/// The fence number `place`: left out in the mutant `place`, and for the block only in the mutant -`place`.
template <int mutant, int place> __device__ void fence() {
    if (mutant == -place)
        __threadfence_block();
    else if (mutant != place)
        __threadfence();
}

template <int mutant> __global__ void take_and_give_back(int* memory) {
    int *const sum = memory, *const lock = memory + 32;
    if (threadIdx.x != 0) return;
    while (true) {
        int before = 0;
        if (mutant == 4)
            before = atomicCAS_block(lock, 0, 1); // expect: race, atomic after atomic
        else
            before = atomicCAS(lock, 0, 1); // expect: race, atomic after atomic
        if (before == 0) break;
    }
    fence<mutant, 1>();
    const int so_far = *sum;                          // expect 6: race, read after write
    *sum = so_far + static_cast<int>(blockIdx.x) + 1; // expect 6: race, write after write
    fence<mutant, 2>();
    if (mutant == 3)
        atomicExch_block(lock, 0); // expect: race, atomic after atomic
    else
        atomicExch(lock, 0);
}

/// Prints what the mutant makes of the memory.
template <int mutant> void run(int* memory) {
    cudaMemset(memory, 0, 64 * sizeof(int));
    take_and_give_back<mutant><<<4, 32>>>(memory);
    int result = 0;
    cudaMemcpy(&result, memory + 0, sizeof result, cudaMemcpyDeviceToHost);
    if (mutant == 0)
        std::printf("correct: %d\n", result);
    else
        std::printf("mutant %d: %d\n", mutant, result);
}

} // namespace mutants_of_a_lock

int main() {
    using namespace mutants_of_a_lock;
    int* memory = nullptr;
    cudaMalloc(&memory, 64 * sizeof(int));
    run<0>(memory);
    run<1>(memory);
    run<-1>(memory);
    run<2>(memory);
    run<-2>(memory);
    run<3>(memory);
    run<4>(memory);
    return cudaDeviceSynchronize() != cudaSuccess || cudaFree(memory) != cudaSuccess;
}
