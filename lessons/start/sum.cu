// The sum of n ints on the GPU, without the harness: copy this file and change it.
//
//     make sum && ./sum 1000000

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

void check(cudaError_t error, const char* call, int line) {
    if (error == cudaSuccess) return;
    std::fprintf(stderr, "sum.cu:%d: %s: %s (%s)\n", line, call, cudaGetErrorString(error),
                 cudaGetErrorName(error));
    std::exit(1);
}
#define CHECK(call) check(call, #call, __LINE__)

constexpr unsigned int block_size = 256, warps = block_size / 32, all_lanes = 0xffffffff;

// Each block leaves one partial sum. `input` must begin at a multiple of 16 bytes, as all memory from cudaMalloc does.
__global__ void sum_pass(const int* input, int* partial_sums, std::size_t n) {
    __shared__ int warp_sums[warps];
    const unsigned int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const std::size_t thread = std::size_t{blockIdx.x} * block_size + threadIdx.x;
    const std::size_t threads = std::size_t{gridDim.x} * block_size;

    // 16 bytes per load, the threads of the grid side by side. Four loads are on their way at a time.
    const int4* vectors = reinterpret_cast<const int4*>(input);
    int sum = 0;
#pragma unroll 4
    for (std::size_t i = thread; i < n / 4; i += threads) {
        const int4 four = vectors[i];
        sum += four.x + four.y + four.z + four.w;
    }
    if (thread < n % 4) sum += input[n / 4 * 4 + thread]; // what is left of the last vector

    for (unsigned int distance = 16; distance > 0; distance /= 2)
        sum += __shfl_down_sync(all_lanes, sum, distance);
    if (lane == 0) warp_sums[warp] = sum;
    __syncthreads(); // Every warp's sum is stored before the first warp reads it.
    if (warp > 0) return;
    sum = lane < warps ? warp_sums[lane] : 0;
    for (unsigned int distance = warps / 2; distance > 0; distance /= 2) {
        sum += __shfl_down_sync(all_lanes, sum, distance);
    }
    if (lane == 0) partial_sums[blockIdx.x] = sum;
}

unsigned int blocks_for(std::size_t n, unsigned int max_blocks) {
    const std::size_t wanted = n / 4 / block_size + 1; // a vector per thread
    return static_cast<unsigned int>(std::min<std::size_t>(wanted, max_blocks));
}

// Sums until one number is left, and returns where on the device it is. `partial_sums` has room for 2 * max_blocks ints.
const int* sum(const int* input, std::size_t n, int* partial_sums, unsigned int max_blocks) {
    for (int* output = partial_sums;;) {
        const unsigned int blocks = blocks_for(n, max_blocks);
        sum_pass<<<blocks, block_size>>>(input, output, n);
        CHECK(cudaGetLastError());
        if (blocks == 1) return output;
        input = output; // The next pass adds up what this one leaves, and writes to the other half.
        output = output == partial_sums ? partial_sums + max_blocks : partial_sums;
        n = blocks;
    }
}

int main(int argc, char** argv) {
    char* end = nullptr;
    const long long wanted = argc == 2 ? std::strtoll(argv[1], &end, 10) : 1'000'000;
    if (argc > 2 || (end && *end) || wanted < 1 || wanted > 4'000'000'000) {
        std::fprintf(stderr, "usage: sum [N], the number of ints: 1 to 4000000000\n");
        return 2;
    }
    const std::size_t n = wanted;

    std::vector<int> input(n);
    std::mt19937 random(42);
    std::uniform_int_distribution<int> number(-1000, 1000);
    for (int& x : input) x = number(random);
    int expected = 0;
    for (int x : input) expected += x;

    // As many blocks as the card can hold at once: more would only wait for these.
    int device, processors, per_processor;
    CHECK(cudaGetDevice(&device));
    CHECK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_processor, sum_pass, block_size, 0));
    // A multiple of 4, so that the second half of the partial sums begins at a multiple of 16 bytes too.
    const unsigned int max_blocks = processors * per_processor / 4 * 4;

    int *device_input, *partial_sums, result = 0;
    CHECK(cudaMalloc(&device_input, n * sizeof(int)));
    CHECK(cudaMalloc(&partial_sums, 2 * max_blocks * sizeof(int)));
    CHECK(cudaMemcpy(device_input, input.data(), n * sizeof(int), cudaMemcpyHostToDevice));

    cudaEvent_t begin, stop;
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&stop));
    std::vector<float> milliseconds(5); // The first run also loads the code. The median does not show it.
    for (float& time : milliseconds) {
        CHECK(cudaEventRecord(begin));
        const int* total = sum(device_input, n, partial_sums, max_blocks);
        CHECK(cudaEventRecord(stop));
        CHECK(cudaMemcpy(&result, total, sizeof(int), cudaMemcpyDeviceToHost)); // waits for the kernels
        CHECK(cudaEventElapsedTime(&time, begin, stop));
    }
    std::sort(milliseconds.begin(), milliseconds.end());

    std::printf("the sum of %zu ints is %d: %s\n", n, result, result == expected ? "correct" : "WRONG");
    std::printf("%.4f ms, %.1f GB/s\n", milliseconds[2], n * sizeof(int) / (milliseconds[2] * 1e6));
    CHECK(cudaEventDestroy(begin));
    CHECK(cudaEventDestroy(stop));
    CHECK(cudaFree(device_input));
    CHECK(cudaFree(partial_sums));
    return result == expected ? 0 : 1;
}
