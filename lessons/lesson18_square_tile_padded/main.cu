// Lesson 18: an unused int after each row of the tile.
//
//     make lesson18 && ./lesson18

#include "../lesson16_square_tile/kernels.cuh"
#include "harness/tile.hpp"
#include "kernels.cuh"

int main(int argc, char** argv) {
    using harness::by_columns, harness::by_rows;
    harness::Lesson lesson(harness::square_tile_lesson("lesson18", "A square tile, padded", 1));

    lesson.add_kernel("setRowReadCol", [](harness::KernelRun& run) {
        harness::measure_tile(run, {.store = by_rows, .load = by_columns},
                              [](const auto& tile) { setRowReadCol<<<1, tile.block>>>(tile.out); });
    });
    lesson.add_kernel("setRowReadColPad", [](harness::KernelRun& run) {
        const harness::TileKernel kernel{.store = by_rows, .load = by_columns, .padded = true};
        harness::measure_tile(run, kernel, [](const auto& tile) {
            setRowReadColPad<<<1, tile.block>>>(tile.out, tile.padding);
        });
    });
    lesson.add_kernel("setRowReadColDynPad", [](harness::KernelRun& run) {
        const harness::TileKernel kernel{
            .store = by_rows, .load = by_columns, .padded = true, .dynamic = true};
        harness::measure_tile(run, kernel, [](const auto& tile) {
            setRowReadColDynPad<<<1, tile.block, tile.shared_bytes>>>(tile.out, tile.padding);
        });
    });

    return lesson.run(argc, argv);
}
