// The library's own sum of floats, as the last row: for `make measure`.

#include <cub/device/device_reduce.cuh>

#include "../../lessons/lesson23_floating_point/floats.hpp"
#include "../../lessons/lesson23_floating_point/orders.hpp"
#include "harness/check.hpp"
#include "harness/lesson.hpp"

void add_cub(harness::Lesson& lesson) {
    lesson.add_kernel("cub::Sum", [](harness::KernelRun& run) {
        Floats& input = input_of(run);
        harness::DeviceBuffer<float> result(1);
        std::size_t scratch_bytes = 0;
        HARNESS_CHECK(cub::DeviceReduce::Sum(nullptr, scratch_bytes, input.data(), result.data(), run.n()));
        harness::DeviceBuffer<unsigned char> scratch(scratch_bytes);

        // CUB documents no order. In any, an element passes at most n - 1 additions.
        const double bound = plain_bound(static_cast<double>(run.n() - 1), input.magnitude);
        const auto prepare = [&] { result.poison(); };
        const auto launch = [&] {
            HARNESS_CHECK(
                cub::DeviceReduce::Sum(scratch.data(), scratch_bytes, input.data(), result.data(), run.n()));
        };
        const auto verify = [&] { return input.check(run, result.read().front(), bound); };
        // It chooses its grid and blocks: 0 here. Timed as a whole, with all the launches it needs.
        run.measure({.grid = dim3(0), .block = dim3(0), .bytes = (run.n() + 1) * sizeof(float)},
                    {.prepare = prepare, .launch = launch, .verify = verify});
    });
}
