// Open exercise B: a layout of a 24 x 40 tile that has no bank conflicts.
//
//     make openB && ./openB
//     ./openB --draw tile

#include <vector>

#include "harness/lesson.hpp"
#include "harness/verification.hpp"
#include "kernels.cuh"

constexpr int width = 24, height = 40;
static_assert(words >= width * height, "the tile has 24 x 40 elements, and each needs a word");
static_assert(words <= 1024, "the tile may have 1,024 words, not more");

/// setRowReadCol of lesson 19 with its own layout: 32 lanes at a time store elements that are neighbors
/// in row order, and load elements that are neighbors in column order. One block with one thread per element.
__global__ void setRowReadColPlaced(int* out) {
    __shared__ int tile[words];
    const int idx = threadIdx.x;
    tile[place(idx / width, idx % width)] = idx;
    __syncthreads(); // Every word is stored before another thread reads it.
    out[idx] = tile[place(idx % height, idx / height)];
}

int main(int argc, char** argv) {
    harness::Lesson lesson(
        {.name = "openB", .title = "A 24 x 40 tile without bank conflicts", .random_input = false});

    lesson.add_kernel("setRowReadColPlaced", [](harness::KernelRun& run) {
        std::vector<int> expected;
        for (int column = 0; column < width; ++column)
            for (int row = 0; row < height; ++row) expected.push_back(row * width + column);
        harness::DeviceBuffer<int> out(expected.size());
        run.measure({.grid = dim3(1), .block = dim3(width * height), .bytes = out.bytes()},
                    {.prepare = [&] { out.poison(); },
                     .launch = [&] { setRowReadColPlaced<<<1, width * height>>>(out.data()); },
                     .verify = [&] { return harness::compare_elements(expected, out.read()); }});
    });

    return lesson.run(argc, argv);
}
