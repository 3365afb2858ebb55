// Lesson 23: sums of floats. In all but the last, the order is a part of the result.
//
//     make lesson23 && ./lesson23 --cancel

#include <algorithm>
#include <array>
#include <functional>
#include <vector>

#include "floats.hpp"
#include "harness/launch_size.hpp"
#include "harness/lesson.hpp"
#include "kernels.cuh"
#include "orders.hpp"

#ifdef WITH_CUB
void add_cub(harness::Lesson& lesson); // in cub.cu
#endif

namespace {

using harness::DeviceBuffer, harness::Turn;

/// Measures a sum that one launch adds to a result of 0.
void measure_one(Turn& turn, unsigned int grid, unsigned int block, double bound,
                 void (*kernel)(const float*, float*, std::size_t)) {
    Floats& input = input_of(turn);
    DeviceBuffer<float> result(1);
    const auto launch = [&] { kernel<<<grid, block>>>(input.data(), result.data(), turn.n()); };
    turn.measure({.grid = grid, .block = block, .bytes = (turn.n() + 1) * sizeof(float)},
                 {.prepare = [&] { result.write(std::array{0.0f}); },
                  .launch = launch,
                  .verify = [&] { return input.check(turn, result.read().front(), bound); }});
}

void measure_sequential(Turn& turn) {
    const auto additions = static_cast<double>(turn.n() - 1);
    measure_one(turn, 1, 1, plain_bound(additions, input_of(turn).magnitude), sum_sequential);
}

void measure_atomic(Turn& turn) {
    const unsigned int grid = grids_of(turn).front();
    const double additions = depth_in_block(turn.n(), turn.block(), grid) + grid - 1;
    const double bound = atomic_bound(additions, grid, input_of(turn).magnitude);
    measure_one(turn, grid, turn.block(), bound, sum_atomic);
}

/// Measures a sum that leaves one partial sum per block. `next` adds those up.
template <class Sum>
void measure_tree(Turn& turn, void (*first)(const float*, Sum*, std::size_t),
                  void (*next)(const Sum*, Sum*, std::size_t), Bound bound) {
    Floats& input = input_of(turn);
    const unsigned int block = turn.block();
    const std::vector<unsigned int> grids = grids_of(turn); // of each launch
    std::vector<DeviceBuffer<Sum>> sums;
    for (const unsigned int grid : grids) sums.emplace_back(grid);

    const auto launch = [&] { first<<<grids[0], block>>>(input.data(), sums[0].data(), turn.n()); };
    const auto launch_rest = [&] {
        for (std::size_t i = 1; i < grids.size(); ++i)
            next<<<grids[i], block>>>(sums[i - 1].data(), sums[i].data(), grids[i - 1]);
    };
    const double largest_error = bound(depth(turn.n(), block, grids), input.sum, input.magnitude);
    const auto verify = [&] {
        launch_rest();
        return input.check(turn, static_cast<float>(sums.back().read().front()), largest_error);
    };
    turn.measure({.grid = grids[0],
                  .block = block,
                  .bytes = turn.n() * sizeof(float) + grids[0] * sizeof(Sum),
                  .passes = grids.size()},
                 {.prepare = [&] { std::for_each(sums.begin(), sums.end(), [](auto& s) { s.poison(); }); },
                  .launch = launch,
                  .verify = verify,
                  .launch_rest = grids.size() > 1 ? std::function<void()>(launch_rest) : nullptr});
}

void measure_reproducible(Turn& turn) {
    Floats& input = input_of(turn);
    const unsigned int block = turn.block();
    const std::size_t shared_bytes = block * words * sizeof(long long);
    harness::allow_shared_bytes(reinterpret_cast<const void*>(sum_reproducible), shared_bytes);
    const std::size_t most_blocks = harness::resident_blocks(sum_reproducible, block, shared_bytes);
    const auto grid = static_cast<unsigned int>(
        turn.option("--blocks") > 0
            ? grids_of(turn).front() // else at least 16 elements per thread
            : std::min(harness::ceil_div(turn.n(), std::size_t{16} * block), most_blocks));
    DeviceBuffer<ExactSum> sum(1);
    DeviceBuffer<float> result(1);

    const auto launch = [&] {
        sum_reproducible<<<grid, block, shared_bytes>>>(input.data(), sum.data(), turn.n());
    };
    const auto launch_rest = [&] { round_sum<<<1, 1>>>(sum.data(), result.data()); };
    turn.measure({.grid = grid,
                  .block = block,
                  .dynamic_shared_bytes = shared_bytes,
                  .bytes = turn.n() * sizeof(float) + sizeof(ExactSum),
                  .passes = 2},
                 {.prepare = [&] { sum.write(std::array{ExactSum{}}), result.poison(); },
                  .launch = launch,
                  .verify = [&] { return launch_rest(), input.check_nearest(turn, result.read().front()); },
                  .launch_rest = launch_rest});
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
    lesson.add_kernel("sum_tree", [](Turn& turn) { measure_tree(turn, sum_tree, sum_tree, tree_bound); });
    lesson.add_kernel("sum_atomic", measure_atomic);
    lesson.add_kernel("sum_kahan", [](Turn& turn) {
        measure_tree(turn, sum_kahan<float>, sum_kahan<Compensated>, compensated_bound);
    });
    lesson.add_kernel("sum_in_double", [](Turn& turn) {
        measure_tree(turn, sum_in_double<float>, sum_in_double<double>, double_bound);
    });
    lesson.add_kernel("sum_reproducible", measure_reproducible);
#ifdef WITH_CUB
    add_cub(lesson);
#endif

    return lesson.run(argc, argv);
}
