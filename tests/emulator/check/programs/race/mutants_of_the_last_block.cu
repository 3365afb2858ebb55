// The last block to finish adds up what all have left, as in lesson 09; mutants as in
// mutants_of_a_message.cu.
//
// options: --global-races
#include <cstdio>
#include <cuda_runtime.h>

namespace mutants_of_the_last_block {

/// The fence number `place`: left out in the mutant `place`, and for the block only in the mutant -`place`.
template <int mutant, int place> __device__ void fence() {
    if (mutant == -place)
        __threadfence_block();
    else if (mutant != place)
        __threadfence();
}

template <int mutant> __global__ void add_in_the_last_block(int* memory) {
    int *const parts = memory, *const done = memory + 32, *const total = memory + 40;
    __shared__ bool is_last;
    if (threadIdx.x == 0) {
        parts[blockIdx.x] = static_cast<int>(blockIdx.x);
        fence<mutant, 1>();
        int before = 0;
        if (mutant == 3)
            before = atomicAdd_block(done, 1); // expect: race, atomic after atomic
        else
            before = atomicAdd(done, 1);
        is_last = before == static_cast<int>(gridDim.x) - 1;
        fence<mutant, 2>();
    }
    __syncthreads();
    if (!is_last) return;
    const unsigned from = 2 * (threadIdx.x / 32); // the second warp has no part in the atomic
    int sum = parts[from] + parts[from + 1];      // expect 5: race, read after write
    for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_down_sync(0xffffffff, sum, distance);
    if (threadIdx.x % 32 == 0) atomicAdd(total, sum);
}

/// Prints what the mutant makes of the memory.
template <int mutant> void run(int* memory) {
    cudaMemset(memory, 0, 64 * sizeof(int));
    add_in_the_last_block<mutant><<<4, 64>>>(memory);
    int result = 0;
    cudaMemcpy(&result, memory + 40, sizeof result, cudaMemcpyDeviceToHost);
    if (mutant == 0)
        std::printf("correct: %d\n", result);
    else
        std::printf("mutant %d: %d\n", mutant, result);
}

} // namespace mutants_of_the_last_block

int main() {
    using namespace mutants_of_the_last_block;
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
