// Correct: a barrier of libcu++ that threads and their copies arrive at; one phase brings a tile, the next
// one ends its use.
#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda_runtime.h>

#pragma nv_diag_suppress static_var_with_dynamic_init

__global__ void by_barrier(const int* in, int* out) {
    __shared__ alignas(16) int tile[128];
    __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
    const auto block = cooperative_groups::this_thread_block();
    if (threadIdx.x == 0) init(&barrier, blockDim.x);
    block.sync();
    int sum = 0;
    for (int t = 0; t < 8; ++t) {
        cuda::memcpy_async(block, tile, in + t * 128, cuda::aligned_size_t<16>(sizeof tile), barrier);
        barrier.arrive_and_wait();
        sum += tile[127 - threadIdx.x];
        barrier.wait(barrier.arrive());
    }
    tile[threadIdx.x] = sum;
    barrier.arrive_and_wait();
    out[threadIdx.x] = tile[threadIdx.x ^ 64];
}

int main() {
    int *in = nullptr, *out = nullptr;
    cudaMalloc(&in, 1024 * sizeof(int));
    cudaMalloc(&out, 128 * sizeof(int));
    cudaMemset(in, 1, 1024 * sizeof(int));
    by_barrier<<<2, 128>>>(in, out);
    return cudaDeviceSynchronize() != cudaSuccess || cudaFree(in) != cudaSuccess ||
           cudaFree(out) != cudaSuccess;
}
