#include "program.hpp"

// An image in a CUDA array, as storage alone: copied in by rows, out through a pitched buffer that a kernel
// blurs, in again, and its middle out.
namespace image_array {

__global__ void blur(const unsigned char* input, unsigned char* output, size_t pitch, int width, int height) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    int sum = 0;
    for (int column = x - 1; column <= x + 1; ++column)
        sum += input[y * pitch + min(max(column, 0), width - 1)];
    output[y * pitch + x] = static_cast<unsigned char>(sum / 3);
}

int main() {
    const int width = 203, height = 57, border = 8; // the array's rows have no aligned length
    const auto image = random_values<unsigned char>(width * height, 0, 255);

    cudaArray_t array = nullptr;
    const cudaChannelFormatDesc bytes = cudaCreateChannelDesc<unsigned char>();
    CHECK(cudaMallocArray(&array, &bytes, width, height));
    CHECK(cudaMemcpy2DToArray(array, 0, 0, image.data(), width, width, height, cudaMemcpyHostToDevice));

    unsigned char *input = nullptr, *output = nullptr;
    size_t pitch = 0;
    CHECK(cudaMallocPitch(&input, &pitch, width, height));
    CHECK(cudaMallocPitch(&output, &pitch, width, height));
    CHECK(cudaMemcpy2DFromArray(input, pitch, array, 0, 0, width, height, cudaMemcpyDeviceToDevice));
    const dim3 block(32, 8), grid((width + 31) / 32, (height + 7) / 8);
    blur<<<grid, block>>>(input, output, pitch, width, height);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy2DToArray(array, 0, 0, output, pitch, width, height, cudaMemcpyDeviceToDevice));

    const int inner_width = width - 2 * border, inner_height = height - 2 * border;
    std::vector<unsigned char> result(inner_width * inner_height), expected;
    CHECK(cudaMemcpy2DFromArray(result.data(), inner_width, array, border, border, inner_width, inner_height,
                                cudaMemcpyDeviceToHost));
    CHECK(cudaFree(input));
    CHECK(cudaFree(output));
    CHECK(cudaFreeArray(array));

    for (int y = border; y < height - border; ++y)
        for (int x = border; x < width - border; ++x) {
            const unsigned char* const at = &image[y * width + x];
            expected.push_back(static_cast<unsigned char>((at[-1] + at[0] + at[1]) / 3));
        }
    return verify(result, expected);
}

} // namespace image_array
