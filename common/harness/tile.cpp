#include "harness/tile.hpp"

#include "harness/detail/options.hpp"
#include "harness/device_buffer.hpp"
#include "harness/exit_status.hpp"
#include "harness/numbers.hpp"
#include "harness/verification.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <vector>

namespace harness {
namespace {

constexpr std::uint64_t most_threads = 1024, left_open = 0;

void check_block(std::uint64_t width, std::uint64_t height) {
    if (width * height <= most_threads) return;
    throw UsageError(
        fmt::format("--width {} --height {}: {} threads, and a block has at most {}. Write a smaller "
                    "--width or --height.",
                    width, height, group_digits(width * height), group_digits(most_threads)));
}

void complete_square(OptionValues& values) {
    std::uint64_t &width = values.at("--width"), &height = values.at("--height");
    if (width == left_open) width = height == left_open ? 32 : height;
    if (height == left_open) height = width;
    if (width != height)
        throw UsageError(
            fmt::format("--width {} --height {}: this lesson's kernels swap x and y, which is right in a "
                        "square only. Write one of the two, or see lesson19, lesson20 and lesson21 for "
                        "rectangles.",
                        width, height));
    check_block(width, height);
}

void complete_rectangle(OptionValues& values) {
    std::uint64_t &width = values.at("--width"), &height = values.at("--height");
    if (width == left_open) width = 32;
    if (height == left_open) height = 16;
    check_block(width, height);
}

LessonInfo tile_lesson(const char* name, const char* title, unsigned int padding, const char* default_width,
                       const char* default_height) {
    const std::string default_padding =
        padding > 0 ? fmt::format("Default: {}", padding) : "Default: no padded kernel";
    return {.name = name,
            .title = title,
            .options = {{.name = "--width",
                         .value = "W",
                         .help = kept(fmt::format("ints in a row of the tile, and threads in x; a block has\n"
                                                  "at most 1024. Default: {}\n",
                                                  default_width)),
                         .smallest = 1,
                         .largest = most_threads,
                         .default_value = left_open},
                        {.name = "--height",
                         .value = "H",
                         .help = kept(
                             fmt::format("rows of the tile, and threads in y. Default: {}", default_height)),
                         .smallest = 1,
                         .largest = most_threads,
                         .default_value = left_open},
                        {.name = "--padding",
                         .value = "P",
                         .help = kept(fmt::format("unused ints after each row of a padded tile: 0 to {}.\n{}",
                                                  most_padding, default_padding)),
                         .largest = most_padding,
                         .default_value = padding}},
            .random_input = false};
}

/// Calls `use(row, column)` for each element of the tile, in this order.
template <class Use> void walk(const Tile& tile, Order order, const Use& use) {
    if (order == Order::by_rows) {
        for (unsigned int row = 0; row < tile.height; ++row)
            for (unsigned int column = 0; column < tile.width; ++column) use(row, column);
    } else {
        for (unsigned int column = 0; column < tile.width; ++column)
            for (unsigned int row = 0; row < tile.height; ++row) use(row, column);
    }
}

} // namespace

LessonInfo square_tile_lesson(const char* name, const char* title, unsigned int padding) {
    LessonInfo info = tile_lesson(name, title, padding, "32", "as --width");
    info.complete_options = complete_square;
    return info;
}

LessonInfo rectangular_tile_lesson(const char* name, const char* title, unsigned int padding) {
    LessonInfo info = tile_lesson(name, title, padding, "32", "16");
    info.complete_options = complete_rectangle;
    return info;
}

Tile tile_of(const KernelRun& run) {
    const auto value = [&](const char* option) { return static_cast<unsigned int>(run.option(option)); };
    return {.width = value("--width"), .height = value("--height"), .padding = value("--padding")};
}

void measure_tile(KernelRun& run, const TileKernel& kernel, FunctionRef<void(const TileLaunch&)> launch) {
    Tile tile = tile_of(run);
    if (!kernel.padded) tile.padding = 0;
    run.illustrate(draw_bank_map(run.kernel(), tile, kernel.store, kernel.load).c_str());

    const std::vector<int> expected = expected_output(tile, kernel);
    DeviceBuffer<int> out(tile.threads());
    const TileLaunch tile_launch{.block = dim3(tile.width, tile.height),
                                 .out = out.data(),
                                 .padding = tile.padding,
                                 .shared_bytes = kernel.dynamic ? tile.words() * sizeof(int) : 0};
    run.measure({.grid = dim3(1),
                 .block = tile_launch.block,
                 .dynamic_shared_bytes = tile_launch.shared_bytes,
                 .bytes = out.bytes()},
                {.prepare = [&] { out.poison(); },
                 .launch = [&] { launch(tile_launch); },
                 .verify = [&] { return compare_elements(expected, out.read()); }});
}

void require_static_tile(const Tile& tile, std::size_t array_ints) {
    if (tile.words() <= array_ints) return;
    const std::string shape =
        fmt::format("--width {} --height {} --padding {}", tile.width, tile.height, tile.padding);
    throw UsageError(
        fmt::format("{}: {} bytes, and a static array has at most {}. A tile that is sized at launch may be "
                    "larger: ./lesson21 --kernel setRowReadColDynPad {}",
                    shape, group_digits(std::uint64_t{tile.words() * sizeof(int)}),
                    group_digits(std::uint64_t{array_ints * sizeof(int)}), shape));
}

std::vector<int> expected_output(const Tile& tile, const TileKernel& kernel) {
    std::vector<int> stored(tile.threads()), loaded;
    int number = 0;
    walk(tile, kernel.store,
         [&](unsigned int row, unsigned int column) { stored[row * tile.width + column] = number++; });
    walk(tile, kernel.load,
         [&](unsigned int row, unsigned int column) { loaded.push_back(stored[row * tile.width + column]); });
    return loaded;
}

} // namespace harness
