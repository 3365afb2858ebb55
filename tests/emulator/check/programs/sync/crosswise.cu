// The two warps wait at two named barriers in opposite order: each waits for the other.
#include <cuda_runtime.h>

__global__ void meet_crosswise() {
    if (threadIdx.x < 32) {
        asm volatile("bar.sync 1, 64;"); // expect: sync, barrier not reached by all
        asm volatile("bar.sync 2, 64;");
    } else {
        asm volatile("bar.sync 2, 64;");
        asm volatile("bar.sync 1, 64;");
    }
}

int main() {
    meet_crosswise<<<1, 64>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
