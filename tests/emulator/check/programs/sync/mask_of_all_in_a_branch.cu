// The mask names all lanes, and half of them take the other branch.
#include <cuda_runtime.h>

__global__ void count_odd(int* data) {
    const bool is_odd = data[threadIdx.x] % 2 == 1;
    unsigned int odd = 0;
    if (threadIdx.x < 16)
        odd = __ballot_sync(~0u, is_odd); // expect: sync, mask names lanes that do not arrive
    data[threadIdx.x] = __popc(odd);
}

int main() {
    int* data = nullptr;
    cudaMalloc(&data, 32 * sizeof(int));
    cudaMemset(data, 1, 32 * sizeof(int));
    count_odd<<<1, 32>>>(data);
    return cudaDeviceSynchronize() != cudaSuccess || cudaFree(data) != cudaSuccess;
}
