// Every kernel, on every size that has a boundary near it, with every block.
#include <gtest/gtest.h>

#include <string>
#include <tuple>

#include "../../lessons/lesson00_interleaved_pairs/kernels.cuh"
#include "../../lessons/lesson01_strided_index/kernels.cuh"
#include "../../lessons/lesson02_sequential_addressing/kernels.cuh"
#include "../../lessons/lesson03_first_add_on_load/kernels.cuh"
#include "device_main.hpp"
#include "harness/measure.hpp"
#include "harness/reduction.hpp"

namespace {

using namespace harness;

struct Kernel {
    const char* name;
    void (*kernel)(const int*, int*, std::size_t);
    unsigned int elements_per_thread;
};

constexpr Kernel kernels[] = {
    {"reduce0", reduce0, 1}, {"reduce0a", reduce0a, 1}, {"reduce1", reduce1, 1},
    {"reduce2", reduce2, 1}, {"reduce3", reduce3, 2},
};

constexpr std::size_t sizes[] = {
    1,    2,    31,   32,   33,   255,    256,     257,           1000,    1023,
    1024, 1025, 4095, 4096, 4097, 65'537, 999'983, (1 << 20) - 1, 1 << 20, (1 << 20) + 1};

class EveryKernel : public testing::TestWithParam<std::tuple<Kernel, unsigned int>> {};

TEST_P(EveryKernel, is_right_for_every_size) {
    const auto& [kernel, block] = GetParam();
    for (const std::size_t n : sizes) {
        const RandomInts input(n, n + block); // fresh data for each
        Reduction reduction(kernel.name, input, block, {.elements_per_thread = kernel.elements_per_thread},
                            [&, kernel = kernel.kernel](const Pass& pass) {
                                kernel<<<pass.grid, pass.block, pass.shared_bytes>>>(
                                    pass.input, pass.partial_sums, pass.n);
                            });
        const Verification result =
            measure(test_device(), {.verify_only = true, .runs = 1}, kernel.name, reduction.launch_shape(),
                    {.prepare = [&] { reduction.prepare(); },
                     .launch = [&] { reduction.launch_first(); },
                     .verify = [&] { return reduction.finish(); }})
                .verification;
        EXPECT_TRUE(result.passed) << "n = " << n << ": expected " << result.expected << ", got "
                                   << result.actual
                                   << (result.wrong_places.empty() ? "" : "; " + result.wrong_places[0]);
    }
}

INSTANTIATE_TEST_SUITE_P(Lessons, EveryKernel,
                         testing::Combine(testing::ValuesIn(kernels),
                                          testing::Values(32, 64, 128, 256, 512, 1024)),
                         [](const auto& info) {
                             return std::string(std::get<0>(info.param).name) + "_block_" +
                                    std::to_string(std::get<1>(info.param));
                         });

} // namespace
