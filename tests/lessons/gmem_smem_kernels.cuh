/// What the tests of lessons 10 to 12 share: kernels in global and in shared memory.
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "harness/check.hpp"
#include "harness/launch_size.hpp"
#include "harness/reduction.hpp"
#include "sizes.hpp"

namespace gmem_smem_kernels {

using namespace harness;

struct Kernel {
    const char* name;
    void (*launch)(const Pass&);
    ReductionShape shape;
};

template <auto kernel> void launch_in_place(const Pass& pass) {
    kernel<<<pass.grid, pass.block>>>(pass.work, pass.partial_sums, pass.n);
}
template <auto kernel> void launch_dynamic(const Pass& pass) {
    kernel<<<pass.grid, pass.block, pass.shared_bytes>>>(pass.input, pass.partial_sums, pass.n);
}

void expect_sums_of_every_size_in_every_run(const std::vector<Kernel>& kernels);
void expect_sums_without_what_lies_behind(const std::vector<Kernel>& kernels);

/// For kernels that sum in place.
void expect_writes_to_words_of_the_tree_only(const std::vector<Kernel>& kernels);
void expect_sums_to_be_left_in_the_input(const std::vector<Kernel>& kernels);

template <class Function> std::size_t static_shared_bytes(Function kernel) {
    cudaFuncAttributes attributes;
    HARNESS_CHECK(cudaFuncGetAttributes(&attributes, kernel));
    return attributes.sharedSizeBytes;
}

} // namespace gmem_smem_kernels
