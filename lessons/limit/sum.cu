// The sum of n ints, by the strategy that is fastest at n: what lesson 30 will be about.
//
//     scripts/build build/default limit_sum && build/default/bin/limit_sum

#include <array>

#include "harness/check.hpp"
#include "harness/exit_status.hpp"
#include "harness/lesson.hpp"
#include "sum.cuh"

namespace {

using harness::Turn;
using take_home::Strategy, take_home::Workspace;

/// Measures complete sums. \param sum queues one; its argument: the workspace, zeroed before the first run
template <class Sum> void measure_sum(Turn& turn, const Sum& sum) {
    const harness::RandomInts& input = turn.input(turn.option("--offset"));
    harness::DeviceBuffer<int> result(1);
    std::size_t bytes = 0;
    HARNESS_CHECK(take_home::sum(nullptr, bytes, input.data(), result.data(), turn.n()));
    harness::DeviceBuffer<unsigned char> workspace(bytes);
    HARNESS_CHECK(cudaMemset(workspace.data(), 0, bytes));

    // Grid and blocks are the header's own choice: 0.
    turn.measure({.grid = dim3(0), .block = dim3(0), .bytes = (turn.n() + 1) * sizeof(int)},
                 {.prepare = [&] { result.poison(); },
                  .launch = [&] { HARNESS_CHECK(sum(workspace.data(), bytes, input.data(), result.data())); },
                  .verify = [&] { return harness::compare_value(input.sum(), result.read().front()); }});
}

/// One strategy, at any n that it can sum.
void measure_strategy(Turn& turn, Strategy strategy) {
    if (strategy == Strategy::one_cluster) turn.require_compute_capability(9, 0, "thread block clusters");
    if (strategy == Strategy::bulk_copies)
        turn.require_compute_capability(9, 0, "bulk copies (cp.async.bulk)");
    if (strategy == Strategy::one_block && turn.n() > 8192)
        throw harness::UsageError("--kernel one_block sums up to 8,192 ints. Write a smaller --n.");
    take_home::detail::Device device;
    HARNESS_CHECK(take_home::detail::current_device(device));
    measure_sum(turn, [&](void* workspace, std::size_t, const int* input, int* result) {
        return take_home::sum_by(strategy, take_home::meeting_in(workspace), input, result, turn.n(), nullptr,
                                 Workspace::zeros, device);
    });
}

} // namespace

int main(int argc, char** argv) {
    harness::Lesson lesson({.name = "limit_sum",
                            .title = "A sum for every n",
                            .options = {{.name = "--offset",
                                         .value = "K",
                                         .help = "the input starts K ints into its allocation, which is\n"
                                                 "aligned to 256 bytes. Default: 0",
                                         .largest = 1u << 20},
                                        {.name = "--strategies",
                                         .value = "",
                                         .help = "each strategy that can sum any n by itself, too"}},
                            .sweep = true});

    lesson.add_kernel("sum", [](Turn& turn) {
        measure_sum(turn, [&](void* workspace, std::size_t bytes, const int* input, int* result) {
            return take_home::sum(workspace, bytes, input, result, turn.n());
        });
    });
    lesson.add_kernel("sum_zeroed", [](Turn& turn) { // the workspace holds zeros, and the call is told so
        measure_sum(turn, [&](void* workspace, std::size_t bytes, const int* input, int* result) {
            return take_home::sum(workspace, bytes, input, result, turn.n(), nullptr, Workspace::zeros);
        });
    });
    const auto add_strategy = [&](const char* name, Strategy strategy, const char* only_with) {
        lesson.add_kernel(
            name, [=](Turn& turn) { measure_strategy(turn, strategy); }, only_with);
    };
    add_strategy("one_block", Strategy::one_block, "--kernel one_block");
    add_strategy("one_cluster", Strategy::one_cluster, "--strategies");
    add_strategy("one_launch", Strategy::one_launch, "--strategies");
    add_strategy("bulk_copies", Strategy::bulk_copies, "--strategies");

    return lesson.run(argc, argv);
}
