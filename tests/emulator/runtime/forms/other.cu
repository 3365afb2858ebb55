#include <cstdio>
#include <cuda_runtime.h>

namespace {

__managed__ int result;

__global__ void store(int more) {
    result += more;
    printf("in the other file: ");
}

} // namespace

int result_of_other_file() {
    result = 40;
    store<<<1, 1>>>(2);
    cudaDeviceSynchronize();
    return result;
}
