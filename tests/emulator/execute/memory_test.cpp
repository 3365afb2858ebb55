// Loads and stores: state spaces, widths, vectors, extension. Faults are in machine/fault_test.cpp.

#include "../machine/ptx_fixture.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

using namespace emulator::fixture;
using std::uint16_t, std::uint32_t, std::uint64_t, std::uint8_t;

namespace {

Words counted(std::size_t count, uint32_t first = 0, uint32_t step = 1) {
    Words result(count);
    for (std::size_t i = 0; i < count; ++i) result[i] = first + step * static_cast<uint32_t>(i);
    return result;
}

/// Runs `body` with p0 pointing to `memory`, and returns its new contents.
std::vector<uint64_t> on_memory(std::string_view body, std::vector<uint64_t> memory, uint32_t threads = 1) {
    Program program(module_of(body));
    auto* const device = program.allocate<uint64_t>(memory.size());
    std::copy(memory.begin(), memory.end(), device);
    program.launch("k", grid_of(threads), {device});
    return {device, device + memory.size()};
}

} // namespace

TEST(Load, extends_to_the_register_as_the_type_says) {
    struct Row {
        const char* instructions;
        uint64_t expected; ///< in memory: 80 91 A2 B3 C4 D5 E6 F7
    };
    const Row rows[] = {{"ld.global.u8 %rd0, [%rd60];", 0x80},
                        {"ld.global.s8 %rd0, [%rd60];", 0xFFFF'FFFF'FFFF'FF80},
                        {"ld.global.b8 %rd0, [%rd60+1];", 0x91},
                        {"ld.global.u16 %rd0, [%rd60];", 0x9180},
                        {"ld.global.s16 %rd0, [%rd60];", 0xFFFF'FFFF'FFFF'9180},
                        {"ld.global.u32 %rd0, [%rd60];", 0xB3A2'9180},
                        {"ld.global.s32 %rd0, [%rd60];", 0xFFFF'FFFF'B3A2'9180},
                        {"ld.global.u64 %rd0, [%rd60];", 0xF7E6'D5C4'B3A2'9180},
                        {"ld.global.s64 %rd0, [%rd60];", 0xF7E6'D5C4'B3A2'9180},
                        {"ld.global.f64 %rd0, [%rd60];", 0xF7E6'D5C4'B3A2'9180},
                        {"ld.global.s8 %r0, [%rd60+7]; cvt.u64.u32 %rd0, %r0;", 0xFFFF'FFF7},
                        {"ld.global.u16 %r0, [%rd60+6]; cvt.u64.u32 %rd0, %r0;", 0xF7E6},
                        {"ld.global.s16 %r0, [%rd60+6]; cvt.u64.u32 %rd0, %r0;", 0xFFFF'F7E6},
                        {"ld.global.f32 %r0, [%rd60+4]; cvt.u64.u32 %rd0, %r0;", 0xF7E6'D5C4},
                        {"ld.global.s8 %rs0, [%rd60+7]; cvt.u64.u16 %rd0, %rs0;", 0xFFF7},
                        {"ld.global.u8 %rs0, [%rd60+7]; cvt.u64.u16 %rd0, %rs0;", 0xF7},
                        {"add.s64 %rd1, %rd60, 16; ld.global.u32 %rd0, [%rd1+-12];", 0xF7E6'D5C4},
                        {"ld.u32 %rd0, [%rd60];", 0xB3A2'9180},
                        {"ld.global.nc.L1::no_allocate.L2::128B.u32 %rd0, [%rd60];", 0xB3A2'9180},
                        {"ld.volatile.global.u32 %rd0, [%rd60];", 0xB3A2'9180},
                        {"ld.acquire.gpu.global.u32 %rd0, [%rd60];", 0xB3A2'9180},
                        {"ld.relaxed.sys.u32 %rd0, [%rd60];", 0xB3A2'9180},
                        {"ld.weak.global.cg.u32 %rd0, [%rd60];", 0xB3A2'9180},
                        {"ldu.global.u16 %rd0, [%rd60+2];", 0xB3A2}};
    for (const Row& row : rows)
        EXPECT_EQ(on_memory(std::string(row.instructions) + "st.global.u64 [%rd60+8], %rd0;",
                            {0xF7E6'D5C4'B3A2'9180, 0})[1],
                  row.expected)
            << row.instructions;
}

TEST(Store, writes_the_low_bytes_and_no_others) {
    struct Row {
        const char* instruction;
        uint64_t expected; ///< of 0xAAAAAAAAAAAAAAAA, after a store of the low bytes of 0x8899AABBCCDDEEFF
    };
    const Row rows[] = {{"st.global.u8 [%rd60], %rd1;", 0xAAAA'AAAA'AAAA'AAFF},
                        {"st.global.b8 [%rd60+3], %r1;", 0xAAAA'AAAA'FFAA'AAAA},
                        {"st.global.s8 [%rd60+7], %rs1;", 0xFFAA'AAAA'AAAA'AAAA},
                        {"st.global.u16 [%rd60+2], %rd1;", 0xAAAA'AAAA'EEFF'AAAA},
                        {"st.global.b16 [%rd60], %rs1;", 0xAAAA'AAAA'AAAA'EEFF},
                        {"st.global.u32 [%rd60+4], %rd1;", 0xCCDD'EEFF'AAAA'AAAA},
                        {"st.global.f32 [%rd60], %r1;", 0xAAAA'AAAA'CCDD'EEFF},
                        {"st.u64 [%rd60], %rd1;", 0x8899'AABB'CCDD'EEFF},
                        {"st.global.u32 [%rd60], -2;", 0xAAAA'AAAA'FFFF'FFFE},
                        {"st.global.u8 [%rd60+1], 0x17F;", 0xAAAA'AAAA'AAAA'7FAA},
                        {"st.global.f32 [%rd60], 0f3F800000;", 0xAAAA'AAAA'3F80'0000},
                        {"st.volatile.global.u32 [%rd60], 1;", 0xAAAA'AAAA'0000'0001},
                        {"st.release.sys.global.u32 [%rd60], 1;", 0xAAAA'AAAA'0000'0001},
                        {"st.global.wt.u32 [%rd60], 1;", 0xAAAA'AAAA'0000'0001}};
    for (const Row& row : rows)
        EXPECT_EQ(
            on_memory("mov.u64 %rd1, 0x8899AABBCCDDEEFF; cvt.u32.u64 %r1, %rd1; cvt.u16.u64 %rs1, %rd1;" +
                          std::string(row.instruction),
                      {~0ull / 3 * 2})[0],
            row.expected)
            << row.instruction;
}

TEST(Memory, whole_warps_and_parts_of_them_and_scattered_lanes_agree) {
    for (const auto& [type, bytes] :
         {std::pair("8", 1u), std::pair("16", 2u), std::pair("32", 4u), std::pair("64", 8u)}) {
        // Lane i's place: i, 31 - i, or 7 i modulo 32. Each lane copies its element from p0 to p1, and writes
        // 100 + i over it.
        struct Order {
            const char* place; ///< to %r1
            std::function<uint32_t(uint32_t)> of;
        };
        const Order orders[] = {
            {"mov.u32 %r1, %r60;", [](uint32_t i) { return i; }},
            {"sub.u32 %r1, 31, %r60;", [](uint32_t i) { return 31 - i; }},
            {"mul.lo.u32 %r1, %r60, 7; and.b32 %r1, %r1, 31;", [](uint32_t i) { return i * 7 % 32; }}};
        for (const Order& order : orders)
            for (const std::string guard : {"", "@%p1 "}) {
                const std::string size = std::to_string(bytes);
                Program program(module_of(R"(
        setp.lt.u32 %p1, %r60, 20; add.u32 %r3, %r60, 100; cvt.u64.u32 %rd4, %r3; )" +
                                          std::string(order.place) + R"(
        mul.wide.u32 %rd1, %r1, )" + size +
                                          R"(; add.s64 %rd2, %rd60, %rd1; add.s64 %rd3, %rd61, %rd1;
        )" + guard + "ld.global.u" + type +
                                          " %rd5, [%rd2]; " + guard + "st.global.u" + type + R"( [%rd3], %rd5;
        )" + guard + "st.global.b" + type +
                                          " [%rd2], %rd4;"));
                auto* const in = program.allocate<uint8_t>(32 * bytes);
                auto* const out = program.allocate<uint8_t>(32 * bytes);
                for (uint32_t i = 0; i < 32; ++i) in[i * bytes] = static_cast<uint8_t>(200 + i);
                program.launch("k", grid_of(32), {in, out});
                for (uint32_t lane = 0; lane < 32; ++lane) {
                    const uint32_t index = order.of(lane);
                    const bool active = guard.empty() || lane < 20;
                    EXPECT_EQ(out[index * bytes], active ? 200 + index : 0)
                        << type << order.place << guard << lane;
                    EXPECT_EQ(in[index * bytes], active ? 100 + lane : 200 + index)
                        << type << order.place << guard << lane;
                }
            }
    }
}

TEST(Vector, moves_two_or_four_elements) {
    struct Row {
        const char* instructions;
        std::vector<uint64_t> expected; ///< of the bytes 11 to 18, 21 to 28, and zeros
    };
    const uint64_t a = 0x1817'1615'1413'1211, b = 0x2827'2625'2423'2221;
    const Row rows[] = {
        {"ld.global.v2.u64 {%rd1, %rd2}, [%rd60]; st.global.v2.u64 [%rd60+16], {%rd2, %rd1};", {a, b, b, a}},
        {"ld.global.v2.u32 {%r1, %r2}, [%rd60+8]; st.global.v2.u32 [%rd60+16], {%r2, %r1};",
         {a, b, 0x2423'2221'2827'2625, 0}},
        {R"(
        ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%rd60];
        st.global.v4.u32 [%rd60+16], {%r4, %r3, %r2, %r1};)",
         {a, b, 0x2423'2221'2827'2625, 0x1413'1211'1817'1615}},
        {"ld.global.v4.f32 {_, %r2, _, %r4}, [%rd60]; st.global.v2.f32 [%rd60+16], {%r4, %r2};",
         {a, b, 0x1817'1615'2827'2625, 0}},
        {R"(
        ld.global.v4.u16 {%rs1, %rs2, %rs3, %rs4}, [%rd60];
        st.global.v4.u16 [%rd60+16], {%rs4, %rs3, %rs2, %rs1};)",
         {a, b, 0x1211'1413'1615'1817, 0}},
        {R"(
        ld.global.v4.u8 {%r1, %r2, %r3, %r4}, [%rd60+4];
        st.global.v4.b8 [%rd60+20], {%r4, %r3, %r2, %r1};)",
         {a, b, 0x1516'1718'0000'0000, 0}},
        {"ld.global.v2.s8 {%r1, %r2}, [%rd60]; st.global.v2.u8 [%rd60+16], {%r2, 7};", {a, b, 0x0712, 0}},
        {"ld.v2.f64 {%rd1, _}, [%rd60]; st.v2.f64 [%rd60+16], {%rd1, %rd1};", {a, b, a, a}},
        {"ld.global.v2.s16 {%rd1, %rd2}, [%rd60]; st.global.v2.u64 [%rd60+16], {%rd1, %rd2};",
         {a, b, 0x1211, 0x1413}}};
    for (const Row& row : rows)
        EXPECT_EQ(on_memory(row.instructions, {a, b, 0, 0}), row.expected) << row.instructions;
}

// An H200 kept the lowest lane: 5, 32 and 64 threads that stored their numbers to one word left 0, 0 and 32.
TEST(Store, of_lanes_to_one_place_keeps_the_lowest) {
    constexpr const char* stores[] = {
        "st.global.u32 [%rd60], %r60;", "st.volatile.global.u32 [%rd60], %r60;",
        "st.global.u8 [%rd60], %r60;", "st.global.v2.u64 [%rd60], {%rd1, %rd1};",
        "mov.b128 %q, {%rd1, %rd1}; st.b128 [%rd60], %q;",
        "st.shared.u32 [%r10], %r60; bar.sync 0; ld.shared.u32 %r5, [%r10]; st.global.u32 [%rd60], %r5;",
        // Two words, by turns: the lanes' addresses are not evenly spaced.
        "and.b32 %r2, %r60, 1; mul.wide.u32 %rd2, %r2, 4; add.u64 %rd2, %rd2, %rd60; "
        "shr.u32 %r3, %r60, 1; shl.b32 %r3, %r3, 1; st.global.u32 [%rd2], %r3;"};
    for (const char* store : stores) {
        const std::string body =
            std::string(".reg .b128 %q; .shared .b32 word; mov.u32 %r10, word; cvt.u64.u32 %rd1, %r60;") +
            store;
        for (const auto& [threads, kept] : {std::pair{5u, 0u}, {32u, 0u}, {64u, 32u}})
            EXPECT_EQ(on_memory(body, {0, 0}, threads)[0] & 0xFF, kept) << store;
        EXPECT_EQ(on_memory("setp.lt.u32 %p1, %r60, 4; @%p1 bra END;" + body + "END:", {0, 0}, 32)[0] & 0xFF,
                  4u)
            << store;
    }
    const auto vector =
        on_memory("cvt.u64.u32 %rd1, %r60; st.global.v2.u64 [%rd60], {%rd1, %rd1};", {7, 8}, 32);
    EXPECT_EQ(vector, (std::vector<std::uint64_t>{0, 0}));
}

TEST(Vector, that_is_more_than_weak_is_stored_and_loaded_at_once) {
    struct Row {
        const char *store, *load; ///< of %r1 and %rd1 in all elements; to %r2 to %r5
    };
    const Row rows[] = {
        {"st.relaxed.gpu.global.v4.u32 [%rd60], {%r1, %r1, %r1, %r1};",
         "ld.relaxed.gpu.global.v4.u32 {%r2, %r3, %r4, %r5}, [%rd60];"},
        {"st.volatile.v2.u32 [%rd60], {%r1, %r1};",
         "ld.volatile.v2.u32 {%r2, %r3}, [%rd60]; mov.u32 %r4, %r2; mov.u32 %r5, %r2;"},
        {"st.release.gpu.v2.u64 [%rd60], {%rd1, %rd1};",
         "ld.acquire.gpu.v2.u64 {%rd2, %rd3}, [%rd60]; cvt.u32.u64 %r2, %rd2; cvt.u32.u64 %r3, "
         "%rd3; mov.u32 %r4, %r2; mov.u32 %r5, %r2;"}};
    for (const auto& [store, load] : rows) {
        // Block 0 stores one number after the other, block 1 looks whether all elements are the same.
        Program program(module_of(std::string(R"(
            mov.u32 %r1, 0; mov.u32 %r6, 0; mov.u32 %r7, %ctaid.x; setp.ne.u32 %p1, %r7, 0;
        again:
            add.u32 %r1, %r1, 1; cvt.u64.u32 %rd1, %r1; @%p1 bra look;
            )") + store + R"(
            bra next;
        look:
            )" + load + R"(
            setp.ne.u32 %p2, %r2, %r3; @%p2 add.u32 %r6, %r6, 1;
            setp.ne.u32 %p2, %r4, %r5; @%p2 add.u32 %r6, %r6, 1;
            setp.ne.u32 %p2, %r2, %r4; @%p2 add.u32 %r6, %r6, 1;
        next:
            setp.lt.u32 %p3, %r1, 100000; @%p3 bra again;
            @%p1 st.global.u32 [%rd61], %r6;)"));
        auto* const vector = program.allocate<uint64_t>(2);
        auto* const halves_seen = program.allocate<uint32_t>(1);
        program.launch("k", grid_of(1, 2), {vector, halves_seen}, 2);
        EXPECT_EQ(*halves_seen, 0u) << store;
    }
}

TEST(SharedMemory, variables_of_module_function_and_launch_lie_apart) {
    // 5 bytes, then 16-byte aligned 32 bytes, then the kernel's own, then the dynamic part aligned to 16.
    Program program(module_of(R"(
        .shared .align 4 .b8 own[12];
        mov.u32 %r1, bytes; mov.u32 %r2, quads; mov.u32 %r3, own; mov.u32 %r4, dynamic;
        mov.u64 %rd1, dynamic;
        st.global.v4.u32 [%rd60], {%r1, %r2, %r3, %r4}; st.global.u64 [%rd60+16], %rd1;
        mov.u32 %r5, %total_smem_size; st.global.u32 [%rd60+24], %r5;)",
                              ".shared .b8 bytes[5]; .shared .align 16 .v4 .u32 quads[2]; .extern .shared "
                              ".align 16 .b8 dynamic[];"));
    auto* const out = program.allocate<uint32_t>(7);
    program.launch("k", grid_of(1, 1, 40), {out});
    const auto overlap = [&](uint32_t a, uint32_t a_bytes, uint32_t b, uint32_t b_bytes) {
        return a < b + b_bytes && b < a + a_bytes;
    };
    EXPECT_FALSE(overlap(out[0], 5, out[1], 32));
    EXPECT_FALSE(overlap(out[0], 5, out[2], 12));
    EXPECT_FALSE(overlap(out[1], 32, out[2], 12));
    EXPECT_EQ(out[1] % 16, 0u);
    EXPECT_EQ(out[2] % 4, 0u);
    EXPECT_EQ(out[3] % 16, 0u);
    EXPECT_EQ(out[3], program.module.kernel("k").static_shared_bytes());
    EXPECT_EQ(out[4], out[3]);
    EXPECT_EQ(out[6], 128u); // 64 and 40 bytes: it is given out in pieces of 128
}

TEST(SharedMemory, has_room_in_front_for_a_kernel_that_asks_where_cuda_s_own_is) {
    // 1,024 bytes, in which nothing of the kernel's lies; they count to no size. (An H200 has 128 for 48 and
    // 40 bytes.)
    Program program(module_of(R"(
        mov.u32 %r1, %reserved_smem_offset_1; mov.u32 %r2, bytes; mov.u32 %r3, dynamic;
        mov.u32 %r4, %total_smem_size; st.shared.u32 [%r1], %r2; st.shared.u32 [%r1+1020], %r3;
        st.global.v4.u32 [%rd60], {%r1, %r2, %r3, %r4};)",
                              ".shared .b8 bytes[5]; .extern .shared .align 16 .b8 dynamic[];"));
    auto* const out = program.allocate<uint32_t>(4);
    program.launch("k", grid_of(1, 1, 40), {out});
    EXPECT_EQ(Words(out, out + 4), (Words{0, 1024, 1040, 128}));
    EXPECT_EQ(program.module.kernel("k").static_shared_bytes(), 16u);
}

TEST(SharedMemory, threads_exchange_values_through_it) {
    const auto reversed = run(R"(
        shl.b32 %r2, %r60, 2; mov.u32 %r3, tile; add.u32 %r3, %r3, %r2; st.shared.u32 [%r3], %r60;
        bar.sync 0;
        sub.u32 %r4, 508, %r2; cvt.u64.u32 %rd1, %r4; mov.u64 %rd2, tile; add.u64 %rd1, %rd1, %rd2;
        ld.shared.u32 %r0, [%rd1];)",
                              128, {}, ".shared .u32 tile[128];");
    EXPECT_EQ(reversed, counted(128, 127, ~0u));
    // By name and offset, and by the window's shared::cta spelling.
    EXPECT_EQ(run(R"(
        st.shared.u32 [pair], 3; st.shared::cta.u32 [pair+4], 4; ld.shared.u32 %r1, [pair+4];
        ld.shared.u32 %r2, [pair]; sub.u32 %r0, %r1, %r2;)",
                  32, {}, ".shared .u32 pair[2];"),
              Words(32, 1));
}

TEST(SharedMemory, is_poisoned_before_each_block) {
    const auto first_seen = run("ld.shared.u32 %r0, [word]; bar.sync 0; st.shared.u32 [word], %r60;", 32, {},
                                ".shared .u32 word;", 3);
    EXPECT_EQ(first_seen, Words(96, 0xCDCD'CDCD));
}

TEST(LocalMemory, belongs_to_one_thread) {
    const auto results = run(R"(
        .local .align 8 .b8 mine[64]; .local .u32 other;
        mov.u64 %rd1, mine; shl.b32 %r2, %r60, 2; and.b32 %r2, %r2, 60; cvt.u64.u32 %rd2, %r2;
        add.u64 %rd1, %rd1, %rd2;
        st.local.u32 [other], 5; st.local.u32 [%rd1], %r60; bar.sync 0; ld.local.u32 %r3, [%rd1];
        ld.local.u32 %r4, [other]; add.u32 %r0, %r3, %r4;)",
                             100);
    EXPECT_EQ(results, counted(100, 5));
}

TEST(GenericAddress, reaches_every_space_in_one_instruction) {
    // A lane's pointer goes to shared, local or global memory, by lane % 3. Each stores its index, then loads
    // it back.
    const auto body = [](const std::string& guard) {
        return R"(
        .local .align 4 .b8 mine[256]; mov.u32 %r0, 1000;
        mov.u64 %rd1, tile; cvta.shared.u64 %rd1, %rd1; mov.u64 %rd2, mine;
        cvta.local.u64 %rd2, %rd2; cvta.global.u64 %rd3, %rd61;
        rem.u32 %r2, %r60, 3; setp.eq.u32 %p1, %r2, 0; setp.eq.u32 %p2, %r2, 1;
        selp.b64 %rd4, %rd2, %rd3, %p2; selp.b64 %rd4, %rd1, %rd4, %p1;
        mul.wide.u32 %rd5, %r60, 4; add.u64 %rd4, %rd4, %rd5; setp.lt.u32 %p3, %r60, 25;
)" + guard + "st.u32 [%rd4], %r60;\n" +
               guard + "ld.u32 %r0, [%rd4];\n" + guard + "atom.add.u32 %r3, [%rd4], 1;\n" + guard +
               "ld.u32 %r0, [%rd4];";
    };
    EXPECT_EQ(run(body(""), 32, {}, ".shared .u32 tile[32];"), counted(32, 1));
    auto partly = counted(32, 1);
    std::fill(partly.begin() + 25, partly.end(), 1000);
    EXPECT_EQ(run(body("@%p3 "), 32, {}, ".shared .u32 tile[32];"), partly);
}

TEST(GenericAddress, knows_its_space_and_goes_back_to_it) {
    struct Row {
        const char* address; ///< a generic one, to %rd1
        uint32_t spaces;     ///< bits: global, shared, local
    };
    for (const Row& row : {Row{"mov.u64 %rd1, %rd61;", 1},
                           {"mov.u64 %rd1, tile; cvta.shared.u64 %rd1, %rd1;", 2},
                           {"mov.u64 %rd1, mine; cvta.local.u64 %rd1, %rd1;", 4},
                           {"cvta.shared.u64 %rd1, tile;", 2},
                           {"cvta.global.u64 %rd1, variable;", 1}})
        EXPECT_EQ(run(".local .u32 mine; " + std::string(row.address) +
                          R"(
        isspacep.global %p1, %rd1; isspacep.shared %p2, %rd1; isspacep.local %p3, %rd1;
        isspacep.shared::cta %p4, %rd1;
        selp.b32 %r0, 1, 0, %p1; @%p2 add.u32 %r0, %r0, 2; @%p3 add.u32 %r0, %r0, 4;
        @%p4 xor.b32 %r0, %r0, 16; @%p2 xor.b32 %r0, %r0, 16;)",
                      32, {}, ".shared .u32 tile; .global .u32 variable;"),
                  Words(32, row.spaces))
            << row.address;
    EXPECT_EQ(run(R"(
        mov.u64 %rd1, tile; cvta.shared.u64 %rd2, %rd1; cvta.to.shared.u64 %rd3, %rd2;
        setp.eq.u64 %p1, %rd1, %rd3; selp.u32 %r0, 1, 0, %p1;)",
                  1, {}, ".shared .u32 gap; .shared .u32 tile;"),
              Words{1});
}

TEST(Parameters, of_every_type_are_read_where_the_abi_puts_them) {
    const std::string text = R"(
        .version 8.5
        .target sm_90
        .address_size 64
        .visible .entry k(.param .u8 a, .param .s16 b, .param .align 8 .b8 c[12], .param .f64 d, .param .u64 .ptr .global .align 4 out)
        {
        .reg .b32 %r<9>; .reg .b64 %rd<9>;
        ld.param.u64 %rd1, [out]; ld.param.s8 %r1, [a]; ld.param.s16 %r2, [b];
        ld.param.u32 %r3, [c+8]; ld.param.f64 %rd2, [d];
        ld.param.v2.u32 {%r4, %r5}, [c]; mov.b64 %rd3, c; ld.param.u8 %r6, [%rd3+1];
        cvta.param.u64 %rd4, %rd3; ld.u8 %r7, [%rd4+2];
        st.global.u32 [%rd1], %r1; st.global.u32 [%rd1+4], %r2; st.global.u32 [%rd1+8], %r3;
        st.global.v2.u32 [%rd1+16], {%r4, %r5};
        st.global.u64 [%rd1+24], %rd2; st.global.u32 [%rd1+32], %r6; st.global.u32 [%rd1+36], %r7;
        ret;
        }
)";
    Program program(text);
    auto* const out = program.allocate<uint32_t>(10);
    // a at 0, b at 2, c at 8, d at 24 (20 aligned to 8), out at 32
    struct {
        uint8_t a = 0xF0;
        uint16_t b = 0x8001;
        alignas(8) uint32_t c[3] = {0x4433'2211, 0x8877'6655, 0xCCBB'AA99};
        double d = 1.5;
        uint32_t* out;
    } parameters;
    parameters.out = out;
    const emulator::Kernel& kernel = program.module.kernel("k");
    ASSERT_EQ(kernel.parameters().size(), 5u);
    EXPECT_EQ(kernel.parameters()[3].offset, 24u);
    EXPECT_EQ(kernel.parameter_bytes(), 40u);
    emulator::run(kernel, grid_of(32), std::as_bytes(std::span(&parameters, 1)), program.memory,
                  {.host_threads = 1});
    EXPECT_EQ(Words(out, out + 10), (Words{0xFFFF'FFF0, 0xFFFF'8001, 0xCCBB'AA99, 0, 0x4433'2211, 0x8877'6655,
                                           0, 0x3FF8'0000, 0x22, 0x33}));
}

TEST(ModuleVariables, have_their_initial_values_and_keep_what_is_written) {
    const std::string declarations =
        ".global .align 4 .u32 numbers[4] = {1, 2, -3}; .const .align 8 .f64 pi = 0d400921FB54442D18;\n"
        ".const .u16 table[2][2] = {{1, 2}, {3, 4}}; .global .f32 floats[2] = {1.5, 0fC0000000}; .visible "
        ".global .b8 text[] = {104, 105, 0};\n"
        ".global .u64 pointers[2] = {numbers+4, generic(table)}; .global .u32 nothing;";
    Program program(module_of(R"(
        ld.global.u32 %r1, [numbers+4]; ld.global.s32 %r2, [numbers+8];
        ld.global.u32 %r3, [numbers+12]; ld.const.u64 %rd1, [pi];
        ld.const.u16 %r4, [table+6]; ld.global.f32 %r5, [floats]; ld.global.f32 %r6, [floats+4];
        ld.global.u8 %r7, [text+1];
        ld.global.u64 %rd2, [pointers]; ld.global.u32 %r8, [%rd2]; ld.global.u64 %rd3, [pointers+8];
        ld.u16 %r9, [%rd3+2]; ld.global.u32 %r10, [nothing];
        st.global.v4.u32 [%rd60], {%r1, %r2, %r3, %r4};
        st.global.v4.u32 [%rd60+16], {%r5, %r6, %r7, %r8}; st.global.v2.u32 [%rd60+32], {%r9, %r10};
        st.global.u64 [%rd60+40], %rd1; add.u32 %r10, %r10, 5; st.global.u32 [nothing], %r10;
        st.global.u32 [numbers+4], %r10;)",
                              declarations));
    auto* const out = program.allocate<uint32_t>(12);
    program.launch("k", grid_of(1), {out});
    EXPECT_EQ(Words(out, out + 12),
              (Words{2, ~2u, 0, 4, 0x3FC0'0000, 0xC000'0000, 105, 2, 2, 0, 0x5444'2D18, 0x4009'21FB}));
    program.launch("k", grid_of(1), {out});
    EXPECT_EQ(out[9], 5u);
    EXPECT_EQ(out[0], 5u);
    EXPECT_EQ(program.module.variable("text")->bytes, 3u);
    EXPECT_EQ(program.module.variable("no_such_variable"), nullptr);
}

TEST(Memory, lanes_may_go_in_even_steps_in_parts_only) {
    // Lane 0 to 7, 1 to 8, 2 to 9 and 3 to 10; lane 0 to 15 and 1 to 16. In global and in shared memory.
    for (const uint32_t part : {8u, 16u}) {
        Words expected(32);
        for (uint32_t lane = 0; lane < 32; ++lane) expected[lane] = 1001 * (lane % part + lane / part);
        const std::string size = std::to_string(part);
        EXPECT_EQ(run(R"(
            mul.wide.u32 %rd1, %r60, 4; add.u64 %rd1, %rd61, %rd1; st.global.u32 [%rd1], %r60;
            mov.u32 %r2, tile; mad.lo.u32 %r3, %r60, 4, %r2; st.shared.u32 [%r3], %r60; bar.sync 0;
            rem.u32 %r4, %r60, )" +
                          size + "; div.u32 %r5, %r60, " + size + R"(; add.u32 %r4, %r4, %r5;
            mul.wide.u32 %rd1, %r4, 4; add.u64 %rd1, %rd61, %rd1; ld.global.u32 %r6, [%rd1];
            mad.lo.u32 %r3, %r4, 4, %r2; ld.shared.u32 %r7, [%r3]; mad.lo.u32 %r0, %r6, 1000, %r7;)",
                      32, {}, ".shared .u32 tile[32];"),
                  expected)
            << part;
    }
}

// `tile` holds 100 + i in word i, and %r3 begins at lane i's word i. The sum of two loads, the second of which
// must see what has become of %r3, or of the lanes.
TEST(Memory, a_remembered_address_is_that_of_the_register_now) {
    struct Case {
        const char* body; ///< to %r0
        uint32_t (*expected)(uint32_t lane);
    };
    const Case cases[] = {
        {"ld.shared.u32 %r4, [%r3]; ld.shared.u32 %r5, [%r3+8]; add.u32 %r0, %r4, %r5;",
         [](uint32_t i) { return 2 * 100 + 2 * i + 2; }},
        {"ld.shared.u32 %r4, [%r3]; add.u32 %r3, %r3, %r8; ld.shared.u32 %r5, [%r3]; add.u32 %r0, %r4, %r5;",
         [](uint32_t i) { return 2 * 100 + 3 * i; }},
        // The first load is skipped in the second turn, by its guard and by the branch.
        {"setp.lt.u32 %p1, %r60, 32; L: @%p1 ld.shared.u32 %r4, [%r3]; ld.shared.u32 %r5, [%r3+4];"
         "add.u32 %r0, %r4, %r5; add.u32 %r3, %r3, %r8; mov.pred %p3, %p1;"
         "setp.gt.u32 %p1, %r60, 99; @%p3 bra L;",
         [](uint32_t i) { return 2 * 100 + 3 * i + 1; }},
        {"setp.lt.u32 %p1, %r60, 32; ld.shared.u32 %r4, [%r3]; L: ld.shared.u32 %r5, [%r3+4];"
         "add.u32 %r0, %r4, %r5; add.u32 %r3, %r3, %r8; mov.pred %p3, %p1; setp.gt.u32 %p1, %r60, 99; @%p3 "
         "bra L;",
         [](uint32_t i) { return 2 * 100 + 3 * i + 1; }},
        // Only some of the lanes that the first load looked at.
        {"setp.gt.u32 %p1, %r60, 7; ld.shared.u32 %r4, [%r3]; mov.u32 %r5, 0; "
         "@%p1 ld.shared.u32 %r5, [%r3+4]; add.u32 %r0, %r4, %r5;",
         [](uint32_t i) { return i > 7 ? 201 + 2 * i : 100 + i; }},
        // A function remembers its own addresses in the same place.
        {"ld.shared.u32 %r4, [%r3]; call f; ld.shared.u32 %r5, [%r3+8]; add.u32 %r0, %r4, %r5;",
         [](uint32_t i) { return 202 + 2 * i; }},
    };
    for (const Case& one : cases)
        EXPECT_EQ(run(R"(
            mov.u32 %r2, tile; mul.lo.u32 %r8, %r60, 4; add.u32 %r3, %r8, %r2; mov.u32 %r6, %r3;
            mov.u32 %r7, 0; FILL: add.u32 %r9, %r60, 100; add.u32 %r9, %r9, %r7; st.shared.u32 [%r6], %r9;
            add.u32 %r6, %r6, 128; add.u32 %r7, %r7, 32; setp.lt.u32 %p9, %r7, 256; @%p9 bra FILL; bar.sync 0;)" +
                          std::string(one.body),
                      32, {}, R"(.shared .u32 tile[256];
            .func f() { .reg .u32 %x<4>; mov.u32 %x1, tile; ld.shared.u32 %x2, [%x1]; ld.shared.u32 %x3, [%x1+4]; ret; }
            )"),
                  lanes(one.expected))
            << one.body;
}

// Lane i is at i * (2^60 + 4) bytes from the start: lane 16 is at 64 bytes, modulo 2^64, and only the lanes
// between the first and the last are outside.
TEST(Memory, even_steps_around_all_addresses_leave_it) {
    for (const std::string access : {"ld.global.u32 %r0, [%rd1];", "st.global.u32 [%rd1], %r1;",
                                     "atom.global.add.u32 %r0, [%rd1], 1;"}) {
        const auto error = emulator::fixture::error_of([&] {
            run("cvt.u64.u32 %rd1, %r60; shl.b64 %rd1, %rd1, 60; add.u64 %rd1, %rd1, %rd60;" + access, 17);
        });
        EXPECT_EQ(error.failure(), emulator::Failure::illegal_address) << access;
        EXPECT_THAT(error.what(), testing::HasSubstr("thread (1,0,0)")) << access;
    }
}

TEST(Memory, fences_and_prefetches_change_nothing) {
    EXPECT_EQ(run(R"(
        membar.gl; membar.cta; membar.sys; fence.acq_rel.gpu; fence.sc.sys;
        prefetch.global.L2 [%rd61]; prefetchu.L1 [%rd61]; mov.u32 %r0, 9;)"),
              Words(32, 9));
}
