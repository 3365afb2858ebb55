// The counters of lesson 29, to the digit, as they follow from each kernel's access pattern; and what the
// program does with its options.
//
// G blocks of W warps sum n ints, aligned: v = n / 4 vectors, and t = n % 4 ints past them. Vector i goes to
// thread i modulo the grid. A warp's request is 32 vectors, 512 bytes, 16 sectors; the last one may be less:
//   load requests   ceil(v / 32), and 1 for a tail
//   load sectors    ceil(v / 2), and 1 for a tail
// A sum over a block: every warp stores its sum, the first warp loads them all. W stores and 1 load, in words
// that lie side by side, a wavefront each.
//   block_sums, atomic_per_block, counted_sum: stores G x W, loads G
//   last_block: thread 0 stores a verdict and W warps load it. The last block sums once more.
//     stores G x W + G + W, loads G + G x W + 1
//   reduce12: thread 0 stores the block's sum, and the first block loads all. Words of another block's shared
//     memory are in no counter. stores G x W + G, loads G + 1
//   reduce12a: thread 0 stores in the first block's shared memory, which only the first block's own store
//     counts, and the first block loads. stores G x W + 1, loads G + 1
// Global memory: block_sums stores G sums, each in a request of its own. last_block too, and the result; it
// loads the G sums in one request of ceil(G / 8) sectors, as 32 lanes are enough, and executes G atomics.
// counted_sum executes G atomics and stores the result and the zero. atomic_per_block uses no result of its G
// atomics: reductions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "harness/reduction.hpp"
#include "launch.hpp"

namespace lesson29_counters {

using harness::ceil_div;
using testing::AllOf, testing::HasSubstr;

constexpr const char* barriers = "ptx__thread_inst_executed_op_bar";
constexpr const char* splits = "smsp__sass_branch_targets_threads_divergent";

struct Size {
    std::uint64_t n;
    unsigned int block, blocks;

    std::uint64_t warps() const { return block / 32; }
    std::uint64_t load_requests() const { return ceil_div(n / 4, 32) + (n % 4 != 0); }
    std::uint64_t load_sectors() const { return ceil_div(n / 4, 2) + (n % 4 != 0); }
    std::string arguments() const { return ::arguments(n, block) + " --blocks " + std::to_string(blocks); }
};
// The page's; one block; one warp per block; a tail, and more than four vectors per thread; a part of a
// block.
constexpr Size sizes[] = {{1 << 14, 512, 16}, {1 << 14, 512, 1}, {4096, 32, 8},
                          {65'537, 128, 13},  {1001, 1024, 3},   {1 << 20, 1024, 16}};

Launch launch(const std::string& kernel, const Size& size) { return {"lesson29", kernel, size.arguments()}; }

/// Shared memory without conflicts, and loads of the input, and `more` requests and sectors.
void expect_loads(const Launch& launch, const Size& size, std::uint64_t more_requests = 0,
                  std::uint64_t more_sectors = 0) {
    EXPECT_EQ(launch.blocks(), size.blocks);
    EXPECT_EQ(launch.requests("ld"), size.load_requests() + more_requests);
    EXPECT_EQ(launch.sectors("ld"), size.load_sectors() + more_sectors);
    EXPECT_EQ(launch.conflicts("ld") + launch.conflicts("st"), 0u);
}

TEST(Lesson29, block_sums_store_a_sum_per_block) {
    for (const Size& size : sizes) {
        SCOPED_TRACE(size.arguments());
        const Launch two = launch("two_launches", size);
        expect_loads(two, size);
        EXPECT_EQ(two.requests("st"), size.blocks);
        EXPECT_EQ(two.sectors("st"), size.blocks);
        EXPECT_EQ(two.sectors("atom") + two.sectors("red"), 0u);
        EXPECT_EQ(two.wavefronts("st"), size.blocks * size.warps());
        EXPECT_EQ(two.wavefronts("ld"), size.blocks);
        EXPECT_EQ(two.counter(barriers), std::uint64_t{size.blocks} * size.block);
    }
}

TEST(Lesson29, the_last_block_loads_all_sums) {
    for (const Size& size : sizes) {
        SCOPED_TRACE(size.arguments());
        const Launch last = launch("last_block", size);
        expect_loads(last, size, 1, ceil_div(size.blocks, 8u));
        EXPECT_EQ(last.sectors("st"), size.blocks + 1);
        EXPECT_EQ(last.sectors("atom"), size.blocks);
        EXPECT_EQ(last.sectors("red"), 0u);
        EXPECT_EQ(last.wavefronts("st"), size.blocks * size.warps() + size.blocks + size.warps());
        EXPECT_EQ(last.wavefronts("ld"), size.blocks + size.blocks * size.warps() + 1);
        EXPECT_EQ(last.counter(barriers), (2 * std::uint64_t{size.blocks} + 1) * size.block);
    }
}

TEST(Lesson29, atomics_are_one_per_block) {
    for (const Size& size : sizes) {
        SCOPED_TRACE(size.arguments());
        const Launch atomic = launch("atomic_per_block", size), counted = launch("counted_sum", size);
        for (const Launch* either : {&atomic, &counted}) {
            expect_loads(*either, size);
            EXPECT_EQ(either->wavefronts("st"), size.blocks * size.warps());
            EXPECT_EQ(either->wavefronts("ld"), size.blocks);
        }
        EXPECT_EQ(atomic.sectors("red"), size.blocks);
        EXPECT_EQ(atomic.sectors("atom") + atomic.sectors("st"), 0u);
        EXPECT_EQ(counted.sectors("atom"), size.blocks);
        EXPECT_EQ(counted.sectors("red"), 0u);
        EXPECT_EQ(counted.sectors("st"), 2u);
    }
}

TEST(Lesson29, a_cluster_stores_nothing_but_the_result) {
    for (const Size& size : sizes) {
        SCOPED_TRACE(size.arguments());
        const Launch reads = launch("reduce12", size), writes = launch("reduce12a", size);
        for (const Launch* either : {&reads, &writes}) {
            expect_loads(*either, size);
            EXPECT_EQ(either->requests("st"), 1u);
            EXPECT_EQ(either->sectors("st"), 1u);
            EXPECT_EQ(either->sectors("atom") + either->sectors("red"), 0u);
            EXPECT_EQ(either->wavefronts("ld"), size.blocks + 1u);
            // No cluster barrier is among them.
            EXPECT_EQ(either->counter(barriers), std::uint64_t{size.blocks} * size.block);
        }
        EXPECT_EQ(reads.wavefronts("st"), size.blocks * size.warps() + size.blocks);
        EXPECT_EQ(writes.wavefronts("st"), size.blocks * size.warps() + 1);
    }
}

// n = 2^14 in 16 blocks of 16 warps: no tail, and every warp has its vectors whole. Lane 0 of 256 warps, the
// 16 warp sums and thread 0 in 16 blocks: 256 + 16 + 16. Both clusters: the first warp at the 16 sums and at
// the result. The last block: 16 warps, the warp sums, the loop over 16 sums, the result.
TEST(Lesson29, warps_split_where_one_lane_acts_for_all) {
    const Size& size = sizes[0];
    EXPECT_EQ(launch("two_launches", size).counter(splits), 288u);
    EXPECT_EQ(launch("atomic_per_block", size).counter(splits), 288u);
    EXPECT_EQ(launch("reduce12", size).counter(splits), 288u + 2);
    EXPECT_EQ(launch("reduce12a", size).counter(splits), 288u + 2);
    EXPECT_EQ(launch("last_block", size).counter(splits), 288u + 16 + 1 + 1 + 1);
}

TEST(Lesson29, takes_1_to_16_blocks) {
    for (const char* blocks : {"0", "17"}) {
        const ProgramResult result =
            run_program(std::string("./lesson29 --device emulator --blocks ") + blocks);
        EXPECT_EQ(result.status, 2);
        EXPECT_THAT(result.err, HasSubstr(std::string("lesson29: --blocks ") + blocks));
    }
    const ProgramResult help = run_program("./lesson29 --help");
    EXPECT_EQ(help.status, 0);
    EXPECT_THAT(help.out, AllOf(HasSubstr("--blocks K"), HasSubstr("--offset K"), HasSubstr("--sweep")));
}

TEST(Lesson29, lacks_memory_for_too_many_ints) {
    const ProgramResult result = run_program("./lesson29 --device emulator --n 2^63");
    EXPECT_EQ(result.status, 3);
    EXPECT_THAT(result.err, HasSubstr("lesson29: too little device memory"));
}

TEST(Lesson29, prepares_every_run_anew) {
    expect_success("./lesson29 --device emulator --verify --repeat 5 --n 10007",
                   {"--blocks 16 --offset 3", "--blocks 1", "--blocks 7 --block 64 --offset 1"});
}

TEST(Lesson29, is_clean_between_blocks_too) {
    expect_clean_between_blocks("lesson29",
                                {"--n 1 --block 32", "--n 31 --block 64 --blocks 3", "--n 1000 --block 1024",
                                 "--n 65537 --block 128 --blocks 8 --offset 1"});
}

} // namespace lesson29_counters
