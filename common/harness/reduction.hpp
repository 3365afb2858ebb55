/// A reduction by a kernel that leaves one partial sum per block: passes until one value is left.
#pragma once

#include "harness/detail/launches.hpp"
#include "harness/device_buffer.hpp"
#include "harness/random_input.hpp"
#include "harness/verification.hpp"

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace harness {

/// All passes of one kernel over one input. Each pass has its own partial sums in memory: after a wrong
/// result they show which pass and which block failed.
class Reduction {
public:
    /// \param name the kernel's name, for messages
    /// \throws DeviceError if the partial sums don't fit in device memory
    Reduction(std::string name, const RandomInts& input, unsigned int block, ReductionShape shape,
              std::function<void(const Pass&)> launch);

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
    std::function<void(const Pass&)> launch_;
    DeviceBuffer<int> partial_sums_; // of all passes
    DeviceBuffer<int> work_;         // of an in-place kernel
    std::vector<Pass> passes_;
    std::vector<int> first_sums_, later_sums_; // expected partial sums: of the first pass, of another
};

} // namespace harness
