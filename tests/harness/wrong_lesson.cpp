// A lesson whose kernels are wrong, to see what a user sees.
#include "harness/lesson.hpp"
#include "harness/verification.hpp"
#include "wrong_kernels.hpp"

int main(int argc, char** argv) {
    harness::Lesson lesson({.name = "wrong_lesson", .title = "Wrong on purpose", .sweep = true});

    lesson.add_reduction("drops_the_tail", {}, launch_drops_the_tail);
    lesson.add_reduction("leaves_one_out", {}, launch_leaves_one_out);
    lesson.add_kernel("writes_out_of_bounds", [](harness::KernelRun& run) {
        harness::DeviceBuffer<int> data(1);
        run.measure({.grid = dim3(1), .block = dim3(1)},
                    {.prepare = [&] { data.poison(); },
                     .launch = [&] { launch_writes_out_of_bounds(data.data(), std::size_t{1} << 40); },
                     .verify = [&] { return harness::compare_value(1, 1); }});
    });
    lesson.add_kernel("is_not_measured", [](harness::KernelRun&) {});
    lesson.add_kernel("needs_a_newer_card", [](harness::KernelRun& run) {
        run.require_compute_capability(99, 1, "miracles");
        run.measure({}, {});
    });

    return lesson.run(argc, argv);
}
