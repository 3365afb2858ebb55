// Correct: barriers in branches and loops that are the same for all threads, masks computed before a branch,
// and lanes that reach one barrier one after the other.
#include <cuda_runtime.h>

__global__ void in_branches(int* data, int n, bool twice) {
    __shared__ int values[64];
    const unsigned int tid = threadIdx.x, lane = tid % 32;
    int sum = 0;
    for (int i = 0; i < n; i += 64) {
        const int here = i + static_cast<int>(tid);
        values[tid] = here < n ? data[here] : 0;
        __syncthreads();
        if (twice) {
            sum += values[tid ^ 32];
            __syncthreads();
        }
        sum += __syncthreads_count(values[63 - tid] > 0);
    }
    for (unsigned int round = 0; round < lane; ++round) sum = sum * 3 + 1;
    __syncwarp();
    const unsigned int odd = __ballot_sync(0xffffffff, lane % 2 == 1);
    if (lane % 2 == 1)
        sum += __shfl_xor_sync(odd, sum, 2);
    else
        __syncwarp(~odd);
    switch (lane / 8) {
    case 0: __syncwarp(0x000000ff); break;
    case 1: sum += __reduce_add_sync(0x0000ff00, sum); break;
    default: sum += __match_any_sync(0xffff0000, sum); break;
    }
    __syncthreads();
    if (tid < static_cast<unsigned int>(n)) data[tid] = sum;
}

int main() {
    int* data = nullptr;
    cudaMalloc(&data, 150 * sizeof(int));
    cudaMemset(data, 0, 150 * sizeof(int));
    in_branches<<<1, 64>>>(data, 150, true);
    in_branches<<<1, 64>>>(data, 150, false);
    return cudaDeviceSynchronize() != cudaSuccess || cudaFree(data) != cudaSuccess;
}
