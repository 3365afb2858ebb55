// Lesson 27: prefix sums, tile by tile and in one pass.
//
//     make lesson27 && ./lesson27

#include <vector>

#include "harness/check.hpp"
#include "harness/lesson.hpp"
#include "harness/verification.hpp"
#include "in_shared_memory.cuh"
#include "inclusive_sums.hpp"
#include "kernels.cuh"
#include "wide_lookback.cuh"

namespace {

using harness::DeviceBuffer, harness::KernelRun;
using TileScan = void (*)(const int* input, int* output, std::size_t n, int* tile_sums);

/// Measures a kernel that scans tiles. The first pass scans the input's tiles. The others scan the sums of
/// the tiles, the sums of tiles of those, until there is one tile, and then add them from the top down.
void measure_tiles(KernelRun& run, TileScan kernel, unsigned int shared_ints) {
    const unsigned int block = run.block();
    const std::size_t shared_bytes = shared_ints * sizeof(int);
    const harness::RandomInts& input = run.input();
    const std::vector<int> expected = inclusive_sums(input);
    std::vector<DeviceBuffer<int>> levels; // the output, the sums of its tiles, ...
    std::vector<unsigned int> tiles = harness::plan_grids(run.n(), block, {}); // of each level
    levels.emplace_back(run.n());
    for (const unsigned int sums : tiles) levels.emplace_back(sums);

    const auto scan = [&](std::size_t level, const int* from) {
        kernel<<<tiles[level], block, shared_bytes>>>(from, levels[level].data(), levels[level].size(),
                                                      levels[level + 1].data());
    };
    bool complete = false; // add_tile_sums works in place: never twice
    const auto launch_rest = [&] {
        complete = true;
        for (std::size_t level = 1; level < tiles.size(); ++level) scan(level, levels[level].data());
        for (std::size_t level = tiles.size() - 1; level-- > 0;)
            add_tile_sums<<<tiles[level], block>>>(levels[level].data(), levels[level].size(),
                                                   levels[level + 1].data());
    };
    const auto verify = [&] {
        if (!complete) launch_rest();
        return harness::compare_elements(expected, levels.front().read());
    };
    run.measure({.grid = dim3(tiles.front()),
                 .block = dim3(block),
                 .dynamic_shared_bytes = shared_bytes,
                 .bytes = (2 * run.n() + tiles.front()) * sizeof(int),
                 .passes = 2 * tiles.size() - 1},
                {.prepare =
                     [&] {
                         for (auto& level : levels) level.poison();
                         complete = false;
                     },
                 .launch = [&] { scan(0, input.data()); },
                 .verify = verify,
                 .launch_rest = tiles.size() > 1 ? harness::Step(launch_rest) : nullptr});
}

void measure_lookback(KernelRun& run) {
    const harness::RandomInts& input = run.input();
    const std::vector<int> expected = inclusive_sums(input);
    const unsigned int tiles = harness::plan_grids(run.n(), run.block(), {}).front();
    DeviceBuffer<int> output(run.n()), sums(tiles), prefixes(tiles);
    DeviceBuffer<unsigned int> next_and_status(1 + std::size_t{tiles});
    const auto launch = [&] { // the memset is a part of it: each scan needs one
        HARNESS_CHECK(cudaMemsetAsync(next_and_status.data(), 0, next_and_status.bytes()));
        unsigned int* const next = next_and_status.data();
        scan_lookback<<<tiles, run.block()>>>(input.data(), output.data(), run.n(),
                                              {next, next + 1, sums.data(), prefixes.data()});
    };
    run.measure({.grid = dim3(tiles), .block = dim3(run.block()), .bytes = 2 * run.n() * sizeof(int)},
                {.prepare = [&] { output.poison(), sums.poison(), prefixes.poison(); },
                 .launch = launch,
                 .verify = [&] { return harness::compare_elements(expected, output.read()); }});
}

void measure_wide_lookback(KernelRun& run) {
    const harness::RandomInts& input = run.input();
    const std::vector<int> expected = inclusive_sums(input);
    const unsigned int tiles =
        harness::plan_grids(run.n(), run.block(), {.elements_per_thread = elements_per_thread}).front();
    DeviceBuffer<int> output(run.n());
    DeviceBuffer<unsigned long long> words_and_next(std::size_t{tiles} + 1);
    const auto launch = [&] {
        HARNESS_CHECK(cudaMemsetAsync(words_and_next.data(), 0, words_and_next.bytes()));
        unsigned long long* const words = words_and_next.data();
        scan_lookback_wide<<<tiles, run.block()>>>(input.data(), output.data(), run.n(),
                                                   {reinterpret_cast<unsigned int*>(words + tiles), words});
    };
    run.measure({.grid = dim3(tiles), .block = dim3(run.block()), .bytes = 2 * run.n() * sizeof(int)},
                {.prepare = [&] { output.poison(); },
                 .launch = launch,
                 .verify = [&] { return harness::compare_elements(expected, output.read()); }});
}

} // namespace

#ifdef WITH_CUB
void add_cub(harness::Lesson& lesson); // bench/cub/lesson27.cu
#endif

int main(int argc, char** argv) {
    harness::Lesson lesson({.name = "lesson27", .title = "Scan"});

    lesson.add_kernel("scan_hillis_steele",
                      [](KernelRun& run) { measure_tiles(run, scan_hillis_steele, run.block()); });
    lesson.add_kernel("scan_blelloch",
                      [](KernelRun& run) { measure_tiles(run, scan_blelloch, run.block()); });
    lesson.add_kernel("scan_blelloch_padded", [](KernelRun& run) {
        measure_tiles(run, scan_blelloch_padded, run.block() + run.block() / 32);
    });
    lesson.add_kernel("scan_warps", [](KernelRun& run) { measure_tiles(run, scan_warps, 0); });
    lesson.add_kernel("scan_lookback", measure_lookback);
    lesson.add_kernel("scan_lookback_wide", measure_wide_lookback);
#ifdef WITH_CUB
    add_cub(lesson);
#endif

    return lesson.run(argc, argv);
}
