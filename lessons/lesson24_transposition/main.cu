// Lesson 24: a whole matrix, transposed.
//
//     make lesson24 && ./lesson24

#include "harness/lesson.hpp"
#include "harness/verification.hpp"
#include "kernels.cuh"
#include "sectors.cuh"

namespace {

using Kernel = void (*)(const int* input, int* output, unsigned int width, unsigned int height);

harness::LessonOption size_option(const char* name, const char* value, const char* help) {
    return {.name = name,
            .value = value,
            .help = help,
            .smallest = 1,
            .largest = 1u << 20, // 2^15 tiles: a grid may be twice as high
            .default_value = 1024};
}

/// Measures a kernel with one block per tile of 32 x 32 ints. That with sectors has tiles of its own.
void measure_matrix(harness::KernelRun& run, Kernel kernel, bool transposes) {
    const auto width = static_cast<unsigned int>(run.option("--width"));
    const auto height = static_cast<unsigned int>(run.option("--height"));
    const harness::RandomInts& input = run.input();
    harness::DeviceBuffer<int> output(run.n());

    const std::vector<int> matrix = input.values(0, run.n());
    std::vector<int> expected = matrix;
    for (std::size_t row = 0; transposes && row < height; ++row)
        for (std::size_t col = 0; col < width; ++col)
            expected[col * height + row] = matrix[row * width + col];

    const bool is_wide = kernel == transposeSectors;
    const dim3 block = is_wide ? dim3(wide_tile, wide_rows) : dim3(tile_size, block_rows);
    const dim3 grid = is_wide
                          ? sector_tiles(output.data(), width, height)
                          : dim3(harness::ceil_div(width, tile_size), harness::ceil_div(height, tile_size));
    run.measure({.grid = grid, .block = block, .bytes = 2 * output.bytes()},
                {.prepare = [&] { output.poison(); },
                 .launch = [&] { kernel<<<grid, block>>>(input.data(), output.data(), width, height); },
                 .verify = [&] { return harness::compare_elements(expected, output.read()); }});
}

} // namespace

int main(int argc, char** argv) {
    harness::Lesson lesson(
        {.name = "lesson24",
         .title = "A whole matrix, transposed",
         .smallest_block = tile_size * block_rows,
         .largest_block = tile_size * block_rows,
         .options = {size_option("--width", "W", "columns of the matrix: 1 to 1,048,576. Default: 1024"),
                     size_option("--height", "H", "rows of the matrix: 1 to 1,048,576. Default: 1024")},
         .count_elements = [](const auto& size) { return size.at("--width") * size.at("--height"); }});

    lesson.add_kernel("copy", [](harness::KernelRun& run) { measure_matrix(run, copy, false); });
    lesson.add_kernel("transposeNaive",
                      [](harness::KernelRun& run) { measure_matrix(run, transposeNaive, true); });
    lesson.add_kernel("transposeTiled",
                      [](harness::KernelRun& run) { measure_matrix(run, transposeTiled, true); });
    lesson.add_kernel("transposePadded",
                      [](harness::KernelRun& run) { measure_matrix(run, transposePadded, true); });
    lesson.add_kernel("transposeSwizzled",
                      [](harness::KernelRun& run) { measure_matrix(run, transposeSwizzled, true); });
    // Only by name: a table has room for five.
    lesson.add_kernel(
        "transposeSectors", [](harness::KernelRun& run) { measure_matrix(run, transposeSectors, true); },
        "--kernel");

    return lesson.run(argc, argv);
}
