// Lessons 28 and 30 as further rungs: for `make measure`.

#include "../../lessons/lesson28_bytes_in_flight/kernels.cuh"
#include "../../lessons/lesson30_a_sum_for_every_n/sum.cuh"
#include "harness/check.hpp"
#include "harness/launch_size.hpp"
#include "harness/lesson.hpp"
#include "harness/verification.hpp"

namespace {

using harness::Pass, harness::KernelRun;

constexpr unsigned int stages = 4,
                       stage_bytes = 32 * 1024; // lesson 28's defaults, one block per multiprocessor

template <class Launch> void measure_ring(KernelRun& run, const void* kernel, const Launch& launch) {
    harness::allow_shared_bytes(kernel, stages * stage_bytes);
    run.measure_reduction({.elements_per_thread = stage_bytes / 4 / run.block(),
                           .most_blocks = harness::multiprocessors(),
                           .shared_ints_per_thread = stages * stage_bytes / 4 / run.block()},
                          launch);
}

void take_turn_of_reduce10(KernelRun& run) {
    run.require_compute_capability(8, 0, "asynchronous copies (cp.async)");
    harness::with_block_size(run.block(), [&](auto block_size) {
        const auto kernel = reduce10<block_size, stages>;
        measure_ring(run, reinterpret_cast<const void*>(kernel), [&](const Pass& pass) {
            kernel<<<pass.grid, pass.block, pass.shared_bytes>>>(pass.input, pass.partial_sums, pass.n,
                                                                 stage_bytes / 16 / block_size);
        });
    });
}

void take_turn_of_reduce11(KernelRun& run) {
    run.require_compute_capability(9, 0, "bulk copies (cp.async.bulk)");
    harness::with_block_size(run.block(), [&](auto block_size) {
        const auto kernel = reduce11<block_size>;
        measure_ring(run, reinterpret_cast<const void*>(kernel), [&](const Pass& pass) {
            kernel<<<pass.grid, pass.block, pass.shared_bytes>>>(pass.input, pass.partial_sums, pass.n,
                                                                 stage_bytes, stages);
        });
    });
}

void take_turn_of_sum(KernelRun& run) {
    const harness::RandomInts& input = run.input();
    harness::DeviceBuffer<int> result(1);
    std::size_t bytes = 0;
    HARNESS_CHECK(take_home::sum(nullptr, bytes, input.data(), result.data(), run.n()));
    harness::DeviceBuffer<unsigned char> workspace(bytes);
    // Grid and blocks are the header's own choice: 0. Timed as a whole, with all that it queues.
    run.measure({.grid = dim3(0), .block = dim3(0), .bytes = (run.n() + 1) * sizeof(int)},
                {.prepare = [&] { result.poison(); },
                 .launch =
                     [&] {
                         HARNESS_CHECK(
                             take_home::sum(workspace.data(), bytes, input.data(), result.data(), run.n()));
                     },
                 .verify = [&] { return harness::compare_value(input.sum(), result.read().front()); }});
}

} // namespace

void add_limit(harness::Lesson& lesson) {
    lesson.add_kernel("reduce10", take_turn_of_reduce10);
    lesson.add_kernel("reduce11", take_turn_of_reduce11);
    lesson.add_kernel("sum", take_turn_of_sum);
}
