// Casts a const away from memory that really is constant.
#include <cuda_runtime.h>

__constant__ int limits[2] = {0, 100};

__global__ void raise(const int** place) { *place = limits; }
__global__ void set_limit(const int* const* place) {
    const_cast<int*>(*place)[1] = 200; // expect: mem, write to constant memory
}

int main() {
    const int** place = nullptr;
    cudaMalloc(&place, sizeof *place);
    raise<<<1, 1>>>(place);
    set_limit<<<1, 1>>>(place);
    return cudaDeviceSynchronize() != cudaSuccess || cudaFree(place) != cudaSuccess;
}
