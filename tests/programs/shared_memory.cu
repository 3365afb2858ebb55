#include "program.hpp"

#include <algorithm>
#include <numeric>

// Histogram of bytes: each block counts in shared memory, and adds what it counted to global memory.
namespace histogram {

constexpr int bins = 256;

__global__ void histogram(const unsigned char* input, int n, unsigned int* counts) {
    __shared__ unsigned int own[bins];
    for (int bin = threadIdx.x; bin < bins; bin += blockDim.x) own[bin] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&own[input[i]], 1u);
    __syncthreads();
    for (int bin = threadIdx.x; bin < bins; bin += blockDim.x)
        if (own[bin] != 0) atomicAdd(&counts[bin], own[bin]);
}

int main() {
    const auto input = random_values<unsigned char>(60'013, 0, 200);
    std::vector<unsigned int> expected(bins);
    for (const unsigned char value : input) ++expected[value];

    const Device<unsigned char> device_input(input);
    Device<unsigned int> counts(bins);
    counts.clear();
    histogram<<<24, 192>>>(device_input.data(), static_cast<int>(input.size()), counts.data());
    return verify(counts.copy_back(), expected);
}

} // namespace histogram

// 60 KiB of dynamic shared memory, more than a kernel gets unasked: a block turns the order of its part
// around.
namespace large_shared_memory {

constexpr int elements = 60 * 1024 / sizeof(int);

__global__ void reverse_parts(int* data) {
    extern __shared__ int shared[];
    int* const part = data + blockIdx.x * elements;
    for (int i = threadIdx.x; i < elements; i += blockDim.x) shared[i] = part[i];
    __syncthreads();
    for (int i = threadIdx.x; i < elements; i += blockDim.x) part[i] = shared[elements - 1 - i];
}

int main() {
    const auto input = random_values<int>(3 * elements, -1'000'000, 1'000'000);
    auto expected = input;
    for (int part = 0; part < 3; ++part)
        std::reverse(expected.begin() + part * elements, expected.begin() + (part + 1) * elements);
    const Device<int> data(input);
    const std::size_t bytes = elements * sizeof(int);
    CHECK(cudaFuncSetAttribute(reverse_parts, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    reverse_parts<<<3, 512, bytes>>>(data.data());
    return verify(data.copy_back(), expected);
}

} // namespace large_shared_memory

// Matrix product by tiles in shared memory. The elements are small whole numbers, so that no sum is rounded.
namespace matrix_multiply {

constexpr int tile = 16;

__global__ void multiply(const float* a, const float* b, float* c, int rows, int inner, int columns) {
    __shared__ float tile_a[tile][tile], tile_b[tile][tile];
    const int row = blockIdx.y * tile + threadIdx.y, column = blockIdx.x * tile + threadIdx.x;
    float sum = 0;
    for (int start = 0; start < inner; start += tile) {
        const int k_a = start + threadIdx.x, k_b = start + threadIdx.y;
        tile_a[threadIdx.y][threadIdx.x] = row < rows && k_a < inner ? a[row * inner + k_a] : 0;
        tile_b[threadIdx.y][threadIdx.x] = k_b < inner && column < columns ? b[k_b * columns + column] : 0;
        __syncthreads();
        for (int k = 0; k < tile; ++k) sum += tile_a[threadIdx.y][k] * tile_b[k][threadIdx.x];
        __syncthreads(); // All have read the tiles before they are overwritten.
    }
    if (row < rows && column < columns) c[row * columns + column] = sum;
}

int main() {
    const int rows = 67, inner = 101, columns = 83;
    const auto a = random_values<float>(rows * inner, -9, 9, 1),
               b = random_values<float>(inner * columns, -9, 9, 2);
    std::vector<float> expected(rows * columns);
    for (int row = 0; row < rows; ++row)
        for (int column = 0; column < columns; ++column)
            for (int k = 0; k < inner; ++k)
                expected[row * columns + column] += a[row * inner + k] * b[k * columns + column];

    const Device<float> device_a(a), device_b(b), c(rows * columns);
    const dim3 grid((columns + tile - 1) / tile, (rows + tile - 1) / tile);
    multiply<<<grid, dim3(tile, tile)>>>(device_a.data(), device_b.data(), c.data(), rows, inner, columns);
    return verify(c.copy_back(), expected);
}

} // namespace matrix_multiply

// Inclusive scan in three launches: each block scans its part, one block scans the sums, all add theirs.
namespace scan {

constexpr int block_size = 256;

__global__ void scan_blocks(const int* input, int* output, int* sums, int n) {
    __shared__ int shared[2][block_size];
    const int tid = threadIdx.x, i = blockIdx.x * block_size + tid;
    int current = 0;
    shared[current][tid] = i < n ? input[i] : 0;
    __syncthreads();
    for (int distance = 1; distance < block_size; distance *= 2) {
        const int before = tid >= distance ? shared[current][tid - distance] : 0;
        shared[1 - current][tid] = shared[current][tid] + before;
        current = 1 - current;
        __syncthreads();
    }
    if (i < n) output[i] = shared[current][tid];
    if (sums && tid == block_size - 1) sums[blockIdx.x] = shared[current][tid];
}

__global__ void add_sums(int* output, const int* scanned_sums, int n) {
    const int i = blockIdx.x * block_size + threadIdx.x;
    if (blockIdx.x > 0 && i < n) output[i] += scanned_sums[blockIdx.x - 1];
}

int main() {
    const int n = 50'021, blocks = (n + block_size - 1) / block_size; // 196: one block scans the sums
    const auto input = random_values<int>(n, -100, 100);
    std::vector<int> expected(n);
    std::partial_sum(input.begin(), input.end(), expected.begin());

    const Device<int> device_input(input), output(n), sums(blocks);
    scan_blocks<<<blocks, block_size>>>(device_input.data(), output.data(), sums.data(), n);
    scan_blocks<<<1, block_size>>>(sums.data(), sums.data(), nullptr, blocks);
    add_sums<<<blocks, block_size>>>(output.data(), sums.data(), n);
    return verify(output.copy_back(), expected);
}

} // namespace scan

// Transposition through a padded tile of shared memory, by blocks of 32 x 8 threads.
namespace transpose {

constexpr int tile = 32, tile_rows = 8;

__global__ void transpose(const int* input, int* output, int rows, int columns) {
    __shared__ int shared[tile][tile + 1];
    int column = blockIdx.x * tile + threadIdx.x;
    int row = blockIdx.y * tile + threadIdx.y;
    for (int k = 0; k < tile; k += tile_rows)
        if (row + k < rows && column < columns)
            shared[threadIdx.y + k][threadIdx.x] = input[(row + k) * columns + column];
    __syncthreads();
    column = blockIdx.y * tile + threadIdx.x;
    row = blockIdx.x * tile + threadIdx.y;
    for (int k = 0; k < tile; k += tile_rows)
        if (row + k < columns && column < rows)
            output[(row + k) * rows + column] = shared[threadIdx.x][threadIdx.y + k];
}

int main() {
    const int rows = 203, columns = 131;
    const auto input = random_values<int>(rows * columns, -1'000'000, 1'000'000);
    std::vector<int> expected(rows * columns);
    for (int row = 0; row < rows; ++row)
        for (int column = 0; column < columns; ++column)
            expected[column * rows + row] = input[row * columns + column];

    const Device<int> device_input(input), output(rows * columns);
    const dim3 grid((columns + tile - 1) / tile, (rows + tile - 1) / tile);
    transpose<<<grid, dim3(tile, tile_rows)>>>(device_input.data(), output.data(), rows, columns);
    return verify(output.copy_back(), expected);
}

} // namespace transpose
