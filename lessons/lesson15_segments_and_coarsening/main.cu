// Lesson 15: a segment for each block, then more of it for each thread.
//
//     make lesson15 && ./lesson15

#include <array>
#include <cstdint>
#include <string>
#include <type_traits>

#include "../lesson13_atomics/kernels.cuh"
#include "harness/exit_status.hpp"
#include "harness/lesson.hpp"
#include "harness/verification.hpp"
#include "kernels.cuh"

namespace {

using harness::KernelRun;
using Kernel = void (*)(const int* data, int* result, std::size_t n);

/// Measures a kernel that leaves the whole sum in one launch. One that takes an int* to its data works in
/// place.
template <class Int>
void measure_sum(KernelRun& run, void (*kernel)(Int* data, int* result, std::size_t n),
                 harness::LaunchConfiguration configuration) {
    constexpr bool in_place = !std::is_const_v<Int>;
    const harness::RandomInts& input = run.input_of_any_values();
    harness::DeviceBuffer<int> result(1), work(in_place ? run.n() : 0);

    const auto prepare = [&] { // before each run, and not timed
        result.write(std::array{0});
        if constexpr (in_place) work.write(input.device());
    };
    const auto launch = [&] {
        Int* data = work.data();
        if constexpr (!in_place) data = input.data();
        kernel<<<configuration.grid, configuration.block, configuration.dynamic_shared_bytes>>>(
            data, result.data(), run.n());
    };
    const auto verify = [&] { return harness::compare_value(input.sum(), result.read().front()); };
    configuration.bytes = (run.n() + 1) * sizeof(int);
    run.measure(configuration, {.prepare = prepare, .launch = launch, .verify = verify});
}

/// One block per segment of elements_per_thread * block ints.
harness::LaunchConfiguration segments(const KernelRun& run, unsigned int elements_per_thread,
                                      unsigned int shared_ints_per_thread = 0) {
    const auto grids =
        harness::plan_grids(run.n(), run.block(), {.elements_per_thread = elements_per_thread});
    return {.grid = dim3(grids.front()),
            .block = dim3(run.block()),
            .dynamic_shared_bytes = shared_ints_per_thread * run.block() * sizeof(int)};
}

void check_coarsening(harness::OptionValues& options) {
    const std::uint64_t coarsening = options.at("--coarsening");
    if (coarsening == 0 || 16 % coarsening != 0)
        throw harness::UsageError("--coarsening " + std::to_string(coarsening) +
                                  ": no kernel is compiled for it. Write 1, 2, 4, 8 or 16.");
}

/// The coarse_reduction that is compiled for the option's value.
Kernel coarse_kernel(std::uint64_t coarsening) {
    switch (coarsening) {
    case 1: return coarse_reduction<1>;
    case 2: return coarse_reduction<2>;
    case 4: return coarse_reduction<4>;
    case 8: return coarse_reduction<8>;
    default: return coarse_reduction<16>;
    }
}

} // namespace

int main(int argc, char** argv) {
    harness::Lesson lesson({.name = "lesson15",
                            .title = "Segments and coarsening",
                            .options = {{.name = "--coarsening",
                                         .value = "K",
                                         .help = "each thread of coarse_reduction sums 2 K ints:\n"
                                                 "1, 2, 4, 8 or 16. Default: 4",
                                         .largest = UINT64_MAX,
                                         .default_value = 4}},
                            .sweep = true,
                            .complete_options = check_coarsening});

    // Those of lesson 13, to compare them over all sizes.
    const auto add_to_sweep = [&](const char* name, void (*run_kernel)(KernelRun&)) {
        lesson.add_kernel(name, run_kernel, "--sweep");
    };
    add_to_sweep("sequential_reduction", [](KernelRun& run) {
        measure_sum(run, sequential_reduction, {.grid = dim3(1), .block = dim3(1)});
    });
    add_to_sweep("naive_reduction",
                 [](KernelRun& run) { measure_sum(run, naive_reduction, segments(run, 1)); });
    add_to_sweep("warp_reduction",
                 [](KernelRun& run) { measure_sum(run, warp_reduction, segments(run, 1)); });
    add_to_sweep("block_reduction",
                 [](KernelRun& run) { measure_sum(run, block_reduction, segments(run, 1)); });

    lesson.add_kernel("segmented_blocked",
                      [](KernelRun& run) { measure_sum(run, segmented_blocked, segments(run, 2)); });
    lesson.add_kernel("segmented_strided",
                      [](KernelRun& run) { measure_sum(run, segmented_strided, segments(run, 2)); });
    lesson.add_kernel("segmented_smem",
                      [](KernelRun& run) { measure_sum(run, segmented_smem, segments(run, 2, 1)); });
    lesson.add_kernel("coarse_reduction", [](KernelRun& run) {
        const auto coarsening = static_cast<unsigned int>(run.option("--coarsening"));
        measure_sum(run, coarse_kernel(coarsening), segments(run, 2 * coarsening, 1));
    });

    return lesson.run(argc, argv);
}
