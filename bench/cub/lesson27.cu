// The library's own scan beside the lesson's kernels: for `make measure`.

#include <cub/device/device_scan.cuh>
#include <vector>

#include "../../lessons/lesson27_scan/inclusive_sums.hpp"
#include "harness/check.hpp"
#include "harness/lesson.hpp"
#include "harness/verification.hpp"

void add_cub(harness::Lesson& lesson) {
    lesson.add_kernel("cub::InclusiveSum", [](harness::KernelRun& run) {
        const harness::RandomInts& input = run.input();
        const std::vector<int> expected = inclusive_sums(input);
        harness::DeviceBuffer<int> output(run.n());
        const auto scan = [&](void* scratch, std::size_t& scratch_bytes) {
            HARNESS_CHECK(
                cub::DeviceScan::InclusiveSum(scratch, scratch_bytes, input.data(), output.data(), run.n()));
        };
        std::size_t scratch_bytes = 0;
        scan(nullptr, scratch_bytes);
        harness::DeviceBuffer<unsigned char> scratch(scratch_bytes);

        const auto prepare = [&] { output.poison(); };
        const auto launch = [&] { scan(scratch.data(), scratch_bytes); };
        const auto verify = [&] { return harness::compare_elements(expected, output.read()); };
        // It chooses its grid and blocks: 0 here. Timed as a whole, with all the launches it needs.
        run.measure({.grid = dim3(0), .block = dim3(0), .bytes = 2 * run.n() * sizeof(int)},
                    {.prepare = prepare, .launch = launch, .verify = verify});
    });
}
