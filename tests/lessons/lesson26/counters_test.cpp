// The counters of lesson 26, to the digit, as they follow from each kernel's access pattern; and the
// contention that it prints.
//
// G blocks of B threads, W = B / 32 warps. A block has 16 x B elements or more: G = ceil(n / 16 B), and no
// more than fit: 132 multiprocessors with 32 blocks or 2,048 threads.
//   loads          neighboring lanes, neighboring ints: ceil(n / 32) requests, ceil(n / 8) sectors
//   global         an atomic request for each load request. For each sector it costs as many as there are
//                  lanes at that sector's most wanted word. A sector has 8 bins.
//   shared         256 zeros stored, 32 lanes at 32 words: 8 wavefronts per block. As many to load the counts.
//                  256 counts added to neighboring words: 8 requests of 4 sectors, 32 sectors per block.
//   private        W times as many words to zero and to load: 8 W wavefronts per block, each. The sums are
//                  256 again, 32 sectors.
//   vectors        V = n / 4 of them: ceil(V / 32) requests, ceil(V / 2) sectors. One more for the last n % 4
//                  ints. 8 x 256 words to zero and to load, one wavefront for 32 of them: 64 per block, each.
// Atomics in shared memory are neither loads nor stores: no counter has them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "harness/numbers.hpp"
#include "harness/random_input.hpp"
#include "harness/reduction.hpp"
#include "launch.hpp"

namespace lesson26_counters {

using harness::ceil_div;
using testing::HasSubstr;

struct Case {
    std::uint64_t n;
    unsigned int block;
    unsigned int skew;

    std::uint64_t blocks() const {
        const std::uint64_t resident = 132 * std::min(32u, 2048 / block);
        return std::min<std::uint64_t>(ceil_div(n, std::uint64_t{16} * block), resident);
    }
    std::string arguments() const { return ::arguments(n, block) + " --skew " + std::to_string(skew); }
    Launch launch(const char* kernel) const { return {"lesson26", kernel, arguments()}; }
};

// Full rounds; a last warp of 4 lanes; three warps, the last of one lane; a grid that is as large as the
// card.
constexpr Case cases[] = {{1 << 20, 256, 0}, {1 << 20, 256, 90}, {1 << 20, 256, 100}, {900, 128, 0},
                          {900, 128, 100},   {65, 32, 50},       {100'003, 1024, 50}, {2'200'003, 32, 90}};

/// The bin of each element, as on the page: the lowest byte of a random int, or 0 if a second draw from -1000
/// to 1000 decides so.
std::vector<unsigned int> bins_of(const Case& run) {
    std::vector<unsigned int> result(run.n);
    for (std::uint64_t i = 0; i < run.n; ++i) {
        const bool is_zero =
            static_cast<unsigned int>(harness::random_int(~std::uint64_t{42}, i) + 1000) % 100 < run.skew;
        result[i] = is_zero ? 0 : static_cast<unsigned char>(harness::random_int(42, i));
    }
    return result;
}

/// Sectors that the atomics of all requests cost: 32 elements in turn are a request.
std::uint64_t atomic_sectors(const std::vector<unsigned int>& bins) {
    std::uint64_t total = 0;
    for (std::size_t first = 0; first < bins.size(); first += 32) {
        unsigned char lanes_at_bin[256] = {}, most_in_sector[32] = {};
        for (std::size_t i = first; i < std::min(first + 32, bins.size()); ++i) {
            unsigned char& most = most_in_sector[bins[i] / 8];
            most = std::max(most, ++lanes_at_bin[bins[i]]);
        }
        for (const unsigned int most : most_in_sector) total += most;
    }
    return total;
}

void expect_common(const Launch& launch, const Case& run) {
    EXPECT_EQ(launch.blocks(), run.blocks());
    EXPECT_EQ(launch.requests("ld"), ceil_div(run.n, 32));
    EXPECT_EQ(launch.sectors("ld"), ceil_div(run.n, 8));
    EXPECT_EQ(launch.sectors("st"), 0u);
    EXPECT_EQ(launch.sectors("atom"), 0u);
    EXPECT_EQ(launch.conflicts("ld") + launch.conflicts("st"), 0u);
}

TEST(Lesson26HistogramGlobal, pays_for_each_lane_at_the_most_wanted_bin_of_a_sector) {
    for (const Case& run : cases) {
        SCOPED_TRACE(run.arguments());
        const Launch launch = run.launch("histogram_global");
        expect_common(launch, run);
        EXPECT_EQ(launch.sectors("red"), atomic_sectors(bins_of(run)));
        if (run.skew == 100) {
            EXPECT_EQ(launch.sectors("red"), run.n);
        } // every lane at one word
        EXPECT_EQ(launch.wavefronts("ld") + launch.wavefronts("st"), 0u);
    }
}

TEST(Lesson26HistogramShared, adds_256_counts_per_block_whatever_the_data) {
    for (const Case& run : cases) {
        SCOPED_TRACE(run.arguments());
        const Launch launch = run.launch("histogram_shared");
        expect_common(launch, run);
        EXPECT_EQ(launch.sectors("red"), 32 * run.blocks());
        EXPECT_EQ(launch.wavefronts("st"), 8 * run.blocks());
        EXPECT_EQ(launch.wavefronts("ld"), 8 * run.blocks());
        EXPECT_EQ(launch.counter("ptx__thread_inst_executed_op_bar"), 2 * run.blocks() * run.block);
    }
}

TEST(Lesson26HistogramPrivate, zeroes_and_loads_256_counts_per_warp) {
    for (const Case& run : cases) {
        SCOPED_TRACE(run.arguments());
        const Launch launch = run.launch("histogram_private");
        const std::uint64_t warps = run.blocks() * run.block / 32;
        expect_common(launch, run);
        EXPECT_EQ(launch.sectors("red"), 32 * run.blocks());
        EXPECT_EQ(launch.wavefronts("st"), 8 * warps);
        EXPECT_EQ(launch.wavefronts("ld"), 8 * warps);
        EXPECT_EQ(launch.counter("ptx__thread_inst_executed_op_bar"), 2 * run.blocks() * run.block);
    }
}

TEST(Lesson26HistogramVectors, loads_four_ints_at_a_time_and_has_eight_counts_per_bin) {
    for (const Case& run : cases) {
        SCOPED_TRACE(run.arguments());
        const Launch launch = run.launch("histogram_vectors");
        const std::uint64_t vectors = run.n / 4, last = run.n % 4 > 0 ? 1 : 0;
        // Counts of 8 KiB and the system's 1 KiB: of 228 KiB, 25 blocks have theirs.
        const std::uint64_t blocks = std::min<std::uint64_t>(run.blocks(), 132 * 25);
        EXPECT_EQ(launch.blocks(), blocks);
        EXPECT_EQ(launch.requests("ld"), ceil_div(vectors, 32) + last);
        EXPECT_EQ(launch.sectors("ld"), ceil_div(vectors, 2) + last);
        EXPECT_EQ(launch.sectors("red"), 32 * blocks);
        EXPECT_EQ(launch.wavefronts("st"), 64 * blocks);
        EXPECT_EQ(launch.wavefronts("ld"), 64 * blocks);
        EXPECT_EQ(launch.conflicts("ld") + launch.conflicts("st"), 0u);
        EXPECT_EQ(launch.counter("ptx__thread_inst_executed_op_bar"), 2 * blocks * run.block);
    }
}

/// The most elements that one group of neighboring threads has in one bin. Element i belongs to thread
/// i % (G B) of the grid.
std::uint64_t busiest(const Case& run, std::uint64_t threads) {
    std::map<std::pair<std::uint64_t, unsigned int>, std::uint64_t> additions;
    const std::vector<unsigned int> bins = bins_of(run);
    std::uint64_t most = 0;
    for (std::uint64_t i = 0; i < run.n; ++i)
        most = std::max(most, ++additions[{i % (run.blocks() * run.block) / threads, bins[i]}]);
    return most;
}

std::string line(const char* memory, std::uint64_t additions) {
    const std::string number = harness::group_digits(additions);
    return std::string("  additions to the busiest word in ") + memory + " memory " +
           std::string(13 - number.size(), ' ') + number + "\n";
}

/// The most elements that the threads of a block that lie eight apart have in one bin. Thread t has vectors
/// t, t + G B, …
std::uint64_t busiest_of_eight(const Case& run) {
    std::map<std::pair<std::uint64_t, unsigned int>, std::uint64_t> additions;
    const std::vector<unsigned int> bins = bins_of(run);
    const std::uint64_t in_vectors = run.n / 4 * 4;
    std::uint64_t most = 0;
    for (std::uint64_t i = 0; i < run.n; ++i) {
        const std::uint64_t thread = i < in_vectors ? i / 4 % (run.blocks() * run.block) : i - in_vectors;
        most = std::max(most, ++additions[{thread / run.block * 8 + thread % 8, bins[i]}]);
    }
    return most;
}

void expect_contention(const Case& run, std::uint64_t grid, std::uint64_t block, std::uint64_t warp,
                       std::uint64_t eighth) {
    SCOPED_TRACE(run.arguments());
    const ProgramResult result = run_program("./lesson26 --device emulator" + run.arguments());
    EXPECT_EQ(result.status, 0) << result.err;
    const std::string merged = line("global", run.blocks());
    EXPECT_THAT(result.out, HasSubstr("contention in histogram_global\n" + line("global", grid)));
    EXPECT_THAT(result.out, HasSubstr("contention in histogram_shared\n" + line("shared", block) + merged));
    EXPECT_THAT(result.out, HasSubstr("contention in histogram_private\n" + line("shared", warp) + merged));
    EXPECT_THAT(result.out, HasSubstr("contention in histogram_vectors\n" + line("shared", eighth) + merged));
}

TEST(Lesson26Contention, is_the_additions_to_the_busiest_word) {
    for (const Case& run : {Case{4099, 64, 0}, Case{4099, 64, 90}, Case{10'007, 256, 50}})
        expect_contention(run, busiest(run, run.blocks() * run.block), busiest(run, run.block),
                          busiest(run, 32), busiest_of_eight(run));
}

// All elements in one bin. 1,000,000 / (16 x 256) makes 245 blocks, 62,720 threads: 15 elements for each, and
// a 16th for the first 59,200. The first block has 16 x 256 = 4,096 of them, its first warp 16 x 32 = 512.
// 250,000 vectors are 3 for each thread and a 4th for the first 61,840: 16 elements for an eighth of the
// first block.
TEST(Lesson26Contention, is_the_share_of_a_group_if_all_elements_are_equal) {
    expect_contention({1'000'000, 256, 100}, 1'000'000, 4096, 512, 16 * 256 / 8);
}

TEST(Lesson26, rejects_a_skew_of_more_than_all) {
    const ProgramResult result = run_program("./lesson26 --device emulator --skew 101");
    EXPECT_EQ(result.status, 2);
    EXPECT_THAT(result.err, HasSubstr("--skew"));
}

TEST(Lesson26, is_clean_between_blocks_too) {
    expect_clean_between_blocks("lesson26", {"--n 1 --block 32", "--n 10007 --block 64 --skew 90",
                                             "--n 65537 --skew 50", "--n 40009 --block 1024 --skew 100"});
}

} // namespace lesson26_counters
