// Lesson 22: one kernel template for any type and operation.
//
//     make lesson22 && ./lesson22 --type half --op max

#include <algorithm>
#include <array>

#include "data.hpp"
#include "harness/launch_size.hpp"
#include "harness/lesson.hpp"
#include "kernels.cuh"

namespace {

using harness::DeviceBuffer, harness::KernelRun;

template <class T, class Value>
using Kernel = void (*)(const T* input, Value* result, std::size_t n, Value* partials,
                        unsigned int* blocks_done);

template <class T, class Value> void measure_any(KernelRun& run, Kernel<T, Value> kernel) {
    const std::size_t n = run.n(), block = run.block();
    const Input<T> input(static_cast<Operation>(run.option("--op")), run.seed(), n, run.option("--offset"));
    const std::size_t blocks = harness::ceil_div(n, 64 / sizeof(T) * block); // four vectors per thread
    const auto grid = static_cast<unsigned int>(
        std::min<std::size_t>(blocks, harness::resident_blocks(kernel, run.block())));
    DeviceBuffer<Value> result(1), partials(grid);
    DeviceBuffer<unsigned int> blocks_done(1);
    blocks_done.write(std::array{0u}); // only once: each launch leaves it so

    const auto check = make_check(input, Value(), most_operations(n, sizeof(T), grid, block));
    const auto prepare = [&] { result.poison(), partials.poison(); };
    const auto launch = [&] {
        kernel<<<grid, run.block()>>>(input.data(), result.data(), n, partials.data(), blocks_done.data());
    };
    const auto verify = [&] { return check(result.read().front()); };
    const std::size_t values_moved = 2 * std::size_t{grid} + 1; // partial results: out and in
    run.measure({.grid = dim3(grid),
                 .block = dim3(run.block()),
                 .bytes = n * sizeof(T) + values_moved * sizeof(Value)},
                {.prepare = prepare, .launch = launch, .verify = verify});
}

/// Chooses the operation that --op names. A is what the elements, T, are accumulated in.
template <class T, class A = Accumulated<T>> void measure_operation(KernelRun& run) {
    switch (static_cast<Operation>(run.option("--op"))) {
    case Operation::sum: return measure_any(run, reduce_any<T, Sum<A>>);
    case Operation::product: return measure_any(run, reduce_any<T, Product<A>>);
    case Operation::min: return measure_any(run, reduce_any<T, Min<A>>);
    case Operation::max: return measure_any(run, reduce_any<T, Max<A>>);
    case Operation::argmax: return measure_any(run, reduce_any<T, ArgMax<A>>);
    default: break; // the others are for some types only: check_choice
    }
    if constexpr (std::is_same_v<T, int>) {
        if (static_cast<Operation>(run.option("--op")) == Operation::all)
            return measure_any(run, reduce_any<T, All<A>>);
        return measure_any(run, reduce_any<T, Any<A>>);
    }
    if constexpr (!std::is_integral_v<T>) return measure_any(run, reduce_any<T, MeanAndVariance<A>>);
}

} // namespace

#ifdef WITH_CUB
void add_cub(harness::Lesson& lesson); // bench/cub/lesson22.cu
#endif

int main(int argc, char** argv) {
    harness::Lesson lesson(
        {.name = "lesson22",
         .title = "Any type and operation",
         .options = {{.name = "--type",
                      .value = "T",
                      .help = "int, unsigned, longlong, float, double or half. Default: int",
                      .choices = type_names},
                     {.name = "--op",
                      .value = "OP",
                      .help = "sum, product, min, max or argmax; of ints also all or any;\n"
                              "of float, double and half also mean or variance.\n"
                              "Default: sum",
                      .choices = operation_names},
                     {.name = "--offset",
                      .value = "K",
                      .help = "the input starts K elements into its allocation, which is\n"
                              "aligned to 256 bytes. Default: 0",
                      .largest = 1u << 20}},
         .element_type =
             [](const auto& options) {
                 const std::uint64_t type = options.at("--type");
                 return with_type(type, [&](auto zero) {
                     return harness::ElementType{type_plurals[type], sizeof zero};
                 });
             },
         .complete_options = check_choice});

    lesson.add_kernel("reduce_any", [](KernelRun& run) {
        with_type(run.option("--type"), [&](auto zero) { measure_operation<decltype(zero)>(run); });
    });
#ifdef WITH_CUB
    add_cub(lesson);
#endif

    return lesson.run(argc, argv);
}
