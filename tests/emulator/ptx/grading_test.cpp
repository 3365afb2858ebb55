#include "emulator/ptx/grading.hpp"

#include "../machine/ptx_fixture.hpp"
#include "emulator/ptx/parser.hpp"

#include <gmock/gmock.h>

#include <numeric>

using namespace emulator::ptx;
using emulator::Failure;
using namespace emulator::fixture;
using testing::ElementsAre, testing::Each, testing::HasSubstr, testing::IsEmpty, testing::Pair;

namespace {

auto uncounted_of(const std::string& body, const std::string& declarations = "") {
    return uncounted_traffic(*parse(module_of(body, declarations)), "k");
}

TEST(UncountedTraffic, is_found_by_its_instructions) {
    const std::pair<const char*, const char*> lines[] = {
        {"@%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1], %r2, [%r3];",
         "bulk copies"},
        {"cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r1], [%rd1], %r2, [%r3];",
         "bulk copies"},
        {"cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r1], %r2;", "bulk stores"},
        {"cp.reduce.async.bulk.global.shared::cta.bulk_group.add.s32 [%rd1], [%r1], %r2;", "bulk reductions"},
        {"cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r1], [%r2], %r2, [%r3];",
         "copies of shared memory"},
        {"mapa.u64 %rd1, %rd2, 0;", "distributed shared memory"},
        {"ld.shared::cluster.u32 %r1, [%r2];", "distributed shared memory"},
        {"st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r1], %r2, [%r3];",
         "distributed shared memory"},
        {"ld.local.v2.u32 {%r1, %r2}, [%rd1];", "local memory"},
        {"ld.const.u32 %r1, [%rd1];", "constant memory"},
    };
    for (const auto& [line, kind] : lines) {
        std::string instruction = line;
        if (instruction.starts_with("@")) instruction.erase(0, instruction.find(' ') + 1);
        instruction.resize(instruction.find(' '));
        EXPECT_THAT(uncounted_of(std::string("mov.u32 %r1, 0;\n") + line),
                    ElementsAre(Pair(kind, instruction)));
        EXPECT_THAT(uncounted_of(std::string("{ ") + line + " } /* on the same line */"),
                    ElementsAre(Pair(kind, instruction)));
        EXPECT_THAT(uncounted_traffic(*parse(module_of(line)), "another"), IsEmpty()) << "of another kernel";
    }
    for (const char* line :
         {"cp.async.cg.shared.global [%r1], [%rd1], 16;", "ld.shared.u32 %r1, [%r2];",
          "ld.global.nc.u32 %r1, [%rd1];", "st.local.u32 [%rd1], %r1;", "// mapa.u64 %rd1, %rd2, 0;"})
        EXPECT_THAT(uncounted_of(line), IsEmpty()) << line;
    EXPECT_THAT(uncounted_of("", ".func sum() { .reg .b32 %a; ld.local.u32 %a, [0]; }"),
                ElementsAre(Pair("local memory", "ld.local.u32")))
        << "in what a kernel may call";
    EXPECT_THAT(
        uncounted_of("mapa.u64 %rd1, %rd2, 0; ld.local.u32 %r1, [%rd1]; mapa.u32 %r1, %r2, 0;"),
        ElementsAre(Pair("distributed shared memory", "mapa.u64"), Pair("local memory", "ld.local.u32")))
        << "each kind once";
    // Blocks of a cluster reach each other's shared memory by arithmetic on addresses, too.
    std::string clustered = module_of("");
    clustered.insert(clustered.find('{', clustered.find(".entry")),
                     ".explicitcluster .reqnctapercluster 2, 1, 1 ");
    EXPECT_THAT(uncounted_traffic(*parse(clustered), "k"),
                ElementsAre(Pair("distributed shared memory", "clusters by __cluster_dims__")));
}

/// What 64 threads of two dimensions leave in global memory, each at its number: with_tagged_numbers of
/// `body`. %r0 is the thread's number, %r9 the address of its word in shared memory, %r10 that of its
/// neighbor's.
std::vector<std::int32_t> tagged(const std::string& body, std::uint64_t seed = 7) {
    const std::string start =
        "mov.u32 %r1, %tid.y; mov.u32 %r2, %ntid.x; mad.lo.u32 %r0, %r1, %r2, %r60;\n"
        "shl.b32 %r8, %r0, 2; mov.u32 %r9, tile; add.u32 %r9, %r9, %r8; xor.b32 %r10, %r9, 4;\n"
        "cvt.u64.u32 %rd1, %r8; add.u64 %rd1, %rd1, %rd60;\n";
    Program program(with_tagged_numbers(module_of(start + body, ".shared .align 256 .b32 tile[64];"), seed));
    auto* const out = program.allocate<std::int32_t>(64);
    emulator::LaunchConfiguration configuration = grid_of(16);
    configuration.block.y = 4;
    program.launch("k", configuration, {out});
    return {out, out + 64};
}

TEST(TaggedNumbers, come_back_from_shared_memory_alone) {
    std::vector<std::int32_t> neighbors(64);
    for (int i = 0; i < 64; ++i) neighbors[i] = i ^ 1;
    EXPECT_EQ(
        tagged("st.shared.u32 [%r9], %r0; bar.sync 0; ld.shared.u32 %r3, [%r10]; st.global.u32 [%rd1], %r3;"),
        neighbors);
    EXPECT_EQ(tagged("{ st.volatile.shared.s32 [%r9+0], %r0; } bar.sync 0; ld.shared.u32 %r3, [%r10]; "
                     "setp.eq.u32 %p1, %r0, %r0; @%p1 /* @ */ st.relaxed.gpu.global.b32 [%rd1], %r3;"),
              neighbors);
    EXPECT_THAT(tagged("xor.b32 %r3, %r0, 1; st.global.u32 [%rd1], %r3;"), Each(-1)) << "calculated";
    EXPECT_THAT(
        tagged("st.shared.u32 [%r9], 5; bar.sync 0; ld.shared.u32 %r3, [%r10]; st.global.u32 [%rd1], %r3;"),
        testing::Contains(-1).Times(63))
        << "thread 5 alone stores its number";
    EXPECT_NE(with_tagged_numbers(module_of("st.shared.u32 [%r9], %r0;"), 1),
              with_tagged_numbers(module_of("st.shared.u32 [%r9], %r0;"), 2));
}

TEST(TaggedNumbers, leave_the_rest_as_it_is) {
    const std::string text = module_of("st.local.u32 [%rd1], %r1; ld.shared.u32 %r1, [%r2]; // st.shared.u8");
    EXPECT_EQ(with_tagged_numbers(text, 1), text);
}

TEST(TaggedNumbers, need_stores_that_can_be_followed) {
    for (const std::string line :
         {"st.shared.v2.u32 [%r1], {%r2, %r3};", "st.u32 [%rd1], %r1;", "st.global.u8 [%rd1], %r1;",
          "atom.global.exch.b32 %r1, [%rd1], %r2;", "cp.async.ca.shared.global [%r1], [%rd1], 4;",
          "red.shared.add.u32 [%r1], %r2;", "st.shared.u64 [%r1], %rd1;"}) {
        const auto error = error_of([&] { with_tagged_numbers(module_of("mov.u32 %r1, 0; " + line), 1); });
        EXPECT_EQ(error.failure(), Failure::unsupported);
        EXPECT_THAT(error.what(), HasSubstr("cannot follow " + line.substr(0, line.find(' ')) + ": "));
    }
    EXPECT_STREQ(error_of([] {
                     with_tagged_numbers(module_of("@%p1 st.shared.v2.u32 [%r1], {%r2, %r3};"), 1);
                 }).what(),
                 "cannot follow st.shared.v2.u32: it is no plain store of an int");
}

} // namespace
