// The host's copies, frees and leaks.
#include "../programs.hpp"

#include <vector>

// ---- copy_of_freed_memory -----------------------------------------------------------------------
// The result is freed before it is fetched.
PROGRAM(copy_of_freed_memory) {
    int* device = nullptr;
    int host = 0;
    cudaMalloc(&device, sizeof(int));
    cudaMemset(device, 0, sizeof(int));
    cudaFree(device);
    const cudaError_t error =
        cudaMemcpy(&host, device, sizeof(int), cudaMemcpyDefault); // expect: mem, use after free
    return error != cudaErrorInvalidValue;
}

// ---- copy_the_wrong_way -------------------------------------------------------------------------
// The result is to go to the host, but the direction is that of the input.
PROGRAM(copy_the_wrong_way) {
    int result[32], *data = nullptr;
    cudaMalloc(&data, sizeof result);
    cudaMemset(data, 0, sizeof result);
    const cudaError_t error = // expect: mem, device pointer
        cudaMemcpy(result, data, sizeof result, cudaMemcpyHostToDevice);
    return error != cudaErrorInvalidValue || cudaFree(data) != cudaSuccess;
}

// ---- copy_to_a_variable -------------------------------------------------------------------------
// Passes the name of a device variable as a pointer to it.
__constant__ float weights_of_bands[4];

__global__ void weigh(float* data) { data[threadIdx.x] *= weights_of_bands[threadIdx.x % 4]; }

PROGRAM(copy_to_a_variable) {
    const float host[4] = {1, 2, 3, 4};
    const Memory<float> data(32, 0);
    const cudaError_t error = // expect: mem, variable for a pointer
        cudaMemcpy(weights_of_bands, host, sizeof host, cudaMemcpyHostToDevice);
    weigh<<<1, 32>>>(data);
    return error != cudaErrorInvalidValue;
}

// ---- copy_too_long ------------------------------------------------------------------------------
// The copy counts the elements of the wrong array.
PROGRAM(copy_too_long) {
    const std::vector<int> host(100);
    const Memory<int> device(50);
    const cudaError_t error = // expect: mem, out of bounds
        cudaMemcpy(device, host.data(), host.size() * sizeof(int), cudaMemcpyHostToDevice);
    return error != cudaErrorInvalidValue;
}

// ---- array_copied_after_free --------------------------------------------------------------------
// The array is freed before its last copy out.
PROGRAM(array_copied_after_free) {
    cudaArray_t array = nullptr;
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaMallocArray(&array, &format, 8, 4);
    float image[8 * 4] = {};
    cudaMemcpy2DToArray(array, 0, 0, image, 32, 32, 4, cudaMemcpyHostToDevice);
    cudaFreeArray(array);
    const cudaError_t error = // expect: mem, use after free
        cudaMemcpy2DFromArray(image, 32, array, 0, 0, 32, 4, cudaMemcpyDeviceToHost);
    return error == cudaSuccess;
}

// ---- array_copy_from_row_behind -----------------------------------------------------------------
// Rows count from 0, and this array has no row 4.
PROGRAM(array_copy_from_row_behind) {
    cudaArray_t array = nullptr;
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaMallocArray(&array, &format, 8, 4);
    float row[8] = {};
    for (int y = 0; y < 4; ++y) cudaMemcpy2DToArray(array, 0, y, row, 32, 32, 1, cudaMemcpyHostToDevice);
    const cudaError_t error = // expect: mem, out of bounds
        cudaMemcpy2DFromArray(row, 32, array, 0, 4, 32, 1, cudaMemcpyDeviceToHost);
    return error != cudaErrorInvalidValue || cudaFreeArray(array) != cudaSuccess;
}

// ---- array_copy_too_wide ------------------------------------------------------------------------
// The width of a row is counted in bytes, and this one is that of float2.
PROGRAM(array_copy_too_wide) {
    cudaArray_t array = nullptr;
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaMallocArray(&array, &format, 8, 4);
    const float2 image[8 * 4] = {};
    const cudaError_t error = // expect: mem, out of bounds
        cudaMemcpy2DToArray(array, 0, 0, image, sizeof(float2[8]), sizeof(float2[8]), 4,
                            cudaMemcpyHostToDevice);
    return error != cudaErrorInvalidValue || cudaFreeArray(array) != cudaSuccess;
}

// ---- double_free --------------------------------------------------------------------------------
// Two owners of one buffer.
PROGRAM(double_free) {
    int* buffer = nullptr;
    cudaMalloc(&buffer, 1000);
    int* const alias = buffer;
    cudaFree(buffer);
    return cudaFree(alias) != cudaErrorInvalidValue; // expect: mem, double free
}

// ---- array_double_free --------------------------------------------------------------------------
// Two owners of one array.
PROGRAM(array_double_free) {
    cudaArray_t array = nullptr;
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaMallocArray(&array, &format, 64, 64);
    const cudaArray_t alias = array;
    cudaFreeArray(array);
    return cudaFreeArray(alias) == cudaSuccess; // expect: mem, double free
}

// ---- free_by_the_wrong_call ---------------------------------------------------------------------
// Pinned host memory must be freed with cudaFreeHost.
PROGRAM(free_by_the_wrong_call) {
    int* pinned = nullptr;
    cudaMallocHost(&pinned, 1000);
    const bool failed = cudaFree(pinned) != cudaErrorInvalidValue; // expect: mem, invalid free
    return failed || cudaFreeHost(pinned) != cudaSuccess;
}

// ---- free_of_host_memory ------------------------------------------------------------------------
// Frees the variable that should hold the pointer.
PROGRAM(free_of_host_memory) {
    int* data = nullptr;
    cudaMalloc(&data, 1000);
    const bool failed = cudaFree(&data) != cudaErrorInvalidValue; // expect: mem, invalid free
    return failed || cudaFree(data) != cudaSuccess;
}

// ---- free_of_the_middle -------------------------------------------------------------------------
// The pointer was moved along the array before it is freed.
PROGRAM(free_of_the_middle) {
    int* data = nullptr;
    cudaMalloc(&data, 1000);
    const bool failed = cudaFree(data + 10) != cudaErrorInvalidValue; // expect: mem, invalid free
    return failed || cudaFree(data) != cudaSuccess;
}

// ---- leak ---------------------------------------------------------------------------------------
// One of the two ways out frees nothing.
int finish(int* kept, int* lost, bool early) {
    if (cudaFree(kept) != cudaSuccess) return 1;
    if (early) return 0;
    return cudaFree(lost) != cudaSuccess;
}

PROGRAM(leak) {
    int *kept = nullptr, *lost = nullptr;
    cudaMalloc(&kept, 1000);
    cudaMalloc(&lost, 3000); // expect: mem, leak
    return finish(kept, lost, true);
}

// ---- array_leak ---------------------------------------------------------------------------------
// The image is freed, its array is not.
PROGRAM(array_leak) {
    cudaArray_t array = nullptr;
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaMallocArray(&array, &format, 64, 64); // expect: mem, leak
    const float image[64 * 64] = {};
    return cudaMemcpy2DToArray(array, 0, 0, image, 256, 256, 64, cudaMemcpyHostToDevice) != cudaSuccess;
}
