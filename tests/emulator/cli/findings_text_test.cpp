// Findings in words.

#include "emulator/cli/report_forms.hpp"

#include <gmock/gmock.h>

#include <sstream>

using emulate::findings_as_text, emulate::SourceFile;
using emulator::Finding;
using testing::HasSubstr, testing::Not;

namespace {

constexpr std::size_t wide = 200;

std::optional<SourceFile> read_source(const std::string& path) {
    if (path == "kernels.cuh") return SourceFile{{"__global__ void k() {", "    data[i] = 0;", "}"}, false};
    if (path == "changed.cuh") return SourceFile{{"something else"}, true};
    return std::nullopt;
}

Finding out_of_bounds(std::string where) {
    return {.checker = "mem",
            .kind = "out of bounds",
            .message = "illegal 4-byte store to global memory at 0x10",
            .kernel = "k(int*)",
            .parties = {{"store", "(1,0,0)", "(72,0,0)", std::move(where), "st.global.u32 [%rd1], %r1;"}},
            .allocation = "cudaMalloc #1, 800 bytes",
            .cause = "An index runs past the end."};
}

std::string text_of(const std::vector<Finding>& findings, std::size_t columns = wide) {
    return findings_as_text(findings, {"mem", "init"}, read_source, columns);
}

} // namespace

TEST(FindingsText, says_where_what_who_and_why) {
    EXPECT_EQ(text_of({out_of_bounds("kernels.cuh:2")}), R"(kernels.cuh:2: mem: out of bounds
    illegal 4-byte store to global memory at 0x10
    in k(int*)
    store  block (1,0,0), thread (72,0,0), at kernels.cuh:2
           data[i] = 0;
    memory: cudaMalloc #1, 800 bytes
    usually: An index runs past the end.

1 finding
)");
}

TEST(FindingsText, aligns_two_parties) {
    const Finding race{.checker = "race",
                       .kind = "write after read",
                       .message = "no barrier between them",
                       .kernel = "k()",
                       .parties = {{"earlier read", "(0,0,0)", "(0,0,0)", "kernels.cuh:1", ""},
                                   {"write", "(0,0,0)", "(32,0,0)", "kernels.cuh:2", ""}},
                       .count = 1234};
    EXPECT_THAT(text_of({race, race}),
                testing::StartsWith(R"(kernels.cuh:1: race: write after read, 1,234 times
    no barrier between them
    in k()
    earlier read  block (0,0,0), thread (0,0,0), at kernels.cuh:1
                  __global__ void k() {
    write         block (0,0,0), thread (32,0,0), at kernels.cuh:2
                  data[i] = 0;

kernels.cuh:1: race: )"));
    EXPECT_THAT(text_of({race, race}), HasSubstr("\n\n2 findings\n"));
}

TEST(FindingsText, shows_the_ptx_where_the_source_cannot_be_shown) {
    for (const char* where : {"changed.cuh:1", "missing.cuh:1", "kernels.cuh:99", "kernels.cuh:0"})
        EXPECT_THAT(text_of({out_of_bounds(where)}), HasSubstr("\n           st.global.u32 [%rd1], %r1;\n"))
            << where;
    EXPECT_THAT(text_of({out_of_bounds("kernels.cuh:2")}), Not(HasSubstr("-lineinfo")));
    const std::string text = text_of({out_of_bounds("")});
    EXPECT_THAT(text, testing::StartsWith("mem: out of bounds\n"));
    EXPECT_THAT(text, HasSubstr("thread (72,0,0)\n           st.global.u32 [%rd1], %r1;\n"));
    EXPECT_THAT(text, HasSubstr("Compile with nvcc -lineinfo to see lines of the source.\n"));
}

TEST(FindingsText, of_the_host_has_no_thread) {
    EXPECT_EQ(text_of({{.checker = "mem",
                        .kind = "double free",
                        .message = "cudaFree of 0x10, which cudaFree #1 has freed already",
                        .allocation = "cudaMalloc #1, 800 bytes, freed by cudaFree #1",
                        .cause = "Two owners."}}),
              R"(mem: double free
    cudaFree of 0x10, which cudaFree #1 has freed already
    memory: cudaMalloc #1, 800 bytes, freed by cudaFree #1
    usually: Two owners.

1 finding
)");
}

TEST(FindingsText, is_broken_between_words) {
    Finding finding = out_of_bounds("kernels.cuh:2");
    finding.cause = "An index runs past the end of the array, and nobody has seen it coming.";
    for (const std::size_t columns : {60u, 80u, 120u}) {
        const std::string text = text_of({finding}, columns);
        std::istringstream lines(text);
        for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), columns) << line;
    }
    EXPECT_THAT(text_of({finding}, 60),
                HasSubstr("    usually: An index runs past the end of the array, and\n"
                          "             nobody has seen it coming.\n"));
    EXPECT_THAT(text_of({finding}, 1),
                HasSubstr("    usually: An index runs past the end of\n")); // not narrower
}

TEST(FindingsText, names_the_checkers_that_found_nothing) {
    EXPECT_EQ(text_of({}), "no findings (mem, init)\n");
}
