// Correct: threads leave when no barrier is left, and lanes leave before warp barriers, votes, and shuffles
// that do not ask for their values.
#include <cuda_runtime.h>

__global__ void leave(int* data, int n) {
    __shared__ int values[64];
    const int tid = static_cast<int>(threadIdx.x);
    values[tid] = tid < n ? data[tid] : 0;
    __syncthreads();
    if (tid >= n) return;
    int sum = values[tid ^ 1];
    __syncwarp();
    sum += __shfl_sync(0xffffffff, sum, 0);
    sum += __popc(__ballot_sync(__activemask(), sum > 0));
    if (__any_sync(0xffffffff, sum == 77)) sum = 0;
    data[tid] = sum;
}

int main() {
    int* data = nullptr;
    cudaMalloc(&data, 50 * sizeof(int));
    cudaMemset(data, 0, 50 * sizeof(int));
    leave<<<1, 64>>>(data, 50);
    leave<<<1, 50>>>(data, 50);
    return cudaDeviceSynchronize() != cudaSuccess || cudaFree(data) != cudaSuccess;
}
