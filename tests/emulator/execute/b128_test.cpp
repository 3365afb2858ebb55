// Registers of 128 bits: mov, ld, st, atom; and atomics of several f32 at once.

#include "../machine/ptx_fixture.hpp"

#include <gtest/gtest.h>

#include <algorithm>

using namespace emulator::fixture;
using std::uint32_t, std::uint64_t;
using Pair = std::vector<uint64_t>;

namespace {

/// What `body` makes of four words at %rd60, of which it has declared .b128 a, b, d.
Pair run_on(Pair words, const std::string& body, uint32_t threads = 1) {
    Program program(module_of(".reg .b128 a, b, d;\n" + body));
    auto* const memory = program.allocate<uint64_t>(words.size());
    std::copy(words.begin(), words.end(), memory);
    program.launch("k", grid_of(threads), {memory});
    return {memory, memory + words.size()};
}

} // namespace

TEST(B128, moves_and_copies) {
    EXPECT_EQ(run_on({1, 2, 0, 0}, "ld.global.b128 a, [%rd60]; mov.b128 b, a; st.global.b128 [%rd60+16], b;"),
              (Pair{1, 2, 1, 2}));
    EXPECT_EQ(run_on({1, 2, 0, 0},
                     "ld.global.b128 a, [%rd60]; mov.b128 {%rd1, %rd2}, a; mov.b128 d, {%rd2, %rd1}; "
                     "st.global.b128 [%rd60+16], d;"),
              (Pair{1, 2, 2, 1}));
    EXPECT_EQ(
        run_on({1, 2}, "ld.global.b128 a, [%rd60]; mov.b128 {_, %rd2}, a; st.global.b64 [%rd60], %rd2;"),
        (Pair{2, 2}));
}

TEST(B128, keeps_lanes_apart) {
    // Each of 32 lanes copies its own 16 bytes; a guard excludes the odd ones.
    Pair words(64), expected;
    for (uint64_t i = 0; i < 64; ++i) words[i] = 100 + i;
    expected = words;
    for (uint64_t i = 0; i < 64; i += 4) std::swap(expected[i], expected[i + 1]);
    EXPECT_EQ(
        run_on(words,
               "mul.wide.u32 %rd3, %r60, 16; add.s64 %rd3, %rd60, %rd3; and.b32 %r1, %r60, 1; setp.eq.u32 "
               "%p1, %r1, 0; ld.global.b128 a, [%rd3]; mov.b128 {%rd1, %rd2}, a; @%p1 mov.b128 a, {%rd2, "
               "%rd1}; st.global.b128 [%rd3], a;",
               32),
        expected);
}

TEST(B128, exchanges_and_compares) {
    // Memory gets {5, 6}; {1, 2} is returned.
    EXPECT_EQ(run_on({1, 2, 0, 0}, "mov.b64 %rd1, 5; mov.b64 %rd2, 6; mov.b128 a, {%rd1, %rd2}; "
                                   "atom.global.exch.b128 d, [%rd60], a; st.global.b128 [%rd60+16], d;"),
              (Pair{5, 6, 1, 2}));
    // Only where both halves are the expected ones.
    const char* swap =
        "mov.b64 %rd1, 1; mov.b64 %rd3, 9; mov.b128 a, {%rd1, %rd2}; mov.b128 b, {%rd3, %rd3}; "
        "atom.acq_rel.gpu.global.cas.b128 d, [%rd60], a, b; st.global.b128 [%rd60+16], d;";
    EXPECT_EQ(run_on({1, 2, 0, 0}, std::string("mov.b64 %rd2, 2;") + swap), (Pair{9, 9, 1, 2}));
    EXPECT_EQ(run_on({1, 2, 0, 0}, std::string("mov.b64 %rd2, 3;") + swap), (Pair{1, 2, 1, 2}));
}

TEST(VectorAtomic, adds_to_each_element) {
    Program program(
        module_of("mov.f32 %r1, 0f3F800000; mov.f32 %r2, 0f40000000; "
                  "atom.global.add.v2.f32 {%r3, %r4}, [%rd60], {%r1, %r2}; "
                  "red.global.add.v4.f32 [%rd60+16], {%r1, %r1, %r2, %r2}; "
                  "mul.wide.u32 %rd1, %r60, 4; add.s64 %rd1, %rd61, %rd1; st.global.f32 [%rd1], %r4;"));
    auto* const sums = program.allocate<float>(8);
    auto* const old = program.allocate<float>(32);
    program.launch("k", grid_of(32), {sums, old});
    EXPECT_EQ(std::vector<float>(sums, sums + 8), (std::vector<float>{32, 64, 0, 0, 32, 32, 64, 64}));
    EXPECT_EQ(old[31] + old[0], 62.0f); // the first lane found 0, the last one 31 * 2
}
