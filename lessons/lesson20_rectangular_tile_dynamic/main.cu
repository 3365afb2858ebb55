// Lesson 20: the rectangular tile gets its size at launch.
//
//     make lesson20 && ./lesson20

#include "../lesson19_rectangular_tile/kernels.cuh"
#include "harness/check.hpp"
#include "harness/tile.hpp"
#include "kernels.cuh"
#include "padded.cuh"

int main(int argc, char** argv) {
    using harness::by_columns, harness::by_rows;
    harness::Lesson lesson(
        harness::rectangular_tile_lesson("lesson20", "A rectangular tile, sized at launch"));

    lesson.add_kernel("setRowReadCol", [](harness::KernelRun& run) {
        harness::measure_tile(run, {.store = by_rows, .load = by_columns},
                              [](const auto& tile) { setRowReadCol<<<1, tile.block>>>(tile.out); });
    });
    lesson.add_kernel("setRowReadColDyn", [](harness::KernelRun& run) {
        harness::measure_tile(
            run, {.store = by_rows, .load = by_columns, .dynamic = true},
            [](const auto& tile) { setRowReadColDyn<<<1, tile.block, tile.shared_bytes>>>(tile.out); });
    });
    const auto run_kernel = [](harness::KernelRun& run) {
        // More than 48 KiB has to be asked for, and may be: the card has more.
        HARNESS_CHECK(cudaFuncSetAttribute(setRowReadColDynPad, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                           static_cast<int>(harness::tile_of(run).words() * sizeof(int))));
        const harness::TileKernel kernel{
            .store = by_rows, .load = by_columns, .padded = true, .dynamic = true};
        harness::measure_tile(run, kernel, [](const auto& tile) {
            setRowReadColDynPad<<<1, tile.block, tile.shared_bytes>>>(tile.out, tile.padding);
        });
    };
    lesson.add_kernel("setRowReadColDynPad", run_kernel, "--padding");

    return lesson.run(argc, argv);
}
