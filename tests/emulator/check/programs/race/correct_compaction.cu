// Correct: a vote shows the lanes that keep their element where to store it; every warp reserves its part of
// the list with one atomic, and the readers of the list wait for all.
//
// options: --global-races
#include <cuda_runtime.h>

__global__ void keep_odd(const int* in, int* out, int* count) {
    __shared__ int kept[128], kept_count;
    const unsigned int tid = threadIdx.x, lane = tid % 32;
    if (tid == 0) kept_count = 0;
    __syncthreads();
    const int value = in[tid];
    const unsigned int odd = __ballot_sync(0xffffffff, value % 2 == 1);
    int first = 0;
    if (lane == 0) first = atomicAdd(&kept_count, __popc(odd));
    first = __shfl_sync(0xffffffff, first, 0);
    if (value % 2 == 1) kept[first + __popc(odd & ((1u << lane) - 1))] = value;
    __syncthreads();
    __shared__ int block_first;
    if (tid == 0) block_first = atomicAdd(count, kept_count);
    __syncthreads();
    for (int i = static_cast<int>(tid); i < kept_count; i += 128) out[block_first + i] = kept[i];
}

int main() {
    int host[128], *in = nullptr, *out = nullptr, *count = nullptr, result = 0;
    for (int i = 0; i < 128; ++i) host[i] = i * i % 7;
    cudaMalloc(&in, sizeof host);
    cudaMalloc(&out, 2 * sizeof host);
    cudaMalloc(&count, sizeof(int));
    cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
    cudaMemset(count, 0, sizeof(int));
    keep_odd<<<2, 128>>>(in, out, count);
    cudaMemcpy(&result, count, sizeof result, cudaMemcpyDeviceToHost);
    cudaMemcpy(host, out, 2 * sizeof(int), cudaMemcpyDeviceToHost);
    return result == 0 || cudaFree(in) != cudaSuccess || cudaFree(out) != cudaSuccess ||
           cudaFree(count) != cudaSuccess;
}
