/// What the tests of lessons 13 to 15 share: kernels that leave or add a sum.
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "harness/random_input.hpp"
#include "harness/reduction.hpp"
#include "sizes.hpp"

namespace first_principles_kernels {

using namespace harness;

/// What a kernel is launched with. `input` is for kernels that only read it, `data` a copy for those that
/// work in place.
struct Sum {
    const int* input;
    int* data;
    int* result;
    std::size_t n;
    unsigned int grid, block;
};

template <auto kernel> void launch(const Sum& sum) {
    kernel<<<sum.grid, sum.block>>>(sum.input, sum.result, sum.n);
}
template <auto kernel> void launch_in_place(const Sum& sum) {
    kernel<<<sum.grid, sum.block>>>(sum.data, sum.result, sum.n);
}
template <auto kernel> void launch_with_shared_memory(const Sum& sum) {
    kernel<<<sum.grid, sum.block, sum.block * sizeof(int)>>>(sum.input, sum.result, sum.n);
}

struct Kernel {
    const char* name;
    void (*launch)(const Sum&);
    unsigned int elements_per_thread = 2;
};

/// One launch with `found` in *result. Returns the new value.
int run(const Kernel& kernel, const RandomInts& input, unsigned int block, int found,
        unsigned int superfluous_blocks = 0);

/// For kernels that add to what is there.
void expect_every_size_to_be_added(const std::vector<Kernel>& kernels);
void expect_sums_with_superfluous_blocks(const std::vector<Kernel>& kernels);

} // namespace first_principles_kernels
