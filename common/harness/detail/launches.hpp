/// How a lesson's kernel is launched: once, with steps around it, or in the passes of a reduction. No part of the
/// standard library that takes long to compile: every lesson includes this.
#pragma once

#include <vector_types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <vector>

namespace harness {

struct Verification;

template <class Signature> class FunctionRef;

/// Calls a lambda that outlives it, as C++26's std::function_ref does: one passed as an argument lives as long as that
/// call. Empty, it must not be called.
template <class Result, class... Arguments> class FunctionRef<Result(Arguments...)> {
public:
    FunctionRef(decltype(nullptr) = nullptr) {}
    template <class Function,
              class = std::enable_if_t<std::is_object_v<Function> && !std::is_same_v<Function, FunctionRef>>>
    FunctionRef(const Function& function)
        : function_(&function), call_([](const void* function, Arguments... arguments) {
              return (*static_cast<const Function*>(function))(arguments...);
          }) {}

    Result operator()(Arguments... arguments) const { return call_(function_, arguments...); }
    explicit operator bool() const { return function_ != nullptr; }

private:
    const void* function_ = nullptr;
    Result (*call_)(const void* function, Arguments... arguments) = nullptr;
};

/// The launch that is counted and timed.
struct LaunchConfiguration {
    dim3 grid;
    dim3 block;
    std::size_t dynamic_shared_bytes = 0;
    std::uint64_t bytes = 0; ///< that the algorithm reads and writes, for the effective bandwidth
    std::size_t passes = 1;  ///< launches until the result is complete; the first one is counted and timed
    /// Why the estimated time of the last launch is not that of the run: "the copies are not modeled". Null: it is.
    const char* no_estimate = nullptr;
};

using Step = FunctionRef<void()>;

/// One run of a kernel.
struct RunSteps {
    /// Runs before each launch: restores in-place input, poisons outputs.
    Step prepare;
    /// Launches the kernel once, on the default stream.
    Step launch;
    /// Completes the result, unless launch_rest has, and compares it with the reference: harness/verification.hpp.
    FunctionRef<Verification()> verify;
    /// Launches the passes after the first. Empty: there are none. `launch` and `launch_rest` together are
    /// timed in separate runs.
    Step launch_rest = nullptr;
};

/// How a kernel assigns elements to threads. Without most_blocks, block b sums the elements from
/// b * block * elements_per_thread on.
struct ReductionShape {
    unsigned int elements_per_thread = 1; ///< with most_blocks: at least
    /// The largest grid of a pass, for kernels with a grid-stride loop: these are right with any grid.
    std::optional<unsigned int> most_blocks = std::nullopt;
    unsigned int shared_ints_per_thread = 1; ///< dynamic shared memory
    std::size_t input_offset = 0;            ///< in ints, from the start of its allocation
    bool in_place = false;                   ///< the kernel overwrites its input: see Pass::work
};

/// One launch of the kernel: `grid` blocks sum `n` elements to `grid` partial sums.
struct Pass {
    const int* input = nullptr; ///< n elements in device memory
    /// For an in-place kernel: a copy of the input, restored before each launch. Else null.
    int* work = nullptr;
    int* partial_sums = nullptr; ///< grid elements in device memory
    std::size_t n = 0;
    unsigned int grid = 0;
    unsigned int block = 0;
    std::size_t shared_bytes = 0; ///< dynamic shared memory: shared_ints_per_thread ints per thread
};

using LaunchPass = FunctionRef<void(const Pass&)>;

/// count / size, rounded up.
constexpr std::size_t ceil_div(std::size_t count, std::size_t size) {
    return count / size + (count % size != 0 ? 1 : 0);
}

/// The grid of each pass, which is the number of its partial sums; the last is 1.
/// \throws UsageError if n needs more blocks than a grid can have
std::vector<unsigned int> plan_grids(std::size_t n, unsigned int block, ReductionShape shape);

} // namespace harness
