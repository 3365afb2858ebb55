// The counters of reduce10 and reduce11, and lesson28 as a user runs it.
//
// The input's parts: the body starts at an address that 128 divides, so h = (32 - K mod 32) mod 32 ints are
// the head where the input starts K ints past such an address, or n if that is less. v = (n - h) / 4 vectors
// are the body, and t = (n - h) mod 4 ints the tail.
//
// Global memory: warps load head and tail alone, a request each, by block 0.
//   4,194,304 ints   K = 0    h = 0    t = 0                                           0 requests    0
//   sectors
//                    K = 1    h = 31, bytes 4 to 128 of a line: 4 sectors.   t = 1     2             5
//                    K = 8    h = 24, bytes 32 to 128: 3 sectors.            t = 0     1             3
//   5 ints           K = 30   h = 2, bytes 120 to 128: 1 sector.             t = 3     2             2
//   1,000 ints       K = 3    h = 29, bytes 12 to 128: 4 sectors.            t = 3     2             5
// Each block stores one partial sum: a request of one sector.
//
// reduce10: a warp copies up to 32 vectors with one instruction, so the body takes ceil(v / 32). Each counts
// as a request of global loads as well, with its sectors: the body begins at a line, so that it fills ceil(16
// v / 32) of 32 bytes. k lanes take ceil(k / 8) wavefronts of 128 bytes, as in shared loads.
//
// reduce11: an instruction for each tile, which has the stage's bytes or less, and the body's sectors.
// Neither counts as a load.
//   4,194,304 ints   K = 0    16 v = 16,777,216    512 tiles of 32 KiB, 256 of 64 KiB, 4,096 of 4 KiB
//                    K = 1    16 v = 16,777,088    2,048 of 8 KiB (2,047.98)
//                    K = 8    16 v = 16,777,120    2,048 of 8 KiB (2,047.99)
//   1,000 ints       K = 3    16 v = 3,872         1 of 4 KiB, 4 of 1 KiB (3.8)
//
// Shared memory: a warp's request reads up to 32 vectors of 16 bytes. 8 lanes fill a wavefront of 128 bytes,
// so k lanes take ceil(k / 8). Each warp of the block's B / 32 stores its sum, and the first warp loads
// these: W = B / 32 store wavefronts and 1 load wavefront per block. All tiles but the input's last are whole
// warps' requests.
//   4,194,304 ints   K = 0    v = 1,048,576 = 32,768 x 32                     32,768 x 4       = 131,072
//                    K = 1    v = 1,048,568 = 32,767 x 32 + 24                32,767 x 4 + 3   = 131,071
//                    K = 8    v = 1,048,570 = 32,767 x 32 + 26                32,767 x 4 + 4   = 131,072
//   5 ints           K = 30   v = 0                                           0
//   1,000 ints       K = 3    v = 242 = 7 x 32 + 18                           7 x 4 + 3        = 31
//
// Grid: blocks per multiprocessor x 132, and no more than there are tiles of the stage's bytes in n ints:
//   1,000 ints are 4,000 bytes: 1 tile of 4 KiB, 4 of 1 KiB (3.9)
#include <gmock/gmock.h>

#include <string>

#include "launch.hpp"
#include "test_device.hpp"

using testing::AllOf, testing::HasSubstr;

namespace lesson28_counters {

struct RingCase {
    const char* what;
    std::uint64_t n;
    unsigned int block, offset;
    const char* ring; // options
    std::uint64_t blocks, requests, sectors, vectors, body_wavefronts, tiles;
};

constexpr std::uint64_t four_mega = 4 << 20;

constexpr RingCase ring_cases[] = {
    {"default", four_mega, 256, 0, "", 132, 0, 0, 1'048'576, 131'072, 512},
    {"block_64", four_mega, 64, 0, "", 132, 0, 0, 1'048'576, 131'072, 512},
    {"block_1024_of_64_KiB", four_mega, 1024, 0, "--stages 3 --kib-per-stage 64", 132, 0, 0, 1'048'576,
     131'072, 256},
    {"small_ring", four_mega, 256, 0, "--stages 2 --kib-per-stage 4", 132, 0, 0, 1'048'576, 131'072, 4096},
    {"four_blocks_each", four_mega, 256, 0, "--stages 2 --kib-per-stage 4 --blocks-per-sm 4", 528, 0, 0,
     1'048'576, 131'072, 4096},
    {"offset_1", four_mega, 256, 1, "--kib-per-stage 8", 132, 2, 5, 1'048'568, 131'071, 2048},
    {"offset_8", four_mega, 256, 8, "--kib-per-stage 8", 132, 1, 3, 1'048'570, 131'072, 2048},
    {"no_body", 5, 128, 30, "--kib-per-stage 2", 1, 2, 2, 0, 0, 0},
    {"short", 1000, 256, 3, "--kib-per-stage 4", 1, 2, 5, 242, 31, 1},
    {"short_stages", 1000, 64, 3, "--kib-per-stage 1", 4, 2, 5, 242, 31, 4},
};

void expect_counters(const std::string& kernel, const RingCase& expected) {
    SCOPED_TRACE(kernel + ", " + expected.what);
    const Launch launch("lesson28", kernel,
                        arguments(expected.n, expected.block, expected.offset) + " " + expected.ring);
    EXPECT_EQ(launch.blocks(), expected.blocks);
    const bool copies_by_warps = kernel == "reduce10";
    const std::uint64_t instructions = (expected.vectors + 31) / 32, sectors = (expected.vectors + 1) / 2;
    EXPECT_EQ(launch.requests("ld"), expected.requests + (copies_by_warps ? instructions : 0));
    EXPECT_EQ(launch.sectors("ld"), expected.sectors + (copies_by_warps ? sectors : 0));
    EXPECT_EQ(launch.counter("smsp__inst_executed_op_ldgsts"), copies_by_warps ? instructions : 0);
    EXPECT_EQ(launch.counter("smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldgsts"),
              copies_by_warps ? expected.body_wavefronts : 0);
    EXPECT_EQ(launch.counter("smsp__inst_executed_op_tma_ld"), copies_by_warps ? 0 : expected.tiles);
    EXPECT_EQ(launch.counter("l1tex__m_xbar2l1tex_read_sectors_mem_global_op_tma_ld"),
              copies_by_warps ? 0 : sectors);
    EXPECT_EQ(launch.requests("st"), expected.blocks);
    EXPECT_EQ(launch.sectors("st"), expected.blocks);
    EXPECT_EQ(launch.wavefronts("ld"), expected.body_wavefronts + expected.blocks);
    EXPECT_EQ(launch.wavefronts("st"), expected.blocks * expected.block / 32);
    for (const char* operation : {"ld", "st"}) EXPECT_EQ(launch.conflicts(operation), 0u);
    for (const char* operation : {"atom", "red"}) EXPECT_EQ(launch.sectors(operation), 0u);
}

TEST(Lesson28RingOnEmulator, has_the_counters_that_follow_from_its_access_pattern) {
    for (const char* kernel : {"reduce10", "reduce11"})
        for (const RingCase& expected : ring_cases) expect_counters(kernel, expected);
}

// Divergent branches of reduce11 with blocks of 256 threads: lane == 0 in 8 warps; in the first warp, its
// lanes below 8, thread 0 at the start and at the end: 11 per block. Thread 0 starts each later copy: 4,096
// tiles of 4 KiB less the first 132 x 2.
TEST(Lesson28OnEmulator, counts_a_divergent_branch_for_each_later_copy) {
    const auto divergent = [](const std::string& kernel) {
        return Launch("lesson28", kernel, " --stages 2 --kib-per-stage 4")
            .counter("smsp__sass_branch_targets_threads_divergent");
    };
    EXPECT_EQ(divergent("reduce10"), 132u * 10);
    EXPECT_EQ(divergent("reduce11"), 132u * 11 + 4096 - 132 * 2);
}

TEST(Lesson28, takes_rings_of_every_size) {
    for (const char* ring :
         {"--stages 2", "--stages 3 --kib-per-stage 64", "--stages 6 --kib-per-stage 8",
          "--stages 8 --kib-per-stage 12 --blocks-per-sm 2", "--block 32 --kib-per-stage 1",
          "--block 1024 --kib-per-stage 16 --blocks-per-sm 2 --offset 1",
          // 48 KiB and what is static: more than a block has unasked
          "--block 512 --stages 6 --kib-per-stage 8"}) {
        const ProgramResult result =
            run_program("./lesson28 --device emulator --n 70001 --verify " + std::string(ring));
        EXPECT_EQ(result.status, 0) << ring << '\n' << result.err;
        EXPECT_THAT(result.out, AllOf(HasSubstr("reduce10: verified"), HasSubstr("reduce11: verified")))
            << ring;
    }
    EXPECT_THAT(run_program("./lesson28 --help").out,
                AllOf(HasSubstr("--stages S"), HasSubstr("--kib-per-stage K"), HasSubstr("--blocks-per-sm B"),
                      HasSubstr("--offset K")));
}

TEST(Lesson28, says_what_is_wrong_with_a_ring) {
    const auto expect_error = [](const std::string& ring, int status, const std::string& message) {
        const ProgramResult result = run_program("./lesson28 --device emulator --n 1000 " + ring);
        EXPECT_EQ(result.status, status) << ring;
        EXPECT_EQ(result.out, "") << ring;
        EXPECT_THAT(result.err, HasSubstr(message)) << ring;
    };
    expect_error("--stages 1", 2, "--stages 1: too small. Write a whole number from 2 to 8.");
    expect_error("--stages 9", 2, "--stages 9: too large.");
    for (const char* stages : {"5", "7"})
        expect_error(std::string("--stages ") + stages, 2,
                     "--stages: no reduce10 is compiled for it. Write 2, 3, 4, 6 or 8.");
    expect_error("--kib-per-stage 0", 2, "--kib-per-stage 0: too small.");
    expect_error(
        "--kib-per-stage 3", 2,
        "--kib-per-stage 3 --block 256: a stage needs a multiple of 16 bytes per thread, here of 4 KiB.");
    // 2 x 128 KiB are more than the 227 KiB of a multiprocessor.
    expect_error("--blocks-per-sm 2", 2,
                 "--blocks-per-sm 2: so many blocks do not fit, with 128 KiB of shared memory each.");
    // 4 x 64 KiB are 262,144 bytes. 8 sums of 4 bytes are static, rounded up to the ring's alignment of 128.
    expect_error("--kib-per-stage 64 --kernel reduce10", 3,
                 "a block would need 262272 bytes of shared memory, and this device has 232448 for a block");
    // reduce11 has 32 mbarriers of 8 bytes as well: 32 x 8 + 32 = 288, rounded up to 384.
    expect_error("--kib-per-stage 64 --kernel reduce11", 3,
                 "a block would need 262528 bytes of shared memory");
}

} // namespace lesson28_counters
