// Correct: blocks that meet in between by grid.sync(), and read what another warp of another block has left.
// options: --global-races
#include <cooperative_groups.h>
#include <cuda_runtime.h>

__global__ void rotate_blocks(int* memory) {
    const unsigned int next = (blockIdx.x + 1) % gridDim.x, tid = threadIdx.x;
    int value = static_cast<int>(blockIdx.x);
    for (int round = 0; round < 4; ++round) {
        memory[blockIdx.x * blockDim.x + tid] = value;
        cooperative_groups::this_grid().sync();
        value += memory[next * blockDim.x + (tid ^ 33)];
        cooperative_groups::this_grid().sync();
    }
    memory[blockIdx.x * blockDim.x + tid] = value;
}

int main() {
    int* memory = nullptr;
    cudaMalloc(&memory, 5 * 64 * sizeof(int));
    void* arguments[] = {&memory};
    cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(rotate_blocks), 5, 64, arguments);
    return cudaDeviceSynchronize() != cudaSuccess || cudaFree(memory) != cudaSuccess;
}
