// Correct: recursive functions, each with its own array, also use their caller's; printf has its arguments in
// an array that the source does not show.
#include <cstdio>
#include <cuda_runtime.h>

__device__ __noinline__ int descend(int depth, int* callers) {
    int mine[5];
    for (int i = 0; i < 5; ++i) mine[i] = depth + i;
    *callers += mine[depth % 5];
    return depth == 0 ? 0 : descend(depth - 1, &mine[depth % 5]) + mine[(depth + 1) % 5];
}

__global__ void in_functions(int* out) {
    int sum = 0;
    const int depth = static_cast<int>(threadIdx.x % 7);
    out[threadIdx.x] = descend(depth, &sum) + sum;
    if (threadIdx.x == 33) printf("%s %d %f\n", "thread", depth, 0.5);
}

int main() {
    int* out = nullptr;
    cudaMalloc(&out, 64 * sizeof(int));
    in_functions<<<1, 64>>>(out);
    return cudaDeviceSynchronize() != cudaSuccess || cudaFree(out) != cudaSuccess;
}
