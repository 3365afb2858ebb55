// Lesson 30: the sum of n ints, by the strategy that is fastest at n.
//
//     make lesson30 && ./lesson30

#include <array>

#include "harness/check.hpp"
#include "harness/exit_status.hpp"
#include "harness/lesson.hpp"
#include "harness/verification.hpp"
#include "kernels.cuh"
#include "sum.cuh"

namespace {

using harness::KernelRun;
using take_home::Strategy, take_home::Workspace;

/// Measures complete sums. \param sum queues one; its argument: the workspace, zeroed before the first run
template <class Sum> void measure_sum(KernelRun& run, const Sum& sum) {
    const harness::RandomInts& input = run.input_of_any_values(run.option("--offset"));
    harness::DeviceBuffer<int> result(1);
    std::size_t bytes = 0;
    HARNESS_CHECK(take_home::sum(nullptr, bytes, input.data(), result.data(), run.n()));
    harness::DeviceBuffer<unsigned char> workspace(bytes);
    HARNESS_CHECK(cudaMemset(workspace.data(), 0, bytes));

    // Grid and blocks are the header's own choice: 0.
    run.measure({.grid = dim3(0), .block = dim3(0), .bytes = (run.n() + 1) * sizeof(int)},
                {.prepare = [&] { result.poison(); },
                 .launch = [&] { HARNESS_CHECK(sum(workspace.data(), bytes, input.data(), result.data())); },
                 .verify = [&] { return harness::compare_value(input.sum(), result.read().front()); }});
}

/// One strategy, at any n that it can sum.
template <Strategy strategy> void measure_strategy(KernelRun& run) {
    if (strategy == Strategy::one_cluster) run.require_compute_capability(9, 0, "thread block clusters");
    if (strategy == Strategy::bulk_copies)
        run.require_compute_capability(9, 0, "bulk copies (cp.async.bulk)");
    if (strategy == Strategy::one_block && run.n() > 8192)
        throw harness::UsageError("--kernel one_block sums up to 8,192 ints. Write a smaller --n.");
    take_home::detail::Device device;
    HARNESS_CHECK(take_home::detail::current_device(device));
    measure_sum(run, [&](void* workspace, std::size_t, const int* input, int* result) {
        return take_home::sum_by(strategy, take_home::meeting_in(workspace), input, result, run.n(), nullptr,
                                 Workspace::zeros, device);
    });
}

/// The kernel of exercise 30: eight blocks, one cluster where the device has clusters.
void measure_small_sum(KernelRun& run) {
    constexpr unsigned int blocks = 8;
    const harness::RandomInts& input = run.input_of_any_values(run.option("--offset"));
    harness::DeviceBuffer<int> result(1);
    harness::DeviceBuffer<unsigned long long> sum_and_count(1);
    sum_and_count.write(std::array{0ull}); // only once: each launch leaves it so
    take_home::detail::Device device;
    HARNESS_CHECK(take_home::detail::current_device(device));
    const unsigned int cluster = device.capability_major >= 9 ? blocks : 1;
    run.measure({.grid = dim3(blocks), .block = dim3(run.block()), .bytes = (run.n() + 1) * sizeof(int)},
                {.prepare = [&] { result.poison(); },
                 .launch =
                     [&] {
                         HARNESS_CHECK(take_home::detail::launch(small_sum, blocks, run.block(), cluster, 0,
                                                                 nullptr, input.data(), result.data(),
                                                                 run.n(), sum_and_count.data()));
                     },
                 .verify = [&] { return harness::compare_value(input.sum(), result.read().front()); }});
}

} // namespace

int main(int argc, char** argv) {
    harness::Lesson lesson({.name = "lesson30",
                            .title = "A sum for every n",
                            .default_block = 512,
                            .options = {{.name = "--offset",
                                         .value = "K",
                                         .help = "the input starts K ints into its allocation, which is\n"
                                                 "aligned to 256 bytes. Default: 0",
                                         .largest = 1u << 20},
                                        {.name = "--strategies",
                                         .value = "",
                                         .help = "each strategy that can sum any n by itself, too"}},
                            .sweep = true});

    lesson.add_kernel("sum", [](KernelRun& run) {
        measure_sum(run, [&](void* workspace, std::size_t bytes, const int* input, int* result) {
            return take_home::sum(workspace, bytes, input, result, run.n());
        });
    });
    lesson.add_kernel("sum_zeroed", [](KernelRun& run) { // the workspace holds zeros, and the call knows it
        measure_sum(run, [&](void* workspace, std::size_t bytes, const int* input, int* result) {
            return take_home::sum(workspace, bytes, input, result, run.n(), nullptr, Workspace::zeros);
        });
    });
    lesson.add_kernel("one_block", measure_strategy<Strategy::one_block>, "--kernel one_block");
    lesson.add_kernel("one_cluster", measure_strategy<Strategy::one_cluster>, "--strategies");
    lesson.add_kernel("one_launch", measure_strategy<Strategy::one_launch>, "--strategies");
    lesson.add_kernel("bulk_copies", measure_strategy<Strategy::bulk_copies>, "--strategies");
    lesson.add_kernel("small_sum", measure_small_sum, "--kernel small_sum");

    return lesson.run(argc, argv);
}
