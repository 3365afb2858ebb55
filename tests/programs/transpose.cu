// Transposition through a padded tile of shared memory, by blocks of 32 x 8 threads.

#include "program.hpp"

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
