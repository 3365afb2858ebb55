// The counters of lesson 23, to the digit, as they follow from each kernel's access pattern; what the program
// prints; and that the order of the blocks changes sum_atomic alone.
//
// B threads per block, W = B / 32 warps, G blocks.
//   sum_sequential     each load is a request of one lane: n requests, n sectors
//   the trees          G = ceil(n / B). Neighboring lanes load neighboring floats: ceil(n / 32) requests,
//                      ceil(n / 8) sectors. Each warp stores its sums. In the step of stride s, ceil(s / 32)
//                      warps load two words and store one; at the end thread 0 loads its sum. A request takes
//                      one wavefront for words of 4 bytes. For words of 8 bytes it takes two, one per half
//                      warp, unless s <= 16. Block 0's partial sum and the others' are one store each.
//   sum_reproducible   G = ceil(n / 16 B), and no more than fit. Words of 8 bytes: two wavefronts per
//   request,
//                      or one if only the lanes of one half warp take part, which the last warps may do. A
//                      warp zeroes 9 words, and carries 9: as many loads. For each of its rounds it loads and
//                      stores two words. Then it loads all words once more. 9 reductions per block, one
//                      sector each.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "harness/reduction.hpp"
#include "launch.hpp"

namespace lesson23_counters {

using harness::ceil_div;
using testing::AllOf, testing::ContainsRegex, testing::HasSubstr, testing::Not;

struct Case {
    std::uint64_t n;
    std::uint64_t block;
    std::uint64_t blocks = 0; ///< --blocks; 0: not given
    const char* data = "";

    std::string arguments() const {
        return ::arguments(n, static_cast<unsigned int>(block)) +
               (blocks > 0 ? " --blocks " + std::to_string(blocks) : "") + data;
    }
    Launch launch(const char* kernel) const { return {"lesson23", kernel, arguments()}; }
    std::uint64_t grid() const {
        const std::uint64_t useful = ceil_div(n, block);
        return blocks > 0 ? std::min(useful, blocks) : useful;
    }
};

// Full blocks; a tail; one warp per block; rounds of which only some blocks have elements.
constexpr Case cases[] = {
    {1 << 17, 256, 0, " --cancel"}, {1000, 128}, {65, 32}, {10'007, 64, 7, " --cancel"}, {4099, 1024, 3}};

void expect_loads(const Launch& launch, const Case& run) {
    EXPECT_EQ(launch.requests("ld"), ceil_div(run.n, 32));
    EXPECT_EQ(launch.sectors("ld"), ceil_div(run.n, 8));
    EXPECT_EQ(launch.sectors("atom"), 0u);
    EXPECT_EQ(launch.conflicts("ld") + launch.conflicts("st"), 0u);
}

void expect_tree(const Launch& launch, const Case& run, std::uint64_t word_bytes) {
    expect_loads(launch, run);
    EXPECT_EQ(launch.blocks(), run.grid());
    const std::uint64_t warps = run.block / 32, full = word_bytes / 4;
    std::uint64_t stores = full * warps, loads = 1, steps = 0;
    for (std::uint64_t stride = run.block / 2; stride > 0; stride /= 2) {
        const std::uint64_t wavefronts = stride >= 32 ? stride / 32 * full : 1;
        stores += wavefronts, loads += 2 * wavefronts, ++steps;
    }
    EXPECT_EQ(launch.wavefronts("st"), stores * run.grid());
    EXPECT_EQ(launch.wavefronts("ld"), loads * run.grid());
    EXPECT_EQ(launch.counter("ptx__thread_inst_executed_op_bar"), steps * run.grid() * run.block);
}

TEST(Lesson23, sums_in_sequence_with_one_sector_per_float) {
    for (const Case& run : cases) {
        const Launch launch = run.launch("sum_sequential");
        EXPECT_EQ(launch.blocks(), 1u);
        EXPECT_EQ(launch.requests("ld"), run.n);
        EXPECT_EQ(launch.sectors("ld"), run.n);
        EXPECT_EQ(launch.sectors("st"), 1u);
    }
}

TEST(Lesson23, sums_in_a_tree_without_bank_conflicts) {
    for (const Case& run : cases) {
        SCOPED_TRACE(run.arguments());
        for (const auto& [kernel, bytes] :
             {std::pair("sum_tree", 4), {"sum_kahan", 8}, {"sum_in_double", 8}}) {
            SCOPED_TRACE(kernel);
            const Launch launch = run.launch(kernel);
            expect_tree(launch, run, bytes);
            EXPECT_EQ(launch.sectors("st"), run.grid());
            EXPECT_EQ(launch.sectors("red"), 0u);
        }
        const Launch launch = run.launch("sum_atomic");
        expect_tree(launch, run, 4);
        EXPECT_EQ(launch.sectors("st"), 0u);
        EXPECT_EQ(launch.sectors("red"), run.grid());
    }
}

TEST(Lesson23, sums_exactly_with_four_wavefronts_per_load_and_no_bank_conflicts) {
    for (const Case& run : cases) {
        SCOPED_TRACE(run.arguments());
        const Launch launch = run.launch("sum_reproducible");
        expect_loads(launch, run);
        // 9 words of 8 bytes per thread. A multiprocessor has 227 KiB for blocks, each of which takes 1 KiB
        // more.
        const std::uint64_t shared = run.block * 72;
        const std::uint64_t per_multiprocessor =
            std::min({std::uint64_t{32}, 2048 / run.block, 228 * 1024 / (shared + 1024)});
        const std::uint64_t grid =
            run.blocks > 0 ? run.grid() : std::min(ceil_div(run.n, 16 * run.block), 132 * per_multiprocessor);
        EXPECT_EQ(launch.blocks(), grid);
        const std::uint64_t warps = grid * run.block / 32;
        std::uint64_t rounds = 2 * (run.n / 32); // wavefronts of a request for each 32 elements in turn
        rounds += run.n % 32 == 0 ? 0 : run.n % 32 <= 16 ? 1 : 2;
        EXPECT_EQ(launch.wavefronts("st"), 2 * rounds + (9 + 9) * 2 * warps);
        EXPECT_EQ(launch.wavefronts("ld"), 2 * rounds + (9 + 9) * 2 * warps);
        EXPECT_EQ(launch.sectors("red"), 9 * grid);
        EXPECT_EQ(launch.sectors("st"), 0u);
        EXPECT_EQ(launch.counter("ptx__thread_inst_executed_op_bar"), grid * run.block);
    }
}

// A block of 512 threads. A warp's request for 128 floats is 16 sectors. Each of a lane's four floats loads and
// stores a bin of 8 bytes: two wavefronts, whichever bin it is. What else the block does is the same for both.
TEST(Lesson23, sums_into_bins_with_two_wavefronts_per_load_and_store) {
    for (const char* data : {"", " --cancel"}) {
        const Launch small{"lesson23", "exact_sum", std::string(" --n 4096") + data};
        const Launch large{"lesson23", "exact_sum", std::string(" --n 16384") + data};
        const std::uint64_t further_requests = (16'384 - 4096) / 128;
        EXPECT_EQ(large.requests("ld") - small.requests("ld"), further_requests);
        EXPECT_EQ(large.sectors("ld") - small.sectors("ld"), 16 * further_requests);
        for (const char* access : {"ld", "st"}) {
            EXPECT_EQ(large.wavefronts(access) - small.wavefronts(access), 4 * 2 * further_requests);
            EXPECT_EQ(large.conflicts(access), 0u);
        }
        EXPECT_EQ(large.sectors("red") + large.sectors("atom"), 0u); // A single block meets nobody.
    }
}

// ---- orders ----

ProgramResult in_other_orders(const std::string& kernel, const std::string& arguments) {
    return run_program("./emulate --schedules 5 ./lesson23 --verify --kernel " + kernel + " " + arguments);
}

TEST(Lesson23, gives_another_sum_by_atomics_in_another_order) {
    for (const char* arguments : {"--n 65536", "--n 65536 --cancel", "--n 1000 --block 32"}) {
        const ProgramResult result = in_other_orders("sum_atomic", arguments);
        EXPECT_EQ(result.status, 10) << result.out << result.err;
        EXPECT_THAT(result.err, AllOf(ContainsRegex("The order of seed . changes what the program does"),
                                      HasSubstr("sum_atomic: verified, "), Not(HasSubstr("WRONG"))));
    }
}

TEST(Lesson23, gives_the_same_sum_in_every_order_by_all_other_kernels) {
    for (const char* kernel : {"sum_tree", "sum_kahan", "sum_in_double", "sum_reproducible", "exact_sum"}) {
        for (const char* arguments : {"--n 65536 --cancel", "--n 1000 --block 32"}) {
            const ProgramResult result = in_other_orders(kernel, arguments);
            EXPECT_EQ(result.status, 0) << result.out << result.err;
            EXPECT_THAT(result.err, HasSubstr("The program does the same in 5 other orders"));
        }
    }
}

TEST(Lesson23, is_clean_between_blocks_too) {
    expect_clean_between_blocks("lesson23", {"--n 1 --block 32", "--n 10007 --block 64 --cancel",
                                             "--n 65537 --tiny", "--n 40009 --block 1024 --blocks 9"});
}

// ---- what it prints ----

nlohmann::json report_of(const std::string& arguments) {
    const ProgramResult result = run_program("./lesson23 --device emulator --format json " + arguments);
    EXPECT_EQ(result.status, 0) << result.err;
    return nlohmann::json::parse(result.out);
}

TEST(Lesson23, prints_sums_as_floats) {
    const nlohmann::json report = report_of("--n 1000 --seed 7 --block 128");
    EXPECT_EQ(report["elements"], 1000);
    ASSERT_EQ(report["kernels"].size(), 7u);
    const nlohmann::json& expected = report["kernels"][5]["actual"]; // sum_reproducible
    EXPECT_NEAR(expected.get<double>(), 500, 5 * 9.2) << "5 standard deviations, sqrt(1000 / 12)";
    for (const nlohmann::json& kernel : report["kernels"]) {
        EXPECT_EQ(kernel["expected"], expected);
        EXPECT_NEAR(kernel["actual"].get<double>(), expected.get<double>(), 500 * 1000 * 0x1p-24);
    }
    // What a first pass reads and leaves: 8 partial sums of 4 bytes or 8; the sum; 9 words and a flag,
    // aligned.
    const auto bytes = [&](int kernel) { return report["kernels"][kernel]["bytes"].get<int>() - 4000; };
    EXPECT_EQ((std::vector{bytes(0), bytes(1), bytes(2), bytes(3), bytes(4), bytes(5), bytes(6)}),
              (std::vector{4, 32, 4, 64, 64, 80, 4}));
}

TEST(Lesson23, prints_a_table_of_errors) {
    const ProgramResult result = run_program("./lesson23 --device emulator --n 4096 --cancel");
    EXPECT_THAT(result.out,
                ContainsRegex("\ncondition number [0-9.]+e\\+10\n +sum +error \\[ULP\\] +relative "
                              "error +its bound\nsum_sequential +[-0-9.e+]+"));
    EXPECT_THAT(result.out, HasSubstr("4,096 random floats (16.0 KiB), seed 42, --cancel\n"));
}

TEST(Lesson23, gives_the_same_reproducible_sum_for_any_block_and_grid) {
    const auto sum_of = [](const char* options) {
        return report_of(std::string("--n 50000 --cancel --kernel sum_reproducible ") +
                         options)["kernels"][0]["actual"];
    };
    const nlohmann::json sum = sum_of("");
    for (const char* options : {"--block 32", "--block 1024", "--blocks 1", "--blocks 100 --block 64"})
        EXPECT_EQ(sum_of(options), sum) << options;
}

} // namespace lesson23_counters
