// Atomics that there are not, made of atomicCAS. The loads before them may be out of date: then they try
// again.
//
// options: --global-races
#include <cuda_runtime.h>

__device__ void add_by_cas(double* address, double value) {
    auto* const bits = reinterpret_cast<unsigned long long*>(address);
    unsigned long long old = *bits, assumed = 0;
    do {
        assumed = old;
        old = atomicCAS(bits, assumed, __double_as_longlong(value + __longlong_as_double(assumed)));
    } while (assumed != old);
}

__device__ void raise_by_cas(float* address, float value) {
    float old = *address;
    while (value > old) {
        const float before = __int_as_float(
            atomicCAS(reinterpret_cast<int*>(address), __float_as_int(old), __float_as_int(value)));
        if (before == old) return;
        old = before;
    }
}

__global__ void sum_and_most(const float* in, double* sum, float* most) {
    __shared__ double block_sum;
    __shared__ float block_most;
    if (threadIdx.x == 0) {
        block_sum = 0;
        block_most = 0;
    }
    __syncthreads();
    const float value = in[blockIdx.x * blockDim.x + threadIdx.x];
    add_by_cas(&block_sum, value);
    raise_by_cas(&block_most, value);
    __syncthreads();
    if (threadIdx.x != 0) return;
    add_by_cas(sum, block_sum);
    raise_by_cas(most, block_most);
}

int main() {
    constexpr int n = 256;
    float in[n], *device_in = nullptr, *most = nullptr, result = 0;
    double *sum = nullptr, expected = 0, actual = 0;
    for (int i = 0; i < n; ++i) expected += in[i] = static_cast<float>(i * 7 % 101);
    cudaMalloc(&device_in, sizeof in);
    cudaMalloc(&sum, sizeof *sum);
    cudaMalloc(&most, sizeof *most);
    cudaMemcpy(device_in, in, sizeof in, cudaMemcpyHostToDevice);
    cudaMemset(sum, 0, sizeof *sum);
    cudaMemset(most, 0, sizeof *most);
    sum_and_most<<<4, n / 4>>>(device_in, sum, most);
    cudaMemcpy(&actual, sum, sizeof actual, cudaMemcpyDeviceToHost);
    cudaMemcpy(&result, most, sizeof result, cudaMemcpyDeviceToHost);
    cudaFree(device_in);
    cudaFree(sum);
    cudaFree(most);
    return actual != expected || result != 100;
}
