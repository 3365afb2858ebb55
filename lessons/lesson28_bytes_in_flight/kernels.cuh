#pragma once

#include <cstddef>

#include "given.cuh"

/// cp.async.bulk: one thread asks for a whole stage, and the copy engine fills it. An mbarrier per stage
/// counts the bytes that arrive. Dynamic shared memory: stages x stage_bytes. Leaves one partial sum per block.
/// \param stage_bytes a multiple of 16, and the same for every stage but the input's last one
/// \param stages 1 to max_stages
template <unsigned int block_size>
__global__ void reduce11(const int* input, int* partial_sums, std::size_t n, unsigned int stage_bytes,
                         unsigned int stages) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    // The copy engine writes lines of 128 bytes. A ring that starts within one is slower.
    extern __shared__ __align__(128) int4 ring[];
    __shared__ std::uint64_t arrived[max_stages];
    const Parts parts = split(input, n);
    const unsigned int stage_vectors = stage_bytes / sizeof(int4);
    const std::size_t tiles = (parts.vectors + stage_vectors - 1) / stage_vectors;

    const auto vectors_of = [&](std::size_t tile) { // The input's last tile may be short.
        const std::size_t left = parts.vectors - tile * stage_vectors;
        return left < stage_vectors ? static_cast<unsigned int>(left) : stage_vectors;
    };
    const auto copy_tile = [&](std::size_t tile, unsigned int stage) {
        const unsigned int bytes = vectors_of(tile) * sizeof(int4);
        expect_bytes(&arrived[stage], bytes);
        bulk_copy(&ring[stage * stage_vectors], &parts.body[tile * stage_vectors], bytes, &arrived[stage]);
    };

    if (threadIdx.x == 0) {
        for (unsigned int stage = 0; stage < stages; ++stage) {
            init_barrier(&arrived[stage], 1); // One arrival per phase: that of expect_bytes.
        }
        fence_barrier_init(); // The copy engine sees the initialized barriers.
        for (unsigned int stage = 0; stage < stages; ++stage) {
            const std::size_t tile = blockIdx.x + std::size_t{stage} * gridDim.x;
            if (tile < tiles) {
                copy_tile(tile, stage);
            }
        }
    }
    __syncthreads(); // No thread waits at a barrier that is not initialized.

    int sum = sum_of_edges(input, n, parts);
    unsigned int stage = 0,
                 parity = 0; // The parity of the stage's phase: it flips on each way around the ring.
    for (std::size_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        wait_barrier(&arrived[stage], parity); // The whole tile has arrived.
        const unsigned int count = vectors_of(tile);
        for (unsigned int i = threadIdx.x; i < count; i += block_size) {
            sum += sum_of_four(ring[stage * stage_vectors + i]);
        }
        const std::size_t next = tile + std::size_t{stages} * gridDim.x;
        if (next < tiles) {
            __syncthreads(); // Every thread has read the stage before the next copy overwrites it.
            if (threadIdx.x == 0) {
                fence_async_proxy(); // The threads' reads come before the copy engine's writes.
                copy_tile(next, stage);
            }
        }
        if (++stage == stages) {
            stage = 0;
            parity ^= 1;
        }
    }

    sum = sum_of_block<block_size>(sum);
    if (threadIdx.x == 0) {
        partial_sums[blockIdx.x] = sum;
    }
#endif
}
