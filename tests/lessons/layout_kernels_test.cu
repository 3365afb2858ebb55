// The kernels of lessons 16 to 21, in tiles of every kind: what each writes, element by element, and that it
// writes nothing else. Where on the emulator each thread goes in its tile: layout_words_test.cpp.
#include "layout_kernels.cuh"

#include <vector>

#include "harness/device_buffer.hpp"
#include "harness/verification.hpp"

namespace layout_kernels {

/// Powers of two, odd numbers, one row, one column, whole warps and the threads beyond them.
std::vector<Tile> rectangles() {
    std::vector<Tile> tiles{{31, 33}, {33, 31}, {31, 1},  {1, 31},   {33, 1},   {1, 33},
                            {17, 60}, {60, 17}, {7, 5},   {1023, 1}, {1, 1023}, {3, 341},
                            {341, 3}, {48, 21}, {24, 42}, {255, 4},  {6, 170},  {100, 10}};
    for (unsigned int width = 1; width <= 1024; width *= 2)
        for (unsigned int height = 1; width * height <= 1024; height *= 2) tiles.push_back({width, height});
    return tiles;
}

std::vector<Tile> squares() {
    std::vector<Tile> tiles;
    for (unsigned int width = 1; width <= 32; ++width) tiles.push_back({width, width});
    return tiles;
}

/// Runs the kernel in one block, with `arguments` after its output.
template <class Kernel, class... Arguments>
testing::AssertionResult is_right(const Kernel& kernel, const Tile& tile, Arguments... arguments) {
    constexpr unsigned int beyond = 64;
    DeviceBuffer<int> out(tile.threads() + beyond);
    out.poison();
    const std::vector<int> poison = out.read(tile.threads(), beyond);
    std::size_t shared_bytes = 0;
    if (kernel.pattern.dynamic) {
        shared_bytes = tile.words() * sizeof(int);
        HARNESS_CHECK(cudaFuncSetAttribute(kernel.kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                           static_cast<int>(shared_bytes)));
    }
    kernel.kernel<<<1, dim3(tile.width, tile.height), shared_bytes>>>(out.data(), arguments...);
    check_launch(kernel.name);
    synchronize(kernel.name);
    const Verification result =
        compare_elements(expected_output(tile, kernel.pattern), out.read(0, tile.threads()));
    const testing::AssertionResult failure = testing::AssertionFailure()
                                             << kernel.name << ", " << tile.width << " x " << tile.height
                                             << ", padding " << tile.padding << ": ";
    if (!result.passed) return testing::AssertionResult(failure) << result.wrong_places[0];
    if (out.read(tile.threads(), beyond) != poison)
        return testing::AssertionResult(failure) << "writes beyond out";
    return testing::AssertionSuccess();
}

void expect_to_be_right_in_every_square(const Unpadded& kernel) {
    for (const Tile& tile : squares()) EXPECT_TRUE(is_right(kernel, tile));
}

void expect_to_be_right_in_every_rectangle(const Unpadded& kernel) {
    for (const Tile& tile : rectangles()) EXPECT_TRUE(is_right(kernel, tile));
}

void expect_to_be_right_in_every_square(const Padded& kernel) {
    for (Tile tile : squares())
        for (tile.padding = 0; tile.padding <= most_padding; ++tile.padding)
            EXPECT_TRUE(is_right(kernel, tile, tile.padding));
}

void expect_to_be_right_in_every_rectangle(const Padded& kernel) {
    for (Tile tile : rectangles()) {
        for (tile.padding = 0; tile.padding <= most_padding; ++tile.padding) {
            // What a static array of 48 KiB cannot hold, lesson21 refuses.
            if (!kernel.pattern.dynamic && tile.words() > 12 * 1024) continue;
            EXPECT_TRUE(is_right(kernel, tile, tile.padding));
        }
    }
}

} // namespace layout_kernels
