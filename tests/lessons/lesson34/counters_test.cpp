// The counters of lesson 34, to the digit: of the last launch, which sums t ints, v = t / 4 vectors and t % 4 ints past
// them. The program prints t. In place there is a single launch, t = n. Else a tile has m = memory / 8 ints, two of
// them fit into the memory, and t is what the tiles before leave: n - (ceil(n / m) - 1) m.
//   blocks          G = ceil(t / (4 threads of a block)), and no more than fit on the card at once
//   load requests   ceil(v / 32), and 1 for a tail: a warp's request is 32 vectors
//   load sectors    ceil(v / 2), and 1 for a tail: a sector is two vectors
//   reductions      each warp adds its sum to the result by an atomic whose result nobody uses
//   shared memory   none
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "harness/reduction.hpp"
#include "launch.hpp"

namespace lesson34_counters {

using harness::ceil_div;
using testing::HasSubstr, testing::Not;

constexpr const char* copied_ways[] = {"pageable", "file", "pinned", "two_streams"};

void expect_counters(const std::string& way, std::uint64_t n, std::uint64_t memory, unsigned int block,
                     std::uint64_t last) {
    SCOPED_TRACE(way + " " + std::to_string(n));
    const Launch launch("lesson34", way, arguments(n, block) + " --memory " + std::to_string(memory));
    const std::uint64_t resident = 132 * std::min(2048 / block, 32u);
    const std::uint64_t blocks = std::min<std::uint64_t>(ceil_div(last, 4 * std::uint64_t{block}), resident);
    EXPECT_EQ(launch.blocks(), blocks);
    EXPECT_EQ(launch.requests("ld"), ceil_div(last / 4, 32) + (last % 4 != 0));
    EXPECT_EQ(launch.sectors("ld"), ceil_div(last / 4, 2) + (last % 4 != 0));
    EXPECT_EQ(launch.sectors("red"), blocks * block / 32);
    EXPECT_EQ(launch.sectors("st") + launch.sectors("atom"), 0u);
    EXPECT_EQ(launch.wavefronts("st") + launch.wavefronts("ld"), 0u);
}

TEST(Lesson34, loads_each_int_of_a_tile_once) {
    struct Size {
        std::uint64_t n, memory, last;
        unsigned int block;
    };
    constexpr Size sizes[] = {
        {1, 8192, 1, 32},                // one tile of one int
        {1024, 8192, 1024, 1024},        // one full tile
        {1025, 8192, 1, 256},            // and an int more
        {3071, 8192, 1023, 64},          // the third tile, one int short
        {100'003, 65'536, 1699, 128},    // 12 x 8,192 = 98,304 before it
        {1 << 20, 1 << 30, 1 << 20, 32}, // all of it in one tile
    };
    for (const auto& [n, memory, last, block] : sizes) {
        for (const char* way : copied_ways) expect_counters(way, n, memory, block, last);
        expect_counters("in_place", n, memory, block, n);
    }
}

// A tile's calls: a copy, a kernel, two records, and a wait for the copy; from the third tile on a wait for the kernel
// that read the buffer. A store of 16 bytes each: 6 tiles - 2, and 5 for a single tile.
TEST(Lesson34, lists_no_call_too_many) {
    const Launch eight{"lesson34", "queue_tiles", " --n 65536 --memory 65536"},
        one{"lesson34", "queue_tiles", " --n 1000 --memory 8192"};
    EXPECT_EQ(eight.requests("st"), 6 * 8 - 2u);
    EXPECT_EQ(one.requests("st"), 5u);
    for (const Launch* either : {&eight, &one}) EXPECT_EQ(either->sectors("st"), either->requests("st"));
}

TEST(Lesson34, says_what_crosses_the_link) {
    const ProgramResult result = run_program("./lesson34 --device emulator --n 100003 --memory 64Ki");
    EXPECT_EQ(result.status, 0) << result.err;
    for (const char* line :
         {"\ntwo_streams: 400,012 bytes cross the link. Counted: launch 13 of 13, 1,699 ints.\n",
          "\nin_place: 400,012 bytes cross the link. Counted: launch 1 of 1, 100,003 ints.\n"})
        EXPECT_THAT(result.out, HasSubstr(line));
    EXPECT_THAT(result.out, Not(HasSubstr("queue_tiles")));
}

TEST(Lesson34, estimates_no_time) {
    const ProgramResult result = run_program(
        "./lesson34 --device emulator --n 8192 --memory 8Ki --changed --kernel pinned --kernel in_place");
    EXPECT_EQ(result.status, 0) << result.err;
    EXPECT_THAT(result.out, Not(HasSubstr("would take")));
}

TEST(Lesson34, rejects_memory_for_less_than_two_tiles) {
    const ProgramResult result = run_program("./lesson34 --device emulator --memory 8191");
    EXPECT_EQ(result.status, 2);
    EXPECT_THAT(result.err, HasSubstr("--memory 8191: too small. Write a whole number from 8,192 to"));
}

TEST(Lesson34, says_where_the_file_does_not_fit) {
    const ProgramResult result =
        run_program("TMPDIR=/nowhere ./lesson34 --device emulator --n 1000 --kernel file");
    EXPECT_EQ(result.status, 3);
    EXPECT_THAT(result.err, HasSubstr("/nowhere: no file can be made there: No such file or directory"));
}

TEST(Lesson34, says_how_much_memory_is_wanted) {
    const std::pair<const char*, const char*> cases[] = {
        {"pageable", "too little host memory for 4.0 PiB; write a smaller --n"},
        {"pinned", "too little host memory to pin 4.0 PiB (cudaErrorMemoryAllocation); write a smaller --n"},
        {"file", "no file of 4.0 PiB can be made there: "}};
    for (const auto& [kernel, words] : cases) {
        const ProgramResult result =
            run_program(std::string("./lesson34 --device emulator --n 2^50 --kernel ") + kernel);
        EXPECT_EQ(result.status, 3) << kernel;
        EXPECT_THAT(result.err, HasSubstr(words)) << kernel;
    }
    const ProgramResult most = run_program("./lesson34 --device emulator --n 2^63 --kernel pinned");
    EXPECT_EQ(most.status, 3) << most.err;
    EXPECT_THAT(most.err, HasSubstr("no machine has as much memory"));
}

TEST(Lesson34, prepares_every_run_anew) {
    expect_success("./lesson34 --device emulator --verify --repeat 3",
                   {"--n 10007 --memory 8Ki", "--n 10007 --memory 8Ki --kernel queue_tiles"});
}

TEST(Lesson34, is_clean_between_blocks_too) {
    expect_clean_between_blocks("lesson34",
                                {"--n 1", "--n 5003 --memory 8Ki", "--n 70001 --memory 64Ki --block 64"});
}

TEST(Lesson34, sums_the_same_in_every_order) {
    expect_success("./emulate --schedules 5 ./lesson34 --verify --repeat 2", {"--n 5003 --memory 8Ki"});
}

} // namespace lesson34_counters
