// The counters of lesson 27, to the digit, as they follow from each kernel's access pattern; and what the
// program does with its options.
//
// T = ceil(n / B) tiles of B elements, W = B / 32 warps each; w = ceil(n / 32) warps have elements.
//   loads    w requests, ceil(n / 8) sectors
//   stores   the same, and 1 per tile for its sum
// Shared memory, per tile:
//   scan_hillis_steele   stores: each warp its values, and its sums in each of log2(B) steps: W (1 + log2 B).
//                        Loads: in the step of distance d all warps but the first d / 32, neighbors: no
//                        conflict.
//   scan_blelloch        In the step of stride s, B / (2 s) threads work, on words 2 s apart. Of L = min(B /
//   (2 s),
//                        32) lanes of a warp, min(2 s, 32) / 32 x L share a bank: as many wavefronts per
//                        request, at least 1. S is the sum over all steps, and R that of the requests, ceil(B
//                        / (2 s) / 32). Up: 2 loads, 1 store. Down: 2 loads, 2 stores. The root: 1 and 1.
//                        Each warp stores its values, W, and those with elements load their sums, w over all
//                        tiles. Loads T (4 S + 1) + w, stores T (3 S + 1 + W). Conflicts 4 T (S - R) and 3 T
//                        (S - R).
//     For B = 256: S = 8 + 8 + 8 + 8 + 8 + 4 + 2 + 1 = 47 and R = 4 + 2 + 1 + 1 + 1 + 1 + 1 + 1 = 12.
//   scan_blelloch_padded R in place of S. Element e = 32 q + r lies in bank (r + q) % 32. Below s = 16, the
//   lanes of a
//                        request have e = 2 s t + c: 32 / (2 s) values of r, 2 s apart, and 2 s of q: 32
//                        banks. From s = 16 on, r is the same for all lanes and q = s / 16 x t + c is below B
//                        / 32 <= 32.
//   scan_warps           Lane 31 of each warp stores, the first warp loads the sums and stores them scanned;
//   all other
//                        warps load one word: W + 1 stores, 1 + W - 1 loads.
//   scan_lookback        That, and a store of the tile's number, which W warps load; a store of the sum
//   before, which
//                        the warps with elements load: loads 2 W T + w, stores (W + 3) T.
// scan_lookback in global memory: an atomic per tile. Each tile stores its sum, its prefix and a status for
// each; the first one has no sum to announce: 4 T - 2. Each other tile looks at one status and one sum or
// more, as the order of the blocks has it: at least 2 (T - 1) loads more.
// scan_lookback_wide: tiles of 32 B elements, moved as vectors of 4, loads and stores alike. A request moves
// 128 elements, 16 sectors. The last tile is moved by elements if it is not whole: in each 128 of them, or
// the m at the end, request c of 4 moves the elements 4 l + c of the lanes l, if there are any. Those of two
// lanes share a sector. All warps of a tile load the sum before it, the first one loads the sums of the warps
// and the others theirs, and all load the tile's number: 3 W T loads, (W + 3) T stores. In global memory a
// tile has one word for its status and sum, stored twice, but once by the first tile: 2 T - 1.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>

#include "harness/reduction.hpp"
#include "launch.hpp"

namespace lesson27_counters {

using harness::ceil_div;

constexpr const char* thread_barriers = "ptx__thread_inst_executed_op_bar";

/// One run's tiles.
struct Shape {
    std::uint64_t n, block;

    std::uint64_t tiles() const { return ceil_div(n, block); }
    std::uint64_t warps() const { return block / 32; }
    std::uint64_t warps_with_elements() const { return ceil_div(n, 32); }
    std::uint64_t sectors() const { return ceil_div(n, 8); }
    std::uint64_t steps() const { return static_cast<std::uint64_t>(std::countr_zero(block)); }

    /// R of the comment above.
    std::uint64_t tree_requests() const {
        std::uint64_t sum = 0;
        for (std::uint64_t stride = 1; stride < block; stride *= 2) sum += ceil_div(block / (2 * stride), 32);
        return sum;
    }
    /// S of the comment above.
    std::uint64_t tree_wavefronts() const {
        std::uint64_t sum = 0;
        for (std::uint64_t stride = 1; stride < block; stride *= 2) {
            const std::uint64_t threads = block / (2 * stride), lanes = std::min<std::uint64_t>(threads, 32);
            sum += ceil_div(threads, 32) *
                   std::max<std::uint64_t>(1, std::min<std::uint64_t>(2 * stride, 32) * lanes / 32);
        }
        return sum;
    }
};

constexpr Shape shapes[] = {{1, 32},      {33, 64},     {1000, 128},  {4099, 256},
                            {4096, 1024}, {65537, 512}, {65536, 256}, {100'003, 32}};

Launch launch(const char* kernel, const Shape& shape) {
    return {"lesson27", kernel, arguments(shape.n, static_cast<unsigned int>(shape.block))};
}

/// What the kernels that scan tiles have in common.
void expect_tiles(const Launch& launch, const Shape& shape, std::uint64_t barriers) {
    EXPECT_EQ(launch.blocks(), shape.tiles());
    EXPECT_EQ(launch.requests("ld"), shape.warps_with_elements());
    EXPECT_EQ(launch.sectors("ld"), shape.sectors());
    EXPECT_EQ(launch.requests("st"), shape.warps_with_elements() + shape.tiles());
    EXPECT_EQ(launch.sectors("st"), shape.sectors() + shape.tiles());
    EXPECT_EQ(launch.sectors("atom") + launch.sectors("red"), 0u);
    EXPECT_EQ(launch.counter(thread_barriers), barriers * shape.tiles() * shape.block);
}

TEST(Lesson27, the_tree_of_256_has_the_pages_numbers) {
    EXPECT_EQ((Shape{256, 256}.tree_wavefronts()), 47u);
    EXPECT_EQ((Shape{256, 256}.tree_requests()), 12u);
}

TEST(Lesson27, hillis_steele_has_no_conflicts) {
    for (const Shape& shape : shapes) {
        SCOPED_TRACE(shape.n);
        const Launch scan = launch("scan_hillis_steele", shape);
        expect_tiles(scan, shape, 1 + 2 * shape.steps());
        std::uint64_t loads = 0;
        for (std::uint64_t distance = 1; distance < shape.block; distance *= 2)
            loads += shape.warps() - distance / 32;
        EXPECT_EQ(scan.wavefronts("ld"), shape.tiles() * loads);
        EXPECT_EQ(scan.wavefronts("st"), shape.tiles() * shape.warps() * (1 + shape.steps()));
        EXPECT_EQ(scan.conflicts("ld") + scan.conflicts("st"), 0u);
    }
}

TEST(Lesson27, blelloch_has_conflicts) {
    for (const Shape& shape : shapes) {
        SCOPED_TRACE(shape.n);
        const Launch scan = launch("scan_blelloch", shape);
        const std::uint64_t wavefronts = shape.tree_wavefronts(),
                            conflicts = wavefronts - shape.tree_requests();
        expect_tiles(scan, shape, 2 * shape.steps() + 1);
        EXPECT_EQ(scan.wavefronts("ld"), shape.tiles() * (4 * wavefronts + 1) + shape.warps_with_elements());
        EXPECT_EQ(scan.wavefronts("st"), shape.tiles() * (3 * wavefronts + 1 + shape.warps()));
        EXPECT_EQ(scan.conflicts("ld"), shape.tiles() * 4 * conflicts);
        EXPECT_EQ(scan.conflicts("st"), shape.tiles() * 3 * conflicts);
    }
}

TEST(Lesson27, padding_takes_all_of_them) {
    for (const Shape& shape : shapes) {
        SCOPED_TRACE(shape.n);
        const Launch scan = launch("scan_blelloch_padded", shape);
        const std::uint64_t requests = shape.tree_requests();
        expect_tiles(scan, shape, 2 * shape.steps() + 1);
        EXPECT_EQ(scan.wavefronts("ld"), shape.tiles() * (4 * requests + 1) + shape.warps_with_elements());
        EXPECT_EQ(scan.wavefronts("st"), shape.tiles() * (3 * requests + 1 + shape.warps()));
        EXPECT_EQ(scan.conflicts("ld") + scan.conflicts("st"), 0u);
    }
}

TEST(Lesson27, warps_hardly_need_shared_memory) {
    for (const Shape& shape : shapes) {
        SCOPED_TRACE(shape.n);
        const Launch scan = launch("scan_warps", shape);
        expect_tiles(scan, shape, 2);
        EXPECT_EQ(scan.wavefronts("ld"), shape.tiles() * shape.warps());
        EXPECT_EQ(scan.wavefronts("st"), shape.tiles() * (shape.warps() + 1));
        EXPECT_EQ(scan.conflicts("ld") + scan.conflicts("st"), 0u);
    }
}

TEST(Lesson27, look_back_is_one_pass_over_the_data) {
    for (const Shape& shape : shapes) {
        SCOPED_TRACE(shape.n);
        const Launch scan = launch("scan_lookback", shape);
        EXPECT_EQ(scan.blocks(), shape.tiles());
        EXPECT_EQ(scan.sectors("atom"), shape.tiles());
        EXPECT_EQ(scan.sectors("st"), shape.sectors() + 4 * shape.tiles() - 2);
        EXPECT_EQ(scan.requests("st"), shape.warps_with_elements() + 4 * shape.tiles() - 2);
        EXPECT_GE(scan.sectors("ld"), shape.sectors() + 2 * (shape.tiles() - 1));
        EXPECT_EQ(scan.sectors("ld") - shape.sectors(), scan.requests("ld") - shape.warps_with_elements());
        EXPECT_EQ(scan.wavefronts("ld"), 2 * shape.warps() * shape.tiles() + shape.warps_with_elements());
        EXPECT_EQ(scan.wavefronts("st"), (shape.warps() + 3) * shape.tiles());
        EXPECT_EQ(scan.conflicts("ld") + scan.conflicts("st"), 0u);
        EXPECT_EQ(scan.counter(thread_barriers), 4 * shape.tiles() * shape.block);
    }
}

TEST(Lesson27, a_wide_look_back_meets_other_tiles_less_often) {
    for (const Shape& shape : shapes) {
        SCOPED_TRACE(shape.n);
        const Launch scan = launch("scan_lookback_wide", shape);
        const std::uint64_t tiles = ceil_div(shape.n, 32 * shape.block);
        EXPECT_EQ(scan.blocks(), tiles);
        EXPECT_EQ(scan.sectors("atom"), tiles);
        const std::uint64_t in_last = shape.n % (32 * shape.block); // elements in a tile that is not whole
        std::uint64_t requests = (shape.n - in_last) / 128, sectors = 16 * requests;
        for (std::uint64_t moved = 0; moved < in_last; moved += 128) {
            const std::uint64_t m = std::min<std::uint64_t>(in_last - moved, 128);
            for (std::uint64_t c = 0; c < 4 && c < m; ++c) {
                requests += 1;
                sectors += ceil_div(ceil_div(m - c, 4), 2);
            }
        }
        EXPECT_EQ(scan.sectors("st"), sectors + 2 * tiles - 1);
        EXPECT_EQ(scan.requests("st"), requests + 2 * tiles - 1);
        // A look-back of 32 tiles at most is a request, or more if it has to wait.
        EXPECT_GE(scan.requests("ld"), requests + tiles - 1);
        EXPECT_EQ(scan.wavefronts("ld"), 3 * shape.warps() * tiles);
        EXPECT_EQ(scan.wavefronts("st"), (shape.warps() + 3) * tiles);
        EXPECT_EQ(scan.conflicts("ld") + scan.conflicts("st"), 0u);
        EXPECT_EQ(scan.counter(thread_barriers), 3 * tiles * shape.block);
    }
}

TEST(Lesson27, reports_the_bytes_that_a_scan_moves) {
    const ProgramResult result =
        run_program("./lesson27 --device emulator --n 1000 --block 128 --format json");
    ASSERT_EQ(result.status, 0) << result.err;
    const nlohmann::json report = nlohmann::json::parse(result.out);
    ASSERT_EQ(report["kernels"].size(), 6u);
    for (const nlohmann::json& kernel : report["kernels"]) {
        const bool one_pass = kernel["name"] == "scan_lookback" || kernel["name"] == "scan_lookback_wide";
        EXPECT_EQ(kernel["bytes"], (1000 + 1000 + (one_pass ? 0 : 8)) * 4) << kernel["name"];
        EXPECT_EQ(kernel["dynamic_shared_bytes"], kernel["name"] == "scan_blelloch_padded"     ? (128 + 4) * 4
                                                  : one_pass || kernel["name"] == "scan_warps" ? 0
                                                                                               : 128 * 4);
    }
}

TEST(Lesson27, prepares_every_run_anew) {
    const ProgramResult result =
        run_program("./lesson27 --device emulator --verify --repeat 3 --n 5003 --block 32");
    EXPECT_EQ(result.status, 0) << result.err;
}

TEST(Lesson27, is_clean_between_blocks_too) {
    expect_clean_between_blocks("lesson27", {"--n 1", "--n 4099 --block 32", "--n 40001 --block 1024"});
}

TEST(Lesson27, scans_the_same_in_every_order) {
    expect_success("./emulate --schedules 5 ./lesson27 --verify", {"--n 9001 --block 32", "--n 20011"});
}

} // namespace lesson27_counters
