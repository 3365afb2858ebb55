// Accesses that a kernel must not make, and the messages about them.

#include "ptx_fixture.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <sstream>

using namespace emulator::fixture;
using emulator::Failure;
using std::uint32_t, std::uint64_t, std::uint8_t;
using testing::AllOf, testing::HasSubstr;

namespace {

std::string hexadecimal(const void* address) {
    std::ostringstream text;
    text << "0x" << std::hex << reinterpret_cast<uint64_t>(address);
    return text.str();
}

/// The error of one thread that executes `body` with p0 = `memory`, 16 bytes that are followed by a gap.
emulator::Error fault(const std::string& body, const std::string& declarations = "",
                      uint32_t dynamic_shared = 0) {
    Program program(module_of(body, declarations));
    auto* const memory = program.allocate<uint8_t>(16, "cudaMalloc #1");
    return error_of([&] { program.launch("k", grid_of(1, 1, dynamic_shared), {memory, memory + 16}); });
}

struct Row {
    const char* body;
    Failure failure;
    const char* message;
};

void expect_faults(std::initializer_list<Row> rows, const std::string& declarations = "",
                   uint32_t dynamic_shared = 0) {
    for (const Row& row : rows) {
        const auto error = fault(row.body, declarations, dynamic_shared);
        EXPECT_EQ(error.failure(), row.failure) << row.body << '\n' << error.what();
        EXPECT_THAT(error.what(), HasSubstr(row.message)) << row.body;
    }
}

} // namespace

TEST(Fault, message_says_who_did_what_where) {
    const std::string text = R"(.version 8.5
        .target sm_90
        .address_size 64
        .visible .entry _Z6doublePi(.param .u64 p)
        {
            .reg .b32 %r<9>; .reg .b64 %rd<9>;
            ld.param.u64 %rd1, [p]; mov.u32 %r1, %ntid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %tid.x;
            .loc 2 99 1
            mad.lo.u32 %r4, %r1, %r2, %r3; mul.wide.u32 %rd2, %r4, 4; add.u64 %rd3, %rd1, %rd2;
            .loc 1 30 5
            .loc 2 7 3, function_name $L__info_string0, inlined_at 1 30 5
            ld.global.u32 %r5, [%rd3];
            ret;
        }
        .file 1 "kernels.cuh"
        .file 2 "/usr/include/vector.hpp"
        .section .debug_str { $L__info_string0: .b8 0 })";
    Program program(text);
    auto* const memory = program.allocate<uint32_t>(70, "cudaMalloc #1");
    const auto error = error_of([&] { program.launch("_Z6doublePi", grid_of(40, 2), {memory}); });
    EXPECT_EQ(error.failure(), Failure::illegal_address);
    const std::string expected = "illegal 4-byte load from global memory at " + hexadecimal(memory + 70) +
                                 ": right after the end of the 280 bytes at " + hexadecimal(memory) +
                                 " (cudaMalloc #1)\n"
                                 "in double(int*), block (1,0,0), thread (30,0,0), at kernels.cuh:30\n"
                                 "PTX line 12:\n"
                                 "    ld.global.u32 %r5, [%rd3];\n"
                                 "    ^";
    EXPECT_EQ(error.what(), expected);
}

TEST(Fault, in_an_inlined_function_is_placed_there_if_it_stands_in_the_kernels_file) {
    // Line 30 of the kernel calls line 7 of its own file, which calls a library, which calls the kernel's
    // line 9.
    Program program(R"(.version 8.5
        .target sm_90
        .address_size 64
        .visible .entry k(.param .u64 p)
        {
            .reg .b32 %r<2>; .reg .b64 %rd<2>;
            ld.param.u64 %rd1, [p];
            .loc 1 30 5
            .loc 1 7 3, function_name $L__info_string0, inlined_at 1 30 5
            .loc 2 99 3, function_name $L__info_string0, inlined_at 1 7 3
            ld.global.u32 %r1, [%rd1];
            .loc 1 9 1, function_name $L__info_string0, inlined_at 2 99 3
            ld.global.u32 %r1, [%rd1+4];
            .loc 1 0 1, function_name $L__info_string0, inlined_at 2 99 3
            ld.global.u32 %r1, [%rd1+8];
            ret;
        }
        .file 1 "kernels.cuh"
        .file 2 "/usr/include/vector.hpp"
        .section .debug_str { $L__info_string0: .b8 0 })");
    const auto place_after = [&](std::size_t words) {
        const std::string what =
            error_of([&] { program.launch("k", grid_of(1), {program.allocate<uint32_t>(words)}); }).what();
        const std::size_t at = what.find(", at ") + 5;
        return what.substr(at, what.find('\n', at) - at);
    };
    EXPECT_EQ(place_after(0), "kernels.cuh:7");
    EXPECT_EQ(place_after(1), "kernels.cuh:9");
    EXPECT_EQ(place_after(2), "kernels.cuh:7") << "line 0 is none";
}

TEST(Fault, of_a_thread_in_three_dimensions_is_named_so) {
    Program program(module_of(R"(
        mov.u32 %r1, %tid.z; mov.u32 %r2, %tid.y; setp.eq.u32 %p1, %r1, 2;
        setp.eq.and.u32 %p1, %r2, 1, %p1; setp.eq.and.u32 %p1, %r60, 3, %p1;
        mov.u32 %r3, %ctaid.y; setp.eq.and.u32 %p1, %r3, 4, %p1; @%p1 trap;)"));
    emulator::LaunchConfiguration configuration;
    configuration.grid = {1, 5, 1};
    configuration.block = {4, 3, 5};
    EXPECT_THAT(error_of([&] { program.launch("k", configuration); }).what(),
                HasSubstr("block (0,4,0), thread (3,1,2)"));
}

TEST(Fault, outside_of_an_allocation_by_one_byte) {
    expect_faults(
        {{"ld.global.u8 %r1, [%rd60+16];", Failure::illegal_address,
          "illegal 1-byte load from global memory"},
         {"ld.global.u8 %r1, [%rd60+-1];", Failure::illegal_address, "1 byte before the 16 bytes"},
         {"st.global.u8 [%rd60+16], %r1;", Failure::illegal_address, "illegal 1-byte store to global memory"},
         {"st.global.u64 [%rd60+16], %rd1;", Failure::illegal_address, "right after the end of the 16 bytes"},
         {"atom.global.add.u32 %r1, [%rd60+16], 1;", Failure::illegal_address,
          "illegal 4-byte atomic on global memory"},
         {"red.global.add.u64 [%rd60+-8], 1;", Failure::illegal_address, "8 bytes before"},
         {"ld.global.v2.u64 {%rd1, %rd2}, [%rd60+16];", Failure::illegal_address, "illegal 16-byte load"},
         {"ld.u32 %r1, [%rd60+20];", Failure::illegal_address, "4 bytes after the end"},
         {"ldu.global.u32 %r1, [%rd60+4096];", Failure::illegal_address, "4,080 bytes after the end"}});
    // The last byte inside is fine.
    EXPECT_STREQ(fault(R"(
        ld.global.u8 %r1, [%rd60+15]; st.global.u8 [%rd60+15], %r1;
        ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%rd60];)")
                     .what(),
                 "no error was thrown");
}

TEST(Fault, of_lanes_in_even_steps_is_that_of_the_lane_that_leaves) {
    struct Row {
        const char* address; ///< of lane i, in %r2
        int lane;            ///< the first one outside of the 128 bytes
        const char* where;
    };
    const Row rows[] = {{"mad.lo.s32 %r2, %r60, 4, 4;", 31, "at 0x80"},
                        {"mad.lo.s32 %r2, %r60, -4, 40;", 11, "at 0xfffffffc"},
                        {"mad.lo.s32 %r2, %r60, 4, -8;", 0, "at 0xfffffff8"},
                        {"mad.lo.s32 %r2, %r60, 0x8000000, 0;", 1, "at 0x8000000"},
                        {"mad.lo.s32 %r2, %r60, 0x80000000, 0;", 1, "at 0x80000000"}};
    for (const Row& row : rows)
        for (const char* access : {"ld.shared.u32 %r1, [%r2];", "st.shared.u32 [%r2], %r60;",
                                   "ld.shared.v2.u16 {%rs1, %rs2}, [%r2];"}) {
            Program program(module_of("mov.u32 %r3, tile; " + std::string(row.address) + access,
                                      ".shared .align 4 .b8 tile[128];"));
            const auto error = error_of([&] { program.launch("k", grid_of(32)); });
            EXPECT_EQ(error.failure(), Failure::illegal_address) << row.address << access;
            EXPECT_THAT(error.what(), AllOf(HasSubstr(row.where),
                                            HasSubstr("thread (" + std::to_string(row.lane) + ",0,0)")))
                << row.address << access;
        }
    // In global memory: 10 words, and lanes that go down from the ninth.
    Program program(module_of(R"(
        mul.wide.s32 %rd1, %r60, -4; add.s64 %rd1, %rd60, %rd1; ld.global.u32 %r1, [%rd1+36];)"));
    auto* const memory = program.allocate<uint32_t>(10);
    EXPECT_THAT(error_of([&] { program.launch("k", grid_of(32), {memory}); }).what(),
                HasSubstr("thread (10,0,0)"));
}

TEST(Fault, across_the_end_of_an_allocation) {
    Program program(module_of("ld.global.u64 %rd1, [%rd60+8];"));
    auto* const memory = program.allocate<uint8_t>(12, "cudaMalloc #1");
    EXPECT_THAT(error_of([&] { program.launch("k", grid_of(1), {memory}); }).what(),
                HasSubstr("its last 4 bytes lie after the end of the 12 bytes"));
}

TEST(Fault, at_addresses_that_are_no_device_memory) {
    const int on_host = 0;
    expect_faults(
        {{"mov.u64 %rd1, 0; ld.global.u32 %r1, [%rd1];", Failure::illegal_address,
          "at 0x0: no device memory is near it"},
         {"mov.u64 %rd1, 16; st.global.u32 [%rd1], %r1;", Failure::illegal_address, "at 0x10"},
         {"mov.u64 %rd1, 0xFF00000000000000; ld.u32 %r1, [%rd1];", Failure::illegal_address, "illegal"},
         {"mov.u64 %rd1, -4; ld.global.u32 %r1, [%rd1];", Failure::illegal_address, "at 0xfffffffffffffffc"},
         {("mov.u64 %rd1, " + std::to_string(reinterpret_cast<uint64_t>(&on_host)) +
           "; ld.global.u32 %r1, [%rd1];")
              .c_str(),
          Failure::illegal_address, "this is host memory, its stack"}});
    Program empty(module_of("mov.u64 %rd1, 0x100000; ld.global.u32 %r1, [%rd1];"));
    EXPECT_THAT(error_of([&] { empty.launch("k", grid_of(1)); }).what(),
                HasSubstr("the program has allocated no device memory"));
}

TEST(Fault, after_the_memory_was_freed) {
    Program program(module_of("ld.global.u32 %r1, [%rd60];"));
    auto* const memory = program.allocate<uint32_t>(4, "cudaMalloc #1");
    program.memory.release(reinterpret_cast<uint64_t>(memory));
    EXPECT_EQ(error_of([&] { program.launch("k", grid_of(1), {memory}); }).failure(),
              Failure::illegal_address);
}

TEST(Fault, between_two_allocations_names_the_nearer_one) {
    Program program(module_of("ld.global.u8 %r1, [%rd60];"));
    auto* const first = program.allocate<uint8_t>(100, "cudaMalloc #1");
    auto* const second = program.allocate<uint8_t>(100, "cudaMalloc #2");
    auto* const low = std::min(first, second);
    auto* const high = std::max(first, second);
    const auto name = [&](const uint8_t* pointer) {
        return std::string(pointer == first ? "cudaMalloc #1" : "cudaMalloc #2");
    };
    EXPECT_THAT(
        error_of([&] { program.launch("k", grid_of(1), {low + 110}); }).what(),
        HasSubstr("10 bytes after the end of the 100 bytes at " + hexadecimal(low) + " (" + name(low)));
    EXPECT_THAT(error_of([&] { program.launch("k", grid_of(1), {high - 10}); }).what(),
                HasSubstr("10 bytes before the 100 bytes at " + hexadecimal(high) + " (" + name(high)));
}

TEST(Fault, misaligned) {
    expect_faults(
        {{"ld.global.u16 %r1, [%rd60+1];", Failure::misaligned_address,
          "misaligned 2-byte load from global memory"},
         {"ld.global.u32 %r1, [%rd60+2];", Failure::misaligned_address, "must be a multiple of 4"},
         {"st.global.u64 [%rd60+4], %rd1;", Failure::misaligned_address, "misaligned 8-byte store"},
         {"ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%rd60+8];", Failure::misaligned_address,
          "must be a multiple of 16"},
         {"ld.global.v2.u16 {%rs1, %rs2}, [%rd60+2];", Failure::misaligned_address,
          "must be a multiple of 4"},
         {"atom.global.add.u64 %rd1, [%rd60+4], 1;", Failure::misaligned_address, "misaligned 8-byte atomic"},
         {"st.shared.u32 [tile+2], %r1;", Failure::misaligned_address,
          "misaligned 4-byte store to shared memory at 0x2"},
         {".local .u64 mine; ld.local.u32 %r1, [mine+1];", Failure::misaligned_address, "local memory"}},
        ".shared .align 16 .b8 tile[16];");
}

TEST(Fault, misaligned_names_the_lane_that_is) {
    Program program(module_of(R"(
        shl.b32 %r1, %r60, 2; setp.eq.u32 %p1, %r60, 21; @%p1 add.u32 %r1, %r1, 1;
        cvt.u64.u32 %rd1, %r1; add.u64 %rd1, %rd60, %rd1; ld.global.u32 %r2, [%rd1];)"));
    EXPECT_THAT(error_of([&] { program.launch("k", grid_of(32), {program.allocate<uint32_t>(64)}); }).what(),
                HasSubstr("thread (21,0,0)"));
}

TEST(Fault, in_shared_local_and_parameter_memory) {
    expect_faults(
        {{"ld.shared.u32 %r1, [tile+40];", Failure::illegal_address,
          "illegal 4-byte load from shared memory at 0x28: this block has 40 bytes"},
         {"st.shared.u8 [tile+40], %r1;", Failure::illegal_address, "this block has 40 bytes"},
         {"mov.u32 %r1, -4; st.shared.u32 [%r1], %r1;", Failure::illegal_address, "at 0xfffffffc"},
         {"mov.u64 %rd1, tile; cvta.shared.u64 %rd1, %rd1; ld.u32 %r1, [%rd1+40];", Failure::illegal_address,
          "shared memory"},
         {"atom.shared.add.u32 %r1, [tile+40], 1;", Failure::illegal_address,
          "illegal 4-byte atomic on shared memory"},
         {"mov.u64 %rd1, 1048576; st.local.u32 [%rd1], %r1;", Failure::illegal_address, "each thread has"},
         {".local .b8 mine[64]; ld.local.u32 %r1, [mine+64];", Failure::illegal_address, "local memory"},
         {"mov.u64 %rd1, 24; ld.param.u32 %r1, [%rd1];", Failure::illegal_address, "the kernel has 24 bytes"},
         {"mov.b64 %rd1, p0; cvta.param.u64 %rd1, %rd1; st.u32 [%rd1], %r1;", Failure::illegal_address,
          "store to the kernel's parameters"}},
        ".shared .align 4 .b8 tile[16];", 24);
}

TEST(Fault, constant_memory_cannot_be_written) {
    expect_faults(
        {{"st.global.u32 [fixed], %r1;", Failure::illegal_address, "variable fixed is constant"},
         {"ld.const.u32 %r1, [fixed]; st.global.u32 [fixed], %r1;", Failure::illegal_address,
          "variable fixed is constant"},
         {"mov.u64 %rd1, fixed; st.u32 [%rd1], %r1;", Failure::illegal_address, "variable fixed is constant"},
         {"mov.u64 %rd1, fixed; atom.add.u32 %r1, [%rd1], 1;", Failure::illegal_address,
          "variable fixed is constant"},
         {"ld.const.u32 %r1, [fixed+4];", Failure::illegal_address, "constant memory"}},
        ".const .u32 fixed = 3;");
}

TEST(Fault, in_a_function_names_the_kernel_and_the_functions_line) {
    const auto error = fault("{ .param .b64 a; st.param.b64 [a], %rd60; call touch, (a); }",
                             R"(
        .func touch(.param .b64 p) { .reg .b64 %rd<3>; .reg .b32 %r; ld.param.b64 %rd1, [p];
        ld.global.u32 %r, [%rd1+400]; ret; })");
    EXPECT_THAT(error.what(),
                AllOf(HasSubstr("in k, block (0,0,0)"), HasSubstr("ld.global.u32 %r, [%rd1+400]; ret; }")));
}

TEST(Fault, inactive_lanes_touch_nothing) {
    // Only lane 5's address is right, and only lane 5 is active.
    Program program(module_of(
        R"(
        mul.wide.u32 %rd1, %r60, 4096; setp.eq.u32 %p1, %r60, 5; add.u64 %rd2, %rd60, %rd1;
        sub.u64 %rd2, %rd2, 20480; @%p1 ld.global.u32 %r1, [%rd2]; @%p1 st.global.u32 [%rd2+4], %r1;)"));
    auto* const memory = program.allocate<uint32_t>(2);
    memory[0] = 77;
    EXPECT_NO_THROW(program.launch("k", grid_of(32), {memory}));
    EXPECT_EQ(memory[1], 77u);
}

TEST(Fault, ends_the_launch_and_the_next_one_is_fine) {
    Program program(module_of("setp.eq.u32 %p1, %r61, 30; @%p1 trap; red.global.add.u32 [%rd60], 1;"));
    auto* const count = program.allocate<uint32_t>(1);
    EXPECT_EQ(error_of([&] { program.launch("k", grid_of(32, 1000), {count}, 2); }).failure(),
              Failure::trapped);
    EXPECT_LT(*count, 32'000u);
    *count = 0;
    program.launch("k", grid_of(32, 30), {count}, 2);
    EXPECT_EQ(*count, 960u);
}
