// The counters of lesson 22, to the digit, as they follow from the access pattern and the size of a value.
//
// n elements of s bytes; G blocks of B threads, W = B / 32 warps. A thread has four vectors of 16 bytes:
// G = ceil(n s / 64 B).
//   input     a warp loads 32 x 16 = 512 bytes per request: n s / 512 requests of 16 sectors
//   values    A value takes one access per member: 1 for a number, 2 for an element with its index, and 2 or
//             3 for count, mean and M2, since two floats go in one access of 8 bytes.
//   partials  one store of each access per block, and one for the result: (G + 1) accesses, 1 sector each.
//             The last block loads them, a warp 32 values: ceil(G / 32) requests per access. A request
//             touches each sector in which one of its values has that member.
//   shared    Twice in the last block, and once in the others, lane 0 of each warp stores the warp's value, W
//             wavefronts per access, and the first warp loads them, L wavefronts. The flag is_last: one store
//             per block, and a load per warp.
//             stores (G + 1) W accesses + G, loads (G + 1) L + G W
//   L         8 warps: 1 per access. 8 lanes, 16 bytes apart, begin at the banks 0, 4, ... 28. 24 bytes
//   apart, at
//             0, 6, 12, 18, 24, 30, 4 and 10. No two of them meet.
//             32 warps: 4 bytes, side by side: 1. 8 bytes, side by side: a half warp at a time, 2.
//             8 bytes, 16 apart: of a half warp, lanes i and i + 8 meet in a bank: 2 x 2 = 4, 2 of them
//             conflicts. 4 bytes, 16 apart: lanes i, i + 8, i + 16, i + 24 meet: 4, 3 of them conflicts.
//             8 bytes, 24 apart: lane i at bank 6 i modulo 32, different for 16 lanes: 2.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <string>
#include <vector>

#include "harness/random_input.hpp"
#include "harness/reduction.hpp"
#include "launch.hpp"

namespace lesson22_counters {

using harness::ceil_div;
using testing::AllOf, testing::HasSubstr;

struct Member {
    unsigned int offset, bytes;
};

struct Kind {
    const char* options;
    unsigned int element_bytes;
    unsigned int value_bytes;
    std::vector<Member> accesses;
    unsigned int wavefronts_of_32, conflicts_of_32; ///< when one warp loads the values of 32 warps
};

const std::vector<Kind> kinds{{"--type int --op sum", 4, 4, {{0, 4}}, 1, 0},
                              {"--type unsigned --op product", 4, 4, {{0, 4}}, 1, 0},
                              {"--type float --op min", 4, 4, {{0, 4}}, 1, 0},
                              {"--type half --op sum", 2, 4, {{0, 4}}, 1, 0}, // accumulated in float
                              {"--type longlong --op max", 8, 8, {{0, 8}}, 2, 0},
                              {"--type double --op sum", 8, 8, {{0, 8}}, 2, 0},
                              {"--type int --op all", 4, 4, {{0, 4}}, 1, 0},
                              {"--type float --op argmax", 4, 16, {{0, 4}, {8, 8}}, 4 + 4, 3 + 2},
                              {"--type half --op argmax", 2, 16, {{0, 4}, {8, 8}}, 4 + 4, 3 + 2},
                              {"--type double --op argmax", 8, 16, {{0, 8}, {8, 8}}, 4 + 4, 2 + 2},
                              {"--type float --op variance", 4, 16, {{0, 8}, {8, 8}}, 4 + 4, 2 + 2},
                              {"--type double --op mean", 8, 24, {{0, 8}, {8, 8}, {16, 8}}, 2 + 2 + 2, 0}};

Launch launch(const Kind& kind, std::uint64_t n, unsigned int block, unsigned int offset = 0) {
    return {"lesson22", "reduce_any", arguments(n, block, offset) + " " + kind.options};
}

/// Sectors in which a warp's values of `blocks` blocks have their members.
std::uint64_t sectors_of_partials(const Kind& kind, std::uint64_t blocks) {
    std::uint64_t total = 0;
    for (const Member& member : kind.accesses) {
        for (std::uint64_t first = 0; first < blocks; first += 32) {
            std::set<std::uint64_t> sectors;
            for (std::uint64_t b = first; b < std::min(first + 32, blocks); ++b)
                sectors.insert((b * kind.value_bytes + member.offset) / 32);
            total += sectors.size();
        }
    }
    return total;
}

TEST(Lesson22ReduceAny, loads_twice_the_sectors_for_twice_the_bytes) {
    constexpr std::uint64_t n = 1 << 18;
    for (const Kind& kind : kinds) {
        for (const unsigned int block : {256u, 1024u}) {
            SCOPED_TRACE(kind.options + std::string(", block ") + std::to_string(block));
            const Launch counted = launch(kind, n, block);
            const std::uint64_t bytes = n * kind.element_bytes, blocks = bytes / (64 * block),
                                warps = block / 32, accesses = kind.accesses.size();
            EXPECT_EQ(counted.blocks(), blocks);
            EXPECT_EQ(counted.requests("ld"), bytes / 512 + accesses * ceil_div(blocks, 32));
            EXPECT_EQ(counted.sectors("ld"), bytes / 32 + sectors_of_partials(kind, blocks));
            EXPECT_EQ(counted.requests("st"), (blocks + 1) * accesses);
            EXPECT_EQ(counted.sectors("st"), (blocks + 1) * accesses);
            EXPECT_EQ(counted.sectors("atom"), blocks);
            const std::uint64_t wavefronts = warps == 32 ? kind.wavefronts_of_32 : accesses;
            EXPECT_EQ(counted.wavefronts("st"), (blocks + 1) * warps * accesses + blocks);
            EXPECT_EQ(counted.wavefronts("ld"), (blocks + 1) * wavefronts + blocks * warps);
            EXPECT_EQ(counted.conflicts("ld"), warps == 32 ? (blocks + 1) * kind.conflicts_of_32 : 0);
            EXPECT_EQ(counted.conflicts("st"), 0u);
        }
    }
}

// 1,003 ints from the fourth on, one block. Head: 1 int, 1 request, 1 sector. Body: 250 vectors from the
// middle of a sector on: 7 requests of 17 sectors and one of 26 x 16 = 416 bytes, 14 sectors. Tail: 2 ints, 1
// request, 1 sector. The one partial result: 1 and 1. Requests 1 + 8 + 1 + 1, sectors 1 + 119 + 14 + 1 + 1.
TEST(Lesson22ReduceAny, loads_head_and_tail_of_ints) {
    const Launch counted = launch(kinds[0], 1003, 256, 3);
    EXPECT_EQ(counted.requests("ld"), 11u);
    EXPECT_EQ(counted.sectors("ld"), 136u);
}

// 1,003 halves from the sixth on. Head: 3. Body: 125 vectors, 3 requests of 17 sectors and one of
// 29 x 16 = 464 bytes, 15 sectors. No tail. Requests 1 + 4 + 1, sectors 1 + 51 + 15 + 1.
TEST(Lesson22ReduceAny, loads_head_and_tail_of_halves) {
    const Launch counted = launch(kinds[3], 1003, 256, 5);
    EXPECT_EQ(counted.requests("ld"), 6u);
    EXPECT_EQ(counted.sectors("ld"), 68u);
}

ProgramResult run(const std::string& options) {
    return run_program("./lesson22 --device emulator --verify --n 1000 " + options);
}

TEST(Lesson22, verifies_every_type_with_every_operation_that_it_offers) {
    const std::string integers[] = {"int", "unsigned", "longlong"}, others[] = {"float", "double", "half"};
    for (const std::string operation :
         {"sum", "product", "min", "max", "argmax", "all", "any", "mean", "variance"}) {
        const bool is_logical = operation == "all" || operation == "any";
        const bool is_of_moments = operation == "mean" || operation == "variance";
        const auto expect = [&](const std::string& type, bool is_offered, const std::string& right) {
            const ProgramResult result = run("--type " + type + " --op " + operation);
            SCOPED_TRACE(type + " " + operation + result.err);
            EXPECT_EQ(result.status, is_offered ? 0 : 2);
            if (!is_offered) {
                EXPECT_THAT(result.err, HasSubstr("--type " + type + " with --op " + operation +
                                                  ": no kernel is compiled for it. Write --type " + right));
            }
        };
        for (const std::string& type : integers)
            expect(type, !is_of_moments && (!is_logical || type == "int"),
                   is_logical ? "int." : "float, double or half.");
        for (const std::string& type : others) expect(type, !is_logical, "int.");
    }
}

// With an even seed one element is the odd one out, with an odd seed none is.
TEST(Lesson22, has_data_for_both_answers) {
    EXPECT_THAT(run("--op all --seed 2").out, HasSubstr("verified, 0\n"));
    EXPECT_THAT(run("--op all --seed 3").out, HasSubstr("verified, 1\n"));
    EXPECT_THAT(run("--op any --seed 2").out, HasSubstr("verified, 1\n"));
    EXPECT_THAT(run("--op any --seed 3").out, HasSubstr("verified, 0\n"));
}

TEST(Lesson22, says_what_its_elements_and_its_result_are) {
    // The random int next to 0, turned below 0, is the largest element.
    int best = -1001, index = 0;
    for (int i = 0; i < 1024; ++i) {
        const int element = -std::abs(harness::random_int(42, static_cast<std::uint64_t>(i)));
        if (element > best) best = element, index = i;
    }
    const std::string result = std::to_string(best) + " at " + std::to_string(index);
    EXPECT_THAT(run_program("./lesson22 --device emulator --n 1024 --op argmax").out,
                AllOf(HasSubstr("1,024 random ints (4.0 KiB), seed 42, --op argmax\n"),
                      HasSubstr(" " + result + "\n")));
    EXPECT_THAT(run_program("./lesson22 --device emulator --n 1024 --type half --verify").out,
                HasSubstr("1,024 random halves (2.0 KiB), seed 42, --type half\n"));
    EXPECT_THAT(
        run("--type floot").err,
        HasSubstr("--type floot: unknown. Write one of: int, unsigned, longlong, float, double, half."));
}

TEST(Lesson22, is_clean_between_blocks_too) {
    expect_clean_between_blocks("lesson22", {"--n 1 --block 32 --op any",
                                             "--n 10007 --block 64 --type half --op argmax --offset 5",
                                             "--n 65537 --type double --op variance --offset 1",
                                             "--n 40009 --block 1024 --type float --op mean"});
}

} // namespace lesson22_counters
