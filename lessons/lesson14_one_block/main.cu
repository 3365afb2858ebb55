// Lesson 14: one block, and which of its threads add.
//
//     make lesson14 && ./lesson14

#include <string>

#include "harness/exit_status.hpp"
#include "harness/lesson.hpp"
#include "harness/numbers.hpp"
#include "kernels.cuh"
#include "steps.hpp"

namespace {

using harness::Pass, harness::KernelRun;

/// Measures one launch of one block.
void measure_block(KernelRun& run, Tree tree, bool in_place, harness::LaunchPass launch) {
    if (run.n() > 2 * run.block()) {
        const auto grouped = [](std::uint64_t value) { return harness::group_digits(value); };
        throw harness::UsageError("--block " + std::to_string(run.block()) + ": one block of " +
                                  grouped(run.block()) + " threads sums " + grouped(2 * run.block()) +
                                  " ints at most, not " + grouped(run.n()) +
                                  ". Choose a larger --block or a smaller --n.");
    }
    run.illustrate((format_steps(run.kernel(), tree, 16, 8, 4) + "\n" +
                    format_steps(run.kernel(), tree, run.n(), run.block(), 32))
                       .c_str());
    run.measure_reduction({.elements_per_thread = 2,
                           .shared_ints_per_thread = tree == Tree::smem ? 1u : 0u,
                           .in_place = in_place},
                          launch);
}

} // namespace

int main(int argc, char** argv) {
    harness::Lesson lesson({.name = "lesson14",
                            .title = "One block",
                            .default_block = 1024,
                            .largest_n = 2048,
                            .larger_n_hint = "lesson15 sums any number."});

    lesson.add_kernel("blocked_reduction", [](KernelRun& run) {
        measure_block(run, Tree::blocked, true, [](const Pass& pass) {
            blocked_reduction<<<1, pass.block>>>(pass.work, pass.partial_sums, pass.n);
        });
    });
    lesson.add_kernel("strided_reduction", [](KernelRun& run) {
        measure_block(run, Tree::strided, true, [](const Pass& pass) {
            strided_reduction<<<1, pass.block>>>(pass.work, pass.partial_sums, pass.n);
        });
    });
    lesson.add_kernel("smem_reduction", [](KernelRun& run) {
        measure_block(run, Tree::smem, false, [](const Pass& pass) {
            smem_reduction<<<1, pass.block, pass.shared_bytes>>>(pass.input, pass.partial_sums, pass.n);
        });
    });

    return lesson.run(argc, argv);
}
