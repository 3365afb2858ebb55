// A lock of all blocks; mutants as in mutants_of_a_message.cu, and 4: the atomic that takes the lock is
// narrow.
//
// options: --global-races
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
    int *const last = memory, *const lock = memory + 32;
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
    *last = static_cast<int>(blockIdx.x) + 1; // expect 6: race, write after write
    fence<mutant, 2>();
    if (mutant == 3)
        atomicExch_block(lock, 0); // expect: race, atomic after atomic
    else
        atomicExch(lock, 0);
}

} // namespace mutants_of_a_lock

int main() {
    int* memory = nullptr;
    cudaMalloc(&memory, 64 * sizeof(int));
    cudaMemset(memory, 0, 64 * sizeof(int));
    mutants_of_a_lock::take_and_give_back<0><<<4, 32>>>(memory);
    cudaMemset(memory, 0, 64 * sizeof(int));
    mutants_of_a_lock::take_and_give_back<1><<<4, 32>>>(memory);
    cudaMemset(memory, 0, 64 * sizeof(int));
    mutants_of_a_lock::take_and_give_back<-1><<<4, 32>>>(memory);
    cudaMemset(memory, 0, 64 * sizeof(int));
    mutants_of_a_lock::take_and_give_back<2><<<4, 32>>>(memory);
    cudaMemset(memory, 0, 64 * sizeof(int));
    mutants_of_a_lock::take_and_give_back<-2><<<4, 32>>>(memory);
    cudaMemset(memory, 0, 64 * sizeof(int));
    mutants_of_a_lock::take_and_give_back<3><<<4, 32>>>(memory);
    cudaMemset(memory, 0, 64 * sizeof(int));
    mutants_of_a_lock::take_and_give_back<4><<<4, 32>>>(memory);
    return cudaDeviceSynchronize() != cudaSuccess || cudaFree(memory) != cudaSuccess;
}
