// Lesson 23: sums of floats. In all but the last two, the order is a part of the result.
//
//     make lesson23 && ./lesson23 --cancel

#include <algorithm>
#include <array>
#include <vector>

#include "exact_sum.cuh"
#include "floats.hpp"
#include "harness/check.hpp"
#include "harness/launch_size.hpp"
#include "harness/lesson.hpp"
#include "kernels.cuh"
#include "orders.hpp"

#ifdef WITH_CUB
void add_cub(harness::Lesson& lesson); // in bench/cub/lesson23.cu
#endif

namespace {

using harness::DeviceBuffer, harness::KernelRun;

/// Measures a sum that one launch adds to a result of 0.
void measure_one(KernelRun& run, unsigned int grid, unsigned int block, double bound,
                 void (*kernel)(const float*, float*, std::size_t)) {
    Floats& input = input_of(run);
    DeviceBuffer<float> result(1);
    const auto launch = [&] { kernel<<<grid, block>>>(input.data(), result.data(), run.n()); };
    run.measure({.grid = grid, .block = block, .bytes = (run.n() + 1) * sizeof(float)},
                {.prepare = [&] { result.write(std::array{0.0f}); },
                 .launch = launch,
                 .verify = [&] { return input.check(run, result.read().front(), bound); }});
}

void measure_sequential(KernelRun& run) {
    const auto additions = static_cast<double>(run.n() - 1);
    measure_one(run, 1, 1, plain_bound(additions, input_of(run).magnitude), sum_sequential);
}

void measure_atomic(KernelRun& run) {
    const unsigned int grid = grids_of(run).front();
    const double additions = depth_in_block(run.n(), run.block(), grid) + grid - 1;
    const double bound = atomic_bound(additions, grid, input_of(run).magnitude);
    measure_one(run, grid, run.block(), bound, sum_atomic);
}

/// Measures a sum that leaves one partial sum per block. `next` adds those up.
template <class Sum>
void measure_tree(KernelRun& run, void (*first)(const float*, Sum*, std::size_t),
                  void (*next)(const Sum*, Sum*, std::size_t), Bound bound) {
    Floats& input = input_of(run);
    const unsigned int block = run.block();
    const std::vector<unsigned int> grids = grids_of(run); // of each launch
    std::vector<DeviceBuffer<Sum>> sums;
    for (const unsigned int grid : grids) sums.emplace_back(grid);

    const auto launch = [&] { first<<<grids[0], block>>>(input.data(), sums[0].data(), run.n()); };
    const auto launch_rest = [&] {
        for (std::size_t i = 1; i < grids.size(); ++i)
            next<<<grids[i], block>>>(sums[i - 1].data(), sums[i].data(), grids[i - 1]);
    };
    const double largest_error = bound(depth(run.n(), block, grids), input.sum, input.magnitude);
    const auto verify = [&] {
        launch_rest();
        return input.check(run, static_cast<float>(sums.back().read().front()), largest_error);
    };
    run.measure({.grid = grids[0],
                 .block = block,
                 .bytes = run.n() * sizeof(float) + grids[0] * sizeof(Sum),
                 .passes = grids.size()},
                {.prepare = [&] { std::for_each(sums.begin(), sums.end(), [](auto& s) { s.poison(); }); },
                 .launch = launch,
                 .verify = verify,
                 .launch_rest = grids.size() > 1 ? harness::Step(launch_rest) : nullptr});
}

void measure_reproducible(KernelRun& run) {
    Floats& input = input_of(run);
    const unsigned int block = run.block();
    const std::size_t shared_bytes = block * words * sizeof(long long);
    harness::allow_shared_bytes(reinterpret_cast<const void*>(sum_reproducible), shared_bytes);
    const std::size_t most_blocks = harness::resident_blocks(sum_reproducible, block, shared_bytes);
    const auto grid = static_cast<unsigned int>(
        run.option("--blocks") > 0
            ? grids_of(run).front() // else at least 16 elements per thread
            : std::min(harness::ceil_div(run.n(), std::size_t{16} * block), most_blocks));
    DeviceBuffer<ExactSum> sum(1);
    DeviceBuffer<float> result(1);

    const auto launch = [&] {
        sum_reproducible<<<grid, block, shared_bytes>>>(input.data(), sum.data(), run.n());
    };
    const auto launch_rest = [&] { round_sum<<<1, 1>>>(sum.data(), result.data()); };
    run.measure({.grid = grid,
                 .block = block,
                 .dynamic_shared_bytes = shared_bytes,
                 .bytes = run.n() * sizeof(float) + sizeof(ExactSum),
                 .passes = 2},
                {.prepare = [&] { sum.write(std::array{ExactSum{}}), result.poison(); },
                 .launch = launch,
                 .verify = [&] { return launch_rest(), input.check_nearest(run, result.read().front()); },
                 .launch_rest = launch_rest});
}

/// The header's sum. Grid and blocks are its own choice: 0.
void measure_exact(KernelRun& run) {
    Floats& input = input_of(run);
    DeviceBuffer<float> result(1);
    std::size_t bytes = 0;
    HARNESS_CHECK(take_home::exact_sum(nullptr, bytes, input.data(), result.data(), run.n()));
    DeviceBuffer<unsigned char> workspace(bytes);
    run.measure({.grid = dim3(0), .block = dim3(0), .bytes = (run.n() + 1) * sizeof(float)},
                {.prepare = [&] { result.poison(); },
                 .launch =
                     [&] {
                         HARNESS_CHECK(take_home::exact_sum(workspace.data(), bytes, input.data(),
                                                            result.data(), run.n()));
                     },
                 .verify = [&] { return input.check_nearest(run, result.read().front()); }});
}

} // namespace

int main(int argc, char** argv) {
    harness::Lesson lesson({.name = "lesson23",
                            .title = "Floating point",
                            .options = float_options(),
                            .element_type = [](const auto&) -> harness::ElementType {
                                return {.plural = "floats", .bytes = sizeof(float)};
                            }});

    lesson.add_kernel("sum_sequential", measure_sequential);
    lesson.add_kernel("sum_tree", [](KernelRun& run) { measure_tree(run, sum_tree, sum_tree, tree_bound); });
    lesson.add_kernel("sum_atomic", measure_atomic);
    lesson.add_kernel("sum_kahan", [](KernelRun& run) {
        measure_tree(run, sum_kahan<float>, sum_kahan<Compensated>, compensated_bound);
    });
    lesson.add_kernel("sum_in_double", [](KernelRun& run) {
        measure_tree(run, sum_in_double<float>, sum_in_double<double>, double_bound);
    });
    lesson.add_kernel("sum_reproducible", measure_reproducible);
    lesson.add_kernel("exact_sum", measure_exact);
#ifdef WITH_CUB
    add_cub(lesson);
#endif

    return lesson.run(argc, argv);
}
