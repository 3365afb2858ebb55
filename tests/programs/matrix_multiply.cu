// Matrix product by tiles in shared memory. The elements are small whole numbers, so that no sum is rounded.

#include "program.hpp"

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
