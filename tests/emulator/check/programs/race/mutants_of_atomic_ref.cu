// A message between blocks by libcu++'s atomics: right with release and acquire for the device, and with
// fences; wrong where one of the two is relaxed, or for the block only.
//
// options: --global-races
#include "mutants.hpp"

#include <cuda/atomic>

namespace mutants_of_atomic_ref {

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

} // namespace mutants_of_atomic_ref

int main() {
    using namespace mutants_of_atomic_ref;
    return mutants::run(2, 32, 8,
                        {
                            {"correct 1", release_and_acquire},
                            {"correct 2", sequentially_consistent},
                            {"mutant 1", relaxed_store},
                            {"mutant 2", relaxed_load},
                            {"mutant 3", for_the_block},
                            {"correct 3", fences},
                        });
}
