// A named barrier counts whole warps, and 40 threads are not whole warps.
#include <cuda_runtime.h>

__global__ void meet_40(int count) {
    asm volatile("bar.sync 1, %0;" ::"r"(count)); // expect: sync, wrong barrier
}

int main() {
    meet_40<<<1, 64>>>(40);
    return cudaDeviceSynchronize() != cudaSuccess;
}
