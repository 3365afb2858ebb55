// One of the two ways out frees nothing.
#include <cuda_runtime.h>

int finish(int* kept, int* lost, bool early) {
    if (cudaFree(kept) != cudaSuccess) return 1;
    if (early) return 0;
    return cudaFree(lost) != cudaSuccess;
}

int main() {
    int *kept = nullptr, *lost = nullptr;
    cudaMalloc(&kept, 1000);
    cudaMalloc(&lost, 3000); // expect: mem, leak
    return finish(kept, lost, true);
}
