// Correct: each warp has a part of the tile for itself, and needs warp barriers only; halves of a warp too.
#include <cuda_runtime.h>

__global__ void transpose_in_warps(const int* in, int* out) {
    __shared__ int tiles[4][16][33];
    const unsigned int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    for (int row = 0; row < 16; ++row) tiles[warp][row][lane] = in[row * 32 + lane];
    __syncwarp();
    int sum = 0;
    for (int column = 0; column < 32; ++column) sum += tiles[warp][lane / 2][column];
    __syncwarp();
    const unsigned int half = lane < 16 ? 0x0000ffff : 0xffff0000;
    tiles[warp][0][lane] = sum;
    __syncwarp(half);
    out[threadIdx.x] = tiles[warp][0][lane ^ 5];
}

int main() {
    int *in = nullptr, *out = nullptr;
    cudaMalloc(&in, 16 * 32 * sizeof(int));
    cudaMalloc(&out, 128 * sizeof(int));
    cudaMemset(in, 1, 16 * 32 * sizeof(int));
    transpose_in_warps<<<2, 128>>>(in, out);
    return cudaDeviceSynchronize() != cudaSuccess || cudaFree(in) != cudaSuccess ||
           cudaFree(out) != cudaSuccess;
}
