/// \file
/// A reduction by a kernel that leaves one partial sum per block: passes until one value is left.
#pragma once

#include "harness/detail/measure.hpp"
#include "harness/device_buffer.hpp"
#include "harness/random_input.hpp"
#include "harness/verification.hpp"

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace harness {

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

using LaunchPass = std::function<void(const Pass&)>;

/// count / size, rounded up.
constexpr std::size_t ceil_div(std::size_t count, std::size_t size) {
    return count / size + (count % size != 0 ? 1 : 0);
}

/// The grid of each pass, which is the number of its partial sums; the last is 1.
/// \throws UsageError if n needs more blocks than a grid can have
std::vector<unsigned int> plan_grids(std::size_t n, unsigned int block, ReductionShape shape);

/// All passes of one kernel over one input. Each pass has its own partial sums in memory: after a wrong
/// result they show which pass and which block failed.
class Reduction {
public:
    /// \param name the kernel's name, for messages
    /// \throws DeviceError if the partial sums don't fit in device memory
    Reduction(std::string name, const RandomInts& input, unsigned int block, ReductionShape shape,
              LaunchPass launch);

    /// The launch of the first pass. Its bytes: the elements that it reads and the partial sums that it
    /// writes.
    LaunchConfiguration launch_configuration() const;

    /// Poisons all partial sums, so that one that no block writes is found. Restores the input of an in-place
    /// kernel.
    void prepare();
    /// Launches the first pass.
    void launch_first();
    /// Launches the other passes.
    void launch_rest();
    /// Launches the other passes, and compares each pass's partial sums with those expected before it
    /// launches the next one.
    /// \throws DeviceError if a launch fails
    Verification finish();

private:
    void restore_work(const Pass& pass);
    void launch_pass(std::size_t i);
    const std::vector<int>& expected_sums(std::size_t i, const std::vector<int>& pass_input);
    Verification check_blocks(std::size_t i, const std::vector<int>& pass_input,
                              const std::vector<int>& actual);
    Verification check_total(std::size_t i, const std::vector<int>& actual) const;

    std::string name_;
    const RandomInts& input_;
    ReductionShape shape_;
    LaunchPass launch_;
    DeviceBuffer<int> partial_sums_; // of all passes
    DeviceBuffer<int> work_;         // of an in-place kernel
    std::vector<Pass> passes_;
    std::vector<int> first_sums_, later_sums_; // expected partial sums: of the first pass, of another
};

} // namespace harness
