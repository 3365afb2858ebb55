// The counters of a launch by line, derived by hand. Their sums are the launch's own.

#include "../machine/ptx_fixture.hpp"

#include "emulator/observe/line_counts.hpp"

#include <gmock/gmock.h>

#include <string>

using namespace emulator::fixture;
using emulator::Counters, emulator::FunctionLines, emulator::LineCounting, emulator::LineCounts,
    emulator::Metric;
using std::uint32_t, std::uint64_t;
using testing::ElementsAre;

namespace {

struct Counted {
    Counters launch;
    std::vector<FunctionLines> functions;

    /// Of the first function, or of those after it.
    const LineCounts& line(uint32_t wanted, std::size_t function = 0) const {
        for (const LineCounts& line : functions.at(function).lines)
            if (line.line == wanted) return line;
        throw std::out_of_range("no instruction on line " + std::to_string(wanted));
    }
    uint64_t count(uint32_t wanted, Metric metric, std::size_t function = 0) const {
        return line(wanted, function).counted[metric];
    }
    uint64_t ideal(uint32_t wanted, Metric metric, std::size_t function = 0) const {
        return line(wanted, function).ideal[metric];
    }
    Counters sum() const {
        Counters total;
        for (const FunctionLines& function : functions)
            for (const LineCounts& line : function.lines) total += line.counted;
        return total;
    }
};

/// Launches a kernel with `body` with p0 = 64 KiB of memory at a sector's start.
Counted count_text(const std::string& text, uint32_t threads, uint32_t blocks,
                   unsigned int host_threads = 1) {
    Program program(text);
    LineCounting lines;
    emulator::Watcher* const watchers[] = {&lines};
    Counted counted;
    counted.launch = program.launch("k", grid_of(threads, blocks), {program.allocate<uint32_t>(16384)},
                                    {.host_threads = host_threads, .watchers = watchers});
    counted.functions = lines.functions();
    return counted;
}

constexpr const char* files = R"(
    .file 1 "/home/me/kernels.cuh"
    .file 2 "/usr/include/header.hpp"
    .shared .align 16 .b8 tile[16384];
)";

Counted count(const std::string& body, uint32_t threads = 32, uint32_t blocks = 1,
              unsigned int host_threads = 1) {
    return count_text(module_of(".loc 1 1 0\n" + body, files), threads, blocks, host_threads);
}

std::vector<uint32_t> numbers(const FunctionLines& function) {
    std::vector<uint32_t> result;
    for (const LineCounts& line : function.lines) result.push_back(line.line);
    return result;
}

} // namespace

TEST(LineCounts, each_line_has_what_its_instructions_did) {
    // %rd1 = p0 + 128 * %tid.x: a column; %rd2 = p0 + 4 * %tid.x: a row
    const Counted c = count(R"(
        .loc 1 10 5
        mul.wide.u32 %rd1, %r60, 128; add.u64 %rd1, %rd60, %rd1; mul.wide.u32 %rd2, %r60, 4;
        add.u64 %rd2, %rd60, %rd2;
        .loc 1 12 5
        ld.global.u32 %r1, [%rd1]; ld.global.u32 %r2, [%rd2];
        .loc 1 13 5
        st.global.u32 [%rd1], %r1;
        .loc 1 12 9
        ld.global.u32 %r3, [%rd60];
        .loc 1 14 1
        ret;)",
                            64, 3);
    ASSERT_EQ(c.functions.size(), 1u);
    EXPECT_EQ(c.functions[0].function, "k");
    EXPECT_EQ(c.functions[0].path, "/home/me/kernels.cuh");
    EXPECT_EQ(c.functions[0].first_line, 1u);
    EXPECT_THAT(c.functions[0].ptx, testing::IsEmpty());
    // The fixture's own instructions precede the first .loc: they count on the first line.
    EXPECT_THAT(numbers(c.functions[0]), ElementsAre(10, 12, 13, 14));
    constexpr uint64_t warps = 6;
    EXPECT_EQ(c.count(12, Metric::warp_instructions), 3 * warps);
    EXPECT_EQ(c.count(12, Metric::thread_instructions), 3 * 32 * warps);
    EXPECT_EQ(c.count(12, Metric::global_load_requests), 3 * warps);
    EXPECT_EQ(c.count(12, Metric::global_load_sectors), (32 + 4 + 1) * warps);
    EXPECT_EQ(c.ideal(12, Metric::global_load_sectors), (4 + 4 + 1) * warps);
    EXPECT_EQ(c.count(13, Metric::global_store_sectors), 32 * warps);
    EXPECT_EQ(c.ideal(13, Metric::global_store_sectors), 4 * warps);
    EXPECT_EQ(c.count(13, Metric::global_load_sectors), 0u);
    EXPECT_EQ(c.ideal(13, Metric::global_store_requests), 0u); // not a sector
    EXPECT_EQ(c.count(10, Metric::global_load_requests), 0u);
    EXPECT_EQ(c.sum(), c.launch);
}

TEST(LineCounts, shared_wavefronts_and_those_without_conflicts) {
    const Counted c = count(R"(
        .loc 1 20 5
        mul.lo.u32 %r1, %r60, 128; mov.u32 %r2, tile; add.u32 %r1, %r1, %r2;
        st.shared.u32 [%r1], 1;
        .loc 1 21 5
        ld.shared.v4.u32 {%r4, %r5, %r6, %r7}, [%r1]; ld.shared.u32 %r3, [tile];)");
    EXPECT_EQ(c.count(20, Metric::shared_store_wavefronts), 32u);
    EXPECT_EQ(c.ideal(20, Metric::shared_store_wavefronts), 1u);
    EXPECT_EQ(c.count(21, Metric::shared_load_wavefronts), 32u + 1); // and a broadcast
    EXPECT_EQ(c.ideal(21, Metric::shared_load_wavefronts), 4u + 1);
    EXPECT_EQ(c.sum(), c.launch);
}

TEST(LineCounts, asynchronous_copies_count_where_they_start) {
    // 8 lanes: from a column of 64-byte steps to one of 128: each its own sector and wavefront, where 8 x 16
    // B side by side are 4 sectors and 1 wavefront. Then 64 bytes in one bulk copy, from byte 16 on: 3
    // sectors for 2.
    const Counted c = count(R"(
        .shared .align 8 .b64 arrived; mov.u32 %r3, arrived; mov.u32 %r2, tile; shl.b32 %r1, %r60, 7;
        add.u32 %r1, %r1, %r2; mul.wide.u32 %rd1, %r60, 64; add.u64 %rd1, %rd60, %rd1;
        setp.eq.u32 %p2, %r60, 0; @%p2 mbarrier.init.shared.b64 [%r3], 1; bar.sync 0;
        .loc 1 10 5
        cp.async.cg.shared.global [%r1], [%rd1], 16;
        .loc 1 11 5
        cp.async.wait_all; bar.sync 0;
        @%p2 mbarrier.arrive.expect_tx.shared.b64 _, [%r3], 64;
        .loc 1 12 5
        @%p2 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd60+16], 64, [%r3];
        .loc 1 13 5
        WAIT: mbarrier.try_wait.parity.shared.b64 %p5, [%r3], 0; @!%p5 bra WAIT;)",
                            8);
    EXPECT_EQ(c.count(10, Metric::copy_instructions), 1u);
    EXPECT_EQ(c.count(10, Metric::copy_wavefronts), 8u);
    EXPECT_EQ(c.ideal(10, Metric::copy_wavefronts), 1u);
    EXPECT_EQ(c.count(10, Metric::global_load_requests), 1u);
    EXPECT_EQ(c.count(10, Metric::global_load_sectors), 8u);
    EXPECT_EQ(c.ideal(10, Metric::global_load_sectors), 4u);
    EXPECT_EQ(c.count(12, Metric::bulk_instructions), 1u);
    EXPECT_EQ(c.count(12, Metric::bulk_sectors), 3u);
    EXPECT_EQ(c.ideal(12, Metric::bulk_sectors), 2u);
    for (const uint32_t line : {11u, 13u})
        EXPECT_EQ(c.count(line, Metric::copy_wavefronts) + c.count(line, Metric::bulk_sectors), 0u) << line;
    EXPECT_EQ(c.sum(), c.launch);
}

TEST(LineCounts, ideal_atomics_of_lanes_that_want_the_same_word_want_one_each) {
    const Counted c = count(R"(
        .loc 1 20 5
        and.b32 %r1, %r60, 0; mul.wide.u32 %rd1, %r1, 4; add.u64 %rd1, %rd60, %rd1;
        atom.global.exch.b32 %r2, [%rd1], 1;
        .loc 1 21 5
        red.global.add.u32 [%rd1], %r2;
        .loc 1 22 5
        red.global.add.u32 [%rd60], 1;)");
    EXPECT_EQ(c.count(20, Metric::global_atom_sectors), 32u);
    EXPECT_EQ(c.ideal(20, Metric::global_atom_sectors), 4u);
    EXPECT_EQ(c.count(21, Metric::global_red_sectors), 32u);
    EXPECT_EQ(c.ideal(21, Metric::global_red_sectors), 4u);
    EXPECT_EQ(c.count(22, Metric::global_red_sectors), 1u); // one lane does it for all
    EXPECT_EQ(c.ideal(22, Metric::global_red_sectors), 1u);
    EXPECT_EQ(c.sum(), c.launch);
}

TEST(LineCounts, branches_loops_barriers_and_lines_that_nothing_executes) {
    // Lanes below 8 go round three times, the others once.
    const Counted c = count(R"(
        .loc 1 30 5
        setp.lt.u32 %p1, %r60, 8; selp.u32 %r1, 3, 1, %p1;
        LOOP:
        .loc 1 31 5
        add.u32 %r2, %r2, 1;
        .loc 1 32 5
        sub.u32 %r1, %r1, 1; setp.ne.u32 %p2, %r1, 0; @%p2 bra LOOP;
        .loc 1 33 5
        bar.sync 0;
        .loc 1 34 5
        setp.eq.u32 %p3, %r60, 99; @!%p3 bra END;
        .loc 1 35 5
        add.u32 %r2, %r2, 1;
        END:
        .loc 1 36 1
        ret;)",
                            32, 2);
    EXPECT_EQ(c.count(31, Metric::warp_instructions), 2u * 3);
    EXPECT_EQ(c.count(31, Metric::thread_instructions), 2u * (32 + 8 + 8));
    EXPECT_EQ(c.count(32, Metric::divergent_branches), 2u);
    EXPECT_EQ(c.count(33, Metric::thread_barriers), 2u * 32);
    EXPECT_EQ(c.count(34, Metric::divergent_branches), 0u);
    EXPECT_EQ(c.line(35).counted, Counters{}); // there, but not executed
    EXPECT_EQ(c.sum(), c.launch);
}

TEST(LineCounts, inlined_functions_count_to_the_line_that_calls_them) {
    const Counted c = count(R"(
        .loc 1 40 5
        mov.u32 %r1, 1;
        .loc 2 7 3, function_name $L__info_string0, inlined_at 1 41 9
        add.u32 %r1, %r1, 1; add.u32 %r1, %r1, 1;
        .loc 2 99 1, function_name $L__info_string1, inlined_at 2 7 3
        add.u32 %r1, %r1, 1;
        .loc 1 0 5
        add.u32 %r1, %r1, 1;
        .loc 1 42 1
        ret;)");
    ASSERT_EQ(c.functions.size(), 1u);
    EXPECT_THAT(numbers(c.functions[0]), ElementsAre(40, 41, 42));
    // Line 0 does not exist: the lines continue with 41.
    EXPECT_EQ(c.count(41, Metric::warp_instructions), 4u);
    EXPECT_EQ(c.sum(), c.launch);
}

TEST(LineCounts, called_functions_have_lines_of_their_own) {
    const std::string text = module_of(R"(
        .loc 1 50 5
        { .param .b64 argument; st.param.b64 [argument], %rd60; call.uni load, (argument); }
        .loc 1 51 5
        setp.lt.u32 %p1, %r60, 4; @!%p1 bra END;
        { .param .b64 argument; st.param.b64 [argument], %rd60; call.uni load, (argument); }
        END:
        .loc 1 52 1
        ret;)",
                                       std::string(files) + R"(
        .func load(.param .b64 address)
        {
            .reg .b32 %r<4>; .reg .b64 %rd<4>;
            .loc 1 5 0
            ld.param.u64 %rd1, [address];
            .loc 1 6 5
            ld.global.u32 %r1, [%rd1];
            ret;
        })");
    const Counted c = count_text(text, 32, 2, 2);
    ASSERT_EQ(c.functions.size(), 2u);
    EXPECT_EQ(c.functions[0].function, "k");
    EXPECT_EQ(c.functions[1].function, "load");
    EXPECT_EQ(c.functions[1].first_line, 5u);
    EXPECT_THAT(numbers(c.functions[1]), ElementsAre(5, 6));
    EXPECT_EQ(c.count(6, Metric::global_load_requests, 1), 2u * 2);
    EXPECT_EQ(c.count(6, Metric::thread_instructions, 1), 2u * 2 * (32 + 4)); // with the ret
    EXPECT_EQ(c.count(51, Metric::divergent_branches), 2u);
    EXPECT_EQ(c.count(50, Metric::global_load_requests), 0u);
    EXPECT_EQ(c.sum(), c.launch);
}

/// Machine code counts where its PTX does. ptxas tells lines of the text that it compiles, which follows another one here.
TEST(LineCounts, machine_code_counts_where_its_ptx_does) {
    const std::string unit = R"(.version 9.0
.target sm_90
.address_size 64
.file 1 "/home/me/kernels.cuh"
.file 2 "/usr/include/header.hpp"
.func own() {
.loc 1 5 0
ret; }
.func in_header() {
.loc 2 7 0
ret; }
.entry k() {
.reg .u32 %r<4>;
.loc 1 10 5
mov.u32 %r1, 1;
.loc 2 7 3, function_name $L__info_string0, inlined_at 1 11 9
mov.u32 %r2, 1;
.loc 1 12 1
call.uni own;
call.uni in_header;
ret; }
)";
    Program program("// five\n\n\n\n\n" + unit);
    const emulator::Code& kernel = program.module.kernel("k").code();
    const std::string_view text = program.module.ptx().text;
    const emulator::MachineLines lines(kernel, text.substr(text.find(".version")));
    const auto line_of = [&](uint32_t line_of_ptx) {
        const uint32_t index = lines.find(line_of_ptx);
        return index == 0 ? "call"
                          : lines.lines()[index].function + ":" + std::to_string(lines.lines()[index].line);
    };
    EXPECT_EQ(line_of(8), "own:5");
    EXPECT_EQ(line_of(11), "call") << "a function of a header";
    EXPECT_EQ(line_of(12), "k:10") << "before its first statement";
    EXPECT_EQ(line_of(15), "k:10");
    EXPECT_EQ(line_of(17), "k:11") << "inlined";
    EXPECT_EQ(line_of(20), "k:12");
    EXPECT_EQ(line_of(0), "call") << "what ptxas adds";
    EXPECT_EQ(lines.lines().at(1).line, 10u) << "where the kernel begins";
}

TEST(LineCounts, called_functions_without_lines_count_to_the_call) {
    const std::string text = module_of(R"(
        .loc 1 60 5
        mov.u32 %r1, 1;
        .loc 1 61 5
        { .param .b64 argument; st.param.b64 [argument], %rd60; call.uni outer, (argument); }
        .loc 1 62 1
        ret;)",
                                       std::string(files) + R"(
        .func inner(.param .b64 address)
        {
            .reg .b32 %r<4>; .reg .b64 %rd<4>;
            ld.param.u64 %rd1, [address]; ld.global.u32 %r1, [%rd1]; bar.sync 0; ret;
        }
        .func outer(.param .b64 address)
        {
            .reg .b64 %rd<4>;
            ld.param.u64 %rd1, [address];
            { .param .b64 argument; st.param.b64 [argument], %rd1; call.uni inner, (argument); }
            ret;
        })");
    const Counted c = count_text(text, 32, 1);
    ASSERT_EQ(c.functions.size(), 1u);
    EXPECT_THAT(numbers(c.functions[0]), ElementsAre(60, 61, 62));
    // st and call; ld, st, call and ret of outer; ld, ld, bar and ret of inner
    EXPECT_EQ(c.count(61, Metric::warp_instructions), 2u + 4 + 4);
    EXPECT_EQ(c.count(61, Metric::thread_instructions), 32u * 10);
    EXPECT_EQ(c.count(61, Metric::global_load_sectors), 1u);
    EXPECT_EQ(c.count(61, Metric::thread_barriers), 32u);
    EXPECT_EQ(c.sum(), c.launch);
}

TEST(LineCounts, called_functions_of_headers_count_to_the_call) {
    const std::string text = module_of(R"(
        .loc 1 59 5
        mov.u32 %r1, 1;
        .loc 1 60 5
        { .param .b64 argument; st.param.b64 [argument], %rd60; call.uni in_header, (argument); }
        .loc 1 61 1
        ret;)",
                                       std::string(files) + R"(
        .func in_file(.param .b64 address)
        {
            .loc 1 5 0
            ret;
        }
        .func in_header(.param .b64 address)
        {
            .reg .b32 %r<4>; .reg .b64 %rd<4>;
            .loc 2 7 0
            ld.param.u64 %rd1, [address]; ld.global.u32 %r1, [%rd1];
            .loc 2 8 0
            { .param .b64 argument; st.param.b64 [argument], %rd1; call.uni in_file, (argument); }
            ret;
        })");
    const Counted c = count_text(text, 32, 1);
    ASSERT_EQ(c.functions.size(), 2u);
    EXPECT_EQ(c.functions[1].function, "in_file") << "what a header calls has its own lines again";
    EXPECT_EQ(c.count(60, Metric::warp_instructions), 2u + 5); // st, call; ld, ld, st, call, ret
    EXPECT_EQ(c.count(60, Metric::global_load_sectors), 1u);
    EXPECT_EQ(c.sum(), c.launch);
}

TEST(LineCounts, of_ptx_where_there_is_no_source) {
    const Counted c = count_text(".version 8.5\n.target sm_90\n.address_size 64\n"
                                 ".visible .entry k(.param .u64 p0)\n" // line 4
                                 "{\n"
                                 ".reg .b32 %r<4>; .reg .b64 %rd<4>;\n"
                                 "ld.param.u64 %rd1, [p0];\n"
                                 "{ .reg .b32 %s;\n"
                                 "ld.global.v2.u32 {%r1, %r2}, [%rd1]; mov.u32 %r3, %r1;\n"
                                 "}\n"
                                 "ret;\n"
                                 "}\n"
                                 "// the end\n",
                                 64, 1);
    ASSERT_EQ(c.functions.size(), 1u);
    const FunctionLines& function = c.functions[0];
    EXPECT_EQ(function.path, "");
    EXPECT_EQ(function.first_line, 4u);
    EXPECT_THAT(numbers(function), ElementsAre(7, 9, 11));
    EXPECT_EQ(c.count(9, Metric::warp_instructions), 2u * 2);
    EXPECT_EQ(c.count(9, Metric::global_load_sectors), 2u);
    ASSERT_EQ(function.ptx.size(), 9u);
    EXPECT_EQ(function.ptx.front(), ".visible .entry k(.param .u64 p0)");
    EXPECT_EQ(function.ptx[9 - 4], "ld.global.v2.u32 {%r1, %r2}, [%rd1]; mov.u32 %r3, %r1;");
    EXPECT_EQ(function.ptx.back(), "}");
    EXPECT_EQ(c.sum(), c.launch);
}

TEST(LineCounts, of_ptx_of_called_functions) {
    const Counted c = count_text(".version 8.5\n.target sm_90\n.address_size 64\n"
                                 ".func inner() { bar.sync 0; ret; }\n"
                                 ".visible .entry k()\n"
                                 "{\n"
                                 "call.uni inner;\n"
                                 "ret;\n"
                                 "}\n",
                                 32, 1);
    ASSERT_EQ(c.functions.size(), 2u);
    EXPECT_EQ(c.functions[0].function, "k");
    EXPECT_EQ(c.functions[1].function, "inner");
    EXPECT_THAT(c.functions[1].ptx, ElementsAre(".func inner() { bar.sync 0; ret; }"));
    EXPECT_EQ(c.count(4, Metric::thread_barriers, 1), 32u);
    EXPECT_EQ(c.sum(), c.launch);
}

TEST(LineCounts, of_several_host_threads_together) {
    const std::string body = ".loc 1 70 5\n mul.wide.u32 %rd1, %r62, 4; add.u64 %rd1, %rd60, %rd1;\n"
                             ".loc 1 71 5\n ld.global.u32 %r1, [%rd1];";
    const Counted one = count(body, 96, 40, 1), four = count(body, 96, 40, 4);
    EXPECT_EQ(four.launch, one.launch);
    EXPECT_EQ(four.sum(), four.launch);
    EXPECT_EQ(four.count(71, Metric::global_load_sectors), 40u * 3 * 4);
}
