// Correct: CUB's sums and scans of a block, all of which use one piece of shared memory one after the other.
// options: --global-races
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/warp/warp_reduce.cuh>
#include <cuda_runtime.h>

constexpr int block_size = 96;

template <cub::BlockReduceAlgorithm algorithm> using Reduce = cub::BlockReduce<int, block_size, algorithm>;
using Scan = cub::BlockScan<int, block_size>;
using ReduceEight = cub::WarpReduce<int, 8>;

__global__ void sums(const int* in, int* out) {
    __shared__ union {
        Reduce<cub::BLOCK_REDUCE_WARP_REDUCTIONS>::TempStorage by_warps;
        Reduce<cub::BLOCK_REDUCE_RAKING>::TempStorage raking;
        Reduce<cub::BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY>::TempStorage raking_any_order;
        Scan::TempStorage scan;
        ReduceEight::TempStorage eight[block_size / 8];
    } storage;
    const unsigned int tid = threadIdx.x;
    const int value = in[tid];
    int sum = Reduce<cub::BLOCK_REDUCE_WARP_REDUCTIONS>(storage.by_warps).Sum(value);
    __syncthreads();
    sum += Reduce<cub::BLOCK_REDUCE_RAKING>(storage.raking).Sum(value, 90);
    __syncthreads();
    sum += Reduce<cub::BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY>(storage.raking_any_order).Sum(value);
    __syncthreads();
    int before = 0;
    Scan(storage.scan).ExclusiveSum(value, before);
    __syncthreads();
    sum += before + ReduceEight(storage.eight[tid / 8]).Sum(value, 5);
    out[block_size * blockIdx.x + tid] = sum;
}

int main() {
    int *in = nullptr, *out = nullptr;
    cudaMalloc(&in, block_size * sizeof(int));
    cudaMalloc(&out, 2 * block_size * sizeof(int));
    cudaMemset(in, 1, block_size * sizeof(int));
    sums<<<2, block_size>>>(in, out);
    return cudaDeviceSynchronize() != cudaSuccess || cudaFree(in) != cudaSuccess ||
           cudaFree(out) != cudaSuccess;
}
