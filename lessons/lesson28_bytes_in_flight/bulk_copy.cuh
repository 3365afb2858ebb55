#pragma once

#include <cstdint>

// One PTX instruction each, for compute capability 9.0. CUDA C++ has them too, in <cuda/ptx>.

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900

/// PTX addresses shared memory with 32 bits.
__device__ inline std::uint32_t shared_address(const void* shared) {
    return static_cast<std::uint32_t>(__cvta_generic_to_shared(shared));
}

/// A phase of the barrier ends when `arrivals` threads have arrived, and the expected bytes too.
__device__ inline void init_barrier(std::uint64_t* barrier, unsigned int arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(arrivals)
                 : "memory");
}

/// Makes the initialized barriers visible to the copy engine.
__device__ inline void fence_barrier_init() {
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

/// Arrives, and has the phase wait for `bytes` more.
__device__ inline void expect_bytes(std::uint64_t* barrier, unsigned int bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)),
                 "r"(bytes)
                 : "memory");
}

/// Waits until the phase of this parity has ended: 0 for the first phase, 1 for the second, 0 for the third.
__device__ inline void wait_barrier(std::uint64_t* barrier, unsigned int parity) {
    asm volatile("{\n\t.reg .pred ended;\n"
                 "again:\n\t"
                 "mbarrier.try_wait.parity.shared::cta.b64 ended, [%0], %1;\n\t"
                 "@!ended bra again;\n\t}" ::"r"(shared_address(barrier)),
                 "r"(parity)
                 : "memory");
}

/// The copy engine copies `bytes` from global to shared memory, and counts them at the barrier as they
/// arrive. 16 divides both addresses and `bytes`.
__device__ inline void bulk_copy(void* shared, const void* global, unsigned int bytes,
                                 std::uint64_t* barrier) {
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
            shared_address(shared)),
        "l"(__cvta_generic_to_global(global)), "r"(bytes), "r"(shared_address(barrier))
        : "memory");
}

/// Threads access shared memory through the generic proxy, the copy engine through the async proxy. The fence
/// orders accesses of the one before accesses of the other.
__device__ inline void fence_async_proxy() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

#endif
