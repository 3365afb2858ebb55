/// \file
/// What the tests of lessons 10 to 12 share: kernels in global and in shared memory.
#pragma once

#include <gtest/gtest.h>

#include <tuple>

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

class GmemAndSmem : public testing::TestWithParam<std::tuple<Kernel, unsigned int>> {};
class InPlaceKernel : public testing::TestWithParam<std::tuple<Kernel, unsigned int>> {};

template <class Function> std::size_t static_shared_bytes(Function kernel) {
    cudaFuncAttributes attributes;
    HARNESS_CHECK(cudaFuncGetAttributes(&attributes, kernel));
    return attributes.sharedSizeBytes;
}

} // namespace gmem_smem_kernels
