// Lesson 33: any reduction in two launches, the second of which waits on the card; and reduce(), for every n.
//
//     make lesson33 && ./lesson33

#include <algorithm>
#include <array>
#include <vector>

#include "../lesson22_any_type_and_operation/data.hpp"
#include "../lesson22_any_type_and_operation/kernels.cuh"
#include "harness/check.hpp"
#include "harness/launch_size.hpp"
#include "harness/lesson.hpp"
#include "kernels.cuh"
#include "reduce.cuh"

namespace {

using harness::DeviceBuffer, harness::KernelRun;
using Elements = Input<float>;

Elements input_of(KernelRun& run, Operation operation) {
    return {operation, run.seed(), run.n(), run.option("--offset")};
}

/// Four vectors per thread, if that many blocks are resident at once.
template <class Kernel> unsigned int grid_for(const KernelRun& run, Kernel kernel) {
    const std::size_t blocks = harness::ceil_div(run.n(), std::size_t{16} * run.block());
    return static_cast<unsigned int>(
        std::min<std::size_t>(blocks, harness::resident_blocks(kernel, run.block())));
}

/// Queues a block that may start when all blocks of the launch before have started, if both kernels know of
/// that.
template <class Value>
void launch_early(void (*kernel)(const Value*, unsigned int, Value*), unsigned int block, const Value* values,
                  unsigned int count, Value* result) {
    cudaLaunchAttribute early{};
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(1);
    config.blockDim = dim3(block);
    config.attrs = &early;
    config.numAttrs = 1;
    HARNESS_CHECK(cudaLaunchKernelEx(&config, kernel, values, count, result));
}

/// Lesson 22's: the last block reduces what all blocks left.
template <class Op> void measure_counted(KernelRun& run, Operation operation) {
    const Elements input = input_of(run, operation);
    const unsigned int grid = grid_for(run, reduce_any<float, Op>);
    DeviceBuffer<typename Op::Value> result(1), partials(grid);
    DeviceBuffer<unsigned int> blocks_done(1);
    blocks_done.write(std::array{0u}); // only once: each launch leaves it so

    const auto check =
        make_check(input, typename Op::Value(), most_operations(run.n(), sizeof(float), grid, run.block()));
    run.measure({.grid = dim3(grid),
                 .block = dim3(run.block()),
                 .bytes = run.n() * sizeof(float) + (2 * std::size_t{grid} + 1) * sizeof(typename Op::Value)},
                {.prepare = [&] { result.poison(), partials.poison(); },
                 .launch =
                     [&] {
                         reduce_any<float, Op><<<grid, run.block()>>>(input.data(), result.data(), run.n(),
                                                                      partials.data(), blocks_done.data());
                     },
                 .verify = [&] { return check(result.read().front()); }});
}

/// The launches of a pair: what is counted is the first one. \param early whether the second one waits for it
/// on the card
template <class Value, class Check>
void measure_pair(KernelRun& run, const float* input, void (*first)(const float*, std::size_t, Value*),
                  void (*second)(const Value*, unsigned int, Value*), bool early, const Check& check) {
    const unsigned int grid = grid_for(run, first);
    DeviceBuffer<Value> values(grid), result(1);
    bool is_complete = false;
    const auto launch_second = [&] {
        if (early)
            launch_early<Value>(second, run.block(), values.data(), grid, result.data());
        else
            second<<<1, run.block()>>>(values.data(), grid, result.data());
        is_complete = true;
    };
    run.measure({.grid = dim3(grid),
                 .block = dim3(run.block()),
                 .bytes = run.n() * sizeof(float) + grid * sizeof(Value)},
                {.prepare = [&] { values.poison(), result.poison(), is_complete = false; },
                 .launch = [&] { first<<<grid, run.block()>>>(input, run.n(), values.data()); },
                 .verify =
                     [&] {
                         if (!is_complete) launch_second();
                         return check(result.read().front(), grid);
                     },
                 .launch_rest = launch_second});
}

template <class Op> void measure_two_launches(KernelRun& run, Operation operation) {
    const Elements input = input_of(run, operation);
    bool early = false;
    HARNESS_CHECK(take_home::reduce_detail::is_for_9_0(value_of_values<Op>, early));
    measure_pair(run, input.data(), values_of_blocks<float, Op>, value_of_values<Op>, early,
                 [&](typename Op::Value value, unsigned int grid) {
                     return make_check(input, value,
                                       most_operations(run.n(), sizeof(float), grid, run.block()))(value);
                 });
}

/// reduce() chooses its own grid and blocks: 0. The last launch is counted, which is the only one below 2^17
/// elements.
template <class Op> void measure_reduce(KernelRun& run, Operation operation) {
    using Value = typename Op::Value;
    const Elements input = input_of(run, operation);
    const take_home::ReducePlan plan = take_home::choose_reduce(1, run.n(), sizeof(float));
    DeviceBuffer<Value> result(1);
    std::size_t bytes = 0;
    HARNESS_CHECK(take_home::reduce<Op>(nullptr, bytes, input.data(), result.data(), run.n()));
    DeviceBuffer<unsigned char> workspace(bytes);
    // The second launch adds up to 8 values in a thread.
    const auto check =
        make_check(input, Value(), most_operations(run.n(), sizeof(float), plan.blocks, plan.threads) + 8);
    run.measure({.grid = dim3(0), .block = dim3(0), .bytes = run.n() * sizeof(float) + sizeof(Value)},
                {.prepare = [&] { result.poison(), workspace.poison(); },
                 .launch =
                     [&] {
                         HARNESS_CHECK(take_home::reduce<Op>(workspace.data(), bytes, input.data(),
                                                             result.data(), run.n()));
                     },
                 .verify = [&] { return check(result.read().front()); }});
}

enum class Way { counted, two_launches, reduce };

/// By the operation that --op names.
template <Way way, class Op> void measure_way(KernelRun& run, Operation operation) {
    if constexpr (way == Way::counted) measure_counted<Op>(run, operation);
    if constexpr (way == Way::two_launches) measure_two_launches<Op>(run, operation);
    if constexpr (way == Way::reduce) measure_reduce<Op>(run, operation);
}
template <Way way> void measure(KernelRun& run) {
    switch (run.option("--op")) {
    case 0: return measure_way<way, Sum<float>>(run, Operation::sum);
    case 1: return measure_way<way, Min<float>>(run, Operation::min);
    default: return measure_way<way, ArgMax<float>>(run, Operation::argmax);
    }
}

/// The kernels of exercise 33. A single element is the largest one, and a single one the least.
void measure_range(KernelRun& run) {
    const std::size_t n = run.n(), offset = run.option("--offset");
    std::vector<float> elements(offset + n);
    for (std::size_t i = 0; i < n; ++i)
        elements[offset + i] = static_cast<float>(harness::random_int(run.seed(), i)) / 1000;
    elements[offset + (run.seed() * 0x9E3779B97F4A7C15 >> 20) % n] = 2;
    elements[offset + (run.seed() * 0xBF58476D1CE4E5B9 >> 20) % n] = -2;
    const auto [least, most] =
        std::minmax_element(elements.begin() + static_cast<std::ptrdiff_t>(offset), elements.end());
    const float2 expected{*least, *most};
    DeviceBuffer<float> input(offset + n);
    input.write(elements);

    measure_pair(run, input.data() + offset, range_of_blocks, range_of_values, false,
                 [&](float2 actual, unsigned int) {
                     const auto text = [](float2 range) {
                         return in_digits(range.x) + " to " + in_digits(range.y);
                     };
                     return harness::Verification{.passed = actual.x == expected.x && actual.y == expected.y,
                                                  .wrong_places = {},
                                                  .expected_text = text(expected),
                                                  .actual_text = text(actual)};
                 });
}

} // namespace

int main(int argc, char** argv) {
    harness::Lesson lesson({.name = "lesson33",
                            .title = "Any reduction",
                            .options = {{.name = "--op",
                                         .value = "OP",
                                         .help = "sum, min or argmax. Default: sum",
                                         .choices = {"sum", "min", "argmax"}},
                                        {.name = "--offset",
                                         .value = "K",
                                         .help = "the input starts K floats into its allocation, which is\n"
                                                 "aligned to 256 bytes. Default: 0",
                                         .largest = 1u << 20}},
                            .element_type = [](const auto&) {
                                return harness::ElementType{"floats", sizeof(float)};
                            }});

    lesson.add_kernel("reduce_any", measure<Way::counted>);
    lesson.add_kernel("two_launches", measure<Way::two_launches>);
    lesson.add_kernel("reduce", measure<Way::reduce>, "--kernel reduce");
    lesson.add_kernel("range_of_blocks", measure_range, "--kernel range_of_blocks");

    return lesson.run(argc, argv);
}
