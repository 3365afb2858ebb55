/// \file
/// A reduction by a kernel that leaves one partial sum a block: passes, until one value is left.
#pragma once

#include "harness/device_buffer.hpp"
#include "harness/measure.hpp"
#include "harness/random_input.hpp"
#include "harness/verification.hpp"

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace harness {

/// How a kernel spreads its elements over threads: block b sums the elements from b * block *
/// elements_per_thread on, except where most_blocks is given.
struct ReductionShape {
    unsigned elements_per_thread = 1; ///< and at least so many where most_blocks is given
    /// For kernels that loop over their grid, and so are right with any number of blocks: no pass has more.
    std::optional<unsigned> most_blocks = std::nullopt;
    unsigned shared_ints_per_thread = 1; ///< dynamic shared memory
    std::size_t input_offset = 0;        ///< the input starts so many ints into its allocation
    bool in_place = false;               ///< the kernel overwrites its input: see Pass::work
};

/// One launch of the kernel: `grid` blocks sum `n` elements to `grid` partial sums.
struct Pass {
    const int* input = nullptr; ///< n elements in device memory
    /// For a kernel that works in place: a copy of the input, made anew before each launch. Else null.
    int* work = nullptr;
    int* partial_sums = nullptr; ///< grid elements in device memory
    std::size_t n = 0;
    unsigned grid = 0;
    unsigned block = 0;
    std::size_t shared_bytes =
        0; ///< dynamic shared memory: one int a thread, unless the shape says otherwise
};

using LaunchPass = std::function<void(const Pass&)>;

/// Rounds up: how many groups of `size` it takes to hold `count`.
constexpr std::size_t ceil_div(std::size_t count, std::size_t size) {
    return count / size + (count % size != 0);
}

/// The number of partial sums that each pass leaves, the last of them 1.
/// \throws UsageError when n needs more blocks than a grid can have
std::vector<unsigned> plan_grids(std::size_t n, unsigned block, ReductionShape shape);

/// All passes of one kernel over one input. Each pass writes to memory of its own, so that after a wrong
/// result the pass and the block that went wrong can be told.
class Reduction {
public:
    /// \param name the kernel's, for messages
    /// \throws DeviceError when the partial sums don't fit in device memory
    Reduction(std::string name, const RandomInts& input, unsigned block, ReductionShape shape,
              LaunchPass launch);

    /// The first pass: its bytes are those of the elements and of the partial sums.
    LaunchShape launch_shape() const;

    /// Poisons all partial sums, so that one that no block writes is wrong. Restores the input of a kernel
    /// that works in place.
    void prepare();
    /// Launches the first pass.
    void launch_first();
    /// Launches the other passes.
    void launch_rest();
    /// Launches the other passes, and compares the result with the input's sum.
    /// \throws DeviceError when a launch fails
    Verification finish();

private:
    void restore_work(const Pass& pass);
    std::vector<std::string> find_wrong_places() const;
    std::vector<std::string> find_wrong_blocks(std::size_t pass, const std::vector<int>& pass_input,
                                               const std::vector<int>& actual) const;
    std::vector<std::string> check_total(std::size_t pass, const std::vector<int>& actual) const;

    std::string name_;
    const RandomInts& input_;
    ReductionShape shape_;
    LaunchPass launch_;
    DeviceBuffer<int> partial_sums_; // those of all passes
    DeviceBuffer<int> work_;         // of a kernel that works in place
    std::vector<Pass> passes_;
};

} // namespace harness
