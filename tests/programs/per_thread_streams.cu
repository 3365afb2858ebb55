// Compiled with --default-stream per-thread: host threads that each copy and launch in their own default
// stream.

#include "program.hpp"

#include <thread>

__global__ void square(int* values, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        values[i] *= values[i];
}

int main() {
    constexpr int threads = 4, n = 10'007;
    std::vector<int> results[threads], expected[threads];
    std::vector<std::thread> workers;
    for (int k = 0; k < threads; ++k)
        workers.emplace_back([&result = results[k], &squares = expected[k], k] {
            const auto input = random_values<int>(n, -30'000, 30'000, k);
            for (const int value : input) squares.push_back(value * value);
            int* values = nullptr;
            CHECK(cudaMalloc(&values, n * sizeof(int)));
            CHECK(cudaMemcpyAsync(values, input.data(), n * sizeof(int), cudaMemcpyHostToDevice));
            square<<<8, 128>>>(values, n);
            result.resize(n);
            CHECK(cudaMemcpyAsync(result.data(), values, n * sizeof(int), cudaMemcpyDeviceToHost));
            CHECK(cudaStreamSynchronize(nullptr));
            CHECK(cudaFree(values));
        });
    for (auto& worker : workers) worker.join();
    for (int k = 0; k < threads; ++k)
        if (verify(results[k], expected[k]) != 0) return 1;
    return 0;
}
