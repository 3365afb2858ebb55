// The kernels of lessons 10 to 12, on every size that has a boundary near it, with every block.
#include "gmem_smem_kernels.cuh"

#include <algorithm>
#include <vector>

#include "harness/detail/measure.hpp"
#include "test_device.hpp"

namespace gmem_smem_kernels {

void expect_sums_of_every_size_in_every_run(const std::vector<Kernel>& kernels) {
    with_every_kernel_and_block(kernels, [](const Kernel& kernel, unsigned int block) {
        for (const std::size_t n : sizes_for(block)) {
            const RandomInts input(n, n + block); // fresh data for each
            Reduction reduction(kernel.name, input, block, kernel.shape, kernel.launch);
            // In place, two runs: the second does not sum what the first leaves.
            const unsigned int runs = kernel.shape.in_place ? 2 : 1;
            const Verification result = measure(test_device(), {.verify_only = true, .runs = runs},
                                                kernel.name, reduction.launch_configuration(),
                                                {.prepare = [&] { reduction.prepare(); },
                                                 .launch = [&] { reduction.launch_first(); },
                                                 .verify = [&] { return reduction.finish(); }})
                                            .verification;
            EXPECT_TRUE(result.passed)
                << "n = " << n << ": expected " << result.expected << ", got " << result.actual
                << (result.wrong_places.empty() ? "" : "; " + result.wrong_places[0]);
        }
    });
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
            const int* first = values.data() + before + b * elements_a_block;
            sums[b] = reference_sum(first, std::min(elements_a_block, n - b * elements_a_block));
        }
        return sums;
    }
};

void expect_sums_without_what_lies_behind(const std::vector<Kernel>& kernels) {
    with_every_kernel_and_block(kernels, [](const Kernel& kernel, unsigned int block) {
        const std::size_t elements = std::size_t{block} * kernel.shape.elements_per_thread;
        for (const std::size_t n :
             {std::size_t{1}, elements - 1, elements + 1, 2 * elements + 17, 2 * elements + block}) {
            Surrounded data(n);
            // Two blocks more than there is work for: they leave zeros.
            const auto grid = static_cast<unsigned int>(ceil_div(n, elements) + 2);
            EXPECT_EQ(data.run(kernel, grid, block), data.expected(elements, grid)) << "n = " << n;
        }
    });
}

void expect_writes_to_words_of_the_tree_only(const std::vector<Kernel>& kernels) {
    with_every_kernel_and_block(kernels, [](const Kernel& kernel, unsigned int block) {
        const std::size_t elements = std::size_t{block} * kernel.shape.elements_per_thread;
        for (const std::size_t n : {std::size_t{1}, elements - 1, elements + 1, 2 * elements + 17}) {
            Surrounded data(n);
            data.run(kernel, static_cast<unsigned int>(ceil_div(n, elements)), block);
            const std::vector<int> actual = data.device.read();
            for (std::size_t i = 0; i < actual.size(); ++i) {
                const std::size_t element = i - Surrounded::before; // wraps around before the first
                if (element < n && element % elements < block) continue;
                ASSERT_EQ(actual[i], data.values[i])
                    << "n = " << n << ", element " << static_cast<long>(element);
            }
        }
    });
}

void expect_sums_to_be_left_in_the_input(const std::vector<Kernel>& kernels) {
    with_every_kernel_and_block(kernels, [](const Kernel& kernel, unsigned int block) {
        // Which is why the input has to be restored before each run.
        const std::size_t elements = std::size_t{block} * kernel.shape.elements_per_thread;
        Surrounded data(2 * elements);
        const std::vector<int> sums = data.run(kernel, 2, block);
        EXPECT_EQ(data.device.read(Surrounded::before, 1).front(), sums[0]);
        EXPECT_EQ(data.device.read(Surrounded::before + elements, 1).front(), sums[1]);
        EXPECT_NE(data.run(kernel, 2, block), sums);
    });
}

} // namespace gmem_smem_kernels
