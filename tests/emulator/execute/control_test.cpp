// Branches by index, calls, and what ends a thread. How lanes part and meet is in
// machine/divergence_test.cpp.

#include "../machine/ptx_fixture.hpp"

#include <gmock/gmock.h>

using namespace emulator::fixture;
using emulator::Failure;
using std::uint32_t;
using testing::AllOf, testing::HasSubstr;

TEST(IndexedBranch, sends_each_lane_to_its_target) {
    const std::string body = R"(
        TABLE: .branchtargets A, B, C, B;
        and.b32 %r2, %r60, 3; mov.u32 %r0, 0; brx.idx %r2, TABLE;
        A: add.u32 %r0, %r0, 1;
        B: add.u32 %r0, %r0, 10;
        C: add.u32 %r0, %r0, 100;)";
    EXPECT_EQ(run(body), lanes([](uint32_t i) { return i % 4 == 0 ? 111 : i % 4 == 2 ? 100 : 110; }));
    EXPECT_EQ(run(R"(
        TABLE: .branchtargets A, B; mov.u32 %r0, 5; mov.u32 %r2, 1; brx.idx.uni %r2, TABLE;
        A: mov.u32 %r0, 6;
        B:)"),
              Words(32, 5));
    // Under a guard: the others go on.
    EXPECT_EQ(run(R"(
        TABLE: .branchtargets A, B; mov.u32 %r0, 5; and.b32 %r2, %r60, 1; setp.lt.u32 %p1, %r60, 8;
        @%p1 brx.idx %r2, TABLE; mov.u32 %r0, 1;
        A: add.u32 %r0, %r0, 2;
        B:)"),
              lanes([](uint32_t i) { return i >= 8       ? 3
                                            : i % 2 == 0 ? 7
                                                         : 5; }));
}

TEST(IndexedBranch, beyond_its_targets_is_an_error) {
    const auto error = error_of([] { run("TABLE: .branchtargets A, A; brx.idx %r60, TABLE; A:"); });
    EXPECT_EQ(error.failure(), Failure::launch_failure);
    EXPECT_THAT(error.what(), HasSubstr("target 2 of 2"));
    EXPECT_THAT(error.what(), HasSubstr("thread (2,0,0)"));
}

namespace {

constexpr const char* functions = R"(
.func (.param .b32 result) twice_plus(.param .b32 a, .param .align 16 .b8 pair[16])
{
    .reg .b32 %r<9>; .reg .b64 %rd<9>;
    ld.param.b32 %r1, [a];
    ld.param.v2.b64 {%rd1, %rd2}, [pair];
    cvt.u32.u64 %r2, %rd1; cvt.u32.u64 %r3, %rd2;
    mad.lo.u32 %r4, %r1, 2, %r2;
    sub.u32 %r4, %r4, %r3;
    st.param.b32 [result], %r4;
    ret;
}
.func (.param .b32 result) factorial(.param .b32 n);
.func (.param .b32 result) factorial(.param .b32 n)
{
    .reg .pred %p<2>; .reg .b32 %r<9>;
    ld.param.u32 %r1, [n];
    mov.u32 %r4, 1;
    setp.lt.u32 %p1, %r1, 2;
    @%p1 bra DONE;
    sub.u32 %r2, %r1, 1;
    { .param .b32 argument; .param .b32 value;
      st.param.b32 [argument], %r2;
      call.uni (value), factorial, (argument);
      ld.param.b32 %r3, [value]; }
    mul.lo.u32 %r4, %r3, %r1;
DONE:
    st.param.b32 [result], %r4;
    ret;
}
.func endless() { call endless; ret; }
.func leave(.param .b32 which)
{
    .reg .pred %p; .reg .b32 %r<9>;
    ld.param.u32 %r1, [which]; mov.u32 %r2, %laneid; setp.lt.u32 %p, %r2, %r1;
    @%p exit;
    ret;
}
)";

/// factorial(%r2) to %r0
constexpr const char* call_factorial = R"(
        { .param .b32 a; .param .b32 r; st.param.b32 [a], %r2; call (r), factorial, (a);
        ld.param.b32 %r0, [r]; })";

uint32_t factorial(uint32_t n) { return n < 2 ? 1 : n * factorial(n - 1); }

} // namespace

TEST(Call, passes_parameters_and_results) {
    EXPECT_EQ(run(R"(
        { .param .b32 a; .param .align 16 .b8 p[16]; .param .b32 r; st.param.b32 [a+0], %r60;
        mov.u64 %rd1, 1000; mov.u64 %rd2, 1;
        st.param.v2.b64 [p+0], {%rd1, %rd2}; call.uni (r), twice_plus, (a, p);
        ld.param.b32 %r0, [r+0]; })",
                  50, {}, functions),
              lanes([](uint32_t i) { return 2 * i + 999; }, 50));
}

TEST(Call, recursion_gives_each_activation_its_own_registers) {
    EXPECT_EQ(run(std::string("and.b32 %r2, %r60, 7;") + call_factorial, 32, {}, functions),
              lanes([](uint32_t i) { return factorial(i % 8); }));
}

TEST(Call, lanes_may_call_from_different_branches) {
    const std::string body = std::string(R"(
        and.b32 %r2, %r60, 3; mov.u32 %r0, 9; setp.lt.u32 %p1, %r60, 5; @%p1 bra END;
        and.b32 %r3, %r60, 1; setp.eq.u32 %p2, %r3, 0; @%p2 bra EVEN;
)") + call_factorial + "bra END;\nEVEN: add.u32 %r2, %r2, 1;" +
                             call_factorial + "\nEND:";
    EXPECT_EQ(run(body, 32, {}, functions),
              lanes([](uint32_t i) { return i < 5 ? 9 : factorial(i % 4 + (i % 2 == 0)); }));
    // Under a guard, within a block of its own.
    EXPECT_EQ(run(R"(
        mov.u32 %r0, 9; setp.lt.u32 %p1, %r60, 5; mov.u32 %r2, 4; { .param .b32 a; .param .b32 r;
        st.param.b32 [a], %r2; @%p1 call (r), factorial, (a); ld.param.b32 %r3, [r]; @%p1 mov.b32 %r0, %r3; })",
                  32, {}, functions),
              lanes([](uint32_t i) { return i < 5 ? 24 : 9; }));
}

TEST(Call, lanes_that_do_not_call_wait_for_those_that_do) {
    // The function is longer than the kernel, so its line numbers don't come first.
    std::string long_function = ".func tarry() { .reg .b32 %r; mov.u32 %r, 0; ";
    for (int i = 0; i < 100; ++i) long_function += "add.u32 %r, %r, 1; ";
    long_function += "bra L; L: ";
    EXPECT_EQ(run("setp.lt.u32 %p1, %r60, 5; @%p1 call tarry; activemask.b32 %r0;", 32, {},
                  long_function + "ret; }"),
              Words(32, 0xFFFF'FFFF));
}

TEST(Call, threads_may_exit_inside) {
    EXPECT_EQ(run("{ .param .b32 w; st.param.b32 [w], 7; call leave, (w); } bar.sync 0; mov.u32 %r0, 1;", 32,
                  {}, functions),
              lanes([](uint32_t i) { return i < 7 ? poison : 1; }));
}

TEST(Call, without_end_overflows_the_stack) {
    const auto error = error_of([] { run("call endless;", 1, {}, functions); });
    EXPECT_EQ(error.failure(), Failure::launch_failure);
    EXPECT_THAT(error.what(), AllOf(HasSubstr("stack overflow"),
                                    HasSubstr("cudaDeviceSetLimit(cudaLimitStackSize, bytes)")));
    const auto deep =
        error_of([] { run(std::string("mov.u32 %r2, 1000000;") + call_factorial, 1, {}, functions); });
    EXPECT_THAT(deep.what(), HasSubstr("stack overflow"));
}

TEST(Call, of_what_does_not_fit_or_is_not_there_is_refused) {
    struct Row {
        const char* call;
        const char* message;
        Failure failure;
    };
    for (const Row& row : {Row{"call nowhere;", "'nowhere' is not in this module", Failure::unsupported},
                           {"call k;", "a kernel cannot be called", Failure::invalid_ptx},
                           {"call (r), factorial, (a, a);", "1 argument", Failure::invalid_ptx},
                           {"call factorial, (a);", "1 result", Failure::invalid_ptx},
                           {"call (r), factorial;", "1 argument", Failure::invalid_ptx},
                           {"call (r), factorial, (wide);", "bytes", Failure::invalid_ptx},
                           {"call (wide), factorial, (a);", "bytes", Failure::invalid_ptx},
                           {"call (r), %rd1, (a);", "needs a prototype", Failure::invalid_ptx},
                           {"call (r), 5, (a);", "a function's name", Failure::invalid_ptx},
                           {"call (r), factorial, (%r1);", "a variable", Failure::invalid_ptx},
                           {"call factorial, a;", "in parentheses", Failure::invalid_ptx}}) {
        const auto error = error_of([&] {
            run("prototype: .callprototype (.param .b32 _) _ (.param .b32 _); { .param .b32 a; .param .b32 "
                "r; .param .b64 wide; " +
                    std::string(row.call) + " }",
                1, {}, functions);
        });
        EXPECT_THAT(error.what(), HasSubstr(row.message)) << row.call;
        EXPECT_EQ(error.failure(), row.failure) << row.call << error.what();
    }
}

TEST(Call, of_the_device_runtime_says_that_kernels_launch_none) {
    for (const std::string name :
         {"cudaLaunchDeviceV2", "__cudaCDP2LaunchDeviceV2", "cudaGetParameterBufferV2"})
        EXPECT_THAT(
            error_of([&] { run("call " + name + ", ();", 1, {}, ".extern .func " + name + "();"); }).what(),
            HasSubstr("launches from kernels (dynamic parallelism) are not supported"))
            << name;
}

TEST(Call, a_kernels_address_is_taken_to_launch_it) {
    const auto error = error_of([] { run("mov.u64 %rd1, k;"); });
    EXPECT_EQ(error.failure(), Failure::unsupported);
    EXPECT_THAT(error.what(),
                HasSubstr("a kernel launches k: launches from kernels (dynamic parallelism) are not"));
    EXPECT_THAT(error.what(), HasSubstr("launch kernels from the host"));
}

TEST(Exit, ends_lanes_and_the_others_go_on) {
    EXPECT_EQ(run(R"(
        setp.lt.u32 %p1, %r60, 10; @%p1 ret; setp.lt.u32 %p1, %r60, 20; @%p1 exit;
        mov.u32 %r0, %r60;)"),
              lanes([](uint32_t i) { return i < 20 ? poison : i; }));
}

TEST(Exit, trap_names_the_first_thread_that_executes_it) {
    const auto error = error_of([] { run("setp.gt.u32 %p1, %r60, 36; @%p1 trap;", 64); });
    EXPECT_EQ(error.failure(), Failure::trapped);
    EXPECT_THAT(error.what(), HasSubstr("thread (37,0,0)"));
}

TEST(Control, nanosleep_and_pmevent_go_on) {
    EXPECT_EQ(run("nanosleep.u32 100; pmevent 1; mov.u32 %r0, 4;"), Words(32, 4));
}

TEST(Control, a_breakpoint_without_a_debugger_ends_the_launch) {
    const auto error = error_of([] { run("setp.eq.u32 %p1, %r60, 9; @%p1 brkpt;"); });
    EXPECT_EQ(error.failure(), Failure::launch_failure);
    EXPECT_THAT(error.what(), AllOf(HasSubstr("breakpoint"), HasSubstr("thread (9,0,0)")));
}

// ---- calls through a register ----

namespace {

// Functions of one type, in tables with initial values; recursion through a pointer.
constexpr const char* pointed_to = R"(
    .func (.param .b32 value) plus(.param .b32 x) {
        .reg .b32 %r<3>; ld.param.b32 %r1, [x]; add.u32 %r1, %r1, 100; st.param.b32 [value], %r1; ret;
    }
    .func (.param .b32 value) times(.param .b32 x) {
        .reg .b32 %r<3>; ld.param.b32 %r1, [x]; mul.lo.u32 %r1, %r1, 3; st.param.b32 [value], %r1; ret;
    }
    .func (.param .b32 value) sum(.param .b32 x) {
        .reg .b32 %r<9>; .reg .b64 %rd<3>; .reg .pred %p;
        ld.param.b32 %r1, [x]; mov.u32 %r2, 0; setp.eq.u32 %p, %r1, 0; @%p bra DONE;
        ld.global.u64 %rd1, [recursive]; sub.u32 %r3, %r1, 1;
        { .param .b32 a; .param .b32 r; st.param.b32 [a], %r3;
          again: .callprototype (.param .b32 _) _ (.param .b32 _);
          call (r), %rd1, (a), again; ld.param.b32 %r2, [r]; }
        DONE: add.u32 %r2, %r2, %r1; st.param.b32 [value], %r2; ret;
    }
    .func (.param .b64 value) wide(.param .b32 x) { ret; }
    .global .u64 table[2] = {plus, generic(times)};
    .const .u64 constant_table[2] = {times, plus};
    .global .u64 recursive = sum;
    .global .u64 wrong[2] = {wide, 0};
)";

/// Calls the function at %rd1 with %r2.
constexpr const char* call_rd1 = R"({ .param .b32 a; .param .b32 r; st.param.b32 [a], %r2;
    type: .callprototype (.param .b32 _) _ (.param .b32 _); call (r), %rd1, (a), type; ld.param.b32 %r0, [r]; })";

} // namespace

TEST(CallThroughRegister, finds_a_function_whose_address_another_kernel_takes) {
    Program program(module_of("ld.global.u64 %rd1, [%rd60]; mov.u32 %r2, 7;" + std::string(call_rd1) +
                                  " st.global.u32 [%rd61], %r0;",
                              R"(.func (.param .b32 value) plus(.param .b32 x) {
        .reg .b32 %r<3>; ld.param.b32 %r1, [x]; add.u32 %r1, %r1, 100; st.param.b32 [value], %r1; ret; }
    .visible .entry giver(.param .u64 to) { .reg .b64 %rd<3>;
        ld.param.u64 %rd1, [to]; mov.u64 %rd2, plus; st.global.u64 [%rd1], %rd2; ret; }
    .visible .entry broken() { .surf x; ret; }
)"));
    const auto address = program.allocate<std::uint64_t>(1);
    const auto result = program.allocate<std::uint32_t>(1);
    program.module.kernel("k"); // before the other is read
    program.launch("giver", grid_of(1), {address});
    program.launch("k", grid_of(1), {address, result, nullptr});
    EXPECT_EQ(*result, 107u);
}

TEST(CallThroughRegister, finds_functions_in_tables) {
    // Lane i calls plus(i) for even i, times(i) for odd ones.
    std::vector<std::uint32_t> expected;
    for (std::uint32_t i = 0; i < 32; ++i) expected.push_back(i % 2 == 0 ? i + 100 : 3 * i);
    EXPECT_EQ(run(std::string("and.b32 %r3, %r60, 1; mul.wide.u32 %rd2, %r3, 8; mov.u64 %rd3, table; "
                              "add.s64 %rd3, %rd3, %rd2; ld.global.u64 %rd1, [%rd3]; mov.u32 %r2, %r60;") +
                      call_rd1,
                  32, {}, pointed_to),
              expected);
    // … and the other way round from constant memory.
    for (std::uint32_t i = 0; i < 32; ++i) expected[i] = i % 2 != 0 ? i + 100 : 3 * i;
    EXPECT_EQ(run(std::string("and.b32 %r3, %r60, 1; mul.wide.u32 %rd2, %r3, 8; mov.u64 %rd3, "
                              "constant_table; add.s64 %rd3, %rd3, %rd2; ld.const.u64 %rd1, [%rd3]; "
                              "mov.u32 %r2, %r60;") +
                      call_rd1,
                  32, {}, pointed_to),
              expected);
}

TEST(CallThroughRegister, takes_the_address_of_a_function) {
    EXPECT_EQ(run(std::string("mov.u64 %rd1, plus; mov.u32 %r2, 5;") + call_rd1, 1, {}, pointed_to),
              std::vector<std::uint32_t>{105});
}

TEST(CallThroughRegister, recurs) {
    // Lane i: i + (i - 1) + … + 1
    std::vector<std::uint32_t> expected;
    for (std::uint32_t i = 0; i < 32; ++i) expected.push_back(i * (i + 1) / 2);
    EXPECT_EQ(run(std::string("ld.global.u64 %rd1, [recursive]; mov.u32 %r2, %r60;") + call_rd1, 32, {},
                  pointed_to),
              expected);
}

TEST(CallThroughRegister, refuses_what_is_no_function_of_that_type) {
    const auto message = [](const std::string& address) {
        return error_of([&] { run(address + " mov.u32 %r2, 1;" + call_rd1, 1, {}, pointed_to); });
    };
    EXPECT_THAT(message("mov.u64 %rd1, 0;").what(), HasSubstr("no function"));
    EXPECT_EQ(message("mov.u64 %rd1, 0;").failure(), Failure::illegal_address);
    EXPECT_THAT(message("mov.u64 %rd1, plus; add.s64 %rd1, %rd1, 1;").what(), HasSubstr("no function"));
    EXPECT_THAT(message("ld.global.u64 %rd1, [wrong];").what(), HasSubstr("pointer of another type"));
}

// ---- room on the stack ----

TEST(Alloca, gives_local_memory_behind_the_frame) {
    // Two pieces that do not overlap, of the size that the lane requests, and a call's frame after them.
    EXPECT_EQ(
        run(std::string("add.u32 %r3, %r60, 1; mul.wide.u32 %rd3, %r3, 4; alloca.u64 %rd1, %rd3, 16; "
                        "alloca.u64 %rd2, 8; st.local.u32 [%rd1], %r60; st.local.u32 [%rd2], 7; mov.u32 "
                        "%r2, 3;") +
                call_factorial +
                "ld.local.u32 %r3, [%rd1]; ld.local.u32 %r4, [%rd2]; add.u32 %r0, %r3, "
                "%r4;",
            4, {}, functions),
        (Words{7, 8, 9, 10}));
}

TEST(Alloca, refuses_more_than_there_is) {
    EXPECT_THAT(error_of([] { run("mov.u64 %rd3, 1000000; alloca.u64 %rd1, %rd3, 16;", 1); }).what(),
                HasSubstr("stack overflow"));
}
