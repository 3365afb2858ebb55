// The kernels of lessons 10 to 12, on every size that has a boundary near it, with every block.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <tuple>
#include <vector>

#include "../../lessons/lesson10_shared_against_global/kernels.cuh"
#include "../../lessons/lesson11_unroll_four_blocks/kernels.cuh"
#include "../../lessons/lesson12_dynamic_shared_memory/kernels.cuh"
#include "device_main.hpp"
#include "harness/check.hpp"
#include "harness/detail/measure.hpp"
#include "harness/launch_size.hpp"
#include "harness/reduction.hpp"
#include "sizes.hpp"

namespace gmem_smem_kernels_test {

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
void launch_reduceNeighboredSmem(const Pass& pass) {
    with_block_size(pass.block, [&](auto block_size) {
        reduceNeighboredSmem<block_size><<<pass.grid, pass.block>>>(pass.input, pass.partial_sums, pass.n);
    });
}
void launch_reduceSmem(const Pass& pass) {
    with_block_size(pass.block, [&](auto block_size) {
        reduceSmem<block_size><<<pass.grid, pass.block>>>(pass.input, pass.partial_sums, pass.n);
    });
}
void launch_reduceSmemUnroll(const Pass& pass) {
    with_block_size(pass.block, [&](auto block_size) {
        reduceSmemUnroll<block_size><<<pass.grid, pass.block>>>(pass.input, pass.partial_sums, pass.n);
    });
}

constexpr ReductionShape in_place{.shared_ints_per_thread = 0, .in_place = true};
constexpr ReductionShape four_in_place{
    .elements_per_thread = 4, .shared_ints_per_thread = 0, .in_place = true};
constexpr Kernel in_place_kernels[] = {
    {"reduceNeighboredGmem", launch_in_place<reduceNeighboredGmem>, in_place},
    {"reduceGmem", launch_in_place<reduceGmem>, in_place},
    {"reduceGmemUnroll", launch_in_place<reduceGmemUnroll>, four_in_place},
};
constexpr Kernel kernels[] = {
    in_place_kernels[0],
    in_place_kernels[1],
    in_place_kernels[2],
    {"reduceNeighboredSmem", launch_reduceNeighboredSmem, {.shared_ints_per_thread = 0}},
    {"reduceSmem", launch_reduceSmem, {.shared_ints_per_thread = 0}},
    {"reduceSmemUnroll", launch_reduceSmemUnroll, {.elements_per_thread = 4, .shared_ints_per_thread = 0}},
    {"reduceSmemDyn", launch_dynamic<reduceSmemDyn>, {}},
    {"reduceSmemUnrollDyn", launch_dynamic<reduceSmemUnrollDyn>, {.elements_per_thread = 4}},
};

/// "reduceGmem_block_256"
constexpr auto kernel_and_block = [](const auto& info) {
    return std::string(std::get<0>(info.param).name) + "_block_" + std::to_string(std::get<1>(info.param));
};

class GmemAndSmem : public testing::TestWithParam<std::tuple<Kernel, unsigned int>> {};
INSTANTIATE_TEST_SUITE_P(Lessons, GmemAndSmem,
                         testing::Combine(testing::ValuesIn(kernels), testing::ValuesIn(blocks)),
                         kernel_and_block);

TEST_P(GmemAndSmem, is_right_for_every_size_and_in_every_run) {
    const auto& [kernel, block] = GetParam();
    for (const std::size_t n : sizes_for(block)) {
        const RandomInts input(n, n + block); // fresh data for each
        Reduction reduction(kernel.name, input, block, kernel.shape, kernel.launch);
        // In place, two runs: the second does not sum what the first leaves.
        const unsigned int runs = kernel.shape.in_place ? 2 : 1;
        const Verification result = measure(test_device(), {.verify_only = true, .runs = runs}, kernel.name,
                                            reduction.launch_configuration(),
                                            {.prepare = [&] { reduction.prepare(); },
                                             .launch = [&] { reduction.launch_first(); },
                                             .verify = [&] { return reduction.finish(); }})
                                        .verification;
        EXPECT_TRUE(result.passed) << "n = " << n << ": expected " << result.expected << ", got "
                                   << result.actual
                                   << (result.wrong_places.empty() ? "" : "; " + result.wrong_places[0]);
    }
}

/// One pass over elements with others before and after them.
struct Surrounded {
    static constexpr std::size_t before = 64, behind = 8192; // more than any block has

    std::size_t n;
    std::vector<int> values; // `before`, then the n elements, then `behind`
    DeviceBuffer<int> device, partial_sums{8200};

    explicit Surrounded(std::size_t n) : n(n), values(before + n + behind), device(values.size()) {
        for (std::size_t i = 0; i < values.size(); ++i) values[i] = random_int(n, i); // never 0
        device.write(values);
        partial_sums.poison();
    }

    /// The partial sums of `grid` blocks.
    std::vector<int> run(const Kernel& kernel, unsigned int grid, unsigned int block) {
        kernel.launch({.input = device.data() + before,
                       .work = device.data() + before,
                       .partial_sums = partial_sums.data(),
                       .n = n,
                       .grid = grid,
                       .block = block,
                       .shared_bytes = block * kernel.shape.shared_ints_per_thread * sizeof(int)});
        check_launch(kernel.name);
        synchronize(kernel.name);
        return partial_sums.read(0, grid);
    }

    std::vector<int> expected(std::size_t elements_a_block, unsigned int grid) const {
        std::vector<int> sums(grid, 0);
        for (std::size_t b = 0; b < grid && b * elements_a_block < n; ++b) {
            const auto first = values.begin() + before + b * elements_a_block;
            sums[b] = reference_sum({first, std::min(elements_a_block, n - b * elements_a_block)});
        }
        return sums;
    }
};

TEST_P(GmemAndSmem, adds_nothing_that_lies_behind_the_elements) {
    const auto& [kernel, block] = GetParam();
    const std::size_t elements = std::size_t{block} * kernel.shape.elements_per_thread;
    for (const std::size_t n :
         {std::size_t{1}, elements - 1, elements + 1, 2 * elements + 17, 2 * elements + block}) {
        Surrounded data(n);
        // Two blocks more than there is work for: they leave zeros.
        const auto grid = static_cast<unsigned int>(ceil_div(n, elements) + 2);
        EXPECT_EQ(data.run(kernel, grid, block), data.expected(elements, grid)) << "n = " << n;
    }
}

class InPlaceKernel : public testing::TestWithParam<std::tuple<Kernel, unsigned int>> {};
INSTANTIATE_TEST_SUITE_P(Lessons, InPlaceKernel,
                         testing::Combine(testing::ValuesIn(in_place_kernels), testing::ValuesIn(blocks)),
                         kernel_and_block);

TEST_P(InPlaceKernel, writes_only_to_words_that_hold_its_tree) {
    const auto& [kernel, block] = GetParam();
    const std::size_t elements = std::size_t{block} * kernel.shape.elements_per_thread;
    for (const std::size_t n : {std::size_t{1}, elements - 1, elements + 1, 2 * elements + 17}) {
        Surrounded data(n);
        data.run(kernel, static_cast<unsigned int>(ceil_div(n, elements)), block);
        const std::vector<int> actual = data.device.read();
        for (std::size_t i = 0; i < actual.size(); ++i) {
            const std::size_t element = i - Surrounded::before; // wraps around before the first
            if (element < n && element % elements < block) continue;
            ASSERT_EQ(actual[i], data.values[i]) << "n = " << n << ", element " << static_cast<long>(element);
        }
    }
}

TEST_P(InPlaceKernel, leaves_its_sums_in_its_input) {
    // Which is why the input has to be restored before each run.
    const auto& [kernel, block] = GetParam();
    const std::size_t elements = std::size_t{block} * kernel.shape.elements_per_thread;
    Surrounded data(2 * elements);
    const std::vector<int> sums = data.run(kernel, 2, block);
    EXPECT_EQ(data.device.read(Surrounded::before, 1).front(), sums[0]);
    EXPECT_EQ(data.device.read(Surrounded::before + elements, 1).front(), sums[1]);
    EXPECT_NE(data.run(kernel, 2, block), sums);
}

class StaticSize : public testing::TestWithParam<unsigned int> {};
INSTANTIATE_TEST_SUITE_P(Lessons, StaticSize, testing::ValuesIn(blocks),
                         [](const auto& info) { return "block_" + std::to_string(info.param); });

template <class Function> std::size_t static_shared_bytes(Function kernel) {
    cudaFuncAttributes attributes;
    HARNESS_CHECK(cudaFuncGetAttributes(&attributes, kernel));
    return attributes.sharedSizeBytes;
}

TEST_P(StaticSize, is_one_int_a_thread_and_zero_where_the_launch_says_it) {
    with_block_size(GetParam(), [](auto block_size) {
        EXPECT_EQ(static_shared_bytes(reduceNeighboredSmem<block_size>), block_size * sizeof(int));
        EXPECT_EQ(static_shared_bytes(reduceSmem<block_size>), block_size * sizeof(int));
        EXPECT_EQ(static_shared_bytes(reduceSmemUnroll<block_size>), block_size * sizeof(int));
    });
    EXPECT_EQ(static_shared_bytes(reduceSmemDyn), 0u);
    EXPECT_EQ(static_shared_bytes(reduceSmemUnrollDyn), 0u);
    EXPECT_EQ(static_shared_bytes(reduceGmem), 0u);
    EXPECT_EQ(static_shared_bytes(reduceGmemUnroll), 0u);
}

} // namespace gmem_smem_kernels_test
