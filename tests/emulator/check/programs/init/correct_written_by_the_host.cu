// Correct: the host writes managed and pinned memory without a call, and variables begin as zeros.
#include <cuda_runtime.h>

__device__ int zeros[32];
__managed__ int managed_variable[32];

__global__ void add_all(const int* managed, const int* pinned, const int* copied, int* out) {
    const unsigned int i = threadIdx.x;
    out[i] = managed[i] + pinned[i] + copied[i] + zeros[i] + managed_variable[i];
}

int main() {
    constexpr std::size_t bytes = 32 * sizeof(int);
    int *managed = nullptr, *pinned = nullptr, *copied = nullptr, *through = nullptr, *out = nullptr,
        host[32];
    cudaMallocManaged(&managed, bytes);
    cudaMallocHost(&pinned, bytes);
    cudaMalloc(&copied, bytes);
    cudaMalloc(&through, bytes);
    cudaMalloc(&out, bytes);
    for (int i = 0; i < 32; ++i) managed[i] = pinned[i] = managed_variable[i] = i;
    cudaMemcpy(through, pinned, bytes, cudaMemcpyDefault);
    cudaMemcpy2D(copied, bytes / 4, through, bytes / 4, bytes / 4, 4, cudaMemcpyDeviceToDevice);
    add_all<<<1, 32>>>(managed, pinned, copied, out);
    cudaMemcpy(host, out, bytes, cudaMemcpyDeviceToHost);
    cudaFree(managed);
    cudaFreeHost(pinned);
    cudaFree(copied);
    cudaFree(through);
    cudaFree(out);
    return host[31] != 4 * 31;
}
