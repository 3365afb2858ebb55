// Correct: of a large buffer only the part that was written is ever read, copied or cleared.
#include <cuda_runtime.h>

__global__ void write_part(int* buffer, int* count) {
    const int place = atomicAdd(count, 1);
    buffer[place] = static_cast<int>(threadIdx.x);
}

__global__ void read_part(const int* buffer, const int* count, int* sum) {
    __shared__ int partly[1024];
    const int i = static_cast<int>(threadIdx.x);
    if (i < *count) partly[2 * i] = buffer[i];
    __syncthreads();
    if (i < *count) atomicAdd(sum, partly[2 * (*count - 1 - i)]);
}

int main() {
    int *buffer = nullptr, *count = nullptr, *sum = nullptr;
    int result = 0, part[100];
    cudaMalloc(&buffer, 1'000'000 * sizeof(int));
    cudaMalloc(&count, sizeof(int));
    cudaMalloc(&sum, sizeof(int));
    cudaMemset(count, 0, sizeof(int));
    cudaMemset(sum, 0, sizeof(int));
    write_part<<<1, 100>>>(buffer, count);
    read_part<<<1, 128>>>(buffer, count, sum);
    cudaMemcpy(&result, sum, sizeof result, cudaMemcpyDeviceToHost);
    cudaMemcpy(part, buffer, sizeof part, cudaMemcpyDeviceToHost);
    cudaFree(buffer);
    cudaFree(count);
    cudaFree(sum);
    return result != 4950;
}
