// Blocks draw tickets and are served in their order; mutants as in mutants_of_a_message.cu, and 4: the atomic
// that draws is narrow.
//
// options: --global-races
#include <cstdio>
#include <cuda_runtime.h>

namespace mutants_of_a_ticket {

/// The fence number `place`: left out in the mutant `place`, and for the block only in the mutant -`place`.
template <int mutant, int place> __device__ void fence() {
    if (mutant == -place)
        __threadfence_block();
    else if (mutant != place)
        __threadfence();
}

template <int mutant> __global__ void serve_in_turn(int* memory) {
    int *const sum = memory, *const tickets = memory + 32, *const serving = memory + 40;
    if (threadIdx.x != 0) return;
    int ticket = 0;
    if (mutant == 4)
        ticket = atomicAdd_block(tickets, 1); // expect: race, atomic after atomic
    else
        ticket = atomicAdd(tickets, 1);
    while (*static_cast<volatile int*>(serving) < ticket) { // mutant 4 may draw a ticket twice
    }
    fence<mutant, 1>();
    const int so_far = *sum;    // expect 5: race, read after write
    *sum = so_far + ticket + 1; // expect 5: race, write after write
    fence<mutant, 2>();
    if (mutant == 3)
        atomicAdd_block(serving, 1); // expect: race, atomic after atomic
    else
        atomicAdd(serving, 1);
}

/// Prints what the mutant makes of the memory.
template <int mutant> void run(int* memory) {
    cudaMemset(memory, 0, 64 * sizeof(int));
    serve_in_turn<mutant><<<4, 32>>>(memory);
    int result = 0;
    cudaMemcpy(&result, memory + 0, sizeof result, cudaMemcpyDeviceToHost);
    if (mutant == 0)
        std::printf("correct: %d\n", result);
    else
        std::printf("mutant %d: %d\n", mutant, result);
}

} // namespace mutants_of_a_ticket

int main() {
    using namespace mutants_of_a_ticket;
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
