// What single instructions of the machine code do to registers, and what their accesses to memory cost.

#include "listed.hpp"

#include "emulator/machine_code/listing.hpp"
#include "emulator/machine_code/spread.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace emulator {
namespace {

using machine_code::LaunchView;
using timing::WarpTrace;

/// What a block executes, of one warp if nothing else is said.
timing::BlockTrace traces_of(const std::vector<std::string>& lines, std::uint32_t threads = 32) {
    const AnyMemory memory;
    const LaunchView launch{.grid = {1, 1, 1},
                            .block = {threads, 1, 1},
                            .parameters = {},
                            .shared_bytes = 4096,
                            .memory = memory};
    return machine_code::interpret(machine_code::read_listing(listed(lines), "k"), launch, 0, 10'000).trace;
}

/// The lanes in which a register has this value in the end. R0 is the lane, R1 has 0x3c00bc00: as halves -1 and, above, 1.
int lanes_with(std::vector<std::string> lines, const std::string& reg, const std::string& value) {
    lines.insert(lines.begin(), {"S2R R0, SR_LANEID", "MOV R1, 0x3c00bc00"});
    for (const char* const last : {"@P6 NOP", "EXIT"}) lines.emplace_back(last);
    lines.insert(lines.end() - 2, "ISETP.EQ.U32.AND P6, PT, " + reg + ", " + value + ", PT");
    return traces_of(lines)[0].end()[-2].lanes;
}

bool gives(const std::vector<std::string>& lines, const std::string& value) {
    return lanes_with(lines, "R9", value) == 32;
}

TEST(Instructions, compute_with_halves) {
    EXPECT_TRUE(gives({"HADD2 R9, R1, R1"}, "0x4000c000"));              // 2, -2
    EXPECT_TRUE(gives({"HADD2 R9, R1.H1_H1, -R1.H0_H0"}, "0x40004000")); // 1 + 1
    EXPECT_TRUE(gives({"HMUL2 R9, R1, |R1|"}, "0x3c00bc00"));            // 1 * 1, -1 * 1
    EXPECT_TRUE(gives({"HFMA2 R9, R1, R1, R1"}, "0x40000000"));          // 1 + 1, 1 - 1
    EXPECT_TRUE(
        gives({"HFMA2.MMA R9, -RZ, RZ, 1.5, 2.384185791015625e-07"}, "0x3e000004")); // the upper one first
    EXPECT_TRUE(gives({"HFMA2.RELU R9, R1, 0.5, 0.5, RZ"}, "0x38000000")); // 0.5, and 0 instead of -0.5
    EXPECT_TRUE(gives({"HADD2.F32 R9, -RZ, R1.H0_H0"}, "0xbf800000"));     // -1 as a float
    EXPECT_TRUE(gives({"HMNMX2 R9, R1, RZ, PT"}, "0xbc00"));               // the least of each and 0
    EXPECT_TRUE(gives({"HMNMX2 R9, R1, RZ, !PT"}, "0x3c000000"));          // the greatest
    EXPECT_TRUE(gives({"MOV R2, 0x3fc0bf80", "HADD2.BF16_V2 R9, R2, R2"}, "0x4040c000")); // 1.5 and -1, twice
    EXPECT_TRUE(gives({"MOV R2, 0x7bff7bff", "HADD2 R9, R2, R2"}, "0x7c007c00")); // 2 * 65504 is infinite
    EXPECT_TRUE(gives({"MOV R2, 0x3ff", "HADD2 R9, R2, 5.9604644775390625e-08, 5.9604644775390625e-08"},
                      "0x10400")); // the largest subnormal and the smallest: 2^-14
}

TEST(Instructions, compare_and_convert_halves) {
    EXPECT_TRUE(
        gives({"HSETP2.GT.AND P0, P1, R1, RZ, PT", "P2R R9, PR, RZ, 0x3"}, "0x2")); // the upper one only
    EXPECT_TRUE(gives({"HSET2.LE.AND R9, R1, RZ, PT"}, "0xffff"));
    EXPECT_TRUE(gives({"HSET2.BF.GT.AND R9, R1, RZ, PT"}, "0x3c000000"));
    EXPECT_TRUE(gives({"MOV R2, 0x3f800000", "F2FP.F16.F32.PACK_AB R9, RZ, R2"}, "0x3c00"));
    EXPECT_TRUE(gives({"MOV R2, 0x3f800000", "F2FP.BF16.F32.PACK_AB R9, R2, RZ"}, "0x3f800000"));
    EXPECT_TRUE(gives({"MOV R2, 0x3f801000", "F2FP.F16.F32.PACK_AB R9, RZ, R2"},
                      "0x3c00")); // a tie goes to the even one
    EXPECT_TRUE(gives({"MOV R2, 0x3f803000", "F2FP.F16.F32.PACK_AB R9, RZ, R2"}, "0x3c02"));
}

TEST(Instructions, compute_with_floats) {
    EXPECT_TRUE(gives({"MOV R2, 0x40000000", "FADD.SAT R9, R2, R2"}, "0x3f800000")); // 4 becomes 1
    EXPECT_TRUE(gives({"MOV R2, 0x40000000", "FMUL.SAT R9, R2, -R2"}, "0x0"));
    EXPECT_TRUE(gives({"MOV R2, 0x40000000", "FMUL.D2 R9, R2, R2"}, "0x40000000"));
    EXPECT_TRUE(gives({"MOV R2, 0x40000000", "FMUL.M4 R9, R2, R2"}, "0x41800000"));
    EXPECT_TRUE(gives({"MOV R2, 0x40000000", "FSET.BF.GT.AND R9, R2, 1, PT"}, "0x3f800000"));
    EXPECT_TRUE(gives({"MOV R2, 0x40000000", "FSET.LT.AND R9, R2, 1, PT"}, "0x0"));
    // The greater one of two doubles is the first: 2 against 1. A NaN is not.
    const std::string two = "MOV R3, 0x40000000", one = "MOV R5, 0x3ff00000", none = "MOV R3, 0x7ff80000";
    EXPECT_TRUE(gives({two, one, "DSETP.MAX.AND P0, P1, R2, R4, PT", "P2R R9, PR, RZ, 0x3"}, "0x1"));
    EXPECT_TRUE(gives({two, one, "DSETP.MIN.AND P0, P1, R2, R4, PT", "P2R R9, PR, RZ, 0x3"}, "0x0"));
    EXPECT_TRUE(gives({none, one, "DSETP.MAX.AND P0, P1, R2, R4, PT", "P2R R9, PR, RZ, 0x3"}, "0x0"));
    EXPECT_TRUE(gives({none, "DSETP.MAX.AND P0, P1, R2, R2, PT", "P2R R9, PR, RZ, 0x3"}, "0x3"));
}

TEST(Instructions, compute_with_parts_of_words) {
    EXPECT_TRUE(gives({"MOV R2, 0x7f", "SGXT R9, R2, 0x7"}, "-0x1"));
    EXPECT_TRUE(gives({"MOV R2, 0xff", "SGXT.U32 R9, R2, 0x7"}, "0x7f"));
    // The bytes of 0x01ff0280 are -128, 2, -1 and 1.
    EXPECT_TRUE(gives({"MOV R2, 0x1ff0280", "MOV R3, 0x1010101", "IDP.4A.S8.S8 R9, R2, R3, RZ"}, "-0x7e"));
    EXPECT_TRUE(gives({"MOV R2, 0x1ff0280", "MOV R3, 0x1010101", "IDP.4A.U8.U8 R9, R2, R3, RZ"}, "0x182"));
    // Its halves are 640 and 511.
    EXPECT_TRUE(
        gives({"MOV R2, 0x1ff0280", "MOV R3, 0x4030201", "IDP.2A.LO.S16.S8 R9, R2, R3, RZ"}, "0x67e"));
    EXPECT_TRUE(
        gives({"MOV R2, 0x1ff0280", "MOV R3, 0x4030201", "IDP.2A.HI.S16.S8 R9, R2, R3, RZ"}, "0xf7c"));
    EXPECT_TRUE(gives({"MOV R2, 0xfffffffe", "VABSDIFF R9, R2, 0x3, 0x1"}, "0x6"));
    EXPECT_TRUE(gives({"MOV R2, 0xfffffffe", "VABSDIFF.U32 R9, R2, 0x3, RZ"}, "0xfffffffb"));
    EXPECT_TRUE(gives({"MOV R2, 0xfffffffe", "VIMNMX.RELU R9, R2, 0x3, PT"}, "0x0"));
}

/// Lanes 0 to 7 have one value, the others another. Each needs a turn.
TEST(Instructions, match_lanes) {
    const std::vector<std::string> two{"ISETP.GE.U32.AND P0, PT, R0, 0x8, PT", "SEL R2, 0x5, 0x7, P0"};
    const auto then = [&](const std::vector<std::string>& more) {
        std::vector<std::string> all = two;
        all.insert(all.end(), more.begin(), more.end());
        return all;
    };
    EXPECT_EQ(lanes_with(then({"MATCH.ANY R9, R2"}), "R9", "0xff"), 8);
    EXPECT_EQ(lanes_with(then({"MATCH.ANY R9, R2"}), "R9", "0xffffff00"), 24);
    EXPECT_EQ(lanes_with(then({"MOV R3, R0", "MATCH.ANY.U64 R9, R2"}), "R9", "0x10"),
              1); // the upper halves differ
    EXPECT_TRUE(gives(then({"MATCH.ALL P1, R9, R2"}), "0x0"));
    EXPECT_TRUE(gives({"MATCH.ALL P1, R9, R1"}, "0xffffffff"));
    EXPECT_EQ(traces_of({"S2R R0, SR_LANEID", "LOP3.LUT R2, R0, 0x3, RZ, 0xc0, !PT", "MATCH.ANY R3, R2",
                         "EXIT"})[0][2]
                  .same,
              4);
}

/// Of 64 threads, those from 40 on have the predicate: 24.
TEST(Instructions, count_threads_at_a_barrier) {
    const auto result = [](const std::string& operation, const std::string& value) {
        const timing::BlockTrace block =
            traces_of({"S2R R0, SR_TID.X", "ISETP.GE.U32.AND P0, PT, R0, 0x28, PT",
                       "BAR.RED." + operation + ".DEFER_BLOCKING 0x0, P0", "B2R.RESULT R9, P1",
                       "BAR.RED.POPC.DEFER_BLOCKING 0x0, !P0",
                       "ISETP.EQ.U32.AND P6, PT, R9, " + value + ", PT", "@P6 NOP", "EXIT"},
                      64);
        return block[0].end()[-2].lanes + block[1].end()[-2].lanes;
    };
    EXPECT_EQ(result("POPC", "0x18"), 64);
    EXPECT_EQ(result("OR", "0x1"), 64);
    EXPECT_EQ(result("AND", "0x0"), 64);
    // The next barrier counts anew: 40.
    const timing::BlockTrace block =
        traces_of({"S2R R0, SR_TID.X", "ISETP.GE.U32.AND P0, PT, R0, 0x28, PT",
                   "BAR.RED.POPC.DEFER_BLOCKING 0x0, P0", "BAR.RED.POPC.DEFER_BLOCKING 0x0, !P0",
                   "B2R.RESULT R9", "ISETP.EQ.U32.AND P6, PT, R9, 0x28, PT", "@P6 NOP", "EXIT"},
                  64);
    EXPECT_EQ(block[0].end()[-2].lanes, 32);
}

/// A function of a recursion keeps the barrier of its caller. Lane k calls it k % 4 more times, adding 1 on the way back; so
/// the lanes come back to different places.
TEST(Instructions, come_back_from_a_recursion) {
    EXPECT_EQ(lanes_with({"LOP3.LUT R5, R0, 0x3, RZ, 0xc0, !PT",
                          "MOV R9, 0x64",
                          "MOV R20, 0x60",
                          "CALL.REL.NOINC `(.F)",
                          "BRA `(.END)",
                          ".F:",
                          "IADD3 R8, R8, -0x10, RZ",
                          "STL [R8+0x4], R20",
                          "STL [R8], R2",
                          "BMOV.32.CLEAR R2, B6",
                          "ISETP.GE.AND P0, PT, R5, 0x1, PT",
                          "BSSY B6, `(.M)",
                          "@!P0 BRA `(.M)",
                          "VIADD R5, R5, 0xffffffff",
                          "MOV R20, 0x110",
                          "CALL.REL.NOINC `(.F)",
                          "VIADD R9, R9, 0x1",
                          ".M:",
                          "BSYNC B6",
                          "LDL R20, [R8+0x4]",
                          "BMOV.32 B6, R2",
                          "LDL R2, [R8]",
                          "IADD3 R8, R8, 0x10, RZ",
                          "RET.REL.NODEC R20 `(k)",
                          ".END:",
                          "NOP"},
                         "R9", "0x67"),
              8);
}

/// Constants of the module: bytes 0x2a, 0x81, 0xff, 0x01, …
TEST(Instructions, load_parts_of_constants) {
    const auto loaded = [](const std::string& load, const std::string& value) {
        const std::string listing =
            "\n.nv.constant2.k:\n/*0000*/ .byte 0x2a, 0x81, 0xff, 0x01, 0x05, 0x06, 0x07, 0x08\n\n//-----\n" +
            listed({"S2R R0, SR_LANEID", "LOP3.LUT R0, R0, 0x3, RZ, 0xc0, !PT", "UMOV UR4, 0x4", load,
                    "ISETP.EQ.U32.AND P6, PT, R9, " + value + ", PT", "@P6 NOP", "EXIT"});
        const AnyMemory memory;
        const LaunchView launch{.grid = {1, 1, 1}, .block = {32, 1, 1}, .parameters = {}, .memory = memory};
        const WarpTrace warp =
            machine_code::interpret(machine_code::read_listing(listing, "k"), launch, 0, 100).trace[0];
        return std::pair<int, int>(warp.end()[-2].lanes, warp[3].same);
    };
    using Found = std::pair<int, int>; // lanes, turns
    EXPECT_EQ(loaded("LDC.U8 R9, c[0x2][0x1]", "0x81"), Found(32, 1));
    EXPECT_EQ(loaded("LDC.S8 R9, c[0x2][0x1]", "0xffffff81"), Found(32, 1));
    EXPECT_EQ(loaded("LDC.U8 R9, c[0x2][R0]", "0xff"),
              Found(8, 4)); // the third byte, of a quarter of the lanes
    EXPECT_EQ(loaded("LDC.S16 R9, c[0x2][0x2]", "0x1ff"), Found(32, 1));
    EXPECT_EQ(loaded("LDC R9, c[0x2][UR4]", "0x8070605"), Found(32, 1));
}

/// Bytes of a lane's own memory. Lanes that use different words need a line for each.
TEST(Instructions, keep_bytes_in_local_memory) {
    EXPECT_TRUE(gives({"MOV R2, 0x12ff", "STL [R8+0x10], R1", "STL.U8 [R8+0x11], R2", "LDL R9, [R8+0x10]"},
                      "0x3c00ff00"));
    EXPECT_TRUE(gives({"STL [R8+0x10], R1", "LDL.S8 R9, [R8+0x11]"}, "-0x44"));
    EXPECT_TRUE(gives({"STL.64 [R8+0x10], R0", "LDL.LU R9, [R8+0x14]"}, "0x3c00bc00"));
    const auto step = [](const std::string& address) {
        return traces_of(
            {"S2R R0, SR_LANEID", "IMAD.SHL.U32 R2, R0, 0x4, RZ", "STL [" + address + "], R0", "EXIT"})[0][2];
    };
    EXPECT_EQ(step("R8").lines, 1);
    EXPECT_EQ(step("R8").sectors, 4);
    EXPECT_EQ(step("R8").misses, 0); // Nothing of it goes to memory.
    EXPECT_EQ(step("R2").lines, 32);
    EXPECT_EQ(step("R2").sectors, 32);
}

/// SR_SWINHI is the upper half of generic addresses of shared memory, which begins behind 1 KiB.
TEST(Instructions, know_shared_memory_by_its_generic_addresses) {
    const std::vector<std::string> address{"S2R R3, SR_SWINHI", "MOV R2, 0x400"};
    const auto then = [&](const std::vector<std::string>& more) {
        std::vector<std::string> all = address;
        all.insert(all.end(), more.begin(), more.end());
        return all;
    };
    EXPECT_TRUE(gives(then({"STS [R2], R1", "LD.E R9, desc[UR4][R2.64]"}), "0x3c00bc00"));
    EXPECT_TRUE(gives(then({"ST.E desc[UR4][R2.64], R1", "LDS R9, [R2]"}), "0x3c00bc00"));
    EXPECT_TRUE(gives(then({"QSPC.E.S P0, RZ, [R2]", "P2R R9, PR, RZ, 0x1"}), "0x1"));
    EXPECT_TRUE(gives({"MOV R3, 0x7f00", "QSPC.E.S P0, RZ, [R2]", "P2R R9, PR, RZ, 0x1"}, "0x0"));
    // 32 lanes add 1 each.
    EXPECT_TRUE(gives(
        then({"MOV R4, 0x1", "ATOM.E.ADD.STRONG.GPU P0, RZ, desc[UR4][R2.64], R4", "LDS R9, [R2]"}), "0x20"));
    const WarpTrace warp = traces_of(then({"LD.E R9, desc[UR4][R2.64]", "EXIT"}))[0];
    EXPECT_EQ(warp[2].passes, 1);
    EXPECT_EQ(warp[2].sectors, 0);
}

/// A load, of lanes that are so many bytes apart.
timing::Step load_of(const std::string& opcode, const std::string& stride) {
    return traces_of({"S2R R0, SR_LANEID", "IMAD R2, R0, " + stride + ", RZ",
                      opcode + " R4, desc[UR4][R2.64]", "EXIT"})[0][2];
}

/// As measured: a pass for each word of the same bank, one for each 128 bytes of registers, and four lines are looked up at once.
TEST(Instructions, pass_the_data_pipe_by_banks_lines_and_registers) {
    EXPECT_EQ(load_of("LDG.E", "0x4").passes, 1);
    EXPECT_EQ(load_of("LDG.E", "0xc").passes, 1); // 3 lines, whose words lie in 32 banks
    EXPECT_EQ(load_of("LDG.E", "0x8").passes, 2);
    EXPECT_EQ(load_of("LDG.E", "0x80").passes, 32); // all in one bank
    EXPECT_EQ(load_of("LDG.E", "0x84").passes, 8);  // 32 lines, whose words lie in 32 banks
    EXPECT_EQ(load_of("LDG.E", "0x84").lines, 32);
    EXPECT_EQ(load_of("LDG.E", "0x2004").passes, 8); // lines 64 apart are not all in one part of the L1
    EXPECT_EQ(load_of("LDG.E.128", "0x0").passes, 4);
    EXPECT_EQ(load_of("LDG.E.64", "0x8").passes, 2);
}

/// Words of a structure of `words` words per lane, stored one right behind the other. \returns the sectors of each store
std::vector<int> stored_together(const std::string& bytes, int words, const std::string& between = "NOP") {
    std::vector<std::string> lines{"S2R R0, SR_LANEID", "IMAD R2, R0, " + bytes + ", RZ"};
    for (int k = 0; k < words; ++k) {
        lines.push_back("STG.E desc[UR4][R2.64+" +
                        std::string(k == 0   ? "0x0"
                                    : k == 1 ? "0x4"
                                             : "0x8") +
                        "], R1");
        lines.push_back(between);
    }
    lines.emplace_back("EXIT");
    std::vector<int> sectors;
    const WarpTrace warp = traces_of(lines)[0];
    for (int k = 0; k < words; ++k) sectors.push_back(warp[static_cast<std::size_t>(2 + 2 * k)].sectors);
    return sectors;
}

/// As measured, of structures of 3, 6 and 8 words: their stores touch 3, 6 and 8 lines.
TEST(Instructions, store_parts_of_sectors_together) {
    EXPECT_EQ(stored_together("0xc", 3), (std::vector<int>{12, 0, 0}));
    EXPECT_EQ(stored_together("0x18", 3), (std::vector<int>{24, 0, 24}));
    EXPECT_EQ(stored_together("0x20", 3), (std::vector<int>{32, 32, 32}));
    EXPECT_EQ(stored_together("0xc", 3, "LDG.E R5, desc[UR4][R6.64]"), (std::vector<int>{12, 12, 12}));
}

/// 20 lanes store 80 bytes from the second word of a sector on: 28 bytes of the first, 32 of the second and 20 of the third.
TEST(Instructions, tell_which_sectors_a_store_fills) {
    const auto step = [](const std::string& lanes, const std::string& store) {
        return traces_of({"S2R R0, SR_LANEID", "ISETP.LT.U32.AND P0, PT, R0, " + lanes + ", PT",
                          "IMAD.SHL.U32 R2, R0, 0x4, RZ", store, "EXIT"})[0][3];
    };
    const timing::Step some = step("0x14", "@P0 STG.E desc[UR4][R2.64+0x4], R1");
    EXPECT_EQ(some.sectors, 3);
    EXPECT_EQ(some.partial, 2);
    EXPECT_EQ(step("0x20", "@P0 STG.E desc[UR4][R2.64], R1").partial, 0);
    EXPECT_EQ(step("0x20", "@P0 STG.E.U8 desc[UR4][R2.64], R1").partial, 4); // a byte of each word
}

TEST(Spread, tells_random_places_from_rows) {
    const auto is_scattered = [](const std::vector<std::uint64_t>& sectors) {
        std::vector<machine_code::Place> places;
        for (const std::uint64_t sector : sectors) places.push_back({sector, 7});
        machine_code::Spreads spreads;
        machine_code::add_spread(spreads, places);
        EXPECT_EQ(spreads[7].sectors, sectors.size());
        return spreads[7].is_scattered();
    };
    EXPECT_TRUE(is_scattered({50, 5, 900, 333, 71, 1200, 650})); // in no order
    EXPECT_FALSE(is_scattered({10, 110, 210, 310, 410, 510}));   // a column
    EXPECT_FALSE(is_scattered({10, 110, 211, 310, 411, 510}));   // of rows that begin within a sector
    EXPECT_FALSE(is_scattered({1, 2, 3, 4, 90, 91, 92, 93, 400, 401, 402, 403, 900, 901, 902}));
    EXPECT_TRUE(is_scattered({1, 2, 90, 91, 400, 401, 950, 951, 1400, 1401})); // 64 bytes
}

TEST(Spread, measures_the_pieces_that_blocks_store) {
    const auto pieces = [](std::initializer_list<std::uint64_t> first,
                           std::initializer_list<std::uint64_t> second) {
        const auto four_from = [](std::initializer_list<std::uint64_t> begins) {
            std::vector<machine_code::Place> places;
            for (const std::uint64_t begin : begins)
                for (std::uint64_t k = 0; k < 4; ++k) places.push_back({begin + k, 0});
            return places;
        };
        return machine_code::stored_piece_bytes(four_from(first), four_from(second));
    };
    EXPECT_EQ(pieces({0, 100, 200}, {1000, 1100, 1200}), 128); // a tile of a transposed matrix
    EXPECT_EQ(pieces({0, 100, 200}, {4, 104, 204}), 0);        // rows that go on in the next block
    EXPECT_EQ(pieces({0}, {0}), 0);                            // both store the same
    EXPECT_EQ(pieces({}, {}), 0);
    EXPECT_EQ(pieces({0, 4, 8, 12, 16, 20, 24, 28}, {1000}), 0); // 1 KiB in one piece
}

} // namespace
} // namespace emulator
