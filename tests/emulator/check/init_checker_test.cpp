// What the checker `init` finds, and what it must not report.

#include "../machine/ptx_fixture.hpp"

#include "emulator/check/init_checker.hpp"

#include <gmock/gmock.h>

using namespace emulator::fixture;
using emulator::Finding, emulator::Findings, emulator::InitChecker, emulator::RunOptions, emulator::Watcher;
using std::uint32_t, std::uint64_t, std::uint8_t;
using testing::AllOf, testing::HasSubstr, testing::IsEmpty, testing::SizeIs;

namespace {

uint64_t address_of(const void* pointer) { return reinterpret_cast<uint64_t>(pointer); }

/// A program whose launches and allocations the checker follows.
class CheckedProgram : public Program {
public:
    explicit CheckedProgram(std::string text) : Program(std::move(text)) {}

    /// Unwritten, for all that the checker knows.
    uint8_t* allocate_unwritten(std::size_t bytes, std::string origin = "cudaMalloc #1") {
        auto* const first = allocate<uint8_t>(bytes, std::move(origin));
        checker.allocated(*memory.find(address_of(first)), false);
        return first;
    }

    std::vector<Finding> run(emulator::LaunchConfiguration configuration,
                             std::initializer_list<const void*> parameters = {},
                             unsigned int host_threads = 1) {
        Watcher* const watchers[] = {&checker};
        launch("k", configuration, parameters,
               RunOptions{.host_threads = host_threads, .watchers = watchers});
        return findings.take();
    }

    Findings findings;
    InitChecker checker{findings};
};

/// The findings of one thread that executes `body`: p0 has 64 unwritten bytes, p1 64 that the host wrote.
std::vector<Finding> findings_of(const std::string& body, const std::string& declarations = "",
                                 uint32_t dynamic_shared = 0) {
    CheckedProgram program(module_of(body, declarations));
    auto* const unwritten = program.allocate_unwritten(64);
    auto* const written = program.allocate_unwritten(64);
    program.checker.written(address_of(written), 64);
    return program.run(grid_of(1, 1, dynamic_shared), {unwritten, written});
}

void expect_count(const char* body, std::size_t count) {
    EXPECT_THAT(findings_of(body, ".shared .align 16 .b8 tile[64]; .global .u32 zero;"), SizeIs(count))
        << body;
}

} // namespace

TEST(InitChecker, tells_who_read_what_nobody_wrote) {
    CheckedProgram program(module_of(R"(
        mul.wide.u32 %rd1, %r62, 4; add.u64 %rd1, %rd60, %rd1; ld.global.u32 %r1, [%rd1];)"));
    auto* const memory = program.allocate_unwritten(64 * 4, "cudaMalloc #5");
    program.checker.written(address_of(memory), 50 * 4);
    const auto found = program.run(grid_of(32, 2), {memory});
    ASSERT_THAT(found, SizeIs(1));
    EXPECT_EQ(found[0].checker, "init");
    EXPECT_EQ(found[0].kind, "uninitialized read");
    EXPECT_THAT(found[0].message, AllOf(HasSubstr("4-byte load from global memory at 0x"),
                                        HasSubstr(": nobody has written bytes 200 to 203 of its 256")));
    EXPECT_EQ(found[0].kernel, "k");
    EXPECT_EQ(found[0].allocation, "cudaMalloc #5, 256 bytes");
    EXPECT_THAT(found[0].cause, HasSubstr("cudaMalloc does not clear memory"));
    EXPECT_EQ(found[0].count, 14u);
    ASSERT_THAT(found[0].parties, SizeIs(1));
    EXPECT_EQ(found[0].parties[0].role, "load");
    EXPECT_EQ(found[0].parties[0].block, "(1,0,0)");
    EXPECT_EQ(found[0].parties[0].thread, "(18,0,0)");
    EXPECT_EQ(found[0].parties[0].ptx, "ld.global.u32 %r1, [%rd1];");
}

TEST(InitChecker, follows_single_bytes) {
    expect_count("ld.global.u32 %r1, [%rd60];", 1);
    expect_count("ld.global.u32 %r1, [%rd61];", 0);
    expect_count("ld.global.u8 %r1, [%rd60+63];", 1);
    expect_count("st.global.u8 [%rd60+63], %r1; ld.global.u8 %r1, [%rd60+63];", 0);
    expect_count("st.global.u8 [%rd60+63], %r1; ld.global.u8 %r1, [%rd60+62];", 1);
    expect_count("st.global.u16 [%rd60+4], %r1; st.global.u8 [%rd60+6], %r1; ld.global.u32 %r1, [%rd60+4];",
                 1);
    expect_count(R"(st.global.u16 [%rd60+4], %r1; st.global.u8 [%rd60+6], %r1; st.global.u8 [%rd60+7], %r1;
                    ld.global.u32 %r1, [%rd60+4];)",
                 0);
    expect_count(
        "st.global.v4.u32 [%rd60+16], {%r1, %r1, %r1, %r1}; ld.global.v2.u64 {%rd1, %rd2}, [%rd60+16];", 0);
    expect_count("st.global.u64 [%rd60+16], %rd1; ld.global.v2.u64 {%rd1, %rd2}, [%rd60+16]; add.u64 %rd1, "
                 "%rd1, %rd2;",
                 1);
}

TEST(InitChecker, names_the_bytes_that_are_missing) {
    const auto message = [](const char* body) { return findings_of(body).at(0).message; };
    EXPECT_THAT(
        message("st.global.u16 [%rd60+4], %r1; st.global.u8 [%rd60+6], %r1; ld.global.u32 %r1, [%rd60+4];"),
        HasSubstr("nobody has written byte 7 of its 64"));
    EXPECT_THAT(message(R"(st.global.u64 [%rd60+16], %rd1; ld.global.v2.u64 {%rd1, %rd2}, [%rd60+16];
                           add.u64 %rd1, %rd1, %rd2;)"),
                HasSubstr("nobody has written bytes 24 to 31 of its 64"));
}

TEST(InitChecker, takes_an_atomic_for_a_read_and_a_write) {
    expect_count("atom.global.add.u32 %r1, [%rd60], 1; st.global.u32 [%rd61], %r1;", 1);
    expect_count("red.global.add.u32 [%rd60], 1;", 1);
    expect_count("atom.global.exch.b32 %r1, [%rd60], 1; ld.global.u32 %r1, [%rd60];", 1); // only the first
    expect_count("st.global.u32 [%rd60], 0; atom.global.cas.b32 %r1, [%rd60], 0, 1;", 0);
    expect_count("atom.shared.add.u32 %r1, [tile], 1; st.global.u32 [%rd61], %r1;", 1);
    expect_count("st.shared.u32 [tile], 0; red.shared.add.u32 [tile], 1; ld.shared.u32 %r1, [tile];", 0);
}

TEST(InitChecker, does_not_ask_for_vector_elements_that_nobody_reads) {
    const std::string three = "st.global.v2.u32 [%rd60], {%r1, %r1}; st.global.u32 [%rd60+8], %r1; "
                              "ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%rd60]; add.u32 %r1, %r1, %r2; ";
    expect_count((three + "add.u32 %r1, %r1, %r3;").c_str(), 0);
    expect_count((three + "add.u32 %r1, %r1, %r4;").c_str(), 1);
    expect_count("ld.global.v2.u32 {%r1, _}, [%rd60]; add.u32 %r1, %r1, %r1;", 1);
    expect_count("st.global.u32 [%rd60], %r1; ld.global.v2.u32 {%r1, _}, [%rd60]; add.u32 %r1, %r1, %r1;", 0);
}

TEST(InitChecker, lets_a_struct_be_copied_with_its_padding) {
    // struct { int; char; double; }
    const std::string fields =
        "st.global.u32 [%rd60], %r1; st.global.u8 [%rd60+4], %r1; st.global.u64 [%rd60+8], %rd1; ";
    expect_count(
        (fields + "ld.global.v2.u64 {%rd1, %rd2}, [%rd60]; st.global.v2.u64 [%rd60+16], {%rd1, %rd2};")
            .c_str(),
        0);
    expect_count((fields + "ld.global.u8 %r1, [%rd60+5];").c_str(), 1); // nobody loads padding on its own
    expect_count((fields + "ld.global.u64 %rd1, [%rd60+16];").c_str(), 1);
}

TEST(InitChecker, begins_anew_with_every_block) {
    // Block 0 writes and reads, block 1 only reads: on one host thread it gets the same storage.
    CheckedProgram program(module_of(R"(
        setp.eq.u32 %p1, %r61, 0; @%p1 st.shared.u32 [tile+8], %r1; ld.shared.u32 %r2, [tile+8];)",
                                     ".shared .align 4 .b8 tile[64];"));
    const auto found = program.run(grid_of(1, 2));
    ASSERT_THAT(found, SizeIs(1));
    EXPECT_EQ(found[0].count, 1u);
    EXPECT_EQ(found[0].parties[0].block, "(1,0,0)");
    EXPECT_EQ(found[0].allocation, "tile, 64 bytes of shared memory");
    EXPECT_THAT(found[0].message, HasSubstr("4-byte load from shared memory at 0x8: nobody has written"));
}

TEST(InitChecker, keeps_blocks_apart_that_take_turns) {
    // Block 0 waits for block 1, so the host thread has both in progress.
    CheckedProgram program(module_of(R"(
        st.shared.u32 [tile], %r1; setp.eq.u32 %p1, %r61, 1; @%p1 bra LAST;
        WAIT: ld.volatile.global.u32 %r1, [%rd60]; setp.eq.u32 %p2, %r1, 0; @%p2 bra WAIT;
        ld.shared.u32 %r2, [tile]; ld.shared.u32 %r2, [tile+4]; bra END;
        LAST: st.shared.u32 [tile+4], %r1; st.volatile.global.u32 [%rd60], 1;
        END:)",
                                     ".shared .align 4 .b8 tile[8];"));
    const auto found = program.run(grid_of(1, 2), {program.allocate<uint32_t>(1)});
    ASSERT_THAT(found, SizeIs(1));
    EXPECT_EQ(found[0].parties[0].block, "(0,0,0)");
    EXPECT_THAT(found[0].message, HasSubstr("at 0x4"));
}

TEST(InitChecker, sees_shared_memory_by_generic_addresses) {
    expect_count("mov.u64 %rd1, tile; cvta.shared.u64 %rd1, %rd1; ld.u32 %r1, [%rd1];", 1);
    expect_count(
        "mov.u64 %rd1, tile; cvta.shared.u64 %rd1, %rd1; st.u32 [%rd1], %r1; ld.shared.u32 %r1, [tile];", 0);
    EXPECT_EQ(findings_of("ld.shared.u32 %r1, [rest+4];", ".extern .shared .align 4 .b8 rest[];", 8)
                  .at(0)
                  .allocation,
              "rest, 8 bytes of dynamic shared memory");
}

TEST(InitChecker, leaves_alone_what_it_keeps_no_account_of) {
    expect_count("ld.global.u32 %r1, [zero];", 0);                  // a variable
    expect_count(".local .u32 mine; ld.local.u32 %r1, [mine];", 0); // a thread's own
    CheckedProgram program(module_of("ld.global.u32 %r1, [%rd60];"));
    auto* const managed = program.allocate<uint32_t>(1);
    program.checker.allocated(*program.memory.find(address_of(managed)), true);
    EXPECT_THAT(program.run(grid_of(1), {managed}), IsEmpty());
}

TEST(InitChecker, follows_lanes_that_go_to_different_allocations) {
    // Lane i accesses p0 + i * p1: even lanes one allocation, odd ones the next.
    CheckedProgram program(module_of(R"(
        and.b32 %r1, %r60, 1; setp.eq.u32 %p1, %r1, 0; mul.wide.u32 %rd1, %r60, 4;
        selp.b64 %rd2, %rd60, %rd61, %p1; setp.eq.u32 %p2, %r60, 7; selp.b64 %rd2, %rd62, %rd2, %p2;
        add.u64 %rd2, %rd2, %rd1; ld.global.u32 %r2, [%rd2];)"));
    auto* const unwritten = program.allocate_unwritten(128, "cudaMalloc #1");
    auto* const written = program.allocate_unwritten(128, "cudaMalloc #2");
    auto* const managed = program.allocate<uint32_t>(32);
    program.checker.written(address_of(written), 128);
    program.checker.written(address_of(unwritten), 60); // lanes 0 to 14
    const auto found = program.run(grid_of(32), {unwritten, written, managed});
    ASSERT_THAT(found, SizeIs(1));
    EXPECT_EQ(found[0].count, 8u); // lanes 16, 18, … 30
    EXPECT_EQ(found[0].allocation, "cudaMalloc #1, 128 bytes");
}

TEST(InitChecker, hears_of_allocations_and_frees_between_launches) {
    CheckedProgram program(module_of("ld.global.u32 %r1, [%rd60];"));
    auto* const memory = program.allocate_unwritten(64);
    program.checker.written(address_of(memory), 64);
    EXPECT_THAT(program.run(grid_of(1), {memory}), IsEmpty());
    const emulator::Allocation allocation = *program.memory.find(address_of(memory));
    program.checker.freed(allocation);
    EXPECT_THAT(program.run(grid_of(1), {memory}), IsEmpty()); // not tracked: that is for mem
    program.checker.allocated(allocation, false);              // the same address, given out again
    EXPECT_THAT(program.run(grid_of(1), {memory}), SizeIs(1));
}

TEST(InitChecker, keeps_no_account_of_the_byte_behind_the_last) {
    CheckedProgram program(module_of(""));
    const std::uint64_t first = address_of(program.allocate_unwritten(64));
    EXPECT_TRUE(program.checker.stretch(first + 63).written);
    EXPECT_TRUE(program.checker.stretch(first + 63).contains(first));
    EXPECT_FALSE(program.checker.stretch(first + 64).written);
    EXPECT_TRUE(program.checker.stretch(first + 64).contains(first + 64));
    EXPECT_FALSE(program.checker.stretch(first - 1).written);
}

TEST(InitChecker, carries_the_state_along_with_copies) {
    CheckedProgram program(module_of("ld.global.u32 %r1, [%rd60+4]; ld.global.u32 %r1, [%rd60+8];"));
    auto* const from = program.allocate_unwritten(64);
    auto* const to = program.allocate_unwritten(64);
    auto* const managed = program.allocate<uint32_t>(16);
    program.checker.written(address_of(from), 8);
    program.checker.copied(address_of(from), address_of(to), 16);
    EXPECT_THAT(program.run(grid_of(1), {to}), SizeIs(1)); // bytes 8 to 11
    program.checker.copied(address_of(managed), address_of(to), 12);
    EXPECT_THAT(program.run(grid_of(1), {to}), IsEmpty());
    program.checker.copied(address_of(from) + 32, address_of(to) + 4, 4);
    EXPECT_THAT(program.run(grid_of(1), {to}), SizeIs(1)); // bytes 4 to 7
}

TEST(InitChecker, finds_unwritten_bytes_in_a_copy_to_where_the_host_sees_them) {
    CheckedProgram program(module_of(""));
    auto* const from = program.allocate_unwritten(64);
    auto* const pinned = program.allocate<uint32_t>(16);
    program.checker.allocated(*program.memory.find(address_of(pinned)), true);
    program.checker.written(address_of(from), 8);
    program.checker.copied(address_of(from), address_of(pinned), 8);
    EXPECT_THAT(program.findings.take(), IsEmpty());
    program.checker.copied(address_of(from), address_of(pinned), 16);
    EXPECT_THAT(program.findings.take(), SizeIs(1));
}

TEST(InitChecker, forgets_what_a_reset_of_the_device_ends) {
    CheckedProgram program(module_of("ld.global.u32 %r1, [%rd60];"));
    auto* const memory = program.allocate_unwritten(64);
    program.checker.lost(*program.memory.find(address_of(memory)));
    EXPECT_THAT(program.run(grid_of(1), {memory}), IsEmpty());
}

TEST(InitChecker, finds_unwritten_bytes_in_a_copy_to_the_host) {
    CheckedProgram program(module_of("st.global.u32 [%rd60], 1;"));
    auto* const memory = program.allocate_unwritten(64, "cudaMalloc #3");
    EXPECT_THAT(program.run(grid_of(1), {memory}), IsEmpty());
    program.checker.read(address_of(memory), 4);
    EXPECT_THAT(program.findings.take(), IsEmpty());
    program.checker.read(address_of(memory) + 2, 10);
    const auto found = program.findings.take();
    ASSERT_THAT(found, SizeIs(1));
    EXPECT_EQ(found[0].kind, "uninitialized copy");
    EXPECT_THAT(
        found[0].message,
        AllOf(HasSubstr("copy of 10 bytes at 0x"),
              HasSubstr("nobody has written 8 of them, the first is byte 4 of cudaMalloc #3, 64 bytes")));
    EXPECT_TRUE(found[0].kernel.empty());
    EXPECT_THAT(found[0].parties, IsEmpty());
}

TEST(InitChecker, follows_several_host_threads) {
    // Each block writes its 128 bytes except the last word, and reads them all.
    CheckedProgram program(module_of(R"(
        mul.wide.u32 %rd1, %r62, 4; add.u64 %rd1, %rd60, %rd1; setp.lt.u32 %p1, %r60, 31;
        @%p1 st.global.u32 [%rd1], %r1; ld.global.u32 %r2, [%rd1];)"));
    auto* const memory = program.allocate_unwritten(1000 * 128);
    const auto found = program.run(grid_of(32, 1000), {memory}, 4);
    ASSERT_THAT(found, SizeIs(1));
    EXPECT_EQ(found[0].count, 1000u);
    EXPECT_EQ(found[0].parties[0].thread, "(31,0,0)");
}
