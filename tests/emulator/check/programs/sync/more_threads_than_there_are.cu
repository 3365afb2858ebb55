// The barrier expects 96 threads, as in a larger block.
#include <cuda_runtime.h>

__global__ void meet_96() {
    asm volatile("bar.sync 1, 96;"); // expect: sync, wrong number of threads
}

int main() {
    meet_96<<<1, 64>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
