// sum N [without_barriers]: adds 0 + 1 + … + N - 1, and expects 1 atomic request per block.
#include <cuda_emulator.h>
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

/// Adds the block's part of `input` to `total`.
template <bool with_barriers> __global__ void sum(const int* input, int* total, int n) {
    extern __shared__ int values[];
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    values[threadIdx.x] = i < n ? input[i] : 0;
    for (unsigned int stride = blockDim.x / 2; stride > 0; stride /= 2) {
        if (with_barriers) __syncthreads(); // the other half's values are there
        if (threadIdx.x < stride) values[threadIdx.x] += values[threadIdx.x + stride];
    }
    if (threadIdx.x == 0) atomicAdd(total, values[0]);
}

int main(int argc, char** argv) {
    const int n = argc > 1 ? std::atoi(argv[1]) : 1000, block = 256, blocks = (n + block - 1) / block;
    std::vector<int> input(n);
    for (int i = 0; i < n; ++i) input[i] = i;
    int *device_input = nullptr, *device_total = nullptr, total = 0;
    cudaMalloc(&device_input, n * sizeof(int));
    cudaMalloc(&device_total, sizeof(int));
    cudaMemcpy(device_input, input.data(), n * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemset(device_total, 0, sizeof(int));
    if (argc > 2)
        sum<false><<<blocks, block, block * sizeof(int)>>>(device_input, device_total, n);
    else
        sum<true><<<blocks, block, block * sizeof(int)>>>(device_input, device_total, n);
    cudaMemcpy(&total, device_total, sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(device_input);
    cudaFree(device_total);

    const auto last_launch_counters = reinterpret_cast<decltype(&emulator_last_launch_counters)>(
        dlsym(RTLD_DEFAULT, "emulator_last_launch_counters"));
    if (!last_launch_counters) return std::puts("this is not the emulator"), 1;
    emulator_counter counters[64];
    const size_t count = last_launch_counters(counters, 64);
    for (size_t i = 0; i < count; ++i)
        if (!std::strcmp(counters[i].name, "l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum"))
            std::printf("%d, with %llu sectors of atomics\n", total, (unsigned long long)counters[i].value);
    return total == n * (n - 1) / 2 ? 0 : 1;
}
