// Launches: limits, parameters, grids on several host threads, and modules with several kernels.

#include "ptx_fixture.hpp"

#include <gmock/gmock.h>

#include <algorithm>

using namespace emulator::fixture;
using emulator::Counters, emulator::DeviceLimits, emulator::Failure, emulator::LaunchConfiguration;
using std::uint32_t;
using testing::HasSubstr;

TEST(Launch, functions_find_the_block_they_run_in) {
    EXPECT_EQ(run(R"({ .param .b32 where; call (where), block, (); ld.param.b32 %r0, [where]; })", 1, {},
                  R"(.func (.param .b32 result) block()
                  {
                      .reg .b32 %r<2>;
                      mov.u32 %r1, %ctaid.x; st.param.b32 [result], %r1; ret;
                  })",
                  4),
              (std::vector<uint32_t>{0, 1, 2, 3}));
}

TEST(Launch, every_thread_of_every_block_runs_once) {
    for (const unsigned int host_threads : {1u, 2u, 5u}) {
        Program program(module_of(R"(
        mov.u32 %r1, %ctaid.z; mov.u32 %r2, %nctaid.y; mov.u32 %r3, %ctaid.y;
        mad.lo.u32 %r1, %r1, %r2, %r3; mov.u32 %r2, %nctaid.x; mad.lo.u32 %r1, %r1, %r2, %r61;
        mov.u32 %r2, %ntid.z; mov.u32 %r3, %tid.z; mad.lo.u32 %r1, %r1, %r2, %r3;
        mov.u32 %r2, %ntid.y; mov.u32 %r3, %tid.y; mad.lo.u32 %r1, %r1, %r2, %r3;
        mov.u32 %r2, %ntid.x; mad.lo.u32 %r1, %r1, %r2, %r60; mul.wide.u32 %rd1, %r1, 4;
        add.u64 %rd1, %rd60, %rd1; red.global.add.u32 [%rd1], 1;)"));
        LaunchConfiguration configuration;
        configuration.grid = {5, 3, 7};
        configuration.block = {9, 5, 2};
        constexpr std::size_t count = 5 * 3 * 7 * 9 * 5 * 2;
        auto* const runs = program.allocate<uint32_t>(count);
        program.launch("k", configuration, {runs}, host_threads);
        EXPECT_EQ(std::count(runs, runs + count, 1u), static_cast<std::ptrdiff_t>(count)) << host_threads;
    }
}

TEST(Launch, counters_and_memory_do_not_depend_on_the_number_of_host_threads) {
    const std::string body =
        R"(
        mov.u32 %r2, 0; rem.u32 %r1, %r62, 7; setp.lt.u32 %p1, %r1, 3; mul.wide.u32 %rd1, %r62, 4;
        add.u64 %rd1, %rd60, %rd1; @%p1 bra SKIP; ld.global.u32 %r2, [%rd1];
        and.b32 %r3, %r60, 31; mad.lo.u32 %r3, %r3, 128, 0; mov.u32 %r4, tile;
        add.u32 %r3, %r3, %r4; st.shared.u32 [%r3], %r2; ld.shared.u32 %r2, [%r3];
        SKIP: bar.sync 0;
        add.u32 %r2, %r2, 5; st.global.u32 [%rd1], %r2; red.global.add.u32 [%rd61], 1;)";
    std::vector<Counters> counters;
    std::vector<std::vector<uint32_t>> results;
    for (const unsigned int host_threads : {1u, 2u, 3u, 8u}) {
        Program program(module_of(body, ".shared .b8 tile[4096];"));
        auto* const words = program.allocate<uint32_t>(100 * 96);
        counters.push_back(
            program.launch("k", grid_of(96, 100), {words, program.allocate<uint32_t>(1)}, host_threads));
        results.emplace_back(words, words + 100 * 96);
    }
    for (std::size_t i = 1; i < counters.size(); ++i) {
        EXPECT_EQ(counters[i], counters[0]);
        EXPECT_EQ(results[i], results[0]);
    }
}

TEST(Launch, refuses_what_no_device_accepts) {
    Program program(module_of(".shared .b8 tile[1024]; st.shared.u8 [tile], %r1;"));
    const auto refused = [&](LaunchConfiguration configuration) {
        const auto error = error_of([&] { program.launch("k", configuration); });
        EXPECT_EQ(error.failure(), Failure::invalid_configuration) << error.what();
        return std::string(error.what());
    };
    const auto with = [](emulator::Dim3 grid, emulator::Dim3 block, uint32_t dynamic_shared = 0) {
        LaunchConfiguration configuration;
        configuration.grid = grid;
        configuration.block = block;
        configuration.dynamic_shared_bytes = dynamic_shared;
        return configuration;
    };
    EXPECT_THAT(refused(with({0, 1, 1}, {1, 1, 1})), HasSubstr("a grid of 0 x 1 x 1 blocks"));
    EXPECT_THAT(refused(with({1, 65536, 1}, {1, 1, 1})), HasSubstr("at most 2147483647 x 65535 x 65535"));
    EXPECT_THAT(refused(with({1, 1, 1}, {1, 0, 1})), HasSubstr("a block of 1 x 0 x 1 threads"));
    EXPECT_THAT(refused(with({1, 1, 1}, {1025, 1, 1})), HasSubstr("at most 1024 x 1024 x 64"));
    EXPECT_THAT(refused(with({1, 1, 1}, {1, 1, 65})), HasSubstr("at most 1024 x 1024 x 64"));
    EXPECT_THAT(refused(with({1, 1, 1}, {32, 33, 1})),
                HasSubstr("a block of 1056 threads; this kernel takes at most 1024"));
    EXPECT_THAT(refused(with({1, 1, 1}, {1, 1, 1}, 48 * 1024 - 1023)), HasSubstr("bytes of shared memory"));
    EXPECT_NO_THROW(program.launch("k", with({1, 1, 1}, {1, 1, 1}, 48 * 1024 - 1024)));
    // The limit is on dynamic shared memory; the static 1,024 bytes come on top.
    auto more = with({1, 1, 1}, {1, 1, 1}, 100 * 1024);
    more.dynamic_shared_limit = 100 * 1024;
    EXPECT_NO_THROW(program.launch("k", more));
    ++more.dynamic_shared_bytes;
    EXPECT_THAT(refused(more), HasSubstr("103425 bytes of shared memory; at most 103424 are allowed"));
    more.dynamic_shared_limit = 101 * 1024;
    EXPECT_NO_THROW(program.launch("k", more));
}

TEST(Launch, refuses_too_few_parameter_bytes) {
    Program program(module_of(""));
    const auto error =
        error_of([&] { emulator::run(program.module.kernel("k"), grid_of(1), {}, program.memory); });
    EXPECT_THAT(error.what(), HasSubstr("0 bytes of parameters instead of 24"));
}

TEST(Launch, keeps_to_the_bounds_that_the_kernel_names) {
    Program program(".version 8.5\n.target sm_90\n.address_size 64\n.visible .entry small() .maxntid 64, 2, "
                    "1 .minnctapersm 2 { ret; }\n.visible .entry any() { ret; }\n");
    EXPECT_EQ(program.module.kernel("small").max_threads_per_block(), 128u);
    EXPECT_EQ(program.module.kernel("any").max_threads_per_block(), DeviceLimits::threads_per_block);
    EXPECT_NO_THROW(program.launch("small", grid_of(128)));
    EXPECT_THAT(error_of([&] { program.launch("small", grid_of(129)); }).what(),
                HasSubstr("this kernel takes at most 128"));
}

TEST(LoadedModule, finds_kernels_by_name) {
    Program program(".version 8.5\n.target sm_90\n.address_size 64\n.visible .entry _Z1aPi(.param .u64 p) { "
                    "ret; }\n.entry c() { ret; }\n.func helper() { ret; }\n.entry later();\n");
    EXPECT_EQ(program.module.kernel("_Z1aPi").readable_name(), "a(int*)");
    EXPECT_EQ(program.module.kernel("c").readable_name(), "c") << "the mangled name of a type, char";
    EXPECT_EQ(&program.module.kernel("_Z1aPi"), &program.module.kernel("_Z1aPi"));
    for (const char* const name : {"b", "helper", "later", ""}) {
        const auto error = error_of([&] { program.module.kernel(name); });
        EXPECT_EQ(error.failure(), Failure::unknown_symbol) << name;
    }
    EXPECT_THAT(error_of([&] { program.module.kernel("_Z1bPf"); }).what(), HasSubstr("b(float*)"));
}

TEST(LoadedModule, decodes_a_kernel_only_when_it_is_asked_for) {
    Program program(
        ".version 8.5\n.target sm_90\n.address_size 64\n.visible .entry good() { ret; "
        "}\n.visible .entry bad() { wgmma.fence.sync.aligned; ret; }\n.visible .entry worse() { .surf "
        "x; ret; }\n");
    EXPECT_NO_THROW(program.module.kernel("good"));
    for (int i = 0; i < 2; ++i)
        for (const char* const name : {"bad", "worse"})
            EXPECT_EQ(error_of([&] { program.module.kernel(name); }).failure(), Failure::unsupported);
}

TEST(LoadedModule, what_is_not_supported_fails_where_it_is_used) {
    Program program(module_of("st.global.u32 [%rd60], 7;", R"(
        .global .texref picture;
        .global .u64 table[1] = {textured};
        .func textured() { tex.1d.v4.u32.s32 {%r1}, [picture, {%r1}]; .surf x; ret; }
        .func other();
        .func plain() { ret; }
        .alias other, plain;
        .entry by_call() { call textured; ret; }
        .entry by_name() { .reg .b64 %rd<2>; mov.u64 %rd1, picture; ret; }
        .entry by_alias() { call other; ret; }
        .entry odd() .novel 5 { ret; })"));
    auto* const out = program.allocate<uint32_t>(1);
    program.launch("k", grid_of(1), {out});
    EXPECT_EQ(*out, 7u);
    EXPECT_NO_THROW(program.launch("by_alias", grid_of(1)));
    struct {
        const char *kernel, *message;
    } const rows[] = {
        {"by_call", "'.surf' is not supported here, in textured"},
        {"by_name", "'picture': '.texref' is not a type that this emulator supports, in by_name"},
        {"odd", "'.novel' is not supported"}};
    for (const auto& [kernel, message] : rows)
        for (int time = 0; time < 2; ++time) {
            const auto error = error_of([&, kernel = kernel] { program.module.kernel(kernel); });
            EXPECT_EQ(error.failure(), Failure::unsupported) << kernel;
            EXPECT_THAT(error.what(), HasSubstr(message)) << kernel;
        }
}

TEST(LoadedModule, gives_its_memory_back) {
    emulator::GlobalMemory memory;
    std::uint64_t address = 0;
    {
        emulator::LoadedModule module(module_of("", ".global .u32 word = 5; .const .u8 byte = 1;"), memory,
                                      emulator::all_opcodes());
        address = module.variable("word")->address;
        EXPECT_EQ(module.addresses().at("word"), address);
        EXPECT_FALSE(module.variable("byte")->writable);
        EXPECT_NE(memory.find(address), nullptr);
    }
    EXPECT_EQ(memory.find(address), nullptr);
}

TEST(LoadedModule, shared_variables_belong_to_the_kernels_that_use_them) {
    Program program(module_of("st.shared.u32 [used], %r1;",
                              ".shared .b8 unused[4000]; .shared .align 8 .b8 used[12]; .shared .b8 "
                              "by_function[100];\n.func touch() { st.shared.u8 [by_function], 1; ret; }\n"
                              ".visible .entry other() { call touch; ret; }\n"));
    EXPECT_EQ(program.module.kernel("k").static_shared_bytes(), 12u);
    EXPECT_EQ(program.module.kernel("other").static_shared_bytes(), 100u);
}

TEST(LoadedModule, shared_variables_of_one_name_in_different_scopes_lie_apart) {
    EXPECT_EQ(run(R"(
        { .shared .u32 word; st.shared.u32 [word], 1; } { .shared .u32 word;
        st.shared.u32 [word], 2; } bar.sync 0; mov.u32 %r2, 0; ld.shared.u32 %r0, [%r2];
        ld.shared.u32 %r1, [%r2+4]; add.u32 %r0, %r0, %r1;)"),
              std::vector<uint32_t>(32, 3));
}

TEST(LoadedModule, refuses_more_static_shared_memory_than_there_is) {
    Program program(module_of(".shared .b8 tile[49153]; st.shared.u8 [tile], %r1;"));
    const auto error = error_of([&] { program.module.kernel("k"); });
    EXPECT_EQ(error.failure(), Failure::invalid_configuration);
    EXPECT_THAT(error.what(), HasSubstr("49153 bytes of static shared memory"));
}

TEST(LoadedModule, an_external_variable_that_nothing_defines_has_no_address) {
    // With its own copy, the program would read a different variable than it expects.
    Program program(module_of("ld.global.u32 %r1, [elsewhere];", ".extern .global .u32 elsewhere;"));
    EXPECT_EQ(program.module.variable("elsewhere"), nullptr);
    EXPECT_THAT(error_of([&] { program.module.kernel("k"); }).what(), HasSubstr("'elsewhere'"));
    // A definition counts, before or after the declaration.
    Program defined(module_of(
        R"(
        ld.global.u32 %r1, [x]; ld.global.u32 %r2, [y]; add.u32 %r1, %r1, %r2;
        st.global.u32 [%rd60], %r1;)",
        ".extern .global .u32 x; .visible .global .u32 x = 3; .visible .global .u32 y = 4; .extern .global "
        ".u32 y;"));
    auto* const out = defined.allocate<uint32_t>(1);
    defined.launch("k", grid_of(1), {out});
    EXPECT_EQ(*out, 7u);
}

TEST(LoadedModule, refuses_initial_values_that_it_cannot_give) {
    emulator::GlobalMemory memory;
    const auto error = error_of([&] {
        emulator::LoadedModule module(module_of("", ".global .u64 table[1] = {function};"), memory,
                                      emulator::all_opcodes());
    });
    EXPECT_EQ(error.failure(), Failure::unsupported);
    EXPECT_THAT(error.what(), HasSubstr("only addresses of this module's variables"));
}

// A barrier of the grid's own making: each block adds one to a counter, and waits until all have. The device
// holds 32 x 132 = 4,224 blocks of 32 threads.
constexpr const char* wait_for_all_blocks = R"(
        mov.u32 %r1, %nctaid.x; setp.ne.u32 %p1, %r60, 0; @%p1 bra DONE;
        red.release.gpu.global.add.u32 [%rd60], 1;
        WAIT: ld.acquire.gpu.u32 %r2, [%rd60]; setp.lt.u32 %p2, %r2, %r1; @%p2 bra WAIT;
        red.global.add.u32 [%rd61], 1;
        DONE: bar.sync 0;)";

TEST(Launch, all_blocks_that_the_device_holds_may_wait_for_each_other) {
    for (const unsigned int host_threads : {1u, 2u}) {
        Program program(module_of(wait_for_all_blocks));
        auto* const arrived = program.allocate<uint32_t>(1);
        auto* const passed = program.allocate<uint32_t>(1);
        program.launch("k", grid_of(32, 4224), {arrived, passed}, host_threads);
        EXPECT_EQ(*passed, 4224u);
    }
}

// Block k, of 0 to 14, spins for a turn of 10,000 instructions / (k + 1): about 33,000 in all.
TEST(Launch, waiting_for_all_blocks_costs_little) {
    Program program(
        module_of("setp.eq.u32 %p1, %r60, 0; @%p1 red.global.add.u32 [%rd60], 1;"
                  "LOOP: ld.volatile.global.u32 %r1, [%rd60]; setp.ne.u32 %p1, %r1, 16; @%p1 bra LOOP;"));
    const Counters counters = program.launch("k", grid_of(32, 16), {program.allocate<uint32_t>(1)});
    EXPECT_LT(counters[emulator::Metric::warp_instructions], 50'000u);
}

TEST(Launch, blocks_may_wait_for_each_other_in_any_order) {
    Program program(module_of(wait_for_all_blocks));
    auto* const arrived = program.allocate<uint32_t>(1);
    auto* const passed = program.allocate<uint32_t>(1);
    program.launch("k", grid_of(32, 200), {arrived, passed}, {.schedule = 3});
    EXPECT_EQ(*passed, 200u);
}

TEST(Launch, only_a_loop_that_looks_at_global_memory_anew_may_wait_for_other_blocks) {
    const auto may_wait = [](const char* body, const char* declarations = "") {
        Program program(module_of(body, declarations));
        return program.module.kernel("k").may_wait_for_other_blocks();
    };
    EXPECT_TRUE(may_wait("L: ld.volatile.global.u32 %r1, [%rd60]; setp.eq.u32 %p1, %r1, 0; @%p1 bra L;"));
    EXPECT_TRUE(may_wait("L: atom.global.cas.b32 %r1, [%rd60], 0, 1; setp.ne.u32 %p1, %r1, 0; @%p1 bra L;"));
    EXPECT_FALSE(may_wait("L: ld.global.u32 %r1, [%rd60]; setp.eq.u32 %p1, %r1, 0; @%p1 bra L;"));
    EXPECT_FALSE(may_wait("atom.global.inc.u32 %r1, [%rd60], 9; L: setp.ne.u32 %p1, %r1, 0; @!%p1 bra L;"));
    EXPECT_FALSE(may_wait("L: ld.volatile.shared.u32 %r1, [tile]; setp.ne.u32 %p1, %r1, 0; @!%p1 bra L;",
                          ".shared .b32 tile;"));
    EXPECT_TRUE(may_wait("call poll, (); bra L; L:", ".global .u32 flag; .func poll() { .reg .u32 %r<2>; "
                                                     "ld.volatile.global.u32 %r1, [flag]; ret; }"));
}

TEST(Launch, only_a_cooperative_one_has_a_workspace) {
    const char* const body = "mov.u32 %r1, %envreg2; mov.u32 %r2, %envreg1; mov.b64 %rd1, {%r1, %r2}; "
                             "setp.eq.u64 %p1, %rd1, 0; @%p1 bra L; ld.u32 %r3, [%rd1]; "
                             "ld.u32 %r4, [%rd1+4]; st.global.u32 [%rd60], %r3; L:";
    Program program(module_of(body));
    auto* const size = program.allocate<uint32_t>(1);
    LaunchConfiguration configuration = grid_of(1);
    program.launch("k", configuration, {size});
    EXPECT_EQ(*size, 0u);
    configuration.cooperative = true;
    program.launch("k", configuration, {size});
    EXPECT_EQ(*size, 8u); // that, and the barrier's word after it
}
