// The ladder's kernels in machine code, ladder.sass: `ptxas --verbose -arch=sm_90` of CUDA 13.0.88 and `nvdisasm --print-code
// --print-instruction-encoding` of 13.2.51, for blocks of 256, without the NOPs that pad each kernel. What they execute is
// compared with what an H200 counted, and estimates with their record.

#include "listed.hpp"

#include "emulator/machine_code/listing.hpp"
#include "emulator/machine_code/sampling.hpp"
#include "emulator/timing/estimate.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace emulator {
namespace {

using machine_code::LaunchView;

const std::string folder = EMULATOR_TESTS;

std::string text_of(const std::string& file) {
    std::ifstream stream(file);
    EXPECT_TRUE(stream) << file;
    return {std::istreambuf_iterator<char>(stream), {}};
}

struct LadderKernel {
    const char* name;
    const char* mangled;
    std::uint64_t elements_per_block; ///< 0: as many blocks as the card holds at once
};

constexpr LadderKernel ladder[] = {
    {"reduce0", "_Z7reduce0PKiPim", 256},          {"reduce0a", "_Z8reduce0aPKiPim", 256},
    {"reduce1", "_Z7reduce1PKiPim", 256},          {"reduce2", "_Z7reduce2PKiPim", 256},
    {"reduce3", "_Z7reduce3PKiPim", 512},          {"reduce4", "_Z7reduce4PKiPim", 512},
    {"reduce5", "_Z7reduce5ILj256EEvPKiPim", 512}, {"reduce6", "_Z7reduce6ILj256EEvPKiPim", 0},
    {"reduce7", "_Z7reduce7ILj256EEvPKiPim", 0},   {"reduce8", "_Z7reduce8ILj256EEvPKiPim", 0}};

/// As nvdisasm prints it: the upper half of an instruction's encoding, at the end of its line in the file, has a line
/// of its own.
std::string ladder_listing() {
    std::string listing = text_of(folder + "/machine_code/ladder.sass");
    const std::string between = "*/ /*";
    for (auto place = listing.find(between); place != std::string::npos; place = listing.find(between, place))
        listing[place + 2] = '\n';
    return listing;
}

timing::Work interpret(const LadderKernel& kernel, std::uint64_t elements, std::uint32_t threads = 256,
                       const std::string& card = "h200",
                       machine_code::Deadline deadline = machine_code::Deadline::max()) {
    static const std::string listing = ladder_listing();
    const machine_code::Code code = machine_code::read_listing(listing, kernel.mangled);
    const std::uint64_t parameters[] = {0x7F00'0000'0000, 0x7E00'0000'0000, elements};
    const std::uint64_t per_block = kernel.elements_per_block * threads / 256;
    const std::uint64_t blocks = per_block == 0 ? 8 * 132 : elements / per_block;
    const AnyMemory memory;
    const LaunchView launch{.grid = {static_cast<std::uint32_t>(blocks), 1, 1},
                            .block = {threads, 1, 1},
                            .parameters = std::as_bytes(std::span(parameters)),
                            .shared_bytes = 4 * threads,
                            .memory = memory};
    return machine_code::sample(code, launch, timing::find_card(card), deadline);
}

/// For 2^25 elements, as in the records. Interpreted once: it takes tenths of a second.
const timing::Work& work_of(const LadderKernel& kernel) {
    static std::map<std::string, timing::Work> works;
    const auto found = works.find(kernel.name);
    return found != works.end() ? found->second : works[kernel.name] = interpret(kernel, 1 << 25);
}

const timing::Estimate& estimate_of(const LadderKernel& kernel) {
    static std::map<std::string, timing::Estimate> estimates;
    const auto found = estimates.find(kernel.name);
    return found != estimates.end()
               ? found->second
               : estimates[kernel.name] = timing::estimate(work_of(kernel), timing::find_card("h200"));
}

/// The rows of a record by a name: for each, its values by column.
std::map<std::string, std::map<std::string, std::string>> record(const std::string& file,
                                                                 const std::string& program,
                                                                 const std::string& arguments,
                                                                 const std::string& card = "nvidia-h200") {
    std::istringstream lines(text_of(folder + "/../../docs/data/" + card + "/" + file));
    const auto split = [](const std::string& line) {
        std::vector<std::string> fields;
        std::istringstream words(line);
        for (std::string word; std::getline(words, word, ',');) fields.push_back(word);
        return fields;
    };
    std::vector<std::string> head;
    std::map<std::string, std::map<std::string, std::string>> rows;
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with("#")) continue;
        const auto fields = split(line);
        if (head.empty()) {
            head = fields;
            continue;
        }
        std::map<std::string, std::string> row;
        for (std::size_t k = 0; k < fields.size(); ++k) row[head[k]] = fields[k];
        if (row["program"] == program && row["arguments"] == arguments) rows[row["kernel"]] = row;
    }
    return rows;
}

TEST(MachineCode, executes_what_a_card_counted) {
    auto counted = record("clock_ncu.csv", "ladder", "--n 2^25 --block 256");
    for (const LadderKernel& kernel : ladder) {
        const timing::Totals totals = timing::totals_of(work_of(kernel), timing::find_card("h200"));
        EXPECT_EQ(totals.instructions, std::stoull(counted[kernel.name]["smsp__inst_executed.sum"]))
            << kernel.name;
    }
}

/// Passes without an active lane too. A card adds some that it calls conflicts, so those are left out on both sides.
TEST(MachineCode, passes_the_data_pipe_as_often_as_a_card) {
    auto counted = record("clock_ncu.csv", "ladder", "--n 2^25 --block 256");
    for (const LadderKernel& kernel : ladder) {
        const timing::Totals totals = timing::totals_of(work_of(kernel), timing::find_card("h200"));
        const auto column = [&](const char* name) { return std::stod(counted[kernel.name][name]); };
        const double passes = column("l1tex__data_pipe_lsu_wavefronts_mem_shared.sum") -
                              column("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum") -
                              column("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum");
        const double estimated =
            static_cast<double>(totals.passes - totals.conflicts) + estimate_of(kernel).more_passes;
        EXPECT_NEAR(estimated / passes, 1, 0.002) << kernel.name;
    }
}

/// Compares estimates with a card's record; the tolerance is for exp and log of other C libraries. Only the first six kernels
/// take blocks of any size: those of the others are in their machine code.
void expect_recorded(const std::string& card, const std::string& folder_of_card, int exponent,
                     std::uint32_t threads) {
    auto recorded =
        record("clock.csv", "ladder",
               "--n 2^" + std::to_string(exponent) + " --block " + std::to_string(threads), folder_of_card);
    for (const LadderKernel& kernel : ladder) {
        if (threads != 256 && std::string(kernel.mangled).find("ILj256E") != std::string::npos) continue;
        const timing::Work work = interpret(kernel, 1ULL << exponent, threads, card);
        const timing::Estimate estimate = timing::estimate(work, timing::find_card(card));
        auto row = recorded[kernel.name];
        ASSERT_FALSE(row.empty()) << kernel.name;
        const std::string where =
            card + " " + kernel.name + " " + std::to_string(exponent) + " " + std::to_string(threads);
        EXPECT_NEAR(estimate.time_us / std::stod(row["estimated_us"]), 1, 1e-4) << where;
        EXPECT_EQ(estimate.waits.front().first, row["first_wait"]) << where;
        for (const auto& [floor, time] : estimate.floors_us)
            EXPECT_NEAR(time, std::stod(row["floor_" + floor + "_us"]), 1e-5 * time) << where << " " << floor;
    }
}

TEST(Clock, estimates_what_is_recorded) {
    for (const std::uint32_t threads : {64, 256, 1024}) expect_recorded("h200", "nvidia-h200", 25, threads);
    expect_recorded("h200", "nvidia-h200", 28, 256);
    expect_recorded("h100", "nvidia-h100-80gb-hbm3", 28, 256);
}

TEST(Clock, has_the_error_that_was_found_for_such_kernels) {
    auto recorded = record("clock.csv", "ladder", "--n 2^25 --block 256");
    const timing::Card& card = timing::find_card("h200");
    for (const LadderKernel& kernel : ladder) {
        EXPECT_EQ(timing::kind_of(work_of(kernel)), "reductions") << kernel.name;
        EXPECT_LE(std::abs(std::stod(recorded[kernel.name]["error_percent"])),
                  card.error_of("reductions")->most + 0.05)
            << kernel.name;
    }
    EXPECT_EQ(card.error_of("kernels of no kind"), nullptr);
}

/// What a launch can't go below is below what it takes.
TEST(Clock, has_no_floor_above_its_estimate) {
    for (const LadderKernel& kernel : ladder) {
        const timing::Estimate& estimate = estimate_of(kernel);
        for (const auto& [name, time] : estimate.floors_us)
            EXPECT_LT(time, estimate.time_us) << kernel.name << " " << name;
        double shares = 0;
        for (const auto& [name, share] : estimate.waits) shares += share;
        EXPECT_NEAR(shares, 1, 1e-9) << kernel.name;
    }
}

/// Pass 3 of 16 lanes each: a made-up kernel whose lanes part and meet again.
TEST(MachineCode, lets_lanes_part_and_meet) {
    const std::string listing =
        "Compiling entry function 'k'\nUsed 8 registers\n\n.text.k:\n"
        "/*0000*/ S2R R0, SR_TID.X ; /* 0x0 */\n/* 0x000e2e0000002100 */\n"
        "/*0010*/ ISETP.GE.U32.AND P0, PT, R0, 0x10, PT ; /* 0x0 */\n/* 0x000fe20000000800 */\n"
        "/*0020*/ BSSY B0, `(.L_2) ; /* 0x0 */\n/* 0x000fe20000000800 */\n"
        "/*0030*/ @P0 BRA `(.L_1) ; /* 0x0 */\n/* 0x000fe20000000800 */\n"
        "/*0040*/ BRA `(.L_2) ; /* 0x0 */\n/* 0x000fe20000000800 */\n"
        ".L_1:\n"
        "/*0050*/ VIADD R0, R0, 0x1 ; /* 0x0 */\n/* 0x000fe20000000800 */\n"
        ".L_2:\n"
        "/*0060*/ BSYNC B0 ; /* 0x0 */\n/* 0x000fe20000000800 */\n"
        "/*0070*/ EXIT ; /* 0x0 */\n/* 0x000fe20000000800 */\n";
    const machine_code::Code code = machine_code::read_listing(listing, "k");
    EXPECT_EQ(code.registers, 8U);
    // 0x000e2e...: bits 41 to 44 are the stall, 7; then a yield bit, scoreboards 1 to write and none to read.
    EXPECT_EQ(code.instructions[0].control.stall, 7);
    EXPECT_EQ(code.instructions[0].control.write_scoreboard, 0);
    const AnyMemory memory;
    const LaunchView launch{.grid = {1, 1, 1}, .block = {32, 1, 1}, .parameters = {}, .memory = memory};
    const auto block = machine_code::interpret(code, launch, 0, 100);
    ASSERT_EQ(block.trace.size(), 1U);
    std::vector<std::pair<std::uint32_t, int>> executed;
    for (const timing::Step& step : block.trace[0]) executed.emplace_back(step.instruction, step.lanes);
    // All 32 come to the branch; 16 go on and wait at BSYNC; the other 16 add and meet them there.
    EXPECT_EQ(executed,
              (std::vector<std::pair<std::uint32_t, int>>{
                  {0, 32}, {1, 32}, {2, 32}, {3, 16}, {4, 16}, {6, 16}, {5, 16}, {6, 16}, {7, 32}}));
}

/// Bank 2 holds the compiler's own, 3 what is `__constant__`, 4 the addresses of variables.
TEST(MachineCode, reads_constants_and_variables_of_the_module) {
    const auto line = [](const std::string& instruction) {
        return "/*0000*/ " + instruction + " ; /* 0x0 */\n/* 0x000fe20000000000 */\n";
    };
    const std::string listing =
        "\n.nv.constant4:\n/*0000*/ .dword counter\n/*0008*/ .dword table\n\n//-----\n"
        "\n.nv.constant3:\nfirst:\n.zero 8\nk:\n.zero 64\n.L_1:\n\n//-----\n"
        "\n.nv.constant2.k:\n/*0000*/ .byte 0x2a, 0x01, 0x00, 0x00\n\n//-----\n"
        "\n.text.k:\n" +
        line("LDC.64 R2, c[0x4][0x8]") + line("LDC R0, c[0x3][0xc]") + line("LDC R1, c[0x2][0x0]") +
        line("LDG.E R4, desc[UR4][R2.64]") + line("EXIT");
    const machine_code::Code code = machine_code::read_listing(listing, "k");
    const AnyMemory memory;
    std::vector<std::string> asked;
    const LaunchView launch{.grid = {1, 1, 1},
                            .block = {1, 1, 1},
                            .parameters = {},
                            .memory = memory,
                            .address_of = [&](const std::string& variable) {
                                asked.push_back(variable);
                                return 0x1000;
                            }};
    machine_code::BlockState block(launch, code.constants, 0);
    EXPECT_EQ(block.constant(2, 0), 0x12AU);
    EXPECT_EQ(block.constant(3, 12), block.load_global(0x1004, 4)); // the second word of k, which begins at 8
    EXPECT_EQ(block.constant(4, 8), 0x1000U);
    EXPECT_EQ(asked, (std::vector<std::string>{"k", "table"}));
    EXPECT_EQ(machine_code::interpret(code, launch, 0, 100).trace[0].size(), 5U);
}

/// Lanes 0 and 1 jump to 0x50, the others to 0x60.
TEST(MachineCode, jumps_where_a_register_says) {
    std::string listing = "\n.text.k:\n";
    for (const char* const instruction : {"S2R R0, SR_LANEID", "ISETP.GE.U32.AND P0, PT, R0, 0x2, PT",
                                          "SEL R2, 0x60, 0x50, P0", "BRX R2 -0x40", "EXIT", "EXIT", "EXIT"})
        listing += "/*0000*/ " + std::string(instruction) + " ; /* 0x0 */\n/* 0x000fe20000000000 */\n";
    const machine_code::Code code = machine_code::read_listing(listing, "k");
    const AnyMemory memory;
    const LaunchView launch{.grid = {1, 1, 1}, .block = {32, 1, 1}, .parameters = {}, .memory = memory};
    const auto block = machine_code::interpret(code, launch, 0, 100);
    std::vector<std::pair<std::uint32_t, int>> executed;
    for (const timing::Step& step : block.trace[0]) executed.emplace_back(step.instruction, step.lanes);
    // BRX adds the place behind it, 0x40, and the listing shows that it is taken off again.
    EXPECT_EQ(executed, (std::vector<std::pair<std::uint32_t, int>>{
                            {0, 32}, {1, 32}, {2, 32}, {3, 32}, {5, 2}, {3, 30}, {6, 30}}));
}

TEST(MachineCode, names_what_it_does_not_understand) {
    const std::string listing =
        "\n.text.k:\n/*0000*/ FROB.WIDE R0, R1 ; /* 0x0 */\n/* 0x000e2e0000002100 */\n";
    const machine_code::Code code = machine_code::read_listing(listing, "k");
    const AnyMemory memory;
    const LaunchView launch{.grid = {1, 1, 1}, .block = {32, 1, 1}, .parameters = {}, .memory = memory};
    try {
        machine_code::interpret(code, launch, 0, 100);
        FAIL() << "it was understood";
    } catch (const machine_code::NotUnderstood& error) {
        EXPECT_STREQ(error.what(), "the model does not know the instruction FROB.WIDE");
    }
}

TEST(MachineCode, has_the_lines_of_the_ptx_that_it_is_made_of) {
    const std::string line = "\t//## File \".nv_debug_ptx_txt\", line ";
    const std::string instruction = "/*0000*/ NOP ; /* 0x0 */\n/* 0x000fe20000000000 */\n";
    const std::string listing = "\n.text.k:\n" + line + "12\n" + instruction + line + "9\n" + instruction +
                                ".L_x_0:\n" + instruction + "$__internal_0_$__cuda_sm20_div_u64:\n" +
                                instruction;
    const machine_code::Code code = machine_code::read_listing(listing, "k");
    std::vector<std::uint32_t> lines;
    for (const machine_code::Instruction& one : code.instructions)
        lines.push_back(machine_code::timing_of(one).line);
    // A label of a loop changes nothing. What ptxas adds has no line.
    EXPECT_EQ(lines, (std::vector<std::uint32_t>{12, 9, 9, 0}));
}

/// An immediate in hexadecimal is the upper half of a double.
TEST(MachineCode, reads_doubles_in_hexadecimal) {
    const machine_code::Code code = machine_code::read_listing(
        listed({"DADD R2, RZ, 0x3ff80000", "DSETP.EQ.AND P0, PT, R2, 1.5, PT", "@P0 EXIT", "EXIT"}), "k");
    const AnyMemory memory;
    const LaunchView launch{.grid = {1, 1, 1}, .block = {32, 1, 1}, .parameters = {}, .memory = memory};
    EXPECT_EQ(machine_code::interpret(code, launch, 0, 100).trace[0].size(), 3U);
}

/// Numerators are the lanes' numbers, so the first lane's is 0.
TEST(MachineCode, divides_zero_in_the_long_way) {
    const machine_code::Code code = machine_code::read_listing(
        listed({"S2R R0, SR_LANEID", "I2FP.F32.U32 R0, R0", "FCHK P0, R0, 3", "@P0 MOV R1, R0", "EXIT"}),
        "k");
    const AnyMemory memory;
    const LaunchView launch{.grid = {1, 1, 1}, .block = {32, 1, 1}, .parameters = {}, .memory = memory};
    EXPECT_EQ(machine_code::interpret(code, launch, 0, 100).trace.at(0).at(3).lanes, 1);
}

/// 33,554,431 lies between two floats.
TEST(MachineCode, rounds_integers_toward_zero_where_it_is_said) {
    const machine_code::Code code = machine_code::read_listing(
        listed({"I2FP.F32.U32.RZ R0, 0x1ffffff", "ISETP.EQ.U32.AND P0, PT, R0, 0x4bffffff, PT", "@P0 EXIT",
                "I2FP.F32.U32 R0, 0x1ffffff", "EXIT"}),
        "k");
    const AnyMemory memory;
    const LaunchView launch{.grid = {1, 1, 1}, .block = {32, 1, 1}, .parameters = {}, .memory = memory};
    EXPECT_EQ(machine_code::interpret(code, launch, 0, 100).trace[0].size(), 3U);
}

/// The bytes of 0x80ff7f01 are 1, 127, -1 and -128, from the lowest on; its halves 32,513 and -32,513.
TEST(MachineCode, converts_parts_of_a_register) {
    const auto becomes = [](const std::string& conversion, const std::string& value) {
        const machine_code::Code code = machine_code::read_listing(
            listed({"MOV R2, 0x80ff7f01", conversion + " R0, R2" + value.substr(0, value.find(' ')),
                    "FSETP.EQ.AND P0, PT, R0, " + value.substr(value.find(' ') + 1) + ", PT", "@P0 EXIT",
                    "EXIT"}),
            "k");
        const AnyMemory memory;
        const LaunchView launch{.grid = {1, 1, 1}, .block = {32, 1, 1}, .parameters = {}, .memory = memory};
        return machine_code::interpret(code, launch, 0, 100).trace[0].size() == 4U;
    };
    EXPECT_TRUE(becomes("I2F.S8", " 1"));
    EXPECT_TRUE(becomes("I2F.S8", ".B1 127"));
    EXPECT_TRUE(becomes("I2F.S8", ".B2 -1"));
    EXPECT_TRUE(becomes("I2F.U8", ".B2 255"));
    EXPECT_TRUE(becomes("I2F.S8", ".B3 -128"));
    EXPECT_TRUE(becomes("I2F.U16", " 32513"));
    EXPECT_TRUE(becomes("I2F.S16", ".H1 -32513"));
    EXPECT_FALSE(becomes("I2F.S16", ".H1 33023"));
}

/// Lane 5 alone has 1 << 5 in its own mask, 31 in that of the lanes below it, and so on.
TEST(MachineCode, knows_the_masks_of_lanes) {
    const auto lanes_with = [](const std::string& mask, const std::string& value) {
        const machine_code::Code code = machine_code::read_listing(
            listed({"S2R R0, " + mask, "ISETP.EQ.U32.AND P0, PT, R0, " + value + ", PT", "@P0 MOV R1, R0",
                    "EXIT"}),
            "k");
        const AnyMemory memory;
        const LaunchView launch{.grid = {1, 1, 1}, .block = {32, 1, 1}, .parameters = {}, .memory = memory};
        return machine_code::interpret(code, launch, 0, 100).trace[0].at(2).lanes;
    };
    for (const auto& [mask, value] :
         {std::pair("SR_EQMASK", "0x20"), std::pair("SR_LTMASK", "0x1f"), std::pair("SR_LEMASK", "0x3f"),
          std::pair("SR_GTMASK", "0xffffffc0"), std::pair("SR_GEMASK", "0xffffffe0")})
        EXPECT_EQ(lanes_with(mask, value), 1) << mask;
}

/// y[i] += 1: the sectors are in the L1 when they are stored, and have to go to memory. The second store goes with the first.
TEST(MachineCode, stores_what_it_has_loaded) {
    const machine_code::Code code = machine_code::read_listing(
        listed({"S2R R0, SR_LANEID", "IMAD.SHL.U32 R2, R0, 0x4, RZ", "LDG.E R5, desc[UR4][R2.64]",
                "STG.E desc[UR4][R2.64], R5", "STG.E desc[UR4][R2.64], R5", "EXIT"}),
        "k");
    const AnyMemory memory;
    const LaunchView launch{.grid = {1, 1, 1}, .block = {32, 1, 1}, .parameters = {}, .memory = memory};
    const timing::WarpTrace trace = machine_code::interpret(code, launch, 0, 100).trace[0];
    EXPECT_EQ(trace[2].misses, 4);
    EXPECT_EQ(trace[3].misses, 4);
    EXPECT_EQ(trace[3].in_l2, 4); // so that of a sector that is stored in part the rest is not read again
    EXPECT_EQ(trace[4].misses, 0);
}

/// Each of two warps loads the same 100 lines, one after the other. A block's part of the L1 has room for 40 of them.
TEST(MachineCode, lets_warps_share_what_the_l1_has) {
    const machine_code::Code code = machine_code::read_listing(
        listed({"MOV R6, 0x64", "S2R R0, SR_LANEID", "IMAD.SHL.U32 R2, R0, 0x4, RZ",
                ".L_1:", "LDG.E R5, desc[UR4][R2.64]", "VIADD R2, R2, 0x80", "VIADD R6, R6, 0xffffffff",
                "ISETP.NE.AND P0, PT, R6, RZ, PT", "@P0 BRA `(.L_1)", "EXIT"}),
        "k");
    const AnyMemory memory;
    const LaunchView launch{
        .grid = {1, 1, 1}, .block = {64, 1, 1}, .parameters = {}, .cache_bytes = 40 * 128, .memory = memory};
    int misses = 0;
    for (const timing::WarpTrace& warp : machine_code::interpret(code, launch, 0, 2000).trace)
        for (const timing::Step& step : warp) misses += step.misses;
    EXPECT_EQ(misses, 100 * 4);
}

/// An H200 with another L2.
timing::Card card_with_l2(std::uint64_t bytes) {
    const std::string text = text_of(folder + "/../../common/emulator/timing/cards/h200.json");
    const std::string name = "\"l2_bytes\": {\"value\": ";
    const std::size_t at = text.find(name) + name.size();
    return timing::Card(text.substr(0, at) + std::to_string(bytes) + text.substr(text.find(',', at)));
}

/// What comes from memory, in MB, for 10,000 blocks of a warp. R0 has the block's number, R1 the lane's.
double megabytes_loaded(std::vector<std::string> lines,
                        const timing::Card& card = timing::find_card("h200")) {
    lines.insert(lines.begin(), {"S2R R0, SR_CTAID.X", "S2R R1, SR_LANEID"});
    lines.emplace_back("EXIT");
    const AnyMemory memory;
    const LaunchView launch{.grid = {10'000, 1, 1}, .block = {32, 1, 1}, .parameters = {}, .memory = memory};
    const machine_code::Code code = machine_code::read_listing(listed(lines), "k");
    return timing::totals_of(machine_code::sample(code, launch, card), card).moved_sectors * 32 / 1e6;
}

TEST(MachineCode, takes_from_the_l2_what_blocks_share) {
    const std::string load = "LDG.E R5, desc[UR4][R2.64]", words = "IMAD.SHL.U32 R1, R1, 0x4, RZ",
                      own = "IMAD R2, R0, 0x80, R1"; // a line of 128 bytes for each block, 1.28 MB in all
    EXPECT_NEAR(megabytes_loaded({words, own, load}), 1.28, 1e-6);
    EXPECT_NEAR(megabytes_loaded({words, "MOV R2, R1", load}), 0, 0.01); // the same line for all
    const std::vector<std::string> neighbors{words, own, load, "VIADD R2, R2, 0x80", load};
    EXPECT_NEAR(megabytes_loaded(neighbors), 1.28, 0.01);
    // Not all of it fits into the L2, but what 132 x 32 blocks use at once, 256 bytes each: 1.08 MB.
    EXPECT_NEAR(megabytes_loaded(neighbors, card_with_l2(1'200'000)), 1.28, 0.01);
    EXPECT_NEAR(megabytes_loaded(neighbors, card_with_l2(1'000'000)), 2 * 1.28, 1e-6);
    // Each lane has a sector of its own, 200,000 bytes from the next, and eight blocks share them. Memory delivers two at
    // once: 64 x 32 x 10,000 bytes. Those of blocks that run at once are 4.3 MB, and a block's are all over 6.2 MB.
    const std::vector<std::string> all_over{"IMAD R2, R1, 0x30d40, RZ", "IMAD R2, R0, 0x4, R2", load};
    EXPECT_NEAR(megabytes_loaded(all_over, card_with_l2(5'000'000)), 20.48, 1e-6);
    EXPECT_NEAR(megabytes_loaded(all_over, card_with_l2(7'000'000)), 20.48 * 6.24 / 10.24, 0.05);
}

/// 1,000 blocks store to the same word, to one of their own, or to one that an atomic has told them.
TEST(MachineCode, knows_what_many_blocks_store_to) {
    const AnyMemory memory;
    const LaunchView launch{.grid = {1000, 1, 1}, .block = {32, 1, 1}, .parameters = {}, .memory = memory};
    const auto hot_sectors = [&](std::vector<std::string> lines) {
        lines.emplace_back("STG.E desc[UR4][R2.64], R1");
        lines.emplace_back("EXIT");
        const machine_code::Code code = machine_code::read_listing(listed(lines), "k");
        return machine_code::sample(code, launch, timing::find_card("h200"))
            .code[lines.size() - 2]
            .hot_sectors;
    };
    EXPECT_EQ(hot_sectors({"MOV R2, 0x100"}), 1U);
    EXPECT_EQ(hot_sectors({"S2R R0, SR_CTAID.X", "IMAD.SHL.U32 R2, R0, 0x20, RZ"}), 0U);
    EXPECT_EQ(hot_sectors({"MOV R2, 0x100", "ATOMG.E.ADD.STRONG.GPU PT, R4, desc[UR4][R2.64], R5"}), 0U);
}

TEST(MachineCode, takes_64_bits_of_an_address_without_a_descriptor) {
    const machine_code::Code code = machine_code::read_listing(
        listed({"MOV R7, 0x7f00", "ATOMG.E.CAS.STRONG.GPU PT, RZ, [R6+0x18], R2, R3", "EXIT"}), "k");
    const AnyMemory memory;
    const LaunchView launch{.grid = {1, 1, 1}, .block = {32, 1, 1}, .parameters = {}, .memory = memory};
    EXPECT_EQ(machine_code::interpret(code, launch, 0, 100).atomic_sectors.count(0x7F00'0000'0018 / 32), 1U);
}

TEST(MachineCode, samples_no_block_after_the_deadline) {
    EXPECT_THROW(interpret(ladder[0], 1 << 25, 256, "h200", std::chrono::steady_clock::now()),
                 machine_code::NotUnderstood);
}

/// Why a block of the code is not followed to its end.
std::string why_not_followed(std::initializer_list<std::string> lines, machine_code::Deadline deadline) {
    const machine_code::Code code = machine_code::read_listing(listed(lines), "k");
    const AnyMemory memory;
    const LaunchView launch{.grid = {2, 1, 1}, .block = {32, 1, 1}, .parameters = {}, .memory = memory};
    try {
        machine_code::interpret(code, launch, 0, 200'000, nullptr, deadline);
        return "it was";
    } catch (const machine_code::NotUnderstood& error) {
        return error.what();
    }
}

TEST(MachineCode, follows_no_block_after_the_deadline) {
    const std::initializer_list<std::string> endless{".L_1:", "BRA `(.L_1)", "EXIT"};
    EXPECT_EQ(why_not_followed(endless, machine_code::Deadline::max()),
              "a block executes too many instructions to follow");
    EXPECT_EQ(why_not_followed(endless, machine_code::Deadline::min()),
              "that takes longer than is spent unasked; ask with --time");
}

/// A loop that loads the same word until it is 1, which another block has to store. Other loops load other words.
TEST(MachineCode, notices_a_block_that_waits_for_another) {
    const auto loop = [](const std::string& step) {
        return why_not_followed(
            {"MOV R2, 0x1000", "MOV R3, RZ", ".L_1:", "LD.E.STRONG.GPU R4, desc[UR4][R2.64]",
             "IADD3 R2, R2, " + step + ", RZ", "ISETP.NE.AND P0, PT, R4, 0x1, PT", "@P0 BRA `(.L_1)", "EXIT"},
            machine_code::Deadline::max());
    };
    EXPECT_EQ(loop("RZ"), "blocks that wait for each other are not modeled");
    EXPECT_EQ(loop("0x4"), "a block executes too many instructions to follow");
}

/// Words of 0.
class NoWords final : public machine_code::MemorySource {
public:
    const std::byte* bytes(std::uint64_t, std::size_t) const override {
        return reinterpret_cast<const std::byte*>(words_.data());
    }

private:
    std::array<std::uint32_t, 4> words_{};
};

/// Each of 1,000 blocks adds 1 to a word, 5 instructions. The one that finds 999 there goes on: a move, three
/// instructions 100 times, and its end.
TEST(MachineCode, sees_the_last_block_go_on) {
    const NoWords memory;
    const LaunchView launch{.grid = {1000, 1, 1}, .block = {1, 1, 1}, .parameters = {}, .memory = memory};
    for (const std::string atomic : {"ATOMG.E.ADD.STRONG.GPU PT, R4, desc[UR4][R2.64], R5",
                                     "ATOM.E.ADD.STRONG.GPU PT, R4, desc[UR4][R2.64], R5",
                                     "ATOMG.E.INC.STRONG.GPU PT, R4, desc[UR4][R2.64], R6"}) {
        const machine_code::Code code = machine_code::read_listing(
            listed({"MOV R5, 0x1", "MOV R6, 0x3e7", atomic, "ISETP.NE.AND P0, PT, R4, 0x3e7, PT", "@P0 EXIT",
                    "MOV R1, 0x64", ".L_1:", "IADD3 R1, R1, 0xffffffff, RZ",
                    "ISETP.NE.AND P0, PT, R1, RZ, PT", "@P0 BRA `(.L_1)", "EXIT"}),
            "k");
        const timing::Card& card = timing::find_card("h200");
        timing::Work work = machine_code::sample(code, launch, card);
        EXPECT_EQ(timing::totals_of(work, card).instructions, 5000U + 1 + 3 * 100 + 1) << atomic;
        const double with_last = timing::estimate(work, card).time_us;
        work.last_goes_on = false;
        EXPECT_GT(with_last, timing::estimate(work, card).time_us) << atomic;
    }
}

/// The address is one of global memory, so no code has to do in shared memory what the atomic could not.
TEST(MachineCode, performs_an_atomic_with_a_generic_address) {
    const machine_code::Code code =
        machine_code::read_listing(listed({"ATOM.E.ADD.64.STRONG.GPU P0, R4, desc[UR4][R2.64], R6",
                                           "@P0 EXIT", "QSPC.E.S P0, RZ, [R2]"}),
                                   "k");
    const AnyMemory memory;
    const LaunchView launch{.grid = {1, 1, 1}, .block = {32, 1, 1}, .parameters = {}, .memory = memory};
    const auto block = machine_code::interpret(code, launch, 0, 100);
    EXPECT_EQ(block.trace[0].size(), 2U);
    EXPECT_EQ(block.atomic_sectors.size(), 1U);
}

/// 32 words side by side are in four sectors.
TEST(MachineCode, counts_the_sectors_that_atomics_go_to) {
    const machine_code::Code code =
        machine_code::read_listing(listed({"S2R R4, SR_TID.X", "SHF.L.U32 R2, R4, 0x2, RZ", "MOV R3, 0x7f00",
                                           "REDG.E.ADD.STRONG.GPU desc[UR4][R2.64], R4", "EXIT"}),
                                   "k");
    const AnyMemory memory;
    const LaunchView launch{.grid = {1, 1, 1}, .block = {32, 1, 1}, .parameters = {}, .memory = memory};
    EXPECT_EQ(machine_code::interpret(code, launch, 0, 100).atomic_sectors.size(), 4U);
}

TEST(MachineCode, says_that_launches_overlap) {
    const AnyMemory memory;
    const LaunchView launch{.grid = {1, 1, 1}, .block = {32, 1, 1}, .parameters = {}, .memory = memory};
    const auto reason = [&](const std::string& instruction) {
        const machine_code::Code code = machine_code::read_listing(listed({instruction, "EXIT"}), "k");
        return machine_code::out_of_scope(code,
                                          machine_code::sample(code, launch, timing::find_card("h200")));
    };
    EXPECT_EQ(reason("PREEXIT"), "launches that overlap are not modeled");
    EXPECT_EQ(reason("ACQBULK"), "launches that overlap are not modeled");
    EXPECT_EQ(reason("@!PT ACQBULK"), "");
}

/// Block k goes round k times, so all of them differ.
TEST(MachineCode, samples_blocks_all_over_the_grid) {
    const machine_code::Code code =
        machine_code::read_listing(listed({"S2R R0, SR_CTAID.X", ".L_1:", "VIADD R0, R0, 0xffffffff",
                                           "ISETP.GE.AND P0, PT, R0, RZ, PT", "@P0 BRA `(.L_1)", "EXIT"}),
                                   "k");
    const AnyMemory memory;
    const LaunchView launch{.grid = {1000, 1, 1}, .block = {32, 1, 1}, .parameters = {}, .memory = memory};
    const timing::Work work = machine_code::sample(code, launch, timing::find_card("h200"));
    std::vector<int> runs(10);
    for (const timing::BlockRun& run : work.runs) ++runs[run.first / 100];
    for (std::size_t tenth = 0; tenth < 10; ++tenth) EXPECT_GE(runs[tenth], 2) << tenth;
}

/// Of 64 blocks the last one executes more: as the middles of a grid of 8,192 and of its halves do, 4095, 2047, …
TEST(MachineCode, samples_blocks_of_each_kind_as_often_as_there_are_some) {
    const machine_code::Code code = machine_code::read_listing(
        listed({"S2R R0, SR_CTAID.X", "LOP3.LUT R0, R0, 0x3f, RZ, 0xc0, !PT",
                "ISETP.NE.AND P0, PT, R0, 0x3f, PT", "@P0 EXIT", "MOV R1, 0x1", "MOV R1, 0x1", "EXIT"}),
        "k");
    const AnyMemory memory;
    const LaunchView launch{.grid = {8192, 1, 1}, .block = {32, 1, 1}, .parameters = {}, .memory = memory};
    const timing::Card& card = timing::find_card("h200");
    const timing::Totals totals = timing::totals_of(machine_code::sample(code, launch, card), card);
    EXPECT_NEAR(static_cast<double>(totals.instructions), 8192 * 4 + 128 * 3, 128 * 3);
}

/// Each block has bank conflicts of its own. From block 701 on they execute one instruction more.
TEST(MachineCode, finds_the_block_from_which_on_blocks_execute_more) {
    const machine_code::Code code = machine_code::read_listing(
        listed({"S2R R0, SR_CTAID.X", "S2R R3, SR_LANEID", "IMAD R1, R0, 0x9e3779b1, RZ",
                "SHF.R.U32.HI R1, RZ, 0x10, R1", "LOP3.LUT R1, R1, 0x7c, RZ, 0xc0, !PT",
                "IMAD R2, R3, R1, RZ", "LDS R4, [R2+0x400]", "ISETP.GT.AND P0, PT, R0, 0x2bc, PT",
                "@!P0 EXIT", "EXIT"}),
        "k");
    const AnyMemory memory;
    const LaunchView launch{
        .grid = {1000, 1, 1}, .block = {32, 1, 1}, .parameters = {}, .shared_bytes = 4096, .memory = memory};
    const timing::Card& card = timing::find_card("h200");
    const timing::Totals totals = timing::totals_of(machine_code::sample(code, launch, card), card);
    EXPECT_EQ(totals.instructions, 701U * 9 + 299U * 10);
}

class AllocatedAt final : public machine_code::MemorySource {
public:
    explicit AllocatedAt(std::uint64_t first) : first_(first) {}
    const std::byte* bytes(std::uint64_t, std::size_t) const override {
        return reinterpret_cast<const std::byte*>(words_.data());
    }
    std::uint64_t allocation_of(std::uint64_t) const override { return first_; }

private:
    std::uint64_t first_;
    std::array<std::uint32_t, 4> words_{};
};

/// A warp loads words side by side, half of them in one line of an allocation and half in the next. They are looked up at
/// once, unless both are in one part of the L1: 7 is 13 with base 4 and 8 is 20, whose digits have the same XOR.
TEST(MachineCode, looks_up_lines_alike_wherever_an_allocation_lies) {
    const auto passes = [](const std::string& first, std::uint64_t allocation) {
        const machine_code::Code code = machine_code::read_listing(
            listed({"S2R R0, SR_LANEID", "MOV R1, " + first, "IMAD R2, R0, 0x4, R1", "MOV R3, RZ",
                    "LDG.E R4, desc[UR4][R2.64]", "EXIT"}),
            "k");
        const AllocatedAt memory(allocation);
        const LaunchView launch{.grid = {1, 1, 1}, .block = {32, 1, 1}, .parameters = {}, .memory = memory};
        return machine_code::interpret(code, launch, 0, 100).trace[0].at(4).passes;
    };
    EXPECT_EQ(passes("0x20040", 0x20000), 1);
    EXPECT_EQ(passes("0x203c0", 0x20000), 2);
    EXPECT_EQ(passes("0x1440", 0x1400), 1);
    EXPECT_EQ(passes("0x17c0", 0x1400), 2);
}

TEST(MachineCode, says_which_atomics_are_out_of_scope) {
    const AnyMemory memory;
    const LaunchView launch{
        .grid = {4, 1, 1}, .block = {32, 1, 1}, .parameters = {}, .shared_bytes = 16, .memory = memory};
    const auto reason = [&](const std::string& atomic) {
        const machine_code::Code code = machine_code::read_listing(listed({atomic, "EXIT"}), "k");
        return machine_code::out_of_scope(code,
                                          machine_code::sample(code, launch, timing::find_card("h200")));
    };
    EXPECT_EQ(reason("RED.E.ADD.STRONG.GPU desc[UR4][R2.64], R5"), "");
    EXPECT_EQ(reason("RED.E.ADD.F32.FTZ.RN.STRONG.GPU desc[UR4][R2.64], R5"), "");
    EXPECT_EQ(reason("@!PT ATOMG.E.CAS.STRONG.GPU PT, R5, desc[UR4][R2.64], R6, R7"), "");
    EXPECT_EQ(reason("ATOMG.E.CAS.STRONG.GPU PT, R5, desc[UR4][R2.64], R6, R7"),
              "how often a compare-and-swap fails is not modeled");
    EXPECT_EQ(reason("ATOMS.CAST.SPIN R5, [R2+0x400], R6, R7"),
              "how often a compare-and-swap fails is not modeled");
}

/// A warp alone, whose EXIT is left out of the count: it takes no pass.
TEST(MachineCode, passes_the_data_pipe_by_what_a_card_counts) {
    const AnyMemory memory;
    const LaunchView launch{
        .grid = {1, 1, 1}, .block = {32, 1, 1}, .parameters = {}, .shared_bytes = 4096, .memory = memory};
    const auto totals = [&](std::initializer_list<std::string> lines) {
        const timing::Card& card = timing::find_card("h200");
        return timing::totals_of(
            machine_code::sample(machine_code::read_listing(listed(lines), "k"), launch, card), card);
    };
    // An access that no lane executes takes one, of whatever kind it is.
    EXPECT_EQ(totals({"@!PT LDG.E R5, desc[UR4][R2.64]", "EXIT"}).passes, 1U);
    EXPECT_EQ(totals({"@!PT STG.E desc[UR4][R2.64], R5", "EXIT"}).passes, 1U);
    EXPECT_EQ(totals({"@!PT RED.E.ADD.STRONG.GPU desc[UR4][R2.64], R5", "EXIT"}).passes, 1U);
    EXPECT_EQ(totals({"STG.E desc[UR4][R2.64], R5", "EXIT"}).passes, 0U);
    // __threadfence()
    EXPECT_EQ(totals({"MEMBAR.SC.GPU", "ERRBAR", "CGAERRBAR", "CCTL.IVALL", "EXIT"}).passes, 2U);
    // A barrier takes one if memory was accessed since the barrier before.
    EXPECT_EQ(totals({"BAR.SYNC.DEFER_BLOCKING 0x0", "EXIT"}).passes, 0U);
    EXPECT_EQ(totals({"S2R R0, SR_TID.X", "BAR.SYNC.DEFER_BLOCKING 0x0", "BAR.SYNC.DEFER_BLOCKING 0x0",
                      "@!PT LDG.E R5, desc[UR4][R2.64]", "BAR.SYNC.DEFER_BLOCKING 0x0", "EXIT"})
                  .passes,
              2U + 2);
    // The lane takes one. Then all 32 add to one word, which counting does at once; or to 32 words of one bank.
    const timing::Totals one = totals({"S2R R0, SR_LANEID", "ATOMS.POPC.INC.32 RZ, [R2+0x400]", "EXIT"});
    EXPECT_EQ(one.passes, 1U + 1);
    EXPECT_EQ(one.pipe_cycles, 1 + 1);
    EXPECT_EQ(totals({"ATOMS.ADD RZ, [R2+0x400], R5", "EXIT"}).pipe_cycles, 32);
    const timing::Totals bank = totals(
        {"S2R R0, SR_LANEID", "IMAD.SHL.U32 R2, R0, 0x80, RZ", "ATOMS.POPC.INC.32 RZ, [R2+0x400]", "EXIT"});
    EXPECT_EQ(bank.passes, 1U + 32);
    EXPECT_EQ(bank.conflicts, 31U);
    const timing::Totals load =
        totals({"S2R R0, SR_LANEID", "IMAD.SHL.U32 R2, R0, 0x80, RZ", "LDS R3, [R2+0x400]", "EXIT"});
    EXPECT_EQ(load.passes - load.conflicts, 1U + 1);
}

TEST(MachineCode, stops_at_a_block_that_writes_too_much) {
    const AnyMemory memory;
    const LaunchView launch{
        .grid = {1, 1, 1}, .block = {32, 1, 1}, .parameters = {}, .most_words = 2, .memory = memory};
    const machine_code::Constants constants;
    machine_code::BlockState block(launch, constants, 0);
    block.store_global(0x1000, 1, 4);
    block.store_global(0x1004, 1, 4);
    block.store_global(0x1000, 2, 4);
    EXPECT_THROW(block.store_global(0x1008, 1, 4), machine_code::NotUnderstood);
}

/// Three bytes, as cudaMalloc(3) gives.
class ThreeBytes final : public machine_code::MemorySource {
public:
    const std::byte* bytes(std::uint64_t address, std::size_t count) const override {
        return address >= 0x1000 && address + count <= 0x1003 ? &bytes_[address - 0x1000] : nullptr;
    }

private:
    std::array<std::byte, 3> bytes_{};
};

TEST(MachineCode, stores_the_last_bytes_of_an_allocation) {
    const ThreeBytes memory;
    const LaunchView launch{.grid = {1, 1, 1}, .block = {32, 1, 1}, .parameters = {}, .memory = memory};
    const machine_code::Constants constants;
    machine_code::BlockState block(launch, constants, 0);
    block.store_global(0x1002, 0xAB, 1);
    EXPECT_EQ(block.load_global(0x1002, 1), 0xABU);
    EXPECT_THROW(block.store_global(0x1002, 0xABCD, 2), machine_code::NotUnderstood);
    try {
        block.load_global(0x2000, 4);
        FAIL() << "it was loaded";
    } catch (const machine_code::NotUnderstood& error) {
        EXPECT_STREQ(error.what(), "a block loads from 0x2000, where no memory is; under --time-only it may "
                                   "lack the results of earlier launches, which do not run");
    }
}

/// 4 blocks per multiprocessor, one after the other, whose 500,000 instructions take the ALU 2 cycles each.
TEST(Timing, follows_blocks_that_run_long_and_alone) {
    timing::WarpTrace warp(500'000, {.instruction = 0, .lanes = 32});
    warp.push_back({.instruction = 1, .lanes = 32, .taken = true});
    timing::Work work{.code = {{.unit = timing::Unit::alu}, {.effect = timing::Effect::exit}},
                      .samples = {{warp}},
                      .runs = {{}},
                      .blocks = 4 * 132,
                      .threads = 32,
                      .shared_bytes = 200'000};
    const timing::Card& card = timing::find_card("h200");
    ASSERT_EQ(timing::resident_blocks(work, card), 1U);
    EXPECT_NEAR(timing::estimate(work, card).time_us, 4 * 500'000 * 2 / (card["clock"] * 1e3), 20);
}

constexpr timing::Instruction global(timing::Effect effect) {
    return {.unit = timing::Unit::global, .effect = effect};
}

/// The recorded rows, one in a line: block, place and warp, and then what the warp does.
std::string rows_of(const timing::Shift& shift) {
    std::ostringstream text;
    for (const timing::WarpRow& row : timing::simulate(shift, timing::find_card("h200")).rows) {
        text << row.block << row.place << row.warp << ":";
        for (const timing::WarpRun& run : row.runs)
            text << " " << timing::wait_name(run.state) << " " << run.from << "-" << run.to;
        text << "\n";
    }
    return text.str();
}

/// Two blocks in one place, of two warps each. The numbers are the H200's: 2 cycles between two warps, 2 of the address unit
/// per warp at a barrier and 12 behind it, 17.5 until a result of the XU is there, 292 between two blocks.
TEST(Timing, records_what_each_warp_does) {
    const std::vector<timing::Instruction> code = {
        {.unit = timing::Unit::adu, .effect = timing::Effect::barrier},
        {.unit = timing::Unit::alu, .stall = 4},
        {.unit = timing::Unit::xu,
         .latency = static_cast<std::uint8_t>(timing::Latency::xu),
         .write_scoreboard = 0},
        {.unit = timing::Unit::alu, .waits = 1},
        {.effect = timing::Effect::exit}};
    timing::WarpTrace warp;
    for (std::uint32_t k = 0; k < code.size(); ++k)
        warp.push_back({.instruction = k, .lanes = 32, .taken = k + 1 == code.size()});
    const timing::BlockTrace block{warp, warp};
    const timing::BlockTrace* const blocks[] = {&block, &block};
    const auto record = [&](double cycles) {
        return rows_of(
            {.code = code, .blocks = blocks, .busy_multiprocessors = 1, .recorded_cycles = cycles});
    };
    // The barrier's second warp arrives at 2 and is served by 4, so the barrier passes at 16. The addition does not wait for
    // that, and asks for 4 cycles. The XU does, and has its result at 16 + 17.5. The block ends where EXIT issues, at
    // 34.5, and the next begins 292 later.
    EXPECT_EQ(record(340), "000: selected 0-2 wait 2-5 barrier 5-16 selected 16-17 short_scoreboard 17-33.5 "
                           "selected 33.5-35.5\n"
                           "001: selected 2-4 wait 4-7 barrier 7-16 selected 16-17 short_scoreboard 17-33.5 "
                           "selected 33.5-35.5\n"
                           "100: selected 326.5-328.5 wait 328.5-331.5 barrier 331.5-340\n"
                           "101: selected 328.5-330.5 wait 330.5-333.5 barrier 333.5-340\n");
    EXPECT_EQ(record(18), "000: selected 0-2 wait 2-5 barrier 5-16 selected 16-17 short_scoreboard 17-18\n"
                          "001: selected 2-4 wait 4-7 barrier 7-16 selected 16-17 short_scoreboard 17-18\n");
    EXPECT_EQ(record(0), "");
}

/// A load of 4 sectors that nobody has loaded before, and of one that is in L1, which is not under way to memory. An H200's
/// memory takes 711.5 - 50 cycles, give or take 74.67, and more under load, of which there is little.
TEST(Timing, records_which_loads_are_under_way) {
    const std::vector<timing::Instruction> code = {
        {.unit = timing::Unit::global, .effect = timing::Effect::load, .write_scoreboard = 0},
        {.unit = timing::Unit::alu, .waits = 1},
        {.effect = timing::Effect::exit}};
    const timing::BlockTrace block{{{.instruction = 0, .lanes = 32, .sectors = 4, .lines = 1, .misses = 4},
                                    {.instruction = 0, .lanes = 32, .sectors = 4, .lines = 1},
                                    {.instruction = 1, .lanes = 32},
                                    {.instruction = 2, .lanes = 32, .taken = true}}};
    const timing::BlockTrace* const blocks[] = {&block};
    const timing::ShiftTimes times =
        timing::simulate({.code = code, .blocks = blocks, .busy_multiprocessors = 1, .recorded_cycles = 4000},
                         timing::find_card("h200"));
    ASSERT_EQ(times.rows.size(), 1U);
    ASSERT_EQ(times.rows[0].loads.size(), 1U);
    const timing::WarpLoad& load = times.rows[0].loads[0];
    EXPECT_EQ(load.from, 0);
    EXPECT_EQ(load.bytes, 128U);
    EXPECT_NEAR(load.to, 711.5 - 50, 65);
}

/// Three blocks of one warp, two at once. Block 0 shuffles five times, each of which takes 26 cycles;
/// block 1 once. So block 1 ends first, and block 2 takes its place.
TEST(Timing, gives_a_block_the_place_of_the_one_that_ended) {
    const std::vector<timing::Instruction> code = {
        {.unit = timing::Unit::shared,
         .latency = static_cast<std::uint8_t>(timing::Latency::shuffle),
         .write_scoreboard = 0,
         .waits = 1},
        {.effect = timing::Effect::exit, .waits = 1}};
    const auto shuffles = [](std::size_t times) {
        timing::WarpTrace warp(times, {.instruction = 0, .lanes = 32});
        warp.push_back({.instruction = 1, .lanes = 32, .taken = true});
        return timing::BlockTrace{warp};
    };
    const timing::BlockTrace longer = shuffles(5), shorter = shuffles(1);
    const timing::BlockTrace* const blocks[] = {&longer, &shorter, &shorter};
    const std::string rows = rows_of(
        {.code = code, .blocks = blocks, .resident = 2, .busy_multiprocessors = 1, .recorded_cycles = 1000});
    std::string places; // block, place and warp
    std::istringstream lines(rows);
    for (std::string line; std::getline(lines, line);) places += line.substr(0, line.find(':')) + " ";
    EXPECT_EQ(places, "000 110 210 ") << rows;
}

/// What the warps of one block do that execute these instructions, which are all alike, and EXIT.
std::string rows_with(std::vector<std::pair<timing::Instruction, timing::Step>> instructions,
                      std::size_t warps = 1) {
    instructions.push_back({{.effect = timing::Effect::exit}, {.taken = true}});
    std::vector<timing::Instruction> code;
    timing::WarpTrace trace;
    for (auto& [instruction, step] : instructions) {
        step.instruction = static_cast<std::uint32_t>(code.size());
        step.lanes = 32;
        code.push_back(instruction);
        trace.push_back(step);
    }
    const timing::BlockTrace block(warps, trace);
    const timing::BlockTrace* const blocks[] = {&block};
    return rows_of({.code = code, .blocks = blocks, .busy_multiprocessors = 1, .recorded_cycles = 1000});
}

/// The first to need a line of constants waits 61 cycles for it. 63 is where the second line is asked for.
TEST(Timing, waits_for_each_line_of_constants_once) {
    EXPECT_EQ(rows_with({{{.constants = 1}, {}}, {{.constants = 1}, {}}, {{.constants = 2}, {}}}),
              "000: imc_miss 0-61 selected 61-63 imc_miss 63-124 selected 124-126\n");
    // LDC has a scoreboard instead: 29 cycles, and 61 more for the first.
    const timing::Instruction load{.unit = timing::Unit::adu,
                                   .latency = static_cast<std::uint8_t>(timing::Latency::constant),
                                   .write_scoreboard = 0,
                                   .waits = 1,
                                   .constants = 1};
    EXPECT_EQ(rows_with({{load, {}}, {load, {}}, {{.waits = 1}, {}}}),
              "000: selected 0-1 short_scoreboard 1-90 selected 90-91 short_scoreboard 91-119 selected "
              "119-121\n");
}

/// An access reaches the data pipe 6 cycles after its issue, and takes it for a pass in every second cycle. Its result is there
/// 23 - 6 cycles after the begin of the last of its 4 passes. Passes begin at 6 and 8, and at 14, when the first access has ended.
TEST(Timing, lets_two_accesses_share_the_data_pipe) {
    const timing::Instruction load{.unit = timing::Unit::shared,
                                   .effect = timing::Effect::shared,
                                   .latency = static_cast<std::uint8_t>(timing::Latency::shared_load),
                                   .write_scoreboard = 0};
    EXPECT_EQ(rows_with({{load, {.passes = 4}}, {{.waits = 1}, {}}}, 3),
              "000: selected 0-1 short_scoreboard 1-29 selected 29-31\n"
              "001: selected 2-3 short_scoreboard 3-31 selected 31-33\n"
              "002: selected 4-5 short_scoreboard 5-37 selected 37-39\n");
    // A scheduler issues one in every second cycle, and takes two for each register that it reads, behind a queue.
    EXPECT_EQ(rows_with({{load, {.passes = 1}}, {load, {.passes = 1}}, {{.waits = 1}, {}}}),
              "000: selected 0-1 mio_throttle 1-2 selected 2-3 short_scoreboard 3-25 selected 25-27\n");
    timing::Instruction store = load;
    store.operands = 2;
    EXPECT_EQ(rows_with({{store, {.passes = 1}}, {load, {.passes = 1}}, {{.waits = 1}, {}}}),
              "000: selected 0-1 mio_throttle 1-2 selected 2-3 short_scoreboard 3-27 selected 27-29\n");
}

/// A block that a multiprocessor has for itself, of so many that are busy.
timing::ShiftTimes times_of(const std::vector<timing::Instruction>& code, const timing::BlockTrace& block,
                            double busy_multiprocessors = 1) {
    const timing::BlockTrace* const blocks[] = {&block};
    return timing::simulate({.code = code,
                             .blocks = blocks,
                             .busy_multiprocessors = busy_multiprocessors,
                             .recorded_cycles = 1e9},
                            timing::find_card("h200"));
}

/// Of warps that do the same step so often, and EXIT.
timing::BlockTrace repeated(timing::Step step, std::size_t times, std::size_t warps) {
    step.lanes = 32;
    timing::WarpTrace warp(times, step);
    warp.push_back({.instruction = 1, .lanes = 32, .taken = true});
    return timing::BlockTrace(warps, warp);
}

/// Each makes 32 passes. One warp of each scheduler issues as many as it can. There is room for ten whose operands are not read,
/// and for 21 of all schedulers. As in clock_room.csv, the next are issued when the first two have passed: they begin at 6 and
/// 7, their last passes are over at 6 + 63 and a cycle later, and 18 cycles later they are out of the way.
TEST(Timing, keeps_accesses_in_front_of_the_data_pipe) {
    const auto issued_early = [](std::size_t warps) {
        std::pair<int, int> counts; // before the first has left, and when two have
        for (const timing::WarpRow& row :
             times_of({{.unit = timing::Unit::shared}, {.effect = timing::Effect::exit}},
                      repeated({.passes = 32}, 80, warps))
                 .rows)
            for (const timing::WarpRun& run : row.runs) {
                if (run.state != timing::Wait::selected) continue;
                counts.first += run.from < 87 ? 1 : 0;
                counts.second += run.from < 120 ? 1 : 0;
            }
        return counts;
    };
    EXPECT_EQ(issued_early(1), std::pair(31, 33));
    EXPECT_EQ(issued_early(2), std::pair(41, 43));
    EXPECT_EQ(issued_early(4), std::pair(61, 63));
}

/// Sixteen warps store vectors of four words, 512 bytes, which go to the L2 in 16 cycles. Parts of 32 sectors in 8 lines go in 40.
TEST(Timing, sends_stores_to_the_l2_as_fast_as_a_card) {
    timing::Instruction store = global(timing::Effect::store);
    store.bytes = 16;
    store.operands = 6;
    const auto end = [&](std::size_t count, const timing::Step& step) {
        return times_of({store, {.effect = timing::Effect::exit}}, repeated(step, count, 16)).cycles;
    };
    const timing::Step lines{.passes = 4, .sectors = 16, .lines = 4, .misses = 16, .in_l2 = 16};
    EXPECT_NEAR((end(40, lines) - end(20, lines)) / (16 * 20), 16, 0.1);
    // Parts of 32 sectors in 8 lines take a cycle each, and one for each line.
    store.bytes = 4;
    store.operands = 3;
    const timing::Step parts{.passes = 1, .sectors = 32, .lines = 8, .partial = 32};
    EXPECT_NEAR((end(40, parts) - end(20, parts)) / (16 * 20), 32 + 8, 0.5);
}

/// One warp stores 100 times, or 400 times whole lines. Ten stores wait in its scheduler's queue and 50 in the buffer, so 40 have left when it has issued the
/// last one. Of parts of 32 sectors in 8 lines the L2 takes one in 75 cycles, and 10 may be on their way. Of whole lines, all
/// multiprocessors together store more than memory takes, and the L2 keeps it: a scheduler reads three registers in 6 cycles.
TEST(Timing, lets_stores_be_ahead_of_the_l2_and_of_memory) {
    const auto last_issued = [](const timing::Step& step, std::size_t times, std::uint8_t words = 1) {
        timing::Instruction store = global(timing::Effect::store);
        store.bytes = static_cast<std::uint8_t>(4 * words);
        store.operands = static_cast<std::uint8_t>(2 + words);
        const auto rows =
            times_of({store, {.effect = timing::Effect::exit}}, repeated(step, times, 1), 132).rows;
        const std::vector<timing::WarpRun>& runs = rows.at(0).runs; // the last store, drain, EXIT
        return runs.at(runs.size() - 3).from;
    };
    EXPECT_NEAR(last_issued({.passes = 1, .sectors = 32, .lines = 8, .partial = 32}, 100),
                (100 - 60 - 10) * 75, 150);
    EXPECT_NEAR(last_issued({.passes = 1, .sectors = 4, .lines = 1, .misses = 4}, 400), 390 * 6, 60);
    // Of vectors of four words the buffer has room for 12. They leave in 16 cycles each, from pipe_entry on.
    EXPECT_EQ(last_issued({.passes = 4, .sectors = 16, .lines = 4, .misses = 16, .in_l2 = 16}, 200, 4),
              6 + 16 * (200 - 10 - 12));
}

/// A warp issues 100 additions, one in every 13 cycles. Another one of its scheduler has an instruction in every 20. If that is a
/// 64-bit product, nothing is dispatched for two cycles, and those don't count for the stall of the additions.
TEST(Timing, lasts_longer_than_its_stall_beside_products) {
    const auto cycles = [](timing::Unit beside) {
        const std::vector<timing::Instruction> code = {{.unit = timing::Unit::alu, .stall = 13},
                                                       {.unit = beside, .stall = 20},
                                                       {.effect = timing::Effect::exit}};
        const timing::WarpTrace none{{.instruction = 2, .lanes = 32, .taken = true}};
        timing::WarpTrace adds(100, {.instruction = 0, .lanes = 32}),
            others(100, {.instruction = 1, .lanes = 32});
        adds.push_back(none[0]);
        others.push_back(none[0]);
        return times_of(code, {adds, none, none, none, others}).rows.at(0).runs.back().to;
    };
    EXPECT_NEAR(cycles(timing::Unit::fma_heavy), 100 * 13, 40); // Now and then both want the same cycle.
    EXPECT_NEAR(cycles(timing::Unit::fma_wide) / cycles(timing::Unit::fma_heavy), 1 / (1 - 2 / 20.0), 0.03);
}

/// Three warps of a block and two of the next one, all on one scheduler. They wait for a line of constants until all have begun.
/// Each then adds twice, which takes the ALU two cycles.
TEST(Timing, lets_warps_take_turns_as_a_card_does) {
    const auto order = [](bool goes_first) {
        const std::vector<timing::Instruction> code = {
            {.unit = timing::Unit::alu, .goes_first = goes_first, .constants = 1},
            {.unit = timing::Unit::alu},
            {.effect = timing::Effect::exit}};
        const timing::WarpTrace none{{.instruction = 2, .lanes = 32, .taken = true}};
        const timing::WarpTrace adds{
            {.instruction = 0, .lanes = 32}, {.instruction = 1, .lanes = 32}, none[0]};
        timing::BlockTrace first(12, none), second(8, none);
        for (timing::BlockTrace* const block : {&first, &second})
            for (std::size_t k = 0; k < block->size(); k += 4) (*block)[k] = adds;
        const timing::BlockTrace* const blocks[] = {&first, &second};
        std::map<double, std::string> issued;
        for (const timing::WarpRow& row : timing::simulate({.code = code,
                                          .blocks = blocks,
                                          .resident = 2,
                                          .busy_multiprocessors = 1,
                                          .recorded_cycles = 1e9},
                                                           timing::find_card("h200"))
                                              .rows)
            for (const timing::WarpRun& run : row.runs)
                if (run.state == timing::Wait::selected && row.warp % 4 == 0)
                    issued[run.from] = std::to_string(row.block) + "." + std::to_string(row.warp) + " ";
        std::string text;
        for (const auto& [cycle, warp] : issued) text += warp;
        return text;
    };
    // The oldest block first, and its warps in turn, from the youngest on.
    EXPECT_EQ(order(false), "0.8 0.4 0.0 0.8 0.4 0.0 1.4 1.0 1.4 1.0 ");
    // As the first addition says.
    EXPECT_EQ(order(true), "0.8 0.8 0.4 0.4 0.0 0.0 1.4 1.4 1.0 1.0 ");
}

/// An address of 64 bits, one of shared memory, and what is stored or added.
TEST(Timing, counts_the_registers_that_an_access_reads) {
    const machine_code::Code code = machine_code::read_listing(
        listed({"LDS R0, [R1]", "STS [R1], R0", "STS.64 [R1], R2", "SHFL.DOWN PT, R0, R1, 0x1, 0x1f",
                "ATOMS.ADD RZ, [R1], R0", "LDG.E R0, desc[UR4][R2.64]", "STG.E desc[UR4][R2.64], R0",
                "STG.E.128 desc[UR4][R2.64], R4", "REDG.E.ADD.STRONG.GPU desc[UR4][R2.64], R0"}),
        "k");
    std::vector<int> counts;
    for (const machine_code::Instruction& instruction : code.instructions)
        counts.push_back(machine_code::timing_of(instruction).operands);
    EXPECT_EQ(counts, (std::vector<int>{1, 2, 3, 1, 2, 2, 3, 6, 3}));
}

/// A store's words are read 16 cycles after it has reached the data pipe, at 6.
TEST(Timing, lets_a_warp_end_when_its_stores_are_taken) {
    EXPECT_EQ(rows_with({{global(timing::Effect::store), {.sectors = 4, .lines = 1, .misses = 4}}}),
              "000: selected 0-1 drain 1-22 selected 22-23\n");
}

/// 264.7 cycles after the L2 has the stores before it: their words are read 22 cycles after the issue, and the way to the
/// L2 and back is 280.6.
TEST(Timing, waits_for_a_fence) {
    const machine_code::Code code = machine_code::read_listing(
        listed({"MEMBAR.SC.GPU", "MEMBAR.ALL.CTA", "STG.E desc[UR4][R2.64], R5"}), "k");
    const auto at = [&](std::size_t k) { return machine_code::timing_of(code.instructions[k]); };
    EXPECT_EQ(rows_with({{at(0), {}}}), "000: selected 0-1 membar 1-264.7 selected 264.7-265.7\n");
    EXPECT_EQ(rows_with({{at(1), {}}}), "000: selected 0-2\n");
    EXPECT_EQ(rows_with({{at(2), {.sectors = 4, .lines = 1, .misses = 4}}, {at(0), {}}}),
              "000: selected 0-2 membar 2-567.3 selected 567.3-568.3\n");
}

/// Warp 0 loads from memory, arrives at a barrier, adds, multiplies what it has loaded, and stores. Warp 1 arrives 2,000 cycles
/// later: 500 additions of 4 cycles each. Nsight Compute has the same: first the load's scoreboard, then the barrier.
TEST(Timing, goes_on_with_arithmetic_behind_a_barrier) {
    timing::Instruction load = global(timing::Effect::load), store = global(timing::Effect::store);
    load.write_scoreboard = 0;
    const std::vector<timing::Instruction> code = {
        {.unit = timing::Unit::alu, .stall = 4},
        load,
        {.unit = timing::Unit::adu, .effect = timing::Effect::barrier},
        {.unit = timing::Unit::alu},
        {.unit = timing::Unit::fma_heavy, .waits = 1},
        store,
        {.effect = timing::Effect::exit}};
    const auto step = [](std::uint32_t instruction) {
        const bool is_load = instruction == 1;
        return timing::Step{.instruction = instruction,
                            .lanes = 32,
                            .sectors = 4,
                            .lines = 1,
                            .misses = static_cast<std::uint8_t>(is_load ? 4 : 0),
                            .taken = instruction == 6};
    };
    timing::WarpTrace first, second(500, step(0));
    for (std::uint32_t k = 1; k <= 6; ++k) first.push_back(step(k));
    for (const std::uint32_t k : {2, 6}) second.push_back(step(k));
    const timing::BlockTrace block{first, second};
    const timing::BlockTrace* const blocks[] = {&block};
    const timing::ShiftTimes times = timing::simulate(
        {.code = code, .blocks = blocks, .busy_multiprocessors = 1}, timing::find_card("h200"));
    const auto waited = [&](timing::Wait wait) { return times.waited[static_cast<std::size_t>(wait)]; };
    EXPECT_NEAR(waited(timing::Wait::long_scoreboard), 711.5, 70);
    // Until 2,002 + 2 + 12, for the first; for the second, which is the last to arrive, 12.
    EXPECT_NEAR(waited(timing::Wait::barrier), 2016 - 711.5 + 12, 80);
}

/// The second warp arrives at 2, so the barrier passes at 16. The first waits for its addition until its barrier is on its way, 6
/// cycles behind the issue, and then for the barrier.
TEST(Timing, waits_for_a_barrier_that_is_on_its_way) {
    EXPECT_EQ(rows_with({{{.unit = timing::Unit::adu, .effect = timing::Effect::barrier}, {}},
                         {{.unit = timing::Unit::alu, .stall = 13}, {}}},
                        2)
                  .substr(0, 57),
              "000: selected 0-2 wait 2-6 barrier 6-16 selected 16-17\n00");
}

/// Ten accesses that wait for their operands fill the queue of a scheduler. If at least eight are of global memory, that is what
/// the next one waits for.
TEST(Timing, tells_accesses_to_global_memory_from_others) {
    const auto waits = [](std::size_t of_global, std::size_t others, timing::Unit last) {
        std::vector<std::pair<timing::Instruction, timing::Step>> all(25,
                                                                      {{.unit = timing::Unit::shared}, {}});
        for (auto& access : all) access.second.passes = 32;
        all.insert(all.end(), others, {{.unit = timing::Unit::shared}, {}});
        all.insert(all.end(), of_global, {global(timing::Effect::none), {}});
        all.push_back({{.unit = last}, {}});
        return rows_with(all).find("lg_throttle") != std::string::npos;
    };
    EXPECT_TRUE(waits(8, 0, timing::Unit::global));
    EXPECT_FALSE(waits(7, 1, timing::Unit::global));
    EXPECT_FALSE(waits(8, 0, timing::Unit::shared));
}

/// 23 cycles after its issue, and one less if no lane executes it.
TEST(Timing, waits_for_a_load_that_no_lane_executes) {
    const timing::Instruction load{.unit = timing::Unit::shared,
                                   .effect = timing::Effect::shared,
                                   .latency = static_cast<std::uint8_t>(timing::Latency::shared_load),
                                   .write_scoreboard = 0};
    const std::vector<timing::Instruction> code = {
        load, {.unit = timing::Unit::alu, .waits = 1}, {.effect = timing::Effect::exit}};
    const auto wait = [&](std::uint8_t lanes) {
        const timing::BlockTrace block{{{.instruction = 0, .lanes = lanes, .passes = 1},
                                        {.instruction = 1, .lanes = 32},
                                        {.instruction = 2, .lanes = 32, .taken = true}}};
        const timing::BlockTrace* const blocks[] = {&block};
        return timing::simulate({.code = code, .blocks = blocks, .busy_multiprocessors = 1},
                                timing::find_card("h200"))
            .waited[static_cast<std::size_t>(timing::Wait::short_scoreboard)];
    };
    EXPECT_EQ(wait(32), 22);
    EXPECT_EQ(wait(0), 21);
}

/// A store to global memory that shares a register with the next instruction: its words are read 22 cycles after the issue.
TEST(Timing, calls_it_a_long_scoreboard_that_guards_the_words_of_a_store) {
    timing::Instruction store = global(timing::Effect::store);
    store.read_scoreboard = 0;
    EXPECT_EQ(rows_with({{store, {.sectors = 4, .lines = 1, .misses = 4}}, {{.waits = 1}, {}}}),
              "000: selected 0-1 long_scoreboard 1-22 selected 22-24\n");
}

/// The description's points: alone at 3,658 GB/s 899.2 cycles and a spread of 246.7, beside stores at 2,385 GB/s 982.3.
TEST(Timing, loads_a_line_later_if_memory_is_busy) {
    const timing::Card& card = timing::find_card("h200");
    EXPECT_NEAR(card.line_latency(0, 0).latency, 711.5, 1e-9);
    EXPECT_NEAR(card.line_latency(3658, 0).latency, 899.2, 1e-9);
    EXPECT_NEAR(card.line_latency(3658, 0).spread, 246.7, 1e-9);
    EXPECT_NEAR(card.line_latency(1192.5, 1192.5).latency, 982.3, 1e-9);
    EXPECT_NEAR(card.line_latency(0, 2385).latency, 982.3, 1e-9); // as if half were loads
    const double alone = card.line_latency(2385, 0).latency;
    EXPECT_NEAR(card.line_latency(0.75 * 2385, 0.25 * 2385).latency, (alone + 982.3) / 2, 1e-9);
}

/// The XU takes 8 cycles per warp, and holds a second one. The third is issued 5 cycles after it has begun with the second, whose
/// result is there 17.5 cycles after that. The ALU takes 2. Taken jumps take longer than the stall
/// that they ask for: 5 cycles, and 19 if a register says where to.
TEST(Timing, names_waits_as_the_profiler_does) {
    const timing::Instruction alu{.unit = timing::Unit::alu},
        xu{.unit = timing::Unit::xu,
           .latency = static_cast<std::uint8_t>(timing::Latency::xu),
           .write_scoreboard = 0};
    EXPECT_EQ(rows_with({{xu, {}}, {xu, {}}, {{.waits = 1}, {}}}),
              "000: selected 0-1 mio_throttle 1-2 selected 2-3 short_scoreboard 3-25.5 selected 25.5-27.5\n");
    EXPECT_EQ(rows_with({3, {xu, {}}}),
              "000: selected 0-1 mio_throttle 1-2 selected 2-3 mio_throttle 3-13 selected 13-15\n");
    EXPECT_EQ(rows_with({{alu, {}}, {alu, {}}}), "000: selected 0-1 math_pipe_throttle 1-2 selected 2-4\n");
    // Behind a 64-bit product nothing is dispatched for 2 cycles. The pipe takes the warp's next one after 6.
    const timing::Instruction wide{.unit = timing::Unit::fma_wide};
    EXPECT_EQ(rows_with({{wide, {}}, {wide, {}}}),
              "000: selected 0-1 dispatch_stall 1-6 selected 6-7 dispatch_stall 7-9 selected 9-10\n");
    EXPECT_EQ(rows_with({{wide, {}}, {alu, {}}}), "000: selected 0-1 dispatch_stall 1-3 selected 3-5\n");
    // What needs it waits for 9 cycles.
    EXPECT_EQ(rows_with({{{.unit = timing::Unit::fma_wide, .stall = 4}, {}}, {alu, {}}}),
              "000: selected 0-1 wait 1-9 selected 9-11\n");
    EXPECT_EQ(rows_with({{wide, {}}, {{.unit = timing::Unit::uniform}, {}}}),
              "000: selected 0-1 dispatch_stall 1-3 selected 3-5\n");
    const auto jumps = [](timing::Effect effect) {
        return rows_with({{{.unit = timing::Unit::branch, .effect = effect, .stall = 5}, {.taken = true}}});
    };
    EXPECT_EQ(jumps(timing::Effect::branch),
              "000: selected 0-1 wait 1-5 branch_resolving 5-10 selected 10-11\n");
    EXPECT_EQ(jumps(timing::Effect::jump),
              "000: selected 0-1 wait 1-5 branch_resolving 5-24 selected 24-25\n");
    // Lanes that meet take as long whether they have parted or not.
    const machine_code::Code code = machine_code::read_listing(listed({"BSYNC B0"}), "k");
    timing::Instruction meets = machine_code::timing_of(code.instructions[0]);
    meets.stall = 5;
    EXPECT_EQ(rows_with({{meets, {}}}),
              "000: selected 0-1 wait 1-5 branch_resolving 5-11.5 selected 11.5-12.5\n");
}

/// Eight warps of each scheduler, with 100 instructions of two kinds in turn: cycles of a scheduler for each two. As measured, of
/// which clock_pipes.csv has more warps.
TEST(Timing, shares_pipes_as_a_card_does) {
    const auto cycles = [](std::vector<timing::Unit> units) {
        std::vector<timing::Instruction> code;
        for (const timing::Unit unit : units) code.push_back({.unit = unit});
        code.push_back({.effect = timing::Effect::exit});
        timing::WarpTrace warp;
        for (std::uint32_t k = 0; k < 100 * units.size(); ++k)
            warp.push_back({.instruction = static_cast<std::uint32_t>(k % units.size()), .lanes = 32});
        warp.push_back({.instruction = static_cast<std::uint32_t>(units.size()), .lanes = 32, .taken = true});
        const timing::BlockTrace block(32, warp);
        const timing::BlockTrace* const blocks[] = {&block};
        return timing::simulate({.code = code, .blocks = blocks, .busy_multiprocessors = 1},
                                timing::find_card("h200"))
                   .cycles /
               800;
    };
    using timing::Unit;
    EXPECT_NEAR(cycles({Unit::fma, Unit::fma}), 2, 0.1);                                     // both halves
    EXPECT_NEAR(cycles({Unit::fma_heavy, Unit::fma, Unit::fma, Unit::fma_heavy}), 4.3, 0.4); // a half each
    EXPECT_NEAR(cycles({Unit::fma_wide, Unit::alu, Unit::alu}), 6, 0.2); // two cycles are lost
    EXPECT_NEAR(cycles({Unit::fma_wide, Unit::alu, Unit::fma, Unit::shared}), 6.1, 0.2); // to all units
    EXPECT_NEAR(cycles({Unit::fma_heavy, Unit::alu}), 2, 0.1);
}

/// Three schedulers with eight warps each want an access in every second cycle, and the data pipe begins one in each cycle. If the
/// same scheduler always were the first to see that its queue has room, another would get none until that has ended: 4 cycles.
TEST(Timing, lets_schedulers_take_turns_at_the_data_pipe) {
    const std::vector<timing::Instruction> code = {{.unit = timing::Unit::shared},
                                                   {.effect = timing::Effect::exit}};
    const timing::Step exit{.instruction = 1, .lanes = 32, .taken = true};
    timing::WarpTrace busy(200, {.instruction = 0, .lanes = 32, .passes = 1});
    busy.push_back(exit);
    timing::BlockTrace block(32, busy);
    for (std::size_t warp = 3; warp < block.size(); warp += 4) block[warp] = {exit};
    const timing::BlockTrace* const blocks[] = {&block};
    const double cycles = timing::simulate({.code = code, .blocks = blocks, .busy_multiprocessors = 1},
                                           timing::find_card("h200"))
                              .cycles;
    EXPECT_NEAR(cycles / (8 * 200), 3, 0.4);
}

/// Each occupies the address unit for 64 cycles. There is room for twelve, so the next is issued when the first has passed.
TEST(Timing, keeps_few_warps_in_front_of_the_address_unit) {
    const std::pair<timing::Instruction, timing::Step> load{{.unit = timing::Unit::adu}, {.same = 32}};
    EXPECT_EQ(rows_with({13, load}), "000: selected 0-12 mio_throttle 12-64 selected 64-66\n");
}

/// LDC of 32 different words: 29 cycles, 61 for the first of a line, and 11 for each further word. The address unit, 2 cycles for
/// each, has no time for the second warp before 64; that is served at 66, and waits for nothing more.
TEST(Timing, takes_turns_for_lanes_with_different_constants) {
    const timing::Instruction load{.unit = timing::Unit::adu,
                                   .latency = static_cast<std::uint8_t>(timing::Latency::constant),
                                   .write_scoreboard = 0,
                                   .waits = 1,
                                   .constants = 1};
    const auto rows = [&](std::uint8_t words) {
        return rows_with({{load, {.same = words}}, {{.waits = 1}, {}}}, 2);
    };
    EXPECT_EQ(rows(1), "000: selected 0-1 short_scoreboard 1-90 selected 90-92\n"
                       "001: selected 2-3 short_scoreboard 3-90 selected 90-92\n");
    EXPECT_EQ(rows(32), "000: selected 0-1 short_scoreboard 1-431 selected 431-433\n"
                        "001: selected 2-3 short_scoreboard 3-434 selected 434-436\n");
}

/// Passes begin at 6, in every second cycle: an access of 8 is over at 22. A barrier then keeps the pipe for 2 cycles, where the
/// other half of the cycles was free before: the load behind it begins at 24, and its result is there 23 - 6 cycles later.
TEST(Timing, lets_all_accesses_pass_before_a_barrier) {
    const timing::Instruction load{.unit = timing::Unit::shared,
                                   .effect = timing::Effect::shared,
                                   .latency = static_cast<std::uint8_t>(timing::Latency::shared_load),
                                   .write_scoreboard = 0},
        access{.unit = timing::Unit::shared},
        barrier{.unit = timing::Unit::adu, .effect = timing::Effect::barrier};
    const auto rows = [&](std::uint8_t passes) {
        return rows_with(
            {{access, {.passes = passes}}, {barrier, {}}, {load, {.passes = 1}}, {{.waits = 1}, {}}});
    };
    // The barrier passes at 1 + 2 + 12.
    EXPECT_EQ(rows(1),
              "000: selected 0-2 barrier 2-15 selected 15-16 short_scoreboard 16-38 selected 38-40\n");
    EXPECT_EQ(rows(8),
              "000: selected 0-2 barrier 2-15 selected 15-16 short_scoreboard 16-41 selected 41-43\n");
}

/// A kernel of 10,000 blocks of 8 warps, all with these instructions.
timing::Work work_with(const std::vector<std::pair<timing::Instruction, timing::Step>>& instructions) {
    timing::Work work{
        .code = {}, .samples = {{}}, .runs = {{}}, .blocks = 10'000, .threads = 256, .registers = 16};
    timing::WarpTrace warp;
    for (const auto& [instruction, step] : instructions) {
        warp.push_back(step);
        warp.back().instruction = static_cast<std::uint32_t>(work.code.size());
        warp.back().lanes = 32;
        work.code.push_back(instruction);
    }
    warp.push_back({.instruction = static_cast<std::uint32_t>(work.code.size()), .lanes = 32, .taken = true});
    work.code.push_back({.effect = timing::Effect::exit});
    work.samples[0].assign(8, warp);
    return work;
}

double floor_of(const timing::Work& work, const std::string& name) {
    for (const auto& [floor, time] : timing::floors_us(work, timing::find_card("h200")))
        if (floor == name) return time;
    return 0;
}

/// 80,000 warps load a word of each lane, all in lines of their own. Memory delivers 64 bytes at once, and single sectors at random
/// places at a rate of their own; the L2, too, which does not count here.
TEST(Timing, moves_sectors_at_random_places_at_their_own_rate) {
    timing::Step step{.sectors = 32, .lines = 32, .misses = 32};
    const auto memory = [&](timing::Effect effect) {
        return floor_of(work_with({{global(effect), step}}), "memory");
    };
    const timing::Card& card = timing::find_card("h200");
    EXPECT_NEAR(memory(timing::Effect::load), 80'000 * 32 * 64 / card["bandwidth_loads"] / 1e3, 1e-9);
    step.is_scattered = true;
    EXPECT_NEAR(memory(timing::Effect::load), 80'000 * 32 / card["scattered_loads"] / 1e3, 1e-9);
    step.reused = 51; // a fifth of them is in the L2
    EXPECT_NEAR(memory(timing::Effect::load), 80'000 * 32 * 0.8 / card["scattered_loads"] / 1e3, 1e-9);
    step.reused = 0; // Parts of sectors are read before.
    step.partial = 32;
    EXPECT_NEAR(memory(timing::Effect::store),
                80'000 * 32 * (1 / card["scattered_stores"] + 1 / card["scattered_loads"]) / 1e3, 1e-9);
}

/// Each of 64 warps loads 100 times 32 sectors from memory: single ones at random places take 4,635 / 43.52 / 64 times as long.
TEST(Timing, waits_longer_for_sectors_at_random_places) {
    const auto cycles = [](bool is_scattered) {
        timing::Instruction load = global(timing::Effect::load);
        load.write_scoreboard = 0;
        load.waits = 1;
        const std::vector<timing::Instruction> code = {load, {.effect = timing::Effect::exit, .waits = 1}};
        timing::WarpTrace warp(100, {.lanes = 32, .sectors = 32, .lines = 32, .misses = 32});
        for (timing::Step& step : warp) step.is_scattered = is_scattered;
        warp.push_back({.instruction = 1, .lanes = 32, .taken = true});
        const timing::BlockTrace block(64, warp);
        const timing::BlockTrace* const blocks[] = {&block};
        return timing::simulate({.code = code, .blocks = blocks, .busy_multiprocessors = 132},
                                timing::find_card("h200"))
            .cycles;
    };
    EXPECT_NEAR(cycles(true) / cycles(false), 4635 / 43.52 / 64, 0.1);
}

/// 80,000 warps store 128 bytes each, 10.24 MB: less than what the L2 keeps. Of ten times as many, it keeps a part.
TEST(Timing, keeps_in_the_l2_what_is_stored_last) {
    const timing::Card& card = timing::find_card("h200");
    timing::Work work = work_with({{global(timing::Effect::store), {.sectors = 4, .lines = 1, .misses = 4}}});
    EXPECT_EQ(floor_of(work, "memory"), 0);
    work.blocks *= 10;
    const double bytes = 102.4e6 - card["l2_dirty_bytes"], copied = 1 / card["bandwidth_copy"],
                 loaded = 1 / card["bandwidth_loads"];
    EXPECT_NEAR(floor_of(work, "memory"), bytes * (2 * copied - loaded) / 1e3, 1e-6);
    work.stored_piece_bytes = 96; // between 64 and 128
    EXPECT_NEAR(floor_of(work, "memory"), bytes * (2 * copied - loaded) * (1.235 + 1.22) / 2 / 1e3, 1e-6);
}

/// All blocks store to a sector that others store to, 80,000 times: 1.45 of them in a nanosecond. To 512 sectors 11.2.
TEST(Timing, stores_to_few_sectors_in_turn) {
    timing::Instruction store = global(timing::Effect::store);
    const auto microseconds = [&](std::uint32_t sectors) {
        store.hot_sectors = sectors;
        return floor_of(work_with({{store, {.sectors = 1, .lines = 1, .partial = 1}}}), "stores");
    };
    EXPECT_NEAR(microseconds(0), 80'000 * 2 * 0.8 / 111.1 / 1e3, 1e-2);
    EXPECT_NEAR(microseconds(1), 80'000 / 1.45 / 1e3, 1e-9);
    EXPECT_NEAR(microseconds(512), 80'000 / 11.2 / 1e3, 1e-9);
}

/// The L2 delivers 7,004 GB/s in order, but of lines that it sends a sector of no more than 150.9 in a nanosecond.
TEST(Timing, takes_single_sectors_from_the_l2_by_their_lines) {
    timing::Instruction load = global(timing::Effect::load);
    load.write_scoreboard = 0;
    const auto microseconds = [&](std::uint8_t lines) {
        const timing::Step step{.sectors = 32, .lines = lines, .misses = 32, .in_l2 = 32};
        return timing::estimate(work_with({{load, step}, {{.waits = 1}, {}}}), timing::find_card("h200"))
            .time_us;
    };
    EXPECT_NEAR(microseconds(8), 80'000 * 32 * 32 / 7004.0 / 1e3 + 2.816, 1.5);
    EXPECT_NEAR(microseconds(32), 80'000 * 32 / 150.9 / 1e3 + 2.816, 1.5);
}

/// One word is added to in turn, floats slower. 4,096 words lie in 16 times as many sectors as 256.
TEST(Timing, adds_to_more_sectors_in_less_time) {
    const timing::Card& card = timing::find_card("h200");
    EXPECT_NEAR(card.atomic_rate(1), card["atomics_1"], 1e-9);
    EXPECT_NEAR(card.atomic_rate(1, true), card["atomics_1_float"], 1e-9);
    EXPECT_NEAR(card.atomic_rate(32, true), card.atomic_rate(32), 1e-9);
    EXPECT_NEAR(card.atomic_rate(512), 16 * card.atomic_rate(32), 1e-9);
    EXPECT_EQ(card.atomic_rate(1 << 20), card["atomics_65536"]);
}

/// 151.5 warps for each of 132 x 4 schedulers.
TEST(Timing, takes_half_of_the_fma_pipe_for_integers) {
    const machine_code::Code code = machine_code::read_listing(
        listed({"IMAD R0, R1, R2, R3", "VIADD R0, R0, 0x1", "IMAD.WIDE R4, R0, R1, R2",
                "IMAD.HI.U32 R4, R0, R1, R2", "FFMA R0, R1, R2, R3", "IADD3 R0, R1, R2, R3"}),
        "k");
    std::vector<std::pair<timing::Instruction, timing::Step>> all;
    for (const machine_code::Instruction& instruction : code.instructions)
        all.emplace_back(machine_code::timing_of(instruction), timing::Step{});
    const auto cycles = [](const auto& instructions, const char* unit) {
        return floor_of(work_with(instructions), unit) * 1.98e3 / (80'000.0 / 132 / 4);
    };
    EXPECT_NEAR(cycles(all, "fma"), 2 + 2 + 4 + 4, 1e-6); // meanwhile the other half has time for FFMA
    EXPECT_NEAR(cycles(all, "alu"), 2, 1e-6);
    all.insert(all.end(), 20, all[4]);
    EXPECT_NEAR(cycles(all, "fma"), 12.0 / 2 + 21, 1e-6); // both halves are busy
}

/// 80,000 warps with ten lines each, which the L2 delivers at 7,004 GB/s, and memory at 4,635.
TEST(Timing, takes_lines_from_the_l2_at_its_rate) {
    timing::Instruction load = global(timing::Effect::load);
    load.write_scoreboard = 0;
    std::vector<std::pair<timing::Instruction, timing::Step>> loads(
        10, {load, {.sectors = 4, .lines = 1, .misses = 4, .in_l2 = 4}});
    loads.push_back({{.waits = 1}, {}});
    const auto time = [&] { return timing::estimate(work_with(loads), timing::find_card("h200")).time_us; };
    EXPECT_NEAR(time(), 80'000 * 10 * 128 / 7.004e6, 4);
    for (auto& [instruction, step] : loads) step.in_l2 = 0, step.reused = 255;
    EXPECT_NEAR(time(), 80'000 * 10 * 128 / 7.004e6, 4);
    for (auto& [instruction, step] : loads) step.reused = 0;
    EXPECT_NEAR(time(), 2.8 + 80'000 * 10 * 128 / 4.635e6 + 1,
                1); // behind the launch; the last lines are late
}

/// As the card counts them: 32 words side by side are four sectors, and one word of all lanes is 32.
TEST(Timing, takes_atomics_by_their_sectors) {
    timing::Work work = work_with({{global(timing::Effect::atomic), {.sectors = 4, .lines = 1, .same = 1}}});
    work.atomic_sectors = 32;
    EXPECT_NEAR(floor_of(work, "atomics"), 80'000 * 4 / (3.649 * 22.26 / 32) / 1e3, 1);
    EXPECT_NEAR(timing::estimate(work, timing::find_card("h200")).time_us, floor_of(work, "atomics"), 10);
}

TEST(Timing, takes_longer_for_parts_of_sectors_in_more_lines) {
    const auto estimate = [](std::uint8_t lines) {
        return timing::estimate(work_with({{global(timing::Effect::store),
                                            {.sectors = 32, .lines = lines, .partial = 32}}}),
                                timing::find_card("h200"))
            .time_us;
    };
    EXPECT_NEAR(estimate(8), 80'000 * 32 / 111.1 / 1e3, 5); // as it was measured
    EXPECT_NEAR(estimate(32) / estimate(8), 64.0 / 40, 0.1);
}

/// A transposition that stores columns word by word: the blocks that are simulated end before their stores have passed.
TEST(Timing, estimates_no_time_below_a_floor) {
    timing::Instruction load = global(timing::Effect::load), store = global(timing::Effect::store);
    load.write_scoreboard = 0;
    store.waits = 1;
    std::vector<std::pair<timing::Instruction, timing::Step>> copies;
    for (int k = 0; k < 4; ++k) {
        copies.push_back({load, {.sectors = 4, .lines = 1, .misses = 4}});
        copies.push_back({store, {.sectors = 32, .lines = 32, .partial = 32, .misses = 32}});
    }
    timing::Work work = work_with(copies);
    work.blocks = 262'144;
    const timing::Estimate estimate = timing::estimate(work, timing::find_card("h200"));
    for (const auto& [floor, time] : estimate.floors_us) EXPECT_GE(estimate.time_us, time) << floor;
}

/// 10,000 blocks of 8 warps. Line 2: a store of 3 passes, and a jump to a function that no line is known of, whose load
/// is idle; together 3 + 1 passes per warp. Lines 4 and 5: barriers, with a pass per block for each that follows an access.
TEST(Timing, counts_machine_code_by_line) {
    const timing::Instruction store{
        .unit = timing::Unit::shared, .effect = timing::Effect::shared, .line = 2};
    const timing::Instruction load{.unit = timing::Unit::shared, .effect = timing::Effect::shared};
    const timing::Instruction first{.unit = timing::Unit::adu, .effect = timing::Effect::barrier, .line = 4};
    const timing::Instruction second{.unit = timing::Unit::adu, .effect = timing::Effect::barrier, .line = 5};
    timing::Work work =
        work_with({{store, {.passes = 3}}, {load, {}}, {first, {}}, {load, {}}, {second, {}}});
    work.code.back().line = 7; // EXIT
    const auto lines_of = [&] {
        const timing::Totals totals = timing::totals_of(work, timing::find_card("h200"));
        std::string text;
        std::uint64_t instructions = 0, passes = 0;
        for (std::size_t line = 0; line < totals.lines.size(); ++line) {
            const timing::LineTotals& sums = totals.lines[line];
            instructions += sums.instructions;
            passes += sums.passes;
            if (sums.instructions > 0)
                text += std::to_string(line) + ": " + std::to_string(sums.instructions) + " " +
                        std::to_string(sums.passes) + "\n";
        }
        EXPECT_EQ(instructions, totals.instructions);
        EXPECT_EQ(passes, totals.passes);
        return text;
    };
    EXPECT_EQ(lines_of(), "2: 160000 320000\n4: 160000 90000\n5: 80000 10000\n7: 80000 0\n");
    // Four warps leave in front of the second barrier, and the others pass it.
    for (std::size_t warp = 0; warp < 4; ++warp) work.samples[0][warp].resize(4);
    EXPECT_EQ(lines_of(), "2: 160000 320000\n4: 160000 90000\n5: 40000 10000\n7: 40000 0\n");
    for (timing::WarpTrace& warp : work.samples[0]) warp.erase(warp.begin() + 3);
    EXPECT_EQ(lines_of(), "2: 160000 320000\n4: 80000 10000\n5: 40000 0\n7: 40000 0\n");
}

/// A thread's index, and what else the warps of two blocks execute. \param sharing multiprocessors that get blocks in turn
double more_passes(std::vector<timing::Instruction> code, double sharing) {
    code.insert(code.begin(), {.unit = timing::Unit::shared});
    code.push_back({.effect = timing::Effect::exit});
    timing::WarpTrace warp;
    for (std::uint32_t k = 0; k < code.size(); ++k)
        warp.push_back({.instruction = k, .lanes = 32, .taken = k + 1 == code.size()});
    const timing::BlockTrace block{warp};
    const timing::BlockTrace* const blocks[] = {&block, &block};
    return timing::simulate({.code = code, .blocks = blocks, .resident = 2, .busy_multiprocessors = sharing},
                            timing::find_card("h200"))
        .more_passes;
}

/// A block starts every 1.2 cycles times the multiprocessors.
TEST(Timing, shares_the_pass_of_barriers_with_no_access_between) {
    const timing::Instruction barrier{.unit = timing::Unit::adu, .effect = timing::Effect::barrier},
        other{.unit = timing::Unit::alu, .stall = 15};
    EXPECT_EQ(more_passes({other, barrier}, 1),
              -1); // both blocks have their index, and come to their barrier
    EXPECT_EQ(more_passes({other, barrier, barrier}, 1), -1);
    EXPECT_EQ(more_passes({other, barrier}, 132), 0); // one after the other
}

/// The second block's warp starts 2 cycles after the first one's: its index is issued at 2, as the first one's shuffle.
TEST(Timing, repeats_a_shuffle_beside_an_index) {
    const timing::Instruction shuffle{.unit = timing::Unit::shared,
                                      .effect = timing::Effect::shared,
                                      .latency = static_cast<std::uint8_t>(timing::Latency::shuffle)};
    const timing::Instruction load{.unit = timing::Unit::shared, .effect = timing::Effect::shared};
    EXPECT_EQ(more_passes({shuffle}, 1), 1);
    EXPECT_EQ(more_passes({load}, 1), 0);
    EXPECT_EQ(more_passes({shuffle}, 132), 0);
}

/// Each warp adds a float to one of so many sectors and loads these lines, of 128 bytes, of its own block, and waits for all.
/// \param each so many lines from there on, with one request
std::vector<timing::WarpRow> rows_behind_atomics(const std::vector<std::uint16_t>& lines,
                                                 std::uint32_t resident, double sectors = 1,
                                                 std::uint8_t each = 1) {
    const std::vector<timing::Instruction> code = {
        {.unit = timing::Unit::global, .effect = timing::Effect::atomic, .write_scoreboard = 1},
        {.unit = timing::Unit::global, .effect = timing::Effect::load, .write_scoreboard = 0},
        {.unit = timing::Unit::alu, .waits = 0b11},
        {.effect = timing::Effect::exit}};
    timing::WarpTrace warp{{.instruction = 0, .lanes = 1, .sectors = 1, .lines = 1, .same = 1}};
    const auto touched = static_cast<std::uint8_t>(4 * each);
    for (const std::uint16_t line : lines)
        warp.push_back({.instruction = 1,
                        .lanes = 32,
                        .sectors = touched,
                        .lines = each,
                        .misses = touched,
                        .first_line = line});
    warp.push_back({.instruction = 2, .lanes = 32});
    warp.push_back({.instruction = 3, .lanes = 32, .taken = true});
    const timing::BlockTrace block{warp};
    const std::vector<const timing::BlockTrace*> blocks(2000, &block);
    return timing::simulate({.code = code,
                             .blocks = blocks,
                             .resident = resident,
                             .busy_multiprocessors = 132,
                             .atomic_sectors = sectors,
                             .adds_floats = true,
                             .recorded_cycles = 1e9},
                            timing::find_card("h200"))
        .rows;
}

/// An H200 adds 0.5627 floats per ns to a word, a multiprocessor's share is one in 464 cycles. Loads wait longer than 2,000
/// cycles behind seven of them only if their line does, as 1.23 for each atomic do, however many lines there are: 2,460, give or
/// take 3 x 47. If a load is of two lines that wait together, that is half as many loads. So it is if words in two sectors are
/// added to in turn. With 32 atomics on their way, loads wait until there are no more than 16, whatever their line is.
TEST(Timing, lets_some_loads_wait_behind_atomics) {
    const auto late = [](std::size_t loads, std::uint32_t resident, double sectors, std::uint8_t each = 1) {
        std::vector<std::uint16_t> each_of_its_own_kib(loads);
        for (std::size_t k = 0; k < loads; ++k) each_of_its_own_kib[k] = static_cast<std::uint16_t>(8 * k);
        std::ptrdiff_t all = 0;
        for (const timing::WarpRow& row : rows_behind_atomics(each_of_its_own_kib, resident, sectors, each))
            all += std::count_if(row.loads.begin(), row.loads.end(),
                                 [](const timing::WarpLoad& load) { return load.to - load.from > 2000; });
        return static_cast<double>(all);
    };
    EXPECT_NEAR(late(8, 8, 1), 2460, 3 * 47);
    EXPECT_NEAR(late(16, 8, 1), 2460, 3 * 47);
    EXPECT_NEAR(late(4, 8, 1, 2), 1230, 3 * 33);
    EXPECT_NEAR(late(8, 12, 2), 1230, 3 * 34);
    EXPECT_GE(late(1, 32, 1), 2000 - 2 * 16);
}

/// Of the eight lines of a KiB, 0 and 5 wait or pass together. Of two lines for each atomic 0.615 wait, and other pairs differ in
/// 2 x 0.615 x 0.385 of 1,000 blocks: 474. Those before are not counted: until then, that share settles.
TEST(Timing, lets_lines_wait_behind_atomics_by_their_place) {
    const auto differ = [](std::uint16_t one, std::uint16_t other) {
        const auto rows = rows_behind_atomics({one, other}, 8);
        const auto late = [](const timing::WarpLoad& load) { return load.to - load.from > 2000; };
        return std::count_if(rows.begin() + 1000, rows.end(), [&](const timing::WarpRow& row) {
            return late(row.loads.at(0)) != late(row.loads.at(1));
        });
    };
    EXPECT_LE(differ(0, 5), 1); // That share falls a little from one load to the next.
    EXPECT_LE(differ(18, 23), 1);
    for (const std::uint16_t other : {2, 3, 8, 13})
        EXPECT_NEAR(static_cast<double>(differ(0, other)), 474, 3 * 16) << other;
}

/// Loads of 8 KiB and an atomic on one int per block pass one port: 10,000 x 8,192 / 5,000 ns and 10,000 / 1.352 ns, behind
/// the launch. Where they do not share it, the loads take 10,000 x 8,192 / 4,635 ns.
TEST(Timing, lets_atomics_and_loads_share_a_port) {
    timing::Instruction load = global(timing::Effect::load);
    load.write_scoreboard = 0;
    std::vector<std::pair<timing::Instruction, timing::Step>> instructions(
        8, {load, {.sectors = 4, .lines = 1, .misses = 4}});
    instructions.push_back({{.waits = 1}, {}});
    instructions.push_back({global(timing::Effect::atomic), {.sectors = 1, .lines = 1, .same = 1}});
    timing::Work work = work_with(instructions);
    for (std::size_t k = 1; k < 8; ++k) // only the first warp adds
        work.samples[0][k].erase(work.samples[0][k].begin() + 9);
    EXPECT_NEAR(timing::estimate(work, timing::find_card("h200")).time_us, 2.8 + 16.4 + 7.4, 2);
    work.adds_floats = true; // The port is free while they wait for those before.
    EXPECT_NEAR(timing::estimate(work, timing::find_card("h200")).time_us, 2.8 + 16.4 + 7.4, 2);
    work.adds_floats = false;
    work.atomic_sectors = 8192;
    EXPECT_NEAR(timing::estimate(work, timing::find_card("h200")).time_us, 2.8 + 17.7, 2);
    // What goes to one line passes the port at once, and the L2 adds to its sectors in turn: 10,000 x 4 / 2.54 ns.
    work.atomic_sectors = 32;
    work.samples[0][0][9].sectors = 4;
    EXPECT_NEAR(timing::estimate(work, timing::find_card("h200")).time_us, 2.8 + 16.4 + 3.9, 2);
}

/// Of eight loads at once the latest takes 74.67 cycles longer than the first, and 711.5 is their mean with the 50 cycles that it
/// takes to read the clock, on an H200 that has little else to do. Few are much later than others: the latest is further from the mean than the first.
TEST(Timing, spreads_loads_as_a_card_does) {
    const std::vector<timing::Instruction> code = {
        {.unit = timing::Unit::global, .effect = timing::Effect::load, .write_scoreboard = 0},
        {.unit = timing::Unit::alu, .waits = 1},
        {.effect = timing::Effect::exit}};
    const timing::BlockTrace block(8, {{.instruction = 0, .lanes = 32, .sectors = 4, .lines = 1, .misses = 4},
                                       {.instruction = 1, .lanes = 32},
                                       {.instruction = 2, .lanes = 32, .taken = true}});
    constexpr std::size_t count = 1000;
    const std::vector<const timing::BlockTrace*> blocks(count, &block);
    const auto rows =
        timing::simulate({.code = code, .blocks = blocks, .busy_multiprocessors = 1, .recorded_cycles = 1e9},
                         timing::find_card("h200"))
            .rows;
    ASSERT_EQ(rows.size(), 8 * count);
    double sum = 0, ranges = 0, latest = 0;
    for (std::size_t k = 0; k < count; ++k) {
        std::array<double, 8> times{};
        for (std::size_t warp = 0; warp < 8; ++warp) {
            const timing::WarpLoad& load = rows[8 * k + warp].loads.at(0);
            times[warp] = load.to - load.from;
            sum += times[warp];
        }
        const auto [first, last] = std::minmax_element(times.begin(), times.end());
        ranges += *last - *first;
        latest += *last;
    }
    const double mean = sum / (8 * count);
    EXPECT_NEAR(mean, 711.5 - 50, 3);
    EXPECT_NEAR(ranges / count, 74.67, 3);
    EXPECT_GT((latest / count - mean) / (ranges / count), 0.57);
}

/// A block's end waits for the parts of sectors that it stores.
TEST(Timing, waits_at_its_end_for_what_a_block_stores) {
    const timing::Estimate stores =
        timing::estimate(work_with({{global(timing::Effect::store), {.sectors = 32, .lines = 32}}}),
                         timing::find_card("h200"));
    EXPECT_EQ(stores.waits[0].first, "drain");
}

/// A load is behind 20 stores to what is in the L2, each of which takes 64 parts of sectors and lines: 20 x 64 x 1.88
/// cycles of the multiprocessor's share, and then a line's latency, behind pipe_entry.
TEST(Timing, lets_loads_wait_behind_stores) {
    const std::vector<timing::Instruction> code = {
        global(timing::Effect::store),
        {.unit = timing::Unit::global, .effect = timing::Effect::load, .write_scoreboard = 0},
        {.unit = timing::Unit::alu, .waits = 1},
        {.effect = timing::Effect::exit}};
    timing::WarpTrace warp(20, {.instruction = 0, .lanes = 32, .sectors = 32, .lines = 32, .partial = 32});
    warp.push_back({.instruction = 1, .lanes = 32, .sectors = 4, .lines = 1, .misses = 4});
    warp.push_back({.instruction = 2, .lanes = 32});
    warp.push_back({.instruction = 3, .lanes = 32, .taken = true});
    const timing::BlockTrace block{warp};
    const timing::BlockTrace* const blocks[] = {&block};
    const auto rows =
        timing::simulate(
            {.code = code, .blocks = blocks, .busy_multiprocessors = 132, .recorded_cycles = 10'000},
            timing::find_card("h200"))
            .rows;
    const double taken = rows.at(0).loads.at(0).to - 6 - 20 * 64 * 1.88;
    EXPECT_GT(taken, 711.5 - 75);
    EXPECT_LT(taken, 1705); // the longest latency beside stores
}

TEST(Timing, lets_loads_pass_stores_that_wait_for_room) {
    timing::Instruction load = global(timing::Effect::load), store = global(timing::Effect::store);
    load.write_scoreboard = 0;
    store.waits = 1;
    const timing::Estimate estimate =
        timing::estimate(work_with({{load, {.sectors = 4, .lines = 1, .misses = 4}},
                                    {store, {.sectors = 32, .lines = 32, .partial = 32, .misses = 32}}}),
                         timing::find_card("h200"));
    std::map<std::string, double> shares(estimate.waits.begin(), estimate.waits.end());
    EXPECT_LT(shares["lg_throttle"], 0.1);
}

/// 40,000 additions by each of 8 warps: twice the 64 warps of a multiprocessor would take too long to simulate.
TEST(Timing, takes_a_wave_for_all_waves_if_blocks_are_long) {
    std::vector<std::pair<timing::Instruction, timing::Step>> additions(40'000,
                                                                        {{.unit = timing::Unit::alu}, {}});
    const timing::Work work = work_with(additions);
    const double time = timing::estimate(work, timing::find_card("h200")).time_us;
    EXPECT_NEAR(time / floor_of(work, "alu"), 1, 0.02);
}

/// Warps with ten additions each, of which every fourth is on the first scheduler. The order in which these issue.
std::vector<std::size_t> order_of_issues(std::uint32_t blocks, std::uint32_t warps_of_block) {
    const std::vector<timing::Instruction> code = {{.unit = timing::Unit::alu, .stall = 2},
                                                   {.effect = timing::Effect::exit}};
    timing::WarpTrace trace(10, {.instruction = 0, .lanes = 32});
    trace.push_back({.instruction = 1, .lanes = 32, .taken = true});
    const timing::BlockTrace block(warps_of_block, trace);
    const std::vector<const timing::BlockTrace*> all(blocks, &block);
    const timing::ShiftTimes times = timing::simulate(
        {.code = code, .blocks = all, .resident = blocks, .busy_multiprocessors = 1, .recorded_cycles = 200},
        timing::find_card("h200"));
    std::map<double, std::size_t> issues;
    for (std::size_t warp = 0; warp < times.rows.size(); warp += 4)
        for (const timing::WarpRun& run : times.rows[warp].runs)
            if (run.state == timing::Wait::selected) issues[run.from] = warp;
    std::vector<std::size_t> order;
    for (const auto& [cycle, warp] : issues) order.push_back(warp);
    return order;
}

/// The ALU has room in every second cycle, and a warp wants it in each of those. Warps start at 0, 8 and 16. With a block for
/// each, the first has added ten times and ended when the second adds for the first time. In one block they take turns, the
/// youngest first.
TEST(Timing, chooses_the_oldest_block_and_its_warps_in_turn) {
    std::vector<std::size_t> order = order_of_issues(9, 1);
    EXPECT_EQ(std::vector<std::size_t>(order.begin(), order.begin() + 12),
              (std::vector<std::size_t>{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4}));
    order = order_of_issues(1, 9);
    EXPECT_EQ(std::vector<std::size_t>(order.begin(), order.begin() + 14),
              (std::vector<std::size_t>{0, 0, 0, 0, 4, 0, 4, 0, 8, 4, 0, 8, 4, 0}));
}

/// Every other cycle the ALU has no room; in the others it has room for one of 16 warps.
TEST(Timing, tells_a_busy_unit_from_other_warps) {
    std::vector<std::pair<timing::Instruction, timing::Step>> additions(200,
                                                                        {{.unit = timing::Unit::alu}, {}});
    const timing::Estimate estimate = timing::estimate(work_with(additions), timing::find_card("h200"));
    std::map<std::string, double> shares(estimate.waits.begin(), estimate.waits.end());
    EXPECT_NEAR(shares["not_selected"], 0.45, 0.03);
    EXPECT_NEAR(shares["math_pipe_throttle"], 0.49, 0.03);
}

} // namespace
} // namespace emulator
