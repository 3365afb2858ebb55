// Lesson 26: a histogram: one for the grid, one per block, one per warp.
//
//     make lesson26 && ./lesson26 --skew 90

#include <algorithm>
#include <vector>

#include "data.hpp"
#include "harness/launch_size.hpp"
#include "harness/lesson.hpp"
#include "harness/verification.hpp"
#include "kernels.cuh"
#include "vectors.cuh"

namespace {

using harness::KernelRun;
using Kernel = void (*)(const int* input, int* histogram, std::size_t n);

/// Who shares a histogram. Of a block's eight, threads that lie eight apart share one.
enum class Histogram { per_grid, per_block, per_warp, eight_per_block };

void measure_histogram(KernelRun& run, Kernel kernel, Histogram kind) {
    const std::size_t n = run.n(), block = run.block();
    const std::size_t shared_bytes = kind == Histogram::per_warp ? block / 32 * bins * sizeof(int) : 0;
    const std::size_t most_blocks = harness::resident_blocks(kernel, run.block(), shared_bytes);
    const auto grid = static_cast<unsigned int>(
        std::min(harness::ceil_div(n, 16 * block), most_blocks)); // at least 16 elements per thread
    const SkewedInts input(run.input(), run.option("--skew"));
    harness::DeviceBuffer<int> histogram(bins);

    const std::size_t threads = grid * block;
    const auto histogram_of = [=](std::size_t i) -> std::size_t { // the one in which element i is counted
        switch (kind) {
        case Histogram::per_grid: return 0;
        case Histogram::per_block: return i % threads / block;
        case Histogram::per_warp: return i % threads / 32;
        case Histogram::eight_per_block: {
            const std::size_t thread =
                i / 4 % threads; // It has vectors of four. The last ones are left over.
            return thread / block * block_copies + thread % block_copies;
        }
        }
        return 0;
    };
    run.illustrate(describe_contention(run.kernel(), input.busiest_word(threads, histogram_of),
                                       kind == Histogram::per_grid ? 0 : grid)
                       .c_str());

    const std::vector<int> expected = input.histogram();
    const auto prepare = [&] { histogram.write(std::vector<int>(bins)); }; // before each run, and not timed
    const auto launch = [&] {
        kernel<<<grid, run.block(), shared_bytes>>>(input.data(), histogram.data(), n);
    };
    const auto verify = [&] { return harness::compare_elements(expected, histogram.read()); };
    run.measure({.grid = dim3(grid),
                 .block = dim3(run.block()),
                 .dynamic_shared_bytes = shared_bytes,
                 .bytes = (n + bins) * sizeof(int)},
                {.prepare = prepare, .launch = launch, .verify = verify});
}

} // namespace

#ifdef WITH_CUB
void add_cub(harness::Lesson& lesson); // bench/cub/lesson26.cu
#endif

int main(int argc, char** argv) {
    harness::Lesson lesson({.name = "lesson26",
                            .title = "Histogram",
                            .options = {{.name = "--skew",
                                         .value = "P",
                                         .help = "P in 100 elements are 0, and fall into bin 0. Default: 0",
                                         .largest = 100}}});

    lesson.add_kernel("histogram_global",
                      [](KernelRun& run) { measure_histogram(run, histogram_global, Histogram::per_grid); });
    lesson.add_kernel("histogram_shared",
                      [](KernelRun& run) { measure_histogram(run, histogram_shared, Histogram::per_block); });
    lesson.add_kernel("histogram_private",
                      [](KernelRun& run) { measure_histogram(run, histogram_private, Histogram::per_warp); });
    lesson.add_kernel("histogram_vectors", [](KernelRun& run) {
        measure_histogram(run, histogram_vectors<block_copies>, Histogram::eight_per_block);
    });
#ifdef WITH_CUB
    add_cub(lesson);
#endif

    return lesson.run(argc, argv);
}
