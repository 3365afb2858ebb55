/// For lessons about a tile in shared memory: the options --width, --height and --padding, and the run of a
/// kernel that stores one int per thread in a tile, loads it in another order and writes it out.
#pragma once

#include "harness/detail/bank_map.hpp"
#include "harness/lesson.hpp"

#include <vector_types.h>

#include <cstddef>
#include <vector>

namespace harness {

/// A lesson for square tiles, by default 32 x 32.
/// \param padding the default of --padding
LessonInfo square_tile_lesson(const char* name, const char* title, unsigned int padding = 0);

/// A lesson for tiles of any shape, by default 32 x 16.
LessonInfo rectangular_tile_lesson(const char* name, const char* title, unsigned int padding = 0);

/// The tile of the command line.
Tile tile_of(const KernelRun& run);

/// How a kernel accesses its tile. Thread i stores i in the tile, loads a word and writes it to out[i].
struct TileKernel {
    Order store, load;
    bool padded = false;  ///< --padding unused ints after each row
    bool dynamic = false; ///< in dynamic shared memory
};

struct TileLaunch {
    dim3 block;
    int* out = nullptr; ///< device memory, one int per thread
    unsigned int padding = 0;
    std::size_t shared_bytes = 0; ///< dynamic shared memory: the tile, padding included
};

/// Prints the kernel's map of banks, runs it in one block, and compares every element.
void measure_tile(KernelRun& run, const TileKernel& kernel, FunctionRef<void(const TileLaunch&)> launch);

/// \throws UsageError if the tile does not fit in a kernel's static array of `array_ints` ints
void require_static_tile(const Tile& tile, std::size_t array_ints);

/// What the kernel has to write to `out`.
std::vector<int> expected_output(const Tile& tile, const TileKernel& kernel);

} // namespace harness
