// The library's own reductions of the same elements, with the operations of this lesson: for `make measure`.

#include <cub/device/device_reduce.cuh>

#include "../../lessons/lesson22_any_type_and_operation/data.hpp"
#include "../../lessons/lesson22_any_type_and_operation/kernels.cuh"
#include "harness/check.hpp"
#include "harness/lesson.hpp"

namespace {

using harness::DeviceBuffer, harness::KernelRun;

template <class T, class Op> struct ValueOf {
    __device__ typename Op::Value operator()(T element) const { return Op::of(element, 0); }
};

/// \param reduce(scratch, bytes) sets `bytes` if `scratch` is null, and else leaves what `read` returns
template <class T, class Prepare, class Reduce, class Read>
void measure_cub(KernelRun& run, const Input<T>& input, std::size_t value_bytes, Prepare prepare,
                 Reduce reduce, Read read) {
    std::size_t scratch_bytes = 0;
    HARNESS_CHECK(reduce(nullptr, scratch_bytes));
    DeviceBuffer<unsigned char> scratch(scratch_bytes);
    const auto launch = [&] { HARNESS_CHECK(reduce(scratch.data(), scratch_bytes)); };
    // How many operations lie between an element and the result is not known. One block of ours has more.
    const auto check = make_check(input, decltype(read())(), most_operations(run.n(), sizeof(T), 1, 1024));
    const auto verify = [&] { return check(read()); };
    // It chooses its grid and blocks: 0 here. Timed as a whole, with all the launches it needs.
    run.measure({.grid = dim3(0), .block = dim3(0), .bytes = run.n() * sizeof(T) + value_bytes},
                {.prepare = prepare, .launch = launch, .verify = verify});
}

template <class T, class Op> void measure_reduce(KernelRun& run, const Input<T>& input) {
    DeviceBuffer<typename Op::Value> result(1);
    const auto reduce = [&](void* scratch, std::size_t& bytes) {
        return cub::DeviceReduce::TransformReduce(scratch, bytes, input.data(), result.data(), run.n(), Op(),
                                                  ValueOf<T, Op>(), Op::identity());
    };
    const auto prepare = [&] { result.poison(); };
    const auto read = [&] { return result.read().front(); };
    measure_cub(run, input, sizeof(typename Op::Value), prepare, reduce, read);
}

template <class T> void measure_argmax(KernelRun& run, const Input<T>& input) {
    DeviceBuffer<T> value(1);
    DeviceBuffer<long long> index(1);
    const auto reduce = [&](void* scratch, std::size_t& bytes) {
        return cub::DeviceReduce::ArgMax(scratch, bytes, input.data(), value.data(), index.data(),
                                         static_cast<long long>(run.n()));
    };
    const auto read = [&] { return ValueAt<Accumulated<T>>{value.read().front(), index.read().front()}; };
    const auto prepare = [&] { value.poison(), index.poison(); };
    measure_cub(run, input, sizeof(T) + sizeof(long long), prepare, reduce, read);
}

template <class T> void measure_operation(KernelRun& run) {
    using A = Accumulated<T>;
    const auto operation = static_cast<Operation>(run.option("--op"));
    const Input<T> input(operation, run.seed(), run.n(), run.option("--offset"));
    switch (operation) {
    case Operation::sum: return measure_reduce<T, Sum<A>>(run, input);
    case Operation::product: return measure_reduce<T, Product<A>>(run, input);
    case Operation::min: return measure_reduce<T, Min<A>>(run, input);
    case Operation::max: return measure_reduce<T, Max<A>>(run, input);
    case Operation::argmax: return measure_argmax(run, input);
    default: break;
    }
    if constexpr (std::is_same_v<T, int>) {
        if (operation == Operation::all) return measure_reduce<T, All<A>>(run, input);
        return measure_reduce<T, Any<A>>(run, input);
    }
    if constexpr (!std::is_integral_v<T>) return measure_reduce<T, MeanAndVariance<A>>(run, input);
}

} // namespace

void add_cub(harness::Lesson& lesson) {
    lesson.add_kernel("cub::DeviceReduce", [](KernelRun& run) {
        with_type(run.option("--type"), [&](auto zero) { measure_operation<decltype(zero)>(run); });
    });
}
