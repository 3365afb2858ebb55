// A lesson whose kernels are wrong, to see what a user sees.
#include "harness/lesson.hpp"
#include "wrong_kernels.cuh"

int main(int argc, char** argv) {
    harness::Lesson lesson({.name = "wrong_lesson", .title = "Wrong on purpose", .sweep = true});

    lesson.add_reduction("drops_the_tail", {}, [](const harness::Pass& pass) {
        drops_the_tail<<<pass.grid, pass.block, pass.shared_bytes>>>(pass.input, pass.partial_sums, pass.n);
    });
    lesson.add_reduction("leaves_one_out", {}, [](const harness::Pass& pass) {
        leaves_one_out<<<pass.grid, pass.block, pass.shared_bytes>>>(pass.input, pass.partial_sums, pass.n);
    });
    lesson.add_kernel("writes_out_of_bounds", [](harness::KernelRun& run) {
        harness::DeviceBuffer<int> data(1);
        run.measure({.grid = dim3(1), .block = dim3(1)},
                    {.prepare = [&] { data.poison(); },
                     .launch = [&] { writes_out_of_bounds<<<1, 1>>>(data.data(), std::size_t{1} << 40); },
                     .verify = [&] { return harness::compare_value(1, 1); }});
    });
    lesson.add_kernel("is_not_measured", [](harness::KernelRun&) {});
    lesson.add_kernel("needs_a_newer_card", [](harness::KernelRun& run) {
        run.require_compute_capability(99, 1, "miracles");
        run.measure({}, {});
    });

    return lesson.run(argc, argv);
}
