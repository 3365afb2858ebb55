// Correct: one warp produces, the other consumes, with two buffers. Barriers 1 and 2 signal a full buffer, 3
// and 4 an empty one; a warp that need not wait only arrives.
#include <cuda_runtime.h>

__device__ void wait_at(int barrier) { asm volatile("bar.sync %0, 64;" ::"r"(barrier) : "memory"); }
__device__ void arrive_at(int barrier) { asm volatile("bar.arrive %0, 64;" ::"r"(barrier) : "memory"); }

__global__ void double_values(const int* in, int* out, int rounds) {
    __shared__ int buffer[2][32];
    const int lane = static_cast<int>(threadIdx.x % 32);
    const bool produces = threadIdx.x < 32;
    for (int round = 0; round < rounds; ++round) {
        const int which = round % 2;
        if (produces) {
            if (round >= 2) wait_at(3 + which);
            buffer[which][lane] = in[round * 32 + lane];
            arrive_at(1 + which);
        } else {
            wait_at(1 + which);
            out[round * 32 + lane] = 2 * buffer[which][31 - lane];
            if (round + 2 < rounds) arrive_at(3 + which);
        }
    }
}

int main() {
    constexpr int rounds = 8;
    int *in = nullptr, *out = nullptr;
    cudaMalloc(&in, rounds * 32 * sizeof(int));
    cudaMalloc(&out, rounds * 32 * sizeof(int));
    cudaMemset(in, 1, rounds * 32 * sizeof(int));
    double_values<<<3, 64>>>(in, out, rounds);
    return cudaDeviceSynchronize() != cudaSuccess || cudaFree(in) != cudaSuccess ||
           cudaFree(out) != cudaSuccess;
}
