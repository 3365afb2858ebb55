// The library's own reduction, as the last rung: for `make measure`.

#include <cub/device/device_reduce.cuh>

#include "harness/check.hpp"
#include "harness/lesson.hpp"
#include "harness/verification.hpp"

void add_cub(harness::Lesson& lesson) {
    lesson.add_kernel("cub::Sum", [](harness::KernelRun& run) {
        const harness::RandomInts& input = run.input();
        harness::DeviceBuffer<int> result(1);
        std::size_t scratch_bytes = 0;
        HARNESS_CHECK(cub::DeviceReduce::Sum(nullptr, scratch_bytes, input.data(), result.data(), run.n()));
        harness::DeviceBuffer<unsigned char> scratch(scratch_bytes);

        const auto prepare = [&] { result.poison(); };
        const auto launch = [&] {
            HARNESS_CHECK(
                cub::DeviceReduce::Sum(scratch.data(), scratch_bytes, input.data(), result.data(), run.n()));
        };
        const auto verify = [&] { return harness::compare_value(input.sum(), result.read().front()); };
        // It chooses its grid and blocks: 0 here. Timed as a whole, with all the launches it needs.
        run.measure({.grid = dim3(0), .block = dim3(0), .bytes = (run.n() + 1) * sizeof(int)},
                    {.prepare = prepare, .launch = launch, .verify = verify});
    });
}
