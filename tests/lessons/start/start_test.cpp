// The first program: right on every device, and wrong where its kernel is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "test_device.hpp"

using testing::AllOf, testing::HasSubstr, testing::Not, testing::StartsWith;

namespace start_test {

TEST(Start, squares_and_compares) {
    const ProgramResult start = run_program("./start");
    EXPECT_EQ(start.status, 0) << start.err;
    EXPECT_THAT(start.out,
                StartsWith("1048576 numbers squared by 4096 blocks of 256 threads: all correct\n"));
    EXPECT_THAT(start.err, AllOf(StartsWith("start: "), HasSubstr(" the kernels\n")));
}

/// `start` with another kernel replacing its own, on the emulator.
ProgramResult start_with(const std::string& directive, const std::string& body) {
    return run_program(
        "folder=$(mktemp -d) && cat >$folder/other.ptx <<'END'\n"
        ".version 8.0\n.target sm_90\n.address_size 64\n"
        ".visible .entry _Z6squarePKiPii(.param .u64 input, .param .u64 output, .param .u32 n)\n" +
        directive + "\n{\n" + body +
        "\n}\nEND\n"
        "./emulate --ptx $folder/other.ptx ./start; status=$?; rm -r $folder; exit $status");
}

TEST(Start, reports_a_launch_that_fails) {
    const ProgramResult start = start_with(".maxntid 32", "ret;");
    EXPECT_EQ(start.status, 1);
    EXPECT_EQ(start.out, "");
    EXPECT_THAT(start.err, AllOf(HasSubstr("start.cu:"), HasSubstr("cudaGetLastError(): ")));
}

TEST(Start, reports_the_first_wrong_number) {
    // Number 0 of block 1 is not squared: i = 1 x 256 + 0.
    const ProgramResult start = start_with("", R"(
        .reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %d<8>;
        ld.param.u64 %d1, [input]; ld.param.u64 %d2, [output];
        mov.u32 %r1, %ctaid.x; mov.u32 %r2, %tid.x; mad.lo.u32 %r3, %r1, 256, %r2;
        setp.eq.u32 %p1, %r3, 256; mul.wide.u32 %d3, %r3, 4;
        add.u64 %d1, %d1, %d3; add.u64 %d2, %d2, %d3;
        ld.global.s32 %r4, [%d1]; mul.lo.s32 %r5, %r4, %r4;
        @%p1 add.s32 %r5, %r5, 1;
        st.global.s32 [%d2], %r5; ret;)");
    EXPECT_EQ(start.status, 1);
    EXPECT_THAT(start.out, AllOf(StartsWith("wrong: output[256] is "), Not(HasSubstr("correct"))));
}

TEST(Start, is_clean) {
    const ProgramResult start = run_program("./emulate --check all --global-races ./start");
    EXPECT_EQ(start.status, 0) << start.err;
}

TEST(Sum, adds_up_any_number_of_ints) {
    // A pass of one block takes up to 4 x 256 - 1 ints. The largest grid has 132 x 8 = 1,056 blocks of 256 threads with 4 ints.
    for (const char* n : {"1", "3", "5", "1023", "1024", "4099", "999983", "2162687"}) {
        const ProgramResult sum = run_program(std::string("./sum ") + n);
        EXPECT_EQ(sum.status, 0) << n << sum.err;
        EXPECT_THAT(sum.out, AllOf(StartsWith("the sum of " + std::string(n) + " ints is "),
                                   HasSubstr(": correct\n")));
    }
}

TEST(Sum, is_clean) {
    const ProgramResult sum = run_program("./emulate --check all --global-races ./sum 65539");
    EXPECT_EQ(sum.status, 0) << sum.err;
}

TEST(Sum, rejects_what_is_no_number_of_ints) {
    for (const char* arguments : {"0", "-1", "4000000001", "1k", "1 2", "\"\""}) {
        const ProgramResult sum = run_program(std::string("./sum ") + arguments);
        EXPECT_EQ(sum.status, 2) << arguments;
        EXPECT_THAT(sum.err, HasSubstr("1 to 4000000000")) << arguments;
    }
}

} // namespace start_test
