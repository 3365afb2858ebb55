#include <utility>

#include "first_principles_counters.hpp"

namespace first_principles_counters {

// 2,048 ints, 1,024 threads in 32 warps.
//   blocked   stride         1    2    4    8   16   32   64  128  256  512 1024
//             lanes a warp  32   16    8    4    2    1    1    1    1    1    1
//             warps         32   32   32   32   32   32   16    8    4    2    1   sum 223
//             sectors       16   16   16    8    4    2    2    2    2    2    2   loaded by a warp, in two
//                                                                                  requests; stored: half
//     The lanes' own ints lie 2 x stride apart: 32 lanes at 8 bytes, 16 at 16, 8 at 32: 256 bytes, 8 sectors
//     and 8 for their partners. From there on each lane has a sector of its own, and one for its partner
//     (stride 4: in the same sector, and yet it is another request).
//     loaded: 32 x (16 x 3 + 8 + 4 + 2) + 2 x (16 + 8 + 4 + 2 + 1) = 1,984 + 62 = 2,046, and the result
//   strided   stride      1024  512  256  128   64   32   16    8    4    2    1
//             lanes a warp  32   32   32   32   32   32   16    8    4    2    1
//             warps         32   16    8    4    2    1    1    1    1    1    1   sum 68
//             sectors        8    8    8    8    8    8    4    2    2    2    2
//     loaded: 8 x (32 + 16 + 8 + 4 + 2 + 1) + 4 + 4 x 2 = 504 + 12 = 516, and the result
//   smem      the same first step, 64 requests of 4 sectors. In shared memory 32 stores, then 68 - 32 = 36
//             warps with two loads and a store, and the result.
// A warp splits where some of its lanes add: blocked in 5 x 32 + 16 + 8 + 4 + 2 + 1 = 191, strided and smem
// in the 5 steps below 32; and all at thread 0.
TEST(Lesson14OneBlock, has_the_counters_that_follow_from_its_access_pattern) {
    const struct {
        const char* kernel;
        std::uint64_t load_sectors, load_requests, store_sectors, store_requests;
        std::uint64_t shared_loads, shared_stores, splits;
    } cases[] = {{"blocked_reduction", 2046 + 1, 2 * 223 + 1, 1023 + 1, 223 + 1, 0, 0, 191 + 1},
                 {"strided_reduction", 516 + 1, 2 * 68 + 1, 258 + 1, 68 + 1, 0, 0, 5 + 1},
                 {"smem_reduction", 256, 64, 1, 1, 2 * 36 + 1, 32 + 36, 5 + 1}};
    for (const auto& expected : cases) {
        SCOPED_TRACE(expected.kernel);
        const Launch launch("lesson14", expected.kernel, arguments(2048, 1024));
        EXPECT_EQ(launch.blocks(), 1u);
        EXPECT_EQ(launch.sectors("ld"), expected.load_sectors);
        EXPECT_EQ(launch.requests("ld"), expected.load_requests);
        EXPECT_EQ(launch.sectors("st"), expected.store_sectors);
        EXPECT_EQ(launch.requests("st"), expected.store_requests);
        EXPECT_EQ(launch.sectors("red") + launch.sectors("atom"), 0u);
        EXPECT_EQ(launch.wavefronts("ld"), expected.shared_loads);
        EXPECT_EQ(launch.wavefronts("st"), expected.shared_stores);
        EXPECT_EQ(launch.conflicts("ld") + launch.conflicts("st"), 0u);
        EXPECT_EQ(launch.counter(splits), expected.splits);
        EXPECT_EQ(launch.counter(barriers), 11 * 1024u); // one a step
    }
}

constexpr std::pair<const char*, Tree> kernels[] = {
    {"blocked_reduction", Tree::blocked},
    {"strided_reduction", Tree::strided},
    {"smem_reduction", Tree::smem},
};

// In addition to the steps, thread 0 of the two that work in place loads the sum, and each stores the result.
TEST(Lesson14Tables, agree_with_the_counters) {
    for (const auto& [kernel, tree] : kernels) {
        SCOPED_TRACE(kernel);
        for (const auto& [n, block] : {Size{1, 32},
                                       {2, 32},
                                       {33, 32},
                                       {63, 32},
                                       {64, 32},
                                       {64, 1024},
                                       {100, 64},
                                       {500, 256},
                                       {1000, 512},
                                       {1025, 1024},
                                       {1999, 1024},
                                       {2048, 1024}}) {
            SCOPED_TRACE(arguments(n, block));
            const std::vector<Step> steps = count_steps(tree, n, block, 32);
            const Step sum = total(steps);
            const Launch launch("lesson14", kernel, arguments(n, block));
            // A barrier a step, to which every thread comes, with an element or without.
            EXPECT_EQ(launch.counter(barriers), steps.size() * block);
            EXPECT_EQ(launch.sectors("ld"), sum.loaded_sectors + (tree != Tree::smem));
            EXPECT_EQ(launch.sectors("st"), sum.stored_sectors + 1);
            if (tree == Tree::smem) { // each of its warps loads twice, and once more to store the result
                const Step first = count_step(tree, n, block, 32, block);
                EXPECT_EQ(launch.wavefronts("ld"), 2 * (sum.warps - first.warps) + 1);
            } else {
                EXPECT_EQ(launch.requests("ld"), 2 * sum.warps + 1);
                EXPECT_EQ(launch.requests("st"), sum.warps + 1);
            }
        }
    }
}

// Adds each element but the last to another one, once.
TEST(Lesson14Tables, add_every_element_once) {
    for (const auto& [kernel, tree] : kernels) {
        SCOPED_TRACE(kernel);
        if (tree == Tree::smem) continue; // it adds zeros, too
        for (const Size& size : {Size{1, 8}, {15, 8}, {16, 8}, {1999, 1024}, {2048, 1024}})
            EXPECT_EQ(total(count_steps(tree, size.n, size.block, 4)).threads, size.n - 1);
    }
}

TEST(Lesson14, shows_which_threads_add_in_each_step) {
    const std::string out = run_program("./lesson14 --device emulator").out;
    for (const char* row :
         {"       2        4      2      50.0 %               4       2   0 . 2 . | 4 . 6 .\n",
          "       4        4      1     100.0 %               2       1   0 1 2 3 | . . . .\n",
          "   total       15      7      53.6 %              14       7\n",
          "   total       15      5      75.0 %              10       5\n",
          "   total    2,047    223      28.7 %           2,046   1,023\n",
          "   total    2,047     68      94.1 %             516     258\n",
          "   total    2,047     68      94.1 %             256       0\n"})
        EXPECT_THAT(out, HasSubstr(row));
}

TEST(Lesson14, says_which_lesson_sums_more_and_which_block_is_too_small) {
    const ProgramResult many = run_program("./lesson14 --n 2049");
    EXPECT_EQ(many.status, 2);
    EXPECT_THAT(many.err, AllOf(HasSubstr("--n 2049"), HasSubstr("lesson15 sums any number.")));
    const ProgramResult small = run_program("./lesson14 --device emulator --n 1025 --block 512");
    EXPECT_EQ(small.status, 2);
    EXPECT_THAT(small.err,
                HasSubstr("lesson14: --block 512: one block of 512 threads sums 1,024 ints at most, "
                          "not 1,025. Choose a larger --block or a smaller --n.\n"));
    EXPECT_EQ(run_program("./lesson14 --device emulator --n 1024 --block 512 --verify").status, 0);
}

// A run does not leave what the next one needs: results must be zeroed again, and inputs restored.
TEST(Lesson14, prepares_every_run_anew) {
    const ProgramResult result = run_lesson("lesson14", "--n 2000 --repeat 3 --verify");
    EXPECT_EQ(result.status, 0) << result.err;
}

} // namespace first_principles_counters
