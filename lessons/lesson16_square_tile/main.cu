// Lesson 16: a square tile in shared memory, by rows and by columns.
//
//     make lesson16 && ./lesson16

#include "harness/tile.hpp"
#include "kernels.cuh"
#include "padded.cuh"

int main(int argc, char** argv) {
    using harness::by_columns, harness::by_rows;
    harness::Lesson lesson(harness::square_tile_lesson("lesson16", "A square tile, by rows and by columns"));

    lesson.add_kernel("setRowReadRow", [](harness::KernelRun& run) {
        harness::measure_tile(run, {.store = by_rows, .load = by_rows},
                              [](const auto& tile) { setRowReadRow<<<1, tile.block>>>(tile.out); });
    });
    lesson.add_kernel("setColReadCol", [](harness::KernelRun& run) {
        harness::measure_tile(run, {.store = by_columns, .load = by_columns},
                              [](const auto& tile) { setColReadCol<<<1, tile.block>>>(tile.out); });
    });
    lesson.add_kernel("setRowReadCol", [](harness::KernelRun& run) {
        harness::measure_tile(run, {.store = by_rows, .load = by_columns},
                              [](const auto& tile) { setRowReadCol<<<1, tile.block>>>(tile.out); });
    });
    const auto run_kernel = [](harness::KernelRun& run) {
        const harness::TileKernel kernel{.store = by_rows, .load = by_columns, .padded = true};
        harness::measure_tile(run, kernel, [](const auto& tile) {
            setRowReadColPad<<<1, tile.block>>>(tile.out, tile.padding);
        });
    };
    lesson.add_kernel("setRowReadColPad", run_kernel, "--padding");

    return lesson.run(argc, argv);
}
