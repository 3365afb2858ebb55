// A first CUDA program: squares a million numbers on the GPU.
//
//     make start && ./start

#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

// Every CUDA call returns an error. After one nothing else can be trusted, so print it and stop.
void check(cudaError_t error, const char* call, int line) {
    if (error == cudaSuccess) return;
    std::fprintf(stderr, "start.cu:%d: %s: %s (%s)\n", line, call, cudaGetErrorString(error),
                 cudaGetErrorName(error));
    std::exit(1);
}
#define CHECK(call) check(call, #call, __LINE__)

// The kernel: each thread squares one number.
__global__ void square(const int* input, int* output, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) output[i] = input[i] * input[i];
}

int main() {
    const int n = 1'048'576;
    const std::size_t bytes = n * sizeof(int);

    // Host memory: the CPU's.
    std::vector<int> input(n), output(n);
    std::mt19937 random(42);
    std::uniform_int_distribution<int> number(-1000, 1000);
    for (int& x : input) x = number(random);

    // Device memory: the GPU's. The host holds these addresses but cannot read what is there.
    int *device_input, *device_output;
    CHECK(cudaMalloc(&device_input, bytes));
    CHECK(cudaMalloc(&device_output, bytes));
    CHECK(cudaMemcpy(device_input, input.data(), bytes, cudaMemcpyHostToDevice));

    // The launch: 4096 blocks of 256 threads, which is one thread for each of the n numbers.
    const int threads = 256;
    const int blocks = n / threads;
    cudaEvent_t begin, end;
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
    CHECK(cudaEventRecord(begin));
    square<<<blocks, threads>>>(device_input, device_output, n);
    CHECK(cudaGetLastError()); // Could the launch begin? A launch returns nothing, so ask.
    CHECK(cudaEventRecord(end));
    CHECK(cudaDeviceSynchronize()); // The launch only queued the kernel. Wait until it has run.

    CHECK(cudaMemcpy(output.data(), device_output, bytes, cudaMemcpyDeviceToHost));

    // The same on the CPU, to compare.
    for (int i = 0; i < n; ++i) {
        if (output[i] != input[i] * input[i]) {
            std::printf("wrong: output[%d] is %d and should be %d\n", i, output[i], input[i] * input[i]);
            return 1;
        }
    }

    cudaDeviceProp device;
    float milliseconds;
    CHECK(cudaGetDeviceProperties(&device, 0));
    CHECK(cudaEventElapsedTime(&milliseconds, begin, end));
    std::printf("%d numbers squared by %d blocks of %d threads: all correct\n", n, blocks, threads);
    std::printf("%.3f ms on %s\n", milliseconds, device.name);

    CHECK(cudaEventDestroy(begin));
    CHECK(cudaEventDestroy(end));
    CHECK(cudaFree(device_input));
    CHECK(cudaFree(device_output));
}
