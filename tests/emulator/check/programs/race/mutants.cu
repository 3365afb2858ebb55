// Blocks that synchronize by fences and atomics: correct kernels, and mutants with one place wrong.
#include "../programs.hpp"

#include <cuda/atomic>

#include <cstdio>
#include <initializer_list>

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
int run_mutants(unsigned int grid, unsigned int block, int result, std::initializer_list<Named> kernels) {
    constexpr int elements = 64;
    const Memory<int> memory(elements);
    for (const Named& each : kernels) {
        cudaMemset(memory, 0, elements * sizeof(int));
        each.kernel<<<grid, block>>>(memory);
        int value = 0;
        cudaMemcpy(&value, memory + result, sizeof value, cudaMemcpyDeviceToHost);
        std::printf("%s: %d\n", each.name, value);
    }
    return cudaDeviceSynchronize() != cudaSuccess;
}

// ---- mutants_of_a_message -----------------------------------------------------------------------
// A block leaves a value and sets a flag, another one waits for the flag and reads the value. Correct is
// mutant 0 only: each other one lacks a fence, or has one that is too narrow, as is the atomic of mutant 3.
// options: --global-races
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

PROGRAM(mutants_of_a_message) {
    return run_mutants(2, 32, 8,
                       {{"correct", pass_a_message<0>},
                        {"mutant 1", pass_a_message<1>},
                        {"mutant -1", pass_a_message<-1>},
                        {"mutant 2", pass_a_message<2>},
                        {"mutant -2", pass_a_message<-2>},
                        {"mutant 3", pass_a_message<3>}});
}

// ---- mutants_of_a_chain -------------------------------------------------------------------------
// Each block waits for the one before it, adds to its prefix, and hands on; mutants as in
// mutants_of_a_message.
// options: --global-races
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

PROGRAM(mutants_of_a_chain) {
    return run_mutants(4, 32, 3,
                       {{"correct", look_back<0>},
                        {"mutant 1", look_back<1>},
                        {"mutant -1", look_back<-1>},
                        {"mutant 2", look_back<2>},
                        {"mutant -2", look_back<-2>}});
}

// ---- mutants_of_a_lock --------------------------------------------------------------------------
// A lock of all blocks; mutants as in mutants_of_a_message, and 4: the atomic that takes the lock is narrow.
// options: --global-races
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

PROGRAM(mutants_of_a_lock) {
    return run_mutants(4, 32, 0,
                       {{"correct", take_and_give_back<0>},
                        {"mutant 1", take_and_give_back<1>},
                        {"mutant -1", take_and_give_back<-1>},
                        {"mutant 2", take_and_give_back<2>},
                        {"mutant -2", take_and_give_back<-2>},
                        {"mutant 3", take_and_give_back<3>},
                        {"mutant 4", take_and_give_back<4>}});
}

// ---- mutants_of_a_ticket ------------------------------------------------------------------------
// Blocks draw tickets and are served in their order; mutants as in mutants_of_a_message, and 4: the atomic
// that draws is narrow.
// options: --global-races
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

PROGRAM(mutants_of_a_ticket) {
    return run_mutants(4, 32, 0,
                       {{"correct", serve_in_turn<0>},
                        {"mutant 1", serve_in_turn<1>},
                        {"mutant -1", serve_in_turn<-1>},
                        {"mutant 2", serve_in_turn<2>},
                        {"mutant -2", serve_in_turn<-2>},
                        {"mutant 3", serve_in_turn<3>},
                        {"mutant 4", serve_in_turn<4>}});
}

// ---- mutants_of_atomic_ref ----------------------------------------------------------------------
// A message between blocks by libcu++'s atomics: right with release and acquire for the device, and with
// fences; wrong where one of the two is relaxed, or for the block only.
// options: --global-races
template <cuda::thread_scope scope>
__device__ void hand_over(int* memory, cuda::memory_order store, cuda::memory_order load) {
    if (threadIdx.x != 0) return;
    const cuda::atomic_ref<int, scope> flag(memory[32]);
    if (blockIdx.x == 0) {
        memory[0] = 42;
        flag.store(1, store);
    } else {
        while (flag.load(load) == 0) { // expect: race, atomic after atomic
        }
        memory[8] = memory[0]; // expect 3: race, read after write
    }
}
__global__ void release_and_acquire(int* memory) {
    hand_over<cuda::thread_scope_device>(memory, cuda::memory_order_release, cuda::memory_order_acquire);
}
__global__ void sequentially_consistent(int* memory) {
    hand_over<cuda::thread_scope_system>(memory, cuda::memory_order_seq_cst, cuda::memory_order_seq_cst);
}
__global__ void relaxed_store(int* memory) {
    hand_over<cuda::thread_scope_device>(memory, cuda::memory_order_relaxed, cuda::memory_order_acquire);
}
__global__ void relaxed_load(int* memory) {
    hand_over<cuda::thread_scope_device>(memory, cuda::memory_order_release, cuda::memory_order_relaxed);
}
__global__ void for_the_block(int* memory) {
    hand_over<cuda::thread_scope_block>(memory, cuda::memory_order_release, cuda::memory_order_acquire);
}
__global__ void fences(int* memory) {
    if (threadIdx.x != 0) return;
    const cuda::atomic_ref<int, cuda::thread_scope_device> flag(memory[32]);
    if (blockIdx.x == 0) {
        memory[0] = 42;
        cuda::atomic_thread_fence(cuda::memory_order_release, cuda::thread_scope_device);
        flag.store(1, cuda::memory_order_relaxed);
    } else {
        while (flag.load(cuda::memory_order_relaxed) == 0) {
        }
        cuda::atomic_thread_fence(cuda::memory_order_acquire, cuda::thread_scope_device);
        memory[8] = memory[0];
    }
}

PROGRAM(mutants_of_atomic_ref) {
    return run_mutants(2, 32, 8,
                       {{"correct 1", release_and_acquire},
                        {"correct 2", sequentially_consistent},
                        {"mutant 1", relaxed_store},
                        {"mutant 2", relaxed_load},
                        {"mutant 3", for_the_block},
                        {"correct 3", fences}});
}

// ---- mutants_of_the_last_block ------------------------------------------------------------------
// The last block to finish adds up what all have left, as in lesson 09; mutants as in mutants_of_a_message.
// options: --global-races
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
    const unsigned int from = 2 * (threadIdx.x / 32); // the second warp has no part in the atomic
    int sum = parts[from] + parts[from + 1];          // expect 5: race, read after write
    for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_down_sync(0xffffffff, sum, distance);
    if (threadIdx.x % 32 == 0) atomicAdd(total, sum);
}

PROGRAM(mutants_of_the_last_block) {
    return run_mutants(4, 64, 40,
                       {{"correct", add_in_the_last_block<0>},
                        {"mutant 1", add_in_the_last_block<1>},
                        {"mutant -1", add_in_the_last_block<-1>},
                        {"mutant 2", add_in_the_last_block<2>},
                        {"mutant -2", add_in_the_last_block<-2>},
                        {"mutant 3", add_in_the_last_block<3>}});
}
