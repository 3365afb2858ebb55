// One warp waits for 64 threads at barrier 1, the other for all threads.
#include <cuda_runtime.h>

__global__ void meet_64_or_all() {
    if (threadIdx.x < 32)
        asm volatile("bar.sync 1, 64;");
    else
        asm volatile("bar.sync 1;"); // expect: sync, wrong number of threads
}

int main() {
    meet_64_or_all<<<1, 64>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
