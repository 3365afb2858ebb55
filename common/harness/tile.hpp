/// \file
/// What lessons about a tile in shared memory have in common: --width, --height and --padding, and the run of
/// a kernel that fills a tile, one int a thread, and writes what it reads back.
#pragma once

#include "harness/bank_map.hpp"
#include "harness/lesson.hpp"

#include <vector_types.h>

#include <cstddef>
#include <functional>
#include <string>

namespace harness {

/// A lesson whose kernels take square tiles only: 32 x 32 unless the command line says otherwise.
/// \param padding the default; 0: no padding unless it is asked for
LessonInfo square_tile_lesson(std::string name, std::string title, unsigned padding = 0);

/// A lesson whose kernels take any tile: 32 x 16 unless the command line says otherwise.
LessonInfo rectangular_tile_lesson(std::string name, std::string title, unsigned padding = 0);

/// The tile that the command line asks for.
Tile tile_of(const Turn& turn);

/// What a kernel does with its tile: thread i stores the number i there, and writes what it loads to out[i].
struct TileKernel {
    Order store, load;
    bool padded = false;  ///< with --padding ints behind each row
    bool dynamic = false; ///< in shared memory that is sized at launch
};

struct TileLaunch {
    dim3 block;
    int* out = nullptr; ///< an int a thread, in device memory
    unsigned padding = 0;
    std::size_t shared_bytes = 0; ///< dynamic shared memory: the tile, padding included
};

/// Shows the map of the kernel's banks, then runs it in one block and compares every element.
void measure_tile(Turn& turn, const TileKernel& kernel, const std::function<void(const TileLaunch&)>& launch);

/// \throws UsageError when the tile is larger than a kernel's static array of so many ints
void require_static_tile(const Tile& tile, std::size_t array_ints);

/// What the kernel leaves in `out`.
std::vector<int> expected_output(const Tile& tile, const TileKernel& kernel);

} // namespace harness
