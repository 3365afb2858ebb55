// Functions that CUDA provides to kernels: printf and assert.

#include "../machine/ptx_fixture.hpp"

#include <gmock/gmock.h>

using namespace emulator::fixture;
using emulator::Failure;
using testing::HasSubstr;

namespace {

constexpr const char* declarations = R"(
.extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);
.extern .func __assertfail(.param .b64 m, .param .b64 f, .param .b32 l, .param .b64 n, .param .b64 s);
)";

std::string bytes(const std::string& name, const std::string& text) {
    std::string result = ".global .align 1 .b8 " + name + "[" + std::to_string(text.size() + 1) + "] = {";
    for (const char c : text) result += std::to_string(static_cast<unsigned char>(c)) + ", ";
    return result + "0};\n";
}

/// The text that one thread prints with `format`; `stores` fills the 64 bytes of arguments at %rd1. Its
/// result is in %r0.
std::string printed(const std::string& format, const std::string& stores, std::uint32_t conversions) {
    testing::internal::CaptureStdout();
    const auto results =
        run(".local .align 8 .b8 buffer[64]; mov.u64 %rd1, buffer; " + stores +
                R"(
        cvta.local.u64 %rd2, %rd1; mov.u64 %rd3, format; cvta.global.u64 %rd3, %rd3;
        { .param .b64 f; .param .b64 a; .param .b32 r; st.param.b64 [f], %rd3;
        st.param.b64 [a], %rd2; call.uni (r), vprintf, (f, a); ld.param.b32 %r0, [r]; })",
            1, {}, std::string(declarations) + bytes("format", format) + bytes("word", "word"));
    std::fflush(stdout);
    EXPECT_EQ(results[0], conversions);
    return testing::internal::GetCapturedStdout();
}

} // namespace

TEST(Printf, formats_arguments_of_every_kind) {
    EXPECT_EQ(printed("plain %% text\n", "", 0), "plain % text\n");
    EXPECT_EQ(printed("%d %u %x|%5d|%-5d|%05d",
                      "st.local.v4.u32 [%rd1], {-7, -1, 255, 42}; st.local.v2.u32 [%rd1+16], {42, 42};", 6),
              "-7 4294967295 ff|   42|42   |00042");
    // A double and a 64-bit integer start at multiples of 8.
    EXPECT_EQ(printed("%c %.2f %lld %llx",
                      R"(
        st.local.u32 [%rd1], 65; st.local.f64 [%rd1+8], 2.5; st.local.u64 [%rd1+16], -5;
        st.local.u64 [%rd1+24], 0x123456789ABCDEF0;)",
                      4),
              "A 2.50 -5 123456789abcdef0");
    EXPECT_EQ(printed("[%s] [%*d]",
                      R"(
        mov.u64 %rd4, word; cvta.global.u64 %rd4, %rd4; st.local.u64 [%rd1], %rd4;
        st.local.v2.u32 [%rd1+8], {6, 3};)",
                      2),
              "[word] [     3]");
    EXPECT_EQ(printed("%hd %zu %e",
                      "st.local.u32 [%rd1], 3; st.local.u64 [%rd1+8], 4; st.local.f64 [%rd1+16], 1.5;", 3),
              "3 4 1.500000e+00");
}

TEST(Printf, a_negative_precision_is_none) {
    EXPECT_EQ(printed("%.*d|%8.*d|%.*d", R"(
        st.local.v4.u32 [%rd1], {-1, 42, -2, 43}; st.local.v2.u32 [%rd1+16], {3, 44};)",
                      3),
              "42|      43|044");
    EXPECT_EQ(printed("%.*f", "st.local.u32 [%rd1], -1; st.local.f64 [%rd1+8], 0.5;", 1), "0.500000");
}

TEST(Printf, prints_long_text_whole) {
    const std::string text(2000, 'x');
    EXPECT_EQ(printed(text + "%-600d|", "st.local.u32 [%rd1], 5;", 1),
              text + '5' + std::string(599, ' ') + '|');
}

TEST(Printf, survives_formats_that_make_no_sense) {
    EXPECT_EQ(printed("%", "", 0), "%");
    EXPECT_EQ(printed("%5", "", 0), "%5");
    EXPECT_EQ(printed("%k", "", 1), "%k");
    EXPECT_EQ(printed("%s", "st.local.u64 [%rd1], 0;", 1), "(null)");
    // As wide as 9999 at most: a kernel cannot keep the host busy with blanks.
    EXPECT_EQ(printed("%999999999d", "st.local.u32 [%rd1], 5;", 1), std::string(9998, ' ') + '5');
    EXPECT_EQ(printed("%*d", "st.local.v2.u32 [%rd1], {2000000000, 5};", 1), std::string(9998, ' ') + '5');
    EXPECT_EQ(printed("%9*9d", "st.local.v2.u32 [%rd1], {9999, 5};", 1), std::string(8, ' ') + '5');
    // %n writes through a pointer in C: never here.
    EXPECT_EQ(printed("%n", "st.local.u64 [%rd1], 4096;", 1), "%n");
}

TEST(Printf, a_pointer_to_nowhere_is_an_error) {
    const auto error = error_of([] { (void)printed("%s", "st.local.u64 [%rd1], 4096;", 1); });
    (void)testing::internal::GetCapturedStdout();
    EXPECT_EQ(error.failure(), Failure::illegal_address);
    EXPECT_THAT(error.what(), HasSubstr("a string"));
}

TEST(Printf, a_text_without_its_end_is_an_error) {
    const auto error = error_of([] {
        run("mov.u64 %rd3, endless; { .param .b64 f; .param .b64 a; .param .b32 r; st.param.b64 [f], %rd3; "
            "st.param.b64 [a], 0; call.uni (r), vprintf, (f, a); ld.param.b32 %r0, [r]; }",
            1, {}, std::string(declarations) + ".global .align 1 .b8 endless[4] = {37, 37, 37, 37};\n");
    });
    EXPECT_EQ(error.failure(), Failure::illegal_address);
    EXPECT_THAT(error.what(), HasSubstr("has no end"));
}

TEST(Assert, reports_what_failed_and_where) {
    const auto error = error_of([] {
        run(R"(
        setp.lt.u32 %p1, %r60, 3; @%p1 bra END; mov.u64 %rd1, message; cvta.global.u64 %rd1, %rd1;
        mov.u64 %rd2, file; cvta.global.u64 %rd2, %rd2; mov.u64 %rd3, function;
        cvta.global.u64 %rd3, %rd3;
        { .param .b64 m; .param .b64 f; .param .b32 l; .param .b64 n; .param .b64 s;
        st.param.b64 [m], %rd1; st.param.b64 [f], %rd2; st.param.b32 [l], 17;
        st.param.b64 [n], %rd3; st.param.b64 [s], 1;
        call.uni __assertfail, (m, f, l, n, s);
        } END:)",
            32, {},
            std::string(declarations) + bytes("message", "n > 0") + bytes("file", "kernels.cuh") +
                bytes("function", "reduce"));
    });
    EXPECT_EQ(error.failure(), Failure::assertion);
    EXPECT_THAT(error.what(), HasSubstr("kernels.cuh:17: reduce: assertion `n > 0` failed"));
    EXPECT_THAT(error.what(), HasSubstr("thread (3,0,0)"));
}

// ---- malloc and free ----

namespace {

constexpr const char* heap = R"(
.extern .func (.param .b64 r) malloc(.param .b64 bytes);
.extern .func free(.param .b64 pointer);
)";
/// %rd1 = malloc(%rd2)
constexpr const char* call_malloc =
    "{ .param .b64 a; .param .b64 r; st.param.b64 [a], %rd2; call.uni (r), malloc, "
    "(a); ld.param.b64 %rd1, [r]; }\n";
/// free(%rd1)
constexpr const char* call_free = "{ .param .b64 a; st.param.b64 [a], %rd1; call.uni free, (a); }\n";

} // namespace

TEST(Printf, writes_no_more_of_its_result_than_the_call_has_room_for) {
    // r is the last of 32 bytes of local memory: the next thread's follow, which begin with f.
    EXPECT_EQ(run(R"(
        .param .b64 f; .param .b64 a; .local .align 1 .b8 own[15]; .param .b8 r;
        mov.u64 %rd3, format; st.param.b64 [f], %rd3; st.param.b64 [a], 0; st.local.u8 [own], 7;
        call.uni (r), vprintf, (f, a); ld.local.u8 %r0, [own];)",
                  32, {}, std::string(declarations) + bytes("format", "")),
              std::vector<std::uint32_t>(32, 7));
}

TEST(Malloc, gives_each_thread_memory_of_its_own) {
    std::vector<std::uint32_t> expected;
    for (std::uint32_t i = 0; i < 64; ++i) expected.push_back(i);
    EXPECT_EQ(run(std::string("mov.u64 %rd2, 4;") + call_malloc +
                      "st.u32 [%rd1], %r60; bar.sync 0; ld.u32 %r0, [%rd1];" + call_free,
                  64, {}, heap),
              expected);
}

TEST(Malloc, gives_memory_again_that_was_freed) {
    // 8 MiB are there: of 5 MiB only one piece at a time.
    EXPECT_EQ(
        run(std::string("mov.u64 %rd2, 5242880;") + call_malloc + "mov.u64 %rd5, %rd1;" + call_malloc +
                "mov.u64 %rd6, %rd1; mov.u64 %rd1, %rd5;" + call_free + call_malloc +
                "setp.eq.u64 %p1, %rd6, 0; setp.eq.and.u64 %p1, %rd1, %rd5, %p1; selp.u32 %r0, 1, 0, %p1;",
            1, {}, heap),
        std::vector<std::uint32_t>{1});
}

TEST(Malloc, refuses_to_free_what_it_did_not_give) {
    EXPECT_NO_THROW(run(std::string("mov.u64 %rd1, 0;") + call_free, 1, {}, heap));
    EXPECT_THAT(error_of([] { run(std::string("mov.u64 %rd1, %rd60;") + call_free, 1, {}, heap); }).what(),
                HasSubstr("which malloc has not returned"));
}
