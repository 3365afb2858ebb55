// Blocks draw tickets and are served in their order; mutants as in mutants_of_a_message.cu, and 4: the atomic
// that draws is narrow.
//
// options: --global-races
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
    int *const last = memory, *const tickets = memory + 32, *const serving = memory + 40;
    if (threadIdx.x != 0) return;
    int ticket = 0;
    if (mutant == 4)
        ticket = atomicAdd_block(tickets, 1); // expect: race, atomic after atomic
    else
        ticket = atomicAdd(tickets, 1);
    while (*static_cast<volatile int*>(serving) != ticket) {
    }
    fence<mutant, 1>();
    *last = ticket + 1; // expect 5: race, write after write
    fence<mutant, 2>();
    if (mutant == 3)
        atomicAdd_block(serving, 1); // expect: race, atomic after atomic
    else
        atomicAdd(serving, 1);
}

} // namespace mutants_of_a_ticket

int main() {
    int* memory = nullptr;
    cudaMalloc(&memory, 64 * sizeof(int));
    cudaMemset(memory, 0, 64 * sizeof(int));
    mutants_of_a_ticket::serve_in_turn<0><<<4, 32>>>(memory);
    cudaMemset(memory, 0, 64 * sizeof(int));
    mutants_of_a_ticket::serve_in_turn<1><<<4, 32>>>(memory);
    cudaMemset(memory, 0, 64 * sizeof(int));
    mutants_of_a_ticket::serve_in_turn<-1><<<4, 32>>>(memory);
    cudaMemset(memory, 0, 64 * sizeof(int));
    mutants_of_a_ticket::serve_in_turn<2><<<4, 32>>>(memory);
    cudaMemset(memory, 0, 64 * sizeof(int));
    mutants_of_a_ticket::serve_in_turn<-2><<<4, 32>>>(memory);
    cudaMemset(memory, 0, 64 * sizeof(int));
    mutants_of_a_ticket::serve_in_turn<3><<<4, 32>>>(memory);
    cudaMemset(memory, 0, 64 * sizeof(int));
    mutants_of_a_ticket::serve_in_turn<4><<<4, 32>>>(memory);
    return cudaDeviceSynchronize() != cudaSuccess || cudaFree(memory) != cudaSuccess;
}
