// The counters of lesson 30, to the digit, as they follow from each strategy's access pattern; and what the
// program does with its options.
//
// v vectors of four ints and t ints past them, in an input that starts at a line of 128 bytes: v = n / 4,
// t = n % 4. A warp's request is 32 vectors, 512 bytes, 16 sectors:
//   load requests   ceil(v / 32), and 1 for a tail
//   load sectors    ceil(v / 2), and 1 for a tail
// one_block loads plain ints: ceil(n / 32) requests, ceil(n / 8) sectors.
// G blocks of W warps. A sum over a block: every warp stores its sum, the first warp loads them all. W stores
// and 1 load, a wavefront each.
//   one_block     G = 1. Stores the result.
//   one_cluster   G = 8. The first block stores its sum among the eight and loads them; the stores of the
//                 others go to another block's shared memory, which no counter has. Stores the result.
//   one_launch    G as many as there are 512 vectors, and no more than fit. G atomics. Stores the result and
//                 the zero for the next call.
//   bulk_copies   G as many as there are tiles of 4,096 vectors, and no more than multiprocessors. A block
//                 takes a tile before its first one and after each: G more than there are tiles. G atomics
//                 add the sums. Stores the result and two zeros.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "harness/reduction.hpp"
#include "launch.hpp"

namespace lesson30_counters {

using harness::ceil_div;
using testing::AllOf, testing::HasSubstr;

constexpr const char* thread_barriers = "ptx__thread_inst_executed_op_bar";
constexpr unsigned int multiprocessors = 132; // of the emulated device

Launch launch(const std::string& kernel, std::uint64_t n, const std::string& more = "") {
    return {"lesson30", kernel, " --n " + std::to_string(n) + more};
}

void expect_loads(const Launch& launch, std::uint64_t n) {
    EXPECT_EQ(launch.requests("ld"), ceil_div(n / 4, 32) + (n % 4 != 0));
    EXPECT_EQ(launch.sectors("ld"), ceil_div(n / 4, 2) + (n % 4 != 0));
    EXPECT_EQ(launch.conflicts("ld") + launch.conflicts("st"), 0u);
    EXPECT_EQ(launch.sectors("red"), 0u);
}

TEST(Lesson30, one_block_meets_nobody) {
    for (const std::uint64_t n : {1, 31, 33, 1000, 1024, 1025, 2048, 2049, 4097, 8191, 8192}) {
        SCOPED_TRACE(n);
        const unsigned int block = n <= 1024 ? 256 : n <= 2048 ? 512 : 1024, warps = block / 32;
        for (const char* kernel : {"one_block", "sum", "sum_zeroed"}) {
            const Launch one = launch(kernel, n);
            EXPECT_EQ(one.requests("ld"), ceil_div(n, 32u));
            EXPECT_EQ(one.sectors("ld"), ceil_div(n, 8u));
            EXPECT_EQ(one.sectors("st"), 1u);
            EXPECT_EQ(one.sectors("atom") + one.sectors("red"), 0u);
            EXPECT_EQ(one.wavefronts("st"), warps);
            EXPECT_EQ(one.wavefronts("ld"), 1u);
            EXPECT_EQ(one.counter(thread_barriers), block);
        }
    }
}

TEST(Lesson30, one_cluster_meets_in_shared_memory) {
    for (const std::uint64_t n : {8193, 20'001, 65'536, 65'537, 131'070, 131'072}) {
        SCOPED_TRACE(n);
        const unsigned int warps = n <= 65'536 ? 16 : 32;
        for (const char* kernel : {"one_cluster", "sum"}) {
            const Launch cluster = launch(kernel, n);
            expect_loads(cluster, n);
            EXPECT_EQ(cluster.requests("st"), 1u);
            EXPECT_EQ(cluster.sectors("st"), 1u);
            EXPECT_EQ(cluster.sectors("atom"), 0u);
            EXPECT_EQ(cluster.wavefronts("st"), 8 * warps + 1);
            EXPECT_EQ(cluster.wavefronts("ld"), 8 + 1u);
            EXPECT_EQ(cluster.counter(thread_barriers), std::uint64_t{8} * 32 * warps);
        }
    }
}

TEST(Lesson30, one_launch_meets_at_one_word) {
    for (const std::uint64_t n : {1, 2049, 65'536, 131'073, 999'983, 1 << 22}) {
        SCOPED_TRACE(n);
        const std::uint64_t blocks = std::clamp<std::uint64_t>(ceil_div(n / 4, 512), 1, 4 * multiprocessors);
        const Launch one = launch("one_launch", n);
        expect_loads(one, n);
        EXPECT_EQ(one.sectors("atom"), blocks);
        EXPECT_EQ(one.sectors("st"), 2u);
        EXPECT_EQ(one.wavefronts("st"), 16 * blocks);
        EXPECT_EQ(one.wavefronts("ld"), blocks);
        EXPECT_EQ(one.counter(thread_barriers), 512 * blocks);
    }
    for (const char* kernel : {"sum", "sum_zeroed"}) EXPECT_EQ(launch(kernel, 131'073).sectors("atom"), 64u);
    EXPECT_EQ(launch("sum_zeroed", 65'536).sectors("atom"), 32u) << "no cluster, as nothing has to be zeroed";
}

TEST(Lesson30, bulk_copies_take_their_tiles) {
    for (const std::uint64_t n : {1, 16'384, 1 << 20, (1 << 22) + 5}) {
        SCOPED_TRACE(n);
        const std::uint64_t tiles = ceil_div(n / 4, 4096);
        const std::uint64_t blocks = std::clamp<std::uint64_t>(tiles, 1, multiprocessors);
        const Launch bulk = launch("bulk_copies", n);
        EXPECT_EQ(bulk.sectors("atom"), blocks + tiles + blocks);
        EXPECT_EQ(bulk.sectors("st"), 3u);
    }
}

// 100,003 ints that start one int past a line: a head of 31 ints, 24,993 vectors and no tail. The sectors are
// those of bytes 4 to 400,016 of the allocation, each loaded once: ceil(400,016 / 32).
TEST(Lesson30, small_sum_loads_each_sector_once) {
    for (const unsigned int block : {32, 256, 1024}) {
        const std::string more = " --block " + std::to_string(block);
        const Launch aligned = launch("small_sum", 65'536, more),
                     misplaced = launch("small_sum", 100'003, more + " --offset 1");
        expect_loads(aligned, 65'536);
        EXPECT_EQ(misplaced.requests("ld"), ceil_div(24'993, 32) + 1u);
        EXPECT_EQ(misplaced.sectors("ld"), ceil_div(400'016, 32) + 0u);
        for (const Launch* either : {&aligned, &misplaced}) {
            EXPECT_EQ(either->blocks(), 8u);
            EXPECT_EQ(either->sectors("atom"), 8u);
            EXPECT_EQ(either->sectors("st"), 2u);
            EXPECT_EQ(either->wavefronts("st"), 8 * block / 32);
            EXPECT_EQ(either->wavefronts("ld"), 8u);
        }
    }
}

// Wherever the input starts, the body starts at a line: the loads touch just the sectors that hold the input.
TEST(Lesson30, loads_each_sector_once) {
    for (const std::uint64_t offset : {1, 2, 3, 8, 31}) {
        SCOPED_TRACE(offset);
        for (const char* kernel : {"one_cluster", "one_launch"}) {
            const std::uint64_t n = 50'000, head = (32 - offset) % 32, tail = (n - head) % 4;
            const Launch sum = launch(kernel, n, " --offset " + std::to_string(offset));
            EXPECT_EQ(sum.sectors("ld"),
                      ceil_div(offset + n, 8) - offset / 8 + (tail > 0 && (offset + n - tail) % 8 != 0));
            EXPECT_EQ(sum.requests("ld"), ceil_div((n - head) / 4, 32) + (head > 0) + (tail > 0));
        }
    }
}

TEST(Lesson30, rejects_what_one_block_cannot_sum) {
    const ProgramResult result = run_program("./lesson30 --device emulator --kernel one_block --n 8193");
    EXPECT_EQ(result.status, 2);
    EXPECT_THAT(result.err, HasSubstr("one_block sums up to 8,192 ints"));
    const ProgramResult help = run_program("./lesson30 --help");
    EXPECT_EQ(help.status, 0);
    EXPECT_THAT(help.out, AllOf(HasSubstr("--strategies"), HasSubstr("--offset K"), HasSubstr("--sweep")));
}

TEST(Lesson30, prepares_every_run_anew) {
    expect_success("./lesson30 --device emulator --verify --repeat 5",
                   {"--n 10007 --strategies --offset 3", "--n 1000003 --strategies",
                    "--n 10007 --kernel small_sum --block 64 --offset 1"});
}

TEST(Lesson30, is_clean_between_blocks_too) {
    expect_clean_between_blocks("lesson30",
                                {"--n 1 --strategies", "--n 8193 --strategies --offset 1", "--n 65537",
                                 "--n 131073 --strategies", "--n 600007 --kernel bulk_copies --offset 5",
                                 "--n 20011 --kernel small_sum --block 128 --offset 2"});
}

TEST(Lesson30, sums_the_same_in_every_order) {
    expect_success("./emulate --schedules 5 ./lesson30 --verify --repeat 2",
                   {"--n 9001 --strategies --offset 1", "--n 150001 --strategies",
                    "--n 20011 --kernel small_sum --offset 3"});
}

} // namespace lesson30_counters
