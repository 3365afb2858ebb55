// reduce10 and reduce11, on every size that has a boundary near it: blocks, stages, bytes per stage, grids,
// and inputs that start anywhere.
#include <gtest/gtest.h>

#include <string>

#include "../../../lessons/lesson28_bytes_in_flight/kernels.cuh"
#include "harness/detail/measure.hpp"
#include "harness/launch_size.hpp"
#include "harness/reduction.hpp"
#include "sizes.hpp"
#include "test_device.hpp"

namespace lesson28_kernels {

using namespace harness;

/// A kernel with one ring of stages.
struct Ring {
    const char* kernel;
    unsigned int stages, stage_bytes;

    void launch(const Pass& pass) const {
        with_block_size(pass.block, [&](auto block_size) {
            const std::size_t bytes = std::size_t{stages} * stage_bytes;
            if (std::string(kernel) == "reduce11") {
                allow_shared_bytes(reinterpret_cast<const void*>(reduce11<block_size>), bytes);
                reduce11<block_size><<<pass.grid, pass.block, bytes>>>(pass.input, pass.partial_sums, pass.n,
                                                                       stage_bytes, stages);
                return;
            }
            switch (stages) {
            case 2: return launch10<block_size, 2>(pass);
            case 3: return launch10<block_size, 3>(pass);
            case 4: return launch10<block_size, 4>(pass);
            case 6: return launch10<block_size, 6>(pass);
            case 8: return launch10<block_size, 8>(pass);
            default: FAIL() << "no reduce10 has " << stages << " stages here";
            }
        });
    }

private:
    template <unsigned int block_size, unsigned int stages_of> void launch10(const Pass& pass) const {
        const std::size_t bytes = std::size_t{stages} * stage_bytes;
        allow_shared_bytes(reinterpret_cast<const void*>(reduce10<block_size, stages_of>), bytes);
        reduce10<block_size, stages_of><<<pass.grid, pass.block, bytes>>>(
            pass.input, pass.partial_sums, pass.n, stage_bytes / 16 / block_size);
    }
};

/// In ints, from a 256-byte boundary: every place in a vector, both sides of a line's end, other sectors.
constexpr std::size_t offsets[] = {0, 1, 2, 3, 4, 8, 15, 31, 32, 33};

/// The input's sum by the ring, in a grid of at most `most_blocks`; the partial sums in the next pass.
testing::AssertionResult sums(const Ring& ring, const RandomInts& input, unsigned int block,
                              unsigned int most_blocks) {
    const ReductionShape shape{.elements_per_thread = 1,
                               .most_blocks = most_blocks,
                               .shared_ints_per_thread = 0,
                               .input_offset = input.offset()};
    Reduction reduction(ring.kernel, input, block, shape, [&](const Pass& pass) { ring.launch(pass); });
    reduction.prepare();
    reduction.launch_first();
    const Verification result = reduction.finish();
    if (result.passed) return testing::AssertionSuccess();
    return testing::AssertionFailure()
           << ring.kernel << ", n = " << input.size() << ", offset " << input.offset() << ", " << ring.stages
           << " stages of " << ring.stage_bytes << " bytes, at most " << most_blocks << " blocks: expected "
           << result.expected << ", got " << result.actual
           << (result.wrong_places.empty() ? "" : "; " + result.wrong_places[0]);
}

bool has_bulk_copies() { return std::stoi(test_device().compute_capability) >= 9; }

TEST(Lesson28BytesInFlight, of_reduce10_is_right_for_every_size) {
    with_every_block([](unsigned int block) {
        for (const std::size_t n : sizes_for(block)) {
            const RandomInts input(n, n + block);
            EXPECT_TRUE(sums({"reduce10", 2, 16 * block}, input, block, 132));
            EXPECT_TRUE(sums({"reduce10", 3, 2 * 16 * block}, input, block, 7));
        }
    });
}

TEST(Lesson28BytesInFlight, of_reduce11_is_right_for_every_size) {
    if (!has_bulk_copies()) GTEST_SKIP() << "no bulk copies here";
    with_every_block([](unsigned int block) {
        for (const std::size_t n : sizes_for(block)) {
            const RandomInts input(n, n + block);
            EXPECT_TRUE(sums({"reduce11", 2, 4096}, input, block, 132));
            EXPECT_TRUE(sums({"reduce11", 3, 2048}, input, block, 7));
        }
    });
}

TEST(Lesson28BytesInFlight, of_reduce10_is_right_for_every_ring_and_grid) {
    with_every_block([](unsigned int block) {
        for (const std::size_t n : {1, 1000, 100'003}) {
            const RandomInts input(n, n);
            for (const unsigned int stages : {2, 3, 4, 6, 8})
                for (const unsigned int vectors : {1, 2, 3})
                    if (stages * vectors * 16 * block <= 200 * 1024)
                        for (const unsigned int grid : {1, 2, 3, 132})
                            EXPECT_TRUE(sums({"reduce10", stages, vectors * 16 * block}, input, block, grid));
        }
    });
}

TEST(Lesson28BytesInFlight, of_reduce11_is_right_for_every_ring_and_grid) {
    if (!has_bulk_copies()) GTEST_SKIP() << "no bulk copies here";
    with_every_block([](unsigned int block) {
        for (const std::size_t n : {1, 1000, 100'003}) {
            const RandomInts input(n, n);
            // One vector, an odd number of them, less than a block's, more than a block's.
            for (const unsigned int stage_bytes : {16, 48, 1008, 6144})
                for (const unsigned int stages : {1u, 2u, 3u, 5u, max_stages})
                    if (n < 100'003 || stage_bytes > 100)
                        for (const unsigned int grid : {1, 2, 3, 132})
                            EXPECT_TRUE(sums({"reduce11", stages, stage_bytes}, input, block, grid));
        }
    });
}

TEST(Lesson28BytesInFlight, are_right_wherever_the_input_starts) {
    with_every_block([](unsigned int block) {
        for (const std::size_t offset : offsets) {
            for (const std::size_t n : {1, 2, 31, 32, 33, 34, 35, 127, 129, 1000, 4097, 65'537}) {
                const RandomInts input(n, n + offset, offset);
                EXPECT_TRUE(sums({"reduce10", 2, 16 * block}, input, block, 5));
                if (has_bulk_copies()) EXPECT_TRUE(sums({"reduce11", 2, 1024}, input, block, 5));
            }
        }
    });
}

} // namespace lesson28_kernels
