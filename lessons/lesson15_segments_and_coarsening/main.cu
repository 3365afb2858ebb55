// Lesson 15: a segment for each block, then more of it for each thread.
//
//     make lesson15 && ./lesson15

#include <array>
#include <bit>
#include <cstdint>
#include <map>
#include <string>
#include <type_traits>

#include "../lesson13_atomics/kernels.cuh"
#include "harness/exit_status.hpp"
#include "harness/lesson.hpp"
#include "kernels.cuh"

namespace {

using harness::Turn;
using Kernel = void (*)(const int* data, int* result, std::size_t n);

/// Measures a kernel that leaves the whole sum in one launch. One that takes an int* to its data works in
/// place.
template <class Int>
void measure_sum(Turn& turn, void (*kernel)(Int* data, int* result, std::size_t n),
                 harness::LaunchShape shape) {
    constexpr bool in_place = !std::is_const_v<Int>;
    const harness::RandomInts& input = turn.input();
    harness::DeviceBuffer<int> result(1), work(in_place ? turn.n() : 0);

    const auto prepare = [&] { // before each run, and not timed
        result.write(std::array{0});
        if constexpr (in_place) work.write(input.device());
    };
    const auto launch = [&] {
        Int* data = work.data();
        if constexpr (!in_place) data = input.data();
        kernel<<<shape.grid, shape.block, shape.dynamic_shared_bytes>>>(data, result.data(), turn.n());
    };
    const auto verify = [&] { return harness::compare_value(input.sum(), result.read().front()); };
    shape.bytes = (turn.n() + 1) * sizeof(int);
    turn.measure(shape, {.prepare = prepare, .launch = launch, .verify = verify});
}

/// A block for each segment of elements_per_thread * block ints.
harness::LaunchShape segments(const Turn& turn, unsigned int elements_per_thread,
                              unsigned int shared_ints_per_thread = 0) {
    const auto grids =
        harness::plan_grids(turn.n(), turn.block(), {.elements_per_thread = elements_per_thread});
    return {.grid = dim3(grids.front()),
            .block = dim3(turn.block()),
            .dynamic_shared_bytes = shared_ints_per_thread * turn.block() * sizeof(int)};
}

void check_coarsening(const std::map<std::string, std::uint64_t>& options) {
    const std::uint64_t coarsening = options.at("--coarsening");
    if (!std::has_single_bit(coarsening) || coarsening > 16)
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
    const auto add_to_sweep = [&](const char* name, std::function<void(Turn&)> take_turn) {
        lesson.add_kernel(name, std::move(take_turn), "--sweep");
    };
    add_to_sweep("sequential_reduction", [](Turn& turn) {
        measure_sum(turn, sequential_reduction, {.grid = dim3(1), .block = dim3(1)});
    });
    add_to_sweep("naive_reduction",
                 [](Turn& turn) { measure_sum(turn, naive_reduction, segments(turn, 1)); });
    add_to_sweep("warp_reduction", [](Turn& turn) { measure_sum(turn, warp_reduction, segments(turn, 1)); });
    add_to_sweep("block_reduction",
                 [](Turn& turn) { measure_sum(turn, block_reduction, segments(turn, 1)); });

    lesson.add_kernel("segmented_blocked",
                      [](Turn& turn) { measure_sum(turn, segmented_blocked, segments(turn, 2)); });
    lesson.add_kernel("segmented_strided",
                      [](Turn& turn) { measure_sum(turn, segmented_strided, segments(turn, 2)); });
    lesson.add_kernel("segmented_smem",
                      [](Turn& turn) { measure_sum(turn, segmented_smem, segments(turn, 2, 1)); });
    lesson.add_kernel("coarse_reduction", [](Turn& turn) {
        const auto coarsening = static_cast<unsigned int>(turn.option("--coarsening"));
        measure_sum(turn, coarse_kernel(coarsening), segments(turn, 2 * coarsening, 1));
    });

    return lesson.run(argc, argv);
}
