// Runs past the end of the list: the checker skips the reads, and the zeros lead nowhere else.
#include <cuda_runtime.h>

struct Link {
    int value;
    const Link* next;
};

__device__ Link first_link = {1, nullptr};
__device__ int steps_to_link;

__global__ void find_link(int value) {
    int steps = 0;
    const Link* link = &first_link;
    while (link->value != value) { // expect: mem, null pointer
        link = link->next;         // expect: mem, null pointer
        ++steps;
    }
    steps_to_link = steps;
}

int main() {
    find_link<<<1, 1>>>(3);
    return cudaDeviceSynchronize() != cudaErrorIllegalAddress;
}
