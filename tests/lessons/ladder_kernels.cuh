/// What the tests of lessons 00 to 09 share: kernels that leave one partial sum per block.
#pragma once

#include <gtest/gtest.h>

#include "harness/launch_size.hpp"
#include "harness/reduction.hpp"
#include "sizes.hpp"

namespace ladder_kernels {

using namespace harness;

/// A kernel that leaves one partial sum per block.
struct Kernel {
    const char* name;
    void (*launch)(const Pass&);
    unsigned int elements_per_thread;
    /// How many blocks the device holds at once, for a kernel that loops over its grid; else null.
    unsigned int (*most_blocks)(unsigned int block) = nullptr;
    unsigned int shared_ints_per_thread = 1;

    ReductionShape shape(unsigned int block, std::size_t input_offset = 0) const {
        ReductionShape shape{.elements_per_thread = elements_per_thread,
                             .shared_ints_per_thread = shared_ints_per_thread,
                             .input_offset = input_offset};
        if (most_blocks != nullptr) shape.most_blocks = most_blocks(block);
        return shape;
    }
};

/// Launches a kernel that is given the block when the program runs. Those that are compiled for each block
/// have launches of their own.
template <auto kernel> void launch(const Pass& pass) {
    kernel<<<pass.grid, pass.block, pass.shared_bytes>>>(pass.input, pass.partial_sums, pass.n);
}

/// In ints, from a 256-byte boundary: every place in a 16-byte vector, and one in another sector.
constexpr std::size_t offsets[] = {0, 1, 2, 3, 5, 31};

testing::AssertionResult sums(const Kernel& kernel, const RandomInts& input, unsigned int block,
                              ReductionShape shape);

void expect_sums_of_every_size(const Kernel& kernel);
/// For kernels that loop over their grid.
void expect_sums_in_every_grid(const Kernel& kernel);

} // namespace ladder_kernels
