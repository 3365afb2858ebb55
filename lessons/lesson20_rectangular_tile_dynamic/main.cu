// Lesson 20: the rectangular tile gets its size at launch.
//
//     make lesson20 && ./lesson20

#include "../lesson19_rectangular_tile/kernels.cuh"
#include "harness/check.hpp"
#include "harness/tile.hpp"
#include "kernels.cuh"
#include "padded.cuh"

int main(int argc, char** argv) {
    using enum harness::Order;
    harness::Lesson lesson(
        harness::rectangular_tile_lesson("lesson20", "A rectangular tile, sized at launch"));

    lesson.add_kernel("setRowReadCol", [](harness::Turn& turn) {
        harness::measure_tile(turn, {.store = by_rows, .load = by_columns},
                              [](const auto& tile) { setRowReadCol<<<1, tile.block>>>(tile.out); });
    });
    lesson.add_kernel("setRowReadColDyn", [](harness::Turn& turn) {
        harness::measure_tile(
            turn, {.store = by_rows, .load = by_columns, .dynamic = true},
            [](const auto& tile) { setRowReadColDyn<<<1, tile.block, tile.shared_bytes>>>(tile.out); });
    });
    const auto take_turn = [](harness::Turn& turn) {
        // More than 48 KiB has to be asked for, and may be: the card has more.
        HARNESS_CHECK(cudaFuncSetAttribute(setRowReadColDynPad, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                           static_cast<int>(harness::tile_of(turn).words() * sizeof(int))));
        const harness::TileKernel kernel{
            .store = by_rows, .load = by_columns, .padded = true, .dynamic = true};
        harness::measure_tile(turn, kernel, [](const auto& tile) {
            setRowReadColDynPad<<<1, tile.block, tile.shared_bytes>>>(tile.out, tile.padding);
        });
    };
    lesson.add_kernel("setRowReadColDynPad", take_turn, "--padding");

    return lesson.run(argc, argv);
}
