// Lesson 32: a scan in rounds, as one small kernel and as a header to take home.
//
//     make lesson32 && ./lesson32

#include <algorithm>
#include <string>
#include <vector>

#include "../lesson27_scan/inclusive_sums.hpp"
#include "harness/check.hpp"
#include "harness/exit_status.hpp"
#include "harness/lesson.hpp"
#include "harness/verification.hpp"
#include "kernels.cuh"
#include "scan.cuh"

namespace {

using harness::DeviceBuffer, harness::KernelRun;
using take_home::ScanStrategy;
namespace detail = take_home::scan_detail;

struct Plus {
    __device__ int operator()(int a, int b) const { return a + b; }
};

detail::Device device() {
    detail::Device device;
    HARNESS_CHECK(detail::current_device(device));
    return device;
}

/// One block per multiprocessor: they all run at the same time.
void measure_in_rounds(KernelRun& run) {
    const harness::RandomInts& input = run.input(run.option("--offset"));
    const std::vector<int> expected = inclusive_sums(input);
    const std::size_t per_tile = std::size_t{run.block()} * elements_per_thread;
    const std::size_t tiles = (run.n() + per_tile - 1) / per_tile;
    const auto grid = static_cast<unsigned int>(std::min<std::size_t>(
        tiles, run.option("--blocks") > 0 ? run.option("--blocks") : device().multiprocessors));
    DeviceBuffer<int> output(run.n());
    DeviceBuffer<Word> words(tiles);
    const auto launch = [&] { // the memset is a part of it: each scan needs one
        HARNESS_CHECK(cudaMemsetAsync(words.data(), 0, words.bytes()));
        HARNESS_CHECK(detail::launch(scan_in_rounds, grid, run.block(), 0, 0, nullptr, input.data(),
                                     output.data(), run.n(), words.data()));
    };
    run.measure({.grid = dim3(grid), .block = dim3(run.block()), .bytes = 2 * run.n() * sizeof(int)},
                {.prepare = [&] { output.poison(); },
                 .launch = launch,
                 .verify = [&] { return harness::compare_elements(expected, output.read()); }});
}

/// \param scan queues one; its argument: the workspace, zeroed once
template <class Scan> void measure_scan(KernelRun& run, const Scan& scan) {
    const harness::RandomInts& input = run.input(run.option("--offset"));
    const std::vector<int> expected = inclusive_sums(input);
    DeviceBuffer<int> output(run.n());
    std::size_t bytes = 0;
    HARNESS_CHECK(take_home::inclusive_scan(nullptr, bytes, input.data(), output.data(), run.n(), Plus{}));
    DeviceBuffer<unsigned char> workspace(bytes);
    HARNESS_CHECK(cudaMemset(workspace.data(), 0, bytes));
    // Grid and blocks are the header's own choice: 0.
    run.measure({.grid = dim3(0), .block = dim3(0), .bytes = 2 * run.n() * sizeof(int)},
                {.prepare = [&] { output.poison(); },
                 .launch = [&] { HARNESS_CHECK(scan(workspace.data(), bytes, input.data(), output.data())); },
                 .verify = [&] { return harness::compare_elements(expected, output.read()); }});
}

/// One strategy, at any n that it can scan.
template <ScanStrategy strategy> void measure_strategy(KernelRun& run) {
    if (strategy == ScanStrategy::one_cluster) run.require_compute_capability(9, 0, "thread block clusters");
    if (strategy == ScanStrategy::bulk_rounds)
        run.require_compute_capability(9, 0, "bulk copies (cp.async.bulk)");
    measure_scan(run, [&](void* workspace, std::size_t, const int* input, int* output) {
        const cudaError_t error = take_home::scan_by<true>(strategy, detail::meeting_in(workspace), input,
                                                           output, run.n(), Plus{}, 0, nullptr, device());
        if (error == cudaErrorInvalidValue)
            throw harness::DeviceError(std::string(run.kernel()) +
                                       ": it scans fewer ints; write a smaller --n, or --kernel rounds");
        return error;
    });
}

} // namespace

int main(int argc, char** argv) {
    harness::Lesson lesson({.name = "lesson32",
                            .title = "A scan in rounds",
                            .options = {{.name = "--blocks",
                                         .value = "B",
                                         .help = "the blocks of scan_in_rounds; at most as many as run at\n"
                                                 "the same time. Default: 0, one per multiprocessor",
                                         .largest = 1056},
                                        {.name = "--offset",
                                         .value = "K",
                                         .help = "the input starts K ints into its allocation, which is\n"
                                                 "aligned to 256 bytes. Default: 0",
                                         .largest = 1u << 20}}});

    lesson.add_kernel("scan_in_rounds", measure_in_rounds);
    lesson.add_kernel("inclusive_scan", [](KernelRun& run) {
        measure_scan(run, [&](void* workspace, std::size_t bytes, const int* input, int* output) {
            return take_home::inclusive_scan(workspace, bytes, input, output, run.n(), Plus{});
        });
    });
    lesson.add_kernel("one_block", measure_strategy<ScanStrategy::one_block>, "--kernel one_block");
    lesson.add_kernel("one_cluster", measure_strategy<ScanStrategy::one_cluster>, "--kernel one_cluster");
    lesson.add_kernel("rounds", measure_strategy<ScanStrategy::rounds>, "--kernel rounds");
    lesson.add_kernel("bulk_rounds", measure_strategy<ScanStrategy::bulk_rounds>, "--kernel bulk_rounds");

    return lesson.run(argc, argv);
}
