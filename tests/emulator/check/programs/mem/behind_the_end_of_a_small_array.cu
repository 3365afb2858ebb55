// Five bytes past the end: no other allocation is near, and no page ends here.
#include <cuda_runtime.h>

__global__ void copy_last(const char* text, char* last, int length) {
    *last = text[length + 4]; // expect: mem, out of bounds
}

int main() {
    constexpr int length = 10;
    char *text = nullptr, *last = nullptr;
    cudaMalloc(&text, length);
    cudaMalloc(&last, 1);
    cudaMemset(text, 'x', length);
    copy_last<<<1, 1>>>(text, last, length);
    return cudaDeviceSynchronize() != cudaSuccess || cudaFree(text) != cudaSuccess ||
           cudaFree(last) != cudaSuccess;
}
