// Lesson 19: a rectangular tile, by rows and by columns.
//
//     make lesson19 && ./lesson19

#include "harness/tile.hpp"
#include "kernels.cuh"
#include "padded.cuh"

int main(int argc, char** argv) {
    using enum harness::Order;
    harness::Lesson lesson(
        harness::rectangular_tile_lesson("lesson19", "A rectangular tile, by rows and by columns"));

    lesson.add_kernel("setRowReadRow", [](harness::Turn& turn) {
        harness::measure_tile(turn, {.store = by_rows, .load = by_rows},
                              [](const auto& tile) { setRowReadRow<<<1, tile.block>>>(tile.out); });
    });
    lesson.add_kernel("setColReadCol", [](harness::Turn& turn) {
        harness::measure_tile(turn, {.store = by_columns, .load = by_columns},
                              [](const auto& tile) { setColReadCol<<<1, tile.block>>>(tile.out); });
    });
    lesson.add_kernel("setRowReadCol", [](harness::Turn& turn) {
        harness::measure_tile(turn, {.store = by_rows, .load = by_columns},
                              [](const auto& tile) { setRowReadCol<<<1, tile.block>>>(tile.out); });
    });
    const auto take_turn = [](harness::Turn& turn) {
        harness::require_static_tile(harness::tile_of(turn), static_ints);
        const harness::TileKernel kernel{.store = by_rows, .load = by_columns, .padded = true};
        harness::measure_tile(turn, kernel, [](const auto& tile) {
            setRowReadColPad<<<1, tile.block>>>(tile.out, tile.padding);
        });
    };
    lesson.add_kernel("setRowReadColPad", take_turn, "--padding");

    return lesson.run(argc, argv);
}
