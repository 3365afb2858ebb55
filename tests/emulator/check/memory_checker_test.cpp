// What the checker `mem` finds, and how kernels go on after an absorbed fault.

#include "../machine/ptx_fixture.hpp"

#include "emulator/check/memory_checker.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <sstream>

using namespace emulator::fixture;
using emulator::Finding, emulator::Findings, emulator::MemoryChecker, emulator::RunOptions, emulator::Watcher;
using std::uint32_t, std::uint64_t, std::uint8_t;
using testing::AllOf, testing::HasSubstr, testing::IsEmpty, testing::SizeIs;

namespace {

std::string hexadecimal(uint64_t value) {
    std::ostringstream text;
    text << "0x" << std::hex << value;
    return text.str();
}

uint64_t address_of(const void* pointer) { return reinterpret_cast<uint64_t>(pointer); }

/// A program whose launches the checker watches.
class CheckedProgram : public Program {
public:
    explicit CheckedProgram(std::string text) : Program(std::move(text)) {}

    void run(emulator::LaunchConfiguration configuration, std::initializer_list<const void*> parameters = {},
             std::string_view kernel = "k", unsigned int host_threads = 1) {
        Watcher* const watchers[] = {&checker};
        launch(kernel, configuration, parameters,
               RunOptions{.host_threads = host_threads, .watchers = watchers});
    }
    std::vector<Finding> found() { return findings.take(); }

    Findings findings;
    MemoryChecker checker{findings};
};

/// The findings of one thread that executes `body` with p0 = 16 bytes.
std::vector<Finding> findings_of(const std::string& body, const std::string& declarations = "",
                                 uint32_t dynamic_shared = 0) {
    CheckedProgram program(module_of(body, declarations));
    program.run(grid_of(1, 1, dynamic_shared), {program.allocate<uint8_t>(16, "cudaMalloc #1")});
    return program.found();
}

std::string kind_of(const std::vector<Finding>& findings) {
    return findings.size() == 1 ? findings[0].kind : std::to_string(findings.size()) + " findings";
}

} // namespace

// Of 64 bytes: thread 0 reads the third word after it has freed them.
TEST(MemoryChecker, finds_uses_of_freed_pieces_of_the_heap) {
    const std::string declarations = R"(
        .extern .func (.param .b64 r) malloc(.param .b64 bytes);
        .extern .func free(.param .b64 pointer);)";
    const std::string allocate =
                          "{ .param .b64 a; .param .b64 r; st.param.b64 [a], 64; call.uni (r), malloc, (a); "
                          "ld.param.b64 %rd1, [r]; }\n",
                      free = "{ .param .b64 a; st.param.b64 [a], %rd1; call.uni free, (a); }\n";
    const auto heap_findings = [&](const std::string& body) {
        CheckedProgram program(module_of(body, declarations));
        program.memory.remember_freed();
        program.run(grid_of(1, 1), {program.allocate<uint8_t>(16, "cudaMalloc #1")});
        return program.found();
    };
    const auto findings = heap_findings(allocate + "st.u32 [%rd1+8], 7;" + free + "ld.u32 %r1, [%rd1+8];");
    ASSERT_THAT(findings, SizeIs(1));
    EXPECT_EQ(findings[0].kind, "use after free");
    EXPECT_THAT(findings[0].message,
                AllOf(HasSubstr("illegal 4-byte load from global memory at 0x"),
                      HasSubstr(": byte 8 of a piece of the heap that device code has freed")));
    EXPECT_EQ(findings[0].parties.at(0).thread, "(0,0,0)");
    // The place is not given again while there is other room: what is freed late is found.
    EXPECT_EQ(kind_of(heap_findings(allocate + "mov.u64 %rd3, %rd1;" + free + allocate +
                                    "atom.add.u32 %r1, [%rd3], 1;")),
              "use after free");
    EXPECT_THAT(heap_findings(allocate + free + allocate + "st.u32 [%rd1], 7; ld.u32 %r1, [%rd1+60];" + free),
                IsEmpty());
}

TEST(MemoryChecker, tells_who_did_what_where_to_which_allocation) {
    CheckedProgram program(R"(.version 8.5
        .target sm_90
        .address_size 64
        .visible .entry _Z6doublePi(.param .u64 p)
        {
            .reg .b32 %r<9>; .reg .b64 %rd<9>;
            ld.param.u64 %rd1, [p]; mov.u32 %r1, %ntid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %tid.x;
            mad.lo.u32 %r4, %r1, %r2, %r3; mul.wide.u32 %rd2, %r4, 4; add.u64 %rd3, %rd1, %rd2;
            .loc 1 30 5
            ld.global.u32 %r5, [%rd3];
            ret;
        }
        .file 1 "kernels.cuh")");
    auto* const memory = program.allocate<uint32_t>(70, "cudaMalloc #1");
    program.run(grid_of(40, 2), {memory}, "_Z6doublePi");
    const auto found = program.found();
    ASSERT_THAT(found, SizeIs(1));
    EXPECT_EQ(found[0].checker, "mem");
    EXPECT_EQ(found[0].kind, "out of bounds");
    EXPECT_EQ(found[0].message, "illegal 4-byte load from global memory at " +
                                    hexadecimal(address_of(memory + 70)) +
                                    ": right after the end of the 280 bytes at " +
                                    hexadecimal(address_of(memory)) + " (cudaMalloc #1)");
    EXPECT_EQ(found[0].kernel, "double(int*)");
    EXPECT_EQ(found[0].allocation, "cudaMalloc #1, 280 bytes");
    EXPECT_THAT(found[0].cause, HasSubstr("An index runs past the end"));
    EXPECT_EQ(found[0].count, 10u); // threads 70 to 79
    ASSERT_THAT(found[0].parties, SizeIs(1));
    EXPECT_EQ(found[0].parties[0].role, "load");
    EXPECT_EQ(found[0].parties[0].block, "(1,0,0)");
    EXPECT_EQ(found[0].parties[0].thread, "(30,0,0)");
    EXPECT_EQ(found[0].parties[0].where, "kernels.cuh:30");
    EXPECT_EQ(found[0].parties[0].ptx, "ld.global.u32 %r5, [%rd3];");
}

TEST(MemoryChecker, lets_the_kernel_go_on_without_the_access) {
    // Lanes 20 to 31 are outside in all three: they load 0, store nothing and add nothing.
    CheckedProgram program(module_of(R"(
        mul.wide.u32 %rd1, %r60, 4; add.u64 %rd2, %rd60, %rd1; add.u64 %rd3, %rd61, %rd1;
        mov.u32 %r1, 99; ld.global.u32 %r1, [%rd2]; st.global.u32 [%rd3], %r1;
        atom.global.add.u32 %r2, [%rd2], 1; st.global.u32 [%rd3+128], %r2; st.global.u32 [%rd2], 5;)"));
    auto* const in = program.allocate<uint32_t>(20);
    auto* const out = program.allocate<uint32_t>(64);
    for (uint32_t i = 0; i < 20; ++i) in[i] = 100 + i;
    std::fill_n(out, 64, poison);
    program.run(grid_of(32), {in, out});
    for (uint32_t lane = 0; lane < 32; ++lane) {
        EXPECT_EQ(out[lane], lane < 20 ? 100 + lane : 0) << lane;
        EXPECT_EQ(out[32 + lane], lane < 20 ? 100 + lane : 0) << lane;
    }
    EXPECT_EQ(std::count(in, in + 20, 5u), 20);
    const auto found = program.found();
    ASSERT_THAT(found, SizeIs(3));
    EXPECT_EQ(found[0].parties[0].role, "load");
    EXPECT_EQ(found[1].parties[0].role, "atomic");
    EXPECT_EQ(found[2].parties[0].role, "store");
    for (const Finding& finding : found) EXPECT_EQ(finding.count, 12u);
}

TEST(MemoryChecker, gives_zeros_for_all_elements_of_a_vector) {
    CheckedProgram program(module_of(R"(
        mov.u64 %rd1, 7; mov.u64 %rd2, 7; ld.global.v2.u64 {%rd1, %rd2}, [%rd60+16];
        st.global.u64 [%rd60], %rd1; st.global.u64 [%rd60+8], %rd2;)"));
    auto* const memory = program.allocate<uint64_t>(2);
    memory[0] = memory[1] = 5;
    program.run(grid_of(1), {memory});
    EXPECT_EQ(memory[0], 0u);
    EXPECT_EQ(memory[1], 0u);
    EXPECT_EQ(kind_of(program.found()), "out of bounds");
}

TEST(MemoryChecker, makes_one_finding_of_many_blocks_on_several_host_threads) {
    CheckedProgram program(module_of(R"(
        mul.wide.u32 %rd1, %r62, 4; add.u64 %rd2, %rd60, %rd1; st.global.u32 [%rd2], 1;)"));
    auto* const memory = program.allocate<uint32_t>(1000);
    program.run(grid_of(64, 100), {memory}, "k", 4);
    const auto found = program.found();
    ASSERT_THAT(found, SizeIs(1));
    EXPECT_EQ(found[0].count, 5400u);
}

TEST(MemoryChecker, knows_the_kinds_of_wrong_addresses) {
    const std::pair<const char*, const char*> cases[] = {
        {"ld.global.u8 %r1, [%rd60+16];", "out of bounds"},
        {"ld.global.u8 %r1, [%rd60+-1];", "out of bounds"},
        {"ld.global.u8 %r1, [%rd60+4000];", "out of bounds"},
        {"st.global.u32 [%rd60+2], %r1;", "misaligned"},
        {"mov.u64 %rd1, 0; ld.global.u32 %r1, [%rd1];", "null pointer"},
        {"mov.u64 %rd1, 400; st.u32 [%rd1], %r1;", "null pointer"},
        {"mov.u64 %rd1, 0xFF00000000000000; ld.u32 %r1, [%rd1];", "wild pointer"},
        {"st.global.u32 [fixed], %r1;", "write to constant memory"},
        {"ld.const.u32 %r1, [fixed+4];", "out of bounds"},
        {"st.shared.u8 [tile+16], %r1;", "out of bounds"},
        {"st.shared.u32 [tile+2], %r1;", "misaligned"},
        {"mov.u64 %rd1, 1048576; st.local.u32 [%rd1], %r1;", "out of bounds"},
        {"mov.u64 %rd1, 24; ld.param.u32 %r1, [%rd1];", "out of bounds"},
        {"mov.b64 %rd1, p0; cvta.param.u64 %rd1, %rd1; st.u32 [%rd1], %r1;", "write to constant memory"},
        {"ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%rd60]; ld.shared.u8 %r1, [tile+15];", "0 findings"},
    };
    for (const auto& [body, kind] : cases) {
        const auto found = findings_of(body, ".shared .align 4 .b8 tile[16]; .const .u32 fixed = 3;");
        EXPECT_EQ(kind_of(found), kind) << body;
        for (const Finding& finding : found) {
            EXPECT_THAT(finding.message, HasSubstr(" at 0x")) << body;
            EXPECT_FALSE(finding.cause.empty()) << body;
        }
    }
}

TEST(MemoryChecker, names_the_call_that_freed) {
    CheckedProgram program(module_of("ld.global.u32 %r1, [%rd60+8];"));
    program.memory.remember_freed();
    auto* const memory = program.allocate<uint32_t>(10, "cudaMalloc #7");
    program.memory.release(address_of(memory), "cudaFree #2");
    program.allocate<uint32_t>(10, "cudaMalloc #8");
    program.run(grid_of(1), {memory});
    const auto found = program.found();
    ASSERT_EQ(kind_of(found), "use after free");
    EXPECT_THAT(found[0].message,
                AllOf(HasSubstr("byte 8 of the 40 bytes at " + hexadecimal(address_of(memory))),
                      HasSubstr("which cudaFree #2 has freed")));
    EXPECT_EQ(found[0].allocation, "cudaMalloc #7, 40 bytes, freed by cudaFree #2");
}

TEST(MemoryChecker, tells_freed_memory_from_other_wrong_places_at_one_instruction) {
    CheckedProgram program(module_of(R"(
        setp.eq.u32 %p1, %r60, 0; selp.b64 %rd1, %rd60, %rd61, %p1; ld.global.u32 %r1, [%rd1];)"));
    program.memory.remember_freed();
    auto* const gone = program.allocate<uint32_t>(10);
    program.memory.release(address_of(gone), "cudaFree #1");
    auto* const small = program.allocate<uint32_t>(10);
    program.run(grid_of(2), {gone, small + 10});
    const auto found = program.found();
    ASSERT_THAT(found, SizeIs(2));
    EXPECT_EQ(found[0].kind, "use after free");
    EXPECT_EQ(found[1].kind, "out of bounds");
}

TEST(MemoryChecker, names_the_argument_that_is_a_host_pointer) {
    CheckedProgram program(module_of("ld.global.u32 %r1, [%rd61+4];"));
    auto* const memory = program.allocate<uint32_t>(10);
    const std::array<uint32_t, 10> on_host{};
    program.run(grid_of(1), {memory, on_host.data()});
    const auto found = program.found();
    ASSERT_EQ(kind_of(found), "host pointer");
    EXPECT_THAT(found[0].message,
                HasSubstr("this is host memory, its stack: argument 2 of the kernel points there"));
}

TEST(MemoryChecker, takes_what_is_far_behind_an_argument_for_that_arguments) {
    // What lies there is the host's, by chance.
    CheckedProgram program(
        module_of("sub.u64 %rd1, %rd61, %rd60; add.u64 %rd1, %rd60, %rd1; st.global.u8 [%rd1], %r1;"));
    void* const large = std::malloc(50'000'000); // taken from where device memory is
    auto* const memory = program.allocate<uint8_t>(4096, "cudaMalloc #1");
    if (address_of(large) > address_of(memory)) {
        program.run(grid_of(1), {memory, static_cast<char*>(large) + 16});
        EXPECT_EQ(kind_of(program.found()), "host pointer"); // an argument points right there
        program.run(grid_of(1), {memory, memory + 4096 * 5});
        const auto found = program.found();
        ASSERT_EQ(kind_of(found), "out of bounds");
        EXPECT_THAT(found[0].message, HasSubstr("16,384 bytes after the end"));
    }
    std::free(large);
}

TEST(MemoryChecker, looks_for_pointers_in_structs_too) {
    CheckedProgram program(R"(.version 8.5
        .target sm_90
        .address_size 64
        .visible .entry k(.param .u32 n, .param .align 8 .b8 both[16])
        { .reg .b32 %r; .reg .b64 %rd; ld.param.u64 %rd, [both+8]; ld.global.u32 %r, [%rd]; ret; })");
    static const uint32_t on_host = 1;
    const std::array<uint64_t, 3> parameters{5, 0, address_of(&on_host)};
    Watcher* const watchers[] = {&program.checker};
    emulator::run(program.module.kernel("k"), grid_of(1), std::as_bytes(std::span(parameters)),
                  program.memory, RunOptions{.host_threads = 1, .watchers = watchers});
    const auto found = program.found();
    ASSERT_EQ(kind_of(found), "host pointer");
    EXPECT_THAT(found[0].message, HasSubstr("a variable of "));
    EXPECT_THAT(found[0].message, HasSubstr("argument 2 of the kernel points there"));
}

TEST(MemoryChecker, keeps_to_a_threads_arrays_in_its_local_memory) {
    // 20 bytes: the frame has 32.
    const std::string array = ".local .align 4 .b8 mine[20]; ";
    EXPECT_EQ(kind_of(findings_of(array + "st.local.u32 [mine+16], %r1; ld.local.u8 %r1, [mine+19];")),
              "0 findings");
    const auto found = findings_of(array + "st.local.u32 [mine+20], %r1;");
    ASSERT_EQ(kind_of(found), "out of bounds");
    EXPECT_THAT(found[0].message,
                HasSubstr("4-byte store to local memory at 0x14: the thread has no array there"));
    EXPECT_EQ(kind_of(findings_of(array + "ld.local.u64 %rd1, [mine+16];")), "out of bounds");
    // Where two arrays meet, one access cannot be in both.
    EXPECT_EQ(kind_of(findings_of(
                  ".local .align 8 .b8 a[12]; .local .align 4 .b8 b[12]; ld.local.u64 %rd1, [a+8];")),
              "out of bounds");
    EXPECT_EQ(
        kind_of(findings_of(array + "mov.u64 %rd1, mine; cvta.local.u64 %rd1, %rd1; st.u32 [%rd1+20], %r1;")),
        "out of bounds");
}

TEST(MemoryChecker, counts_the_threads_that_leave_their_arrays) {
    // Thread i accesses byte 4 i: threads 2 and 3 are between the two arrays, thread 4 is in the other one.
    CheckedProgram program(module_of(
        ".local .align 16 .b8 mine[8]; .local .align 16 .b8 other[16]; mov.u32 %r1, mine; mad.lo.u32 "
        "%r1, %r60, 4, %r1; st.local.u32 [%r1], %r1;"));
    program.run(grid_of(5));
    const auto found = program.found();
    ASSERT_EQ(kind_of(found), "out of bounds");
    EXPECT_EQ(found[0].count, 2u);
}

TEST(MemoryChecker, lets_a_function_use_its_callers_arrays_and_no_others) {
    const auto run = [](const char* offset) {
        return kind_of(
            findings_of(std::string(".local .align 8 .b8 mine[40]; mov.u64 %rd1, mine; "
                                    "cvta.local.u64 %rd1, %rd1; { .param .b64 a; add.u64 %rd1, %rd1, ") +
                            offset + "; st.param.b64 [a], %rd1; call touch, (a); }",
                        ".func touch(.param .b64 p) { .reg .b64 %rd<3>; .local .align 4 .b8 own[4]; "
                        "ld.param.b64 %rd1, [p]; st.u32 [%rd1], 1; st.local.u32 [own], 2; ret; }"));
    };
    EXPECT_EQ(run("36"), "0 findings");
    EXPECT_EQ(run("40"), "0 findings"); // the argument itself: a variable of the frame
    EXPECT_EQ(run("2000"), "out of bounds");
}

TEST(MemoryChecker, keeps_shared_variables_apart) {
    const std::string variables = ".shared .align 1 .b8 flags[9]; .shared .align 8 .b8 sums[16]; "
                                  ".extern .shared .align 16 .b8 rest[];";
    const auto run = [&](const char* body) {
        return findings_of(std::string("mov.u32 %r1, flags; mov.u32 %r1, sums; mov.u32 %r1, rest; ") + body,
                           variables, 8);
    };
    EXPECT_THAT(run("st.shared.u8 [flags+8], %r1; st.shared.u64 [sums+8], %rd1; ld.shared.u64 %rd1, [rest];"),
                IsEmpty());
    const auto found = run("st.shared.u8 [flags+9], %r1;");
    ASSERT_EQ(kind_of(found), "out of bounds");
    EXPECT_THAT(found[0].message, HasSubstr("1-byte store to shared memory at 0x9: behind flags, 9 bytes"));
    EXPECT_EQ(found[0].allocation, "flags, 9 bytes of shared memory");
    EXPECT_EQ(kind_of(run("ld.shared.u8 %r1, [sums+-1];")), "out of bounds");
    EXPECT_EQ(kind_of(run("ld.shared.u32 %r1, [flags+8];")), "out of bounds"); // only its first byte is there
    EXPECT_EQ(kind_of(run("ld.shared.u64 %rd1, [rest+8];")), "out of bounds"); // behind the last
}

TEST(MemoryChecker, asks_for_more_dynamic_shared_memory_where_it_is_too_small) {
    const auto found =
        findings_of("st.shared.u32 [rest+24], %r1;", ".extern .shared .align 4 .b8 rest[];", 24);
    ASSERT_EQ(kind_of(found), "out of bounds");
    EXPECT_EQ(found[0].allocation, "shared memory, 24 bytes: 0 static and 24 dynamic");
    EXPECT_THAT(found[0].cause, HasSubstr("<<<grid, block, bytes>>>"));
}

TEST(MemoryChecker, absorbs_no_other_faults) {
    CheckedProgram program(module_of("trap;"));
    EXPECT_EQ(error_of([&] { program.run(grid_of(1)); }).failure(), emulator::Failure::trapped);
    EXPECT_THAT(program.found(), IsEmpty());
}

TEST(MemoryChecker, judges_frees_of_the_host) {
    emulator::GlobalMemory memory;
    memory.remember_freed();
    Findings findings;
    MemoryChecker checker(findings);
    const auto& live = memory.allocate(100, "cudaMalloc #1");
    const auto& pinned = memory.allocate(100, "cudaMallocHost #1");
    const uint64_t gone = memory.allocate(100, "cudaMalloc #2").address;
    memory.release(gone, "cudaFree #1");
    const int on_host = 0;
    const auto judge = [&](uint64_t address) {
        checker.rejected({"cudaFree", address}, memory);
        const auto found = findings.take();
        return kind_of(found) + " | " + found[0].message + " | " + found[0].allocation;
    };
    EXPECT_EQ(judge(gone),
              "double free | cudaFree of " + hexadecimal(gone) +
                  ", which cudaFree #1 has freed already | cudaMalloc #2, 100 bytes, freed by cudaFree #1");
    EXPECT_EQ(judge(live.address + 8),
              "invalid free | cudaFree of " + hexadecimal(live.address + 8) +
                  ", which is byte 8 of cudaMalloc #1, 100 bytes | cudaMalloc #1, 100 bytes");
    EXPECT_THAT(judge(pinned.address), HasSubstr("which is of cudaMallocHost #1"));
    EXPECT_THAT(judge(address_of(&on_host)), HasSubstr("which is host memory, its stack"));
    EXPECT_THAT(judge(8), HasSubstr("invalid free | cudaFree of 0x8, which no call has allocated"));
    EXPECT_THAT(judge(gone + 1), HasSubstr("invalid free"));
}

TEST(MemoryChecker, judges_copies_of_the_host) {
    emulator::GlobalMemory memory;
    memory.remember_freed();
    Findings findings;
    MemoryChecker checker(findings);
    const auto& live = memory.allocate(100, "cudaMalloc #1");
    const uint64_t gone = memory.allocate(100, "cudaMalloc #2").address;
    memory.release(gone, "cudaFree #1");
    const auto judge = [&](uint64_t address, std::size_t bytes) {
        checker.rejected({"copy to device memory", address, bytes}, memory);
        const auto found = findings.take();
        return kind_of(found) + " | " + found[0].message;
    };
    EXPECT_EQ(judge(live.address + 50, 60), "out of bounds | copy to device memory of 60 bytes at " +
                                                hexadecimal(live.address + 50) +
                                                ": its last 10 bytes lie after the end of the 100 bytes at " +
                                                hexadecimal(live.address) + " (cudaMalloc #1)");
    EXPECT_THAT(judge(live.address + 99, 2), HasSubstr("its last byte lies after the end"));
    EXPECT_THAT(judge(gone + 4, 4), HasSubstr("use after free"));
    const int on_host = 0;
    EXPECT_THAT(judge(address_of(&on_host), 4), HasSubstr("host pointer"));
}

TEST(MemoryChecker, finds_leaks_only_when_asked) {
    emulator::GlobalMemory memory;
    for (const bool leaks : {false, true}) {
        Findings findings;
        MemoryChecker checker(findings, leaks);
        const auto& a = memory.allocate(1000, "cudaMalloc #1");
        const auto& b = memory.allocate(3000, "cudaMalloc #2");
        checker.allocated(a, false);
        checker.allocated(b, false);
        checker.freed(a);
        checker.program_ends();
        const auto found = findings.take();
        ASSERT_EQ(found.size(), leaks ? 1u : 0u);
        for (const Finding& finding : found)
            EXPECT_EQ(finding.message, "cudaMalloc #2, 3,000 bytes, never freed");
    }
}

TEST(MemoryChecker, counts_as_a_leak_what_only_a_reset_of_the_device_ended) {
    Findings findings;
    MemoryChecker checker(findings, true);
    checker.allocated({4096, 100, "cudaMalloc #1"}, false);
    checker.lost({4096, 100, "cudaMalloc #1"});
    checker.allocated({4096, 200, "cudaMalloc #1"}, false); // at the same address of the next device
    checker.freed({4096, 200, "cudaMalloc #1"});
    checker.program_ends();
    const auto found = findings.take();
    ASSERT_THAT(found, SizeIs(1));
    EXPECT_EQ(found[0].allocation, "cudaMalloc #1, 100 bytes");
}

TEST(MemoryChecker, lets_a_printf_go_on_without_a_string_that_it_cannot_read) {
    const std::string text = R"(
        .local .align 8 .b8 buffer[8]; mov.u64 %rd1, {}; st.local.u64 [buffer], %rd1;
        mov.u64 %rd2, format; cvta.global.u64 %rd2, %rd2; mov.u64 %rd3, buffer; cvta.local.u64 %rd3, %rd3;
        {{ .param .b64 a; .param .b64 b; .param .b32 r; st.param.b64 [a], %rd2; st.param.b64 [b], %rd3;
        call.uni (r), vprintf, (a, b); }} st.global.u32 [%rd60], 7;)";
    const std::string on_host = "never shown";
    std::string body = text;
    body.replace(body.find("{}"), 2, std::to_string(address_of(on_host.data())));
    for (const char* doubled : {"{{", "}}"}) body.replace(body.find(doubled), 2, 1, doubled[0]);
    CheckedProgram program(module_of(body,
                                     ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);"
                                     ".global .align 1 .b8 format[5] = {91, 37, 115, 93, 0};"));
    auto* const memory = program.allocate<uint32_t>(4);
    testing::internal::CaptureStdout();
    program.run(grid_of(1), {memory});
    EXPECT_EQ(testing::internal::GetCapturedStdout(), "[]");
    EXPECT_EQ(memory[0], 7u);
    EXPECT_EQ(kind_of(program.found()), "host pointer");
}
