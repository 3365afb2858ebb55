// Races: what is one, what is not, and what the finding reports.

#include "../machine/ptx_fixture.hpp"

#include "emulator/check/block_deduplication.hpp"
#include "emulator/check/race/race_checker.hpp"

#include <gmock/gmock.h>

#include <algorithm>

using namespace emulator::fixture;
using emulator::BlockDeduplication, emulator::Finding, emulator::Findings, emulator::RaceChecker,
    emulator::RaceOptions, emulator::Watcher;
using std::uint32_t;
using testing::HasSubstr, testing::IsEmpty, testing::Not, testing::SizeIs;

namespace {

using Kinds = std::vector<std::string>;

constexpr const char* heap = R"(
    .extern .func (.param .b64 r) malloc(.param .b64 bytes);
    .extern .func free(.param .b64 pointer);)";

struct Setting {
    uint32_t threads = 64, blocks = 1;
    RaceOptions options{};
    std::optional<std::uint64_t> schedule{};
};

/// What there is to find in `body`, in 64 threads of one block unless `setting` says otherwise. In it:
///   %r10, %r11, %r12  the words of this thread, the next one and the first one in shared memory
///   %rd1, %rd2        the words of this thread, counted in its block and in the grid, in global memory
///   %p9, %p8, %p7     thread 0; warp 0; lanes 0 to 15
///   %r13              the word of the thread whose index differs by 16
std::vector<Finding> find_races(const std::string& body, const Setting& setting, bool blocks_repeat) {
    Program program(module_of(R"(
        mov.u32 %r12, tile; mad.lo.u32 %r10, %r60, 4, %r12; mov.u32 %r1, %ntid.x; add.u32 %r2, %r60, 1;
        rem.u32 %r2, %r2, %r1; mad.lo.u32 %r11, %r2, 4, %r12; xor.b32 %r13, %r60, 16;
        mad.lo.u32 %r13, %r13, 4, %r12; setp.eq.u32 %p9, %r60, 0; setp.lt.u32 %p8, %r60, 32;
        and.b32 %r3, %r60, 31; setp.lt.u32 %p7, %r3, 16; mul.wide.u32 %rd1, %r60, 4;
        add.u64 %rd1, %rd60, %rd1; mul.wide.u32 %rd2, %r62, 4; add.u64 %rd2, %rd60, %rd2;
        shr.u32 %r4, %r60, 5;)" + body,
                              ".shared .align 16 .b8 tile[4096];" + std::string(heap)));
    Findings findings;
    RaceChecker checker(findings, setting.options);
    BlockDeduplication repeated;
    repeated.add(checker);
    Watcher* const watchers[] = {blocks_repeat ? static_cast<Watcher*>(&repeated) : &checker};
    program.launch(
        "k", grid_of(setting.threads, setting.blocks),
        {program.allocate<uint32_t>(std::size_t{setting.threads} * setting.blocks + 64, "cudaMalloc #1"),
         program.allocate<uint32_t>(64, "cudaMalloc #2")},
        {.host_threads = 1, .watchers = watchers, .schedule = setting.schedule});
    return findings.list();
}

/// … and nothing else when blocks that repeat what another one has done are left out.
std::vector<Finding> races(const std::string& body, const Setting& setting = {}) {
    if (setting.options.global) return find_races(body, setting, false); // between blocks: never left out
    Setting three_blocks = setting;
    three_blocks.blocks = std::max(setting.blocks, 3u);
    const auto found = find_races(body, three_blocks, false), again = find_races(body, three_blocks, true);
    EXPECT_EQ(again.size(), found.size());
    for (std::size_t k = 0; k < std::min(found.size(), again.size()); ++k) {
        EXPECT_EQ(again[k].message, found[k].message);
        EXPECT_EQ(again[k].count, found[k].count) << found[k].message;
    }
    return find_races(body, setting, false);
}

Kinds kinds(const std::string& body, const Setting& setting = {}) {
    Kinds result;
    for (const Finding& finding : races(body, setting)) result.push_back(finding.kind);
    return result;
}

const Kinds none;
const Setting one_warp{.threads = 32};
const Setting grid{.blocks = 4, .options = {.global = true}};

} // namespace

// ---- barriers of a block ----

TEST(Race, is_between_warps_without_a_barrier) {
    EXPECT_EQ(kinds("@%p8 st.shared.u32 [%r10], %r60; @!%p8 ld.shared.u32 %r5, [%r10+-128];"),
              Kinds{"read after write"});
    EXPECT_EQ(kinds("@%p8 ld.shared.u32 %r5, [%r10]; @!%p8 st.shared.u32 [%r10+-128], %r60;"),
              Kinds{"write after read"});
    EXPECT_EQ(kinds("@%p8 st.shared.u32 [%r10], %r60; @!%p8 st.shared.u32 [%r10+-128], %r60;"),
              Kinds{"write after write"});
    EXPECT_EQ(kinds("ld.shared.u32 %r5, [%r12]; ld.shared.u32 %r5, [%r11];"), none);
}

TEST(Race, is_not_across_a_barrier_of_the_block) {
    for (const std::string barrier :
         {"bar.sync 0;", "barrier.sync 3;", "bar.sync 1, 64;", "bar.red.popc.u32 %r6, 0, %p7;"})
        EXPECT_EQ(kinds("st.shared.u32 [%r10], %r60;" + barrier + "ld.shared.u32 %r5, [%r11];" + barrier +
                        "st.shared.u32 [%r10], %r5;"),
                  none)
            << barrier;
    // The second barrier is missing. It shows where thread 32 writes what thread 31 has read.
    EXPECT_EQ(kinds("st.shared.u32 [%r10], %r60; bar.sync 0; ld.shared.u32 %r5, [%r11]; st.shared.u32 "
                    "[%r10], %r5;",
                    {.threads = 96}),
              Kinds{"write after read"});
}

TEST(Race, one_missing_barrier_is_one_finding) {
    // Thread 32 writes what thread 31 has read, and thread 63 reads what thread 0 has written.
    const auto findings = races("st.shared.u32 [%r10], %r60; bar.warp.sync -1; ld.shared.u32 %r5, [%r11];");
    ASSERT_THAT(findings, SizeIs(1));
    EXPECT_EQ(findings[0].count, 2u);
}

TEST(Race, is_over_when_the_block_has_ended) {
    EXPECT_EQ(kinds("@%p8 st.shared.u32 [%r10], %r60;", {.blocks = 20}), none);
    EXPECT_EQ(kinds("ld.shared.u32 %r5, [%r10]; bar.sync 0; st.shared.u32 [%r10], %r60;", {.blocks = 20}),
              none);
}

TEST(Race, every_thread_counts_not_only_the_last_to_read) {
    // Three warps read a word; each of them in turn writes it.
    for (const char* const warp : {"0", "1", "2"})
        EXPECT_EQ(kinds("ld.shared.u32 %r5, [%r12]; bar.warp.sync -1; setp.eq.u32 %p1, %r4, " +
                            std::string(warp) +
                            "; setp.eq.u32 %p2, %r3, 0; and.pred %p1, %p1, %p2; nanosleep.u32 1; @%p1 "
                            "st.shared.u32 [%r12], %r60;",
                        {.threads = 96}),
                  Kinds{"write after read"})
            << warp;
}

// ---- the heap of device code ----

// 20 bytes, and so two of the heap's pieces of 16.
TEST(Race, is_not_between_the_owners_of_a_piece_of_the_heap) {
    const std::string allocate = "{ .param .b64 a; .param .b64 r; st.param.b64 [a], 20; "
                                 "call.uni (r), malloc, (a); ld.param.b64 %rd5, [r]; }\n",
                      free = "{ .param .b64 a; st.param.b64 [a], %rd5; call.uni free, (a); }\n";
    EXPECT_EQ(kinds(allocate +
                        "st.u32 [%rd5], %r62; ld.u32 %r5, [%rd5]; st.u8 [%rd5+16], %r62; "
                        "atom.cta.add.u32 %r5, [%rd5+4], 1; st.u32 [%rd5+8], 0;" +
                        free,
                    grid),
              none);
    // Thread 0 allocates and frees for its block.
    const std::string use = "@%p6 st.u32 [%rd5+4], 1;", free_it = "@!%p9 bra e; " + free + "e:";
    const auto shared = [&](const std::string& body) {
        return races("@!%p9 bra l; " + allocate + "st.shared.u64 [tile], %rd5; l: bar.sync 0; " +
                         "ld.shared.u64 %rd5, [tile]; setp.eq.u32 %p6, %r60, 5;" + body,
                     grid);
    };
    EXPECT_THAT(shared(use + "bar.sync 0;" + free_it), IsEmpty());
    const auto late = shared(use + free_it), early = shared(free_it + use);
    ASSERT_THAT(late, SizeIs(1));
    EXPECT_THAT(late[0].message, HasSubstr("thread (0,0,0) frees 16 bytes of global memory at 0x"));
    EXPECT_THAT(late[0].cause, HasSubstr("frees memory that another one uses"));
    ASSERT_THAT(early, SizeIs(1));
    EXPECT_THAT(early[0].message, HasSubstr("thread (0,0,0) of the same warp has freed: nothing orders"));
    EXPECT_THAT(shared(use + "bar.sync 0;" + free_it + use), SizeIs(1)) << "of a value that is there already";
}

// ---- within a warp ----

TEST(Race, every_lane_counts_not_only_the_last_to_read) {
    EXPECT_EQ(
        kinds("setp.eq.u32 %p1, %r60, 1; @%p9 ld.shared.u32 %r5, [%r12]; @%p1 ld.shared.u32 %r5, [%r12]; "
              "@%p1 st.shared.u32 [%r12], %r60;",
              one_warp),
        Kinds{"write after read"});
}

TEST(Race, readers_of_one_warp_leave_room_for_those_of_another) {
    // Lanes 0 and 1 read, with a barrier of others between them; then warp 1; then lane 0 writes.
    EXPECT_EQ(kinds("setp.eq.u32 %p1, %r60, 1; setp.eq.u32 %p2, %r60, 2; setp.eq.u32 %p3, %r60, 32;"
                    "@%p9 ld.shared.u32 %r5, [%r12]; @%p2 bar.warp.sync 4;"
                    "@%p1 ld.shared.u32 %r5, [%r12]; @%p3 ld.shared.u32 %r5, [%r12]; nanosleep.u32 1;"
                    "bar.warp.sync -1; @%p9 st.shared.u32 [%r12], %r60;"),
              Kinds{"write after read"});
}

TEST(Race, is_between_lanes_without_a_warp_barrier) {
    EXPECT_EQ(kinds("st.shared.u32 [%r10], %r60; ld.shared.u32 %r5, [%r11];", one_warp),
              Kinds{"read after write"});
    EXPECT_EQ(kinds("st.shared.u32 [%r10], %r60; bar.warp.sync -1; ld.shared.u32 %r5, [%r11];", one_warp),
              none);
    EXPECT_EQ(kinds("ld.shared.u32 %r5, [%r11]; st.shared.u32 [%r10], %r60;", one_warp),
              Kinds{"write after read"});
    EXPECT_EQ(kinds("ld.shared.u32 %r5, [%r11]; bar.warp.sync -1; st.shared.u32 [%r10], %r60;", one_warp),
              none);
    EXPECT_EQ(kinds("@%p9 st.shared.u32 [%r12], %r60; ld.shared.u32 %r5, [%r12];", one_warp),
              Kinds{"read after write"});
    EXPECT_EQ(kinds("ld.shared.u32 %r5, [%r12]; @%p9 st.shared.u32 [%r12], %r60;", one_warp),
              Kinds{"write after read"});
}

TEST(Race, a_thread_is_in_order_with_itself) {
    EXPECT_EQ(kinds("st.shared.u32 [%r10], %r60; ld.shared.u32 %r5, [%r10]; st.shared.u32 [%r10], %r5; @%p9 "
                    "ld.shared.u32 %r5, [%r12]; @%p9 st.shared.u32 [%r12], %r60;"),
              none);
}

TEST(Race, shuffles_and_votes_order_nothing) {
    for (const std::string exchange :
         {"shfl.sync.bfly.b32 %r6, %r60, 1, 31, -1;", "vote.sync.any.pred %p1, %p9, -1;",
          "redux.sync.add.s32 %r6, %r60, -1;", "match.any.sync.b32 %r6, %r60, -1;"})
        EXPECT_EQ(kinds("st.shared.u32 [%r10], %r60;" + exchange + "ld.shared.u32 %r5, [%r11];", one_warp),
                  Kinds{"read after write"})
            << exchange;
}

TEST(Race, a_warp_barrier_orders_the_lanes_that_it_names) {
    const std::string halves = "selp.b32 %r6, 0xffff, 0xffff0000, %p7; bar.warp.sync %r6;";
    // The neighbor is in the same half, the lane at distance 16 is not.
    EXPECT_EQ(kinds("xor.b32 %r5, %r60, 1; mad.lo.u32 %r5, %r5, 4, %r12; st.shared.u32 [%r10], %r60;" +
                        halves + "ld.shared.u32 %r5, [%r5];",
                    one_warp),
              none);
    EXPECT_EQ(kinds("st.shared.u32 [%r10], %r60;" + halves + "ld.shared.u32 %r5, [%r13];", one_warp),
              Kinds{"read after write"});
    EXPECT_EQ(kinds("st.shared.u32 [%r10], %r60;" + halves + "bar.warp.sync -1; ld.shared.u32 %r5, [%r13];",
                    one_warp),
              none);
    // It does not order what follows it.
    EXPECT_EQ(kinds("setp.lt.u32 %p1, %r60, 2; setp.eq.u32 %p2, %r60, 1; @%p1 bar.warp.sync 3;"
                    "@%p9 st.shared.u32 [%r12], %r60; @%p2 ld.shared.u32 %r5, [%r12];",
                    one_warp),
              Kinds{"read after write"});
    // Not those that it does not name, though they have run already.
    EXPECT_EQ(
        kinds("@!%p7 st.shared.u32 [%r10], %r60; @%p7 bar.warp.sync 0xffff; @%p7 ld.shared.u32 %r5, [%r13];",
              one_warp),
        Kinds{"read after write"});
}

TEST(Race, what_orders_two_lanes_with_a_third_orders_the_two) {
    // Lane 0 writes, meets lane 1, lane 1 meets lane 2, and lane 2 reads.
    const std::string meeting =
        "setp.eq.u32 %p1, %r60, 1; setp.eq.u32 %p2, %r60, 2; or.pred %p3, %p9, %p1; or.pred %p4, %p1, %p2;"
        "@%p9 st.shared.u32 [%r12], %r60; @%p3 bar.warp.sync 3;";
    EXPECT_EQ(kinds(meeting + "@%p4 bar.warp.sync 6; @%p2 ld.shared.u32 %r5, [%r12];", one_warp), none);
    EXPECT_EQ(kinds(meeting + "@%p2 ld.shared.u32 %r5, [%r12];", one_warp), Kinds{"read after write"});
    EXPECT_EQ(
        kinds("setp.eq.u32 %p1, %r60, 1; setp.eq.u32 %p2, %r60, 2; or.pred %p3, %p9, %p1; or.pred %p4, "
              "%p1, %p2; @%p9 st.shared.u32 [%r12], %r60; @%p4 bar.warp.sync 6; @%p3 bar.warp.sync 3; @%p2 "
              "ld.shared.u32 %r5, [%r12];",
              one_warp),
        Kinds{"read after write"});
}

TEST(Race, lanes_that_have_parted_are_ordered_by_the_barrier_where_they_meet) {
    const std::string parted =
        "@%p7 bra LOW; st.shared.u32 [%r10], %r60; bra MEET; LOW: st.shared.u32 [%r10], 7; "
        "MEET:";
    EXPECT_EQ(kinds(parted + "bar.warp.sync -1; ld.shared.u32 %r5, [%r13];", one_warp), none);
    EXPECT_EQ(kinds(parted + "ld.shared.u32 %r5, [%r13];", one_warp),
              (Kinds{"read after write", "read after write"}));
    // At different barriers of the same mask.
    EXPECT_EQ(
        kinds("@%p7 bra LOW; st.shared.u32 [%r10], %r60; bar.warp.sync -1; bra MEET; LOW: st.shared.u32 "
              "[%r10], 7; bar.warp.sync -1; MEET: ld.shared.u32 %r5, [%r13];",
              one_warp),
        none);
}

// ---- stores at once ----

TEST(Race, lanes_that_store_at_once_may_store_the_same) {
    EXPECT_EQ(kinds("st.shared.u32 [%r12], 7;"), none);
    EXPECT_EQ(kinds("st.shared.v2.u32 [%r12], {7, 8};"), none);
    EXPECT_EQ(kinds("st.shared.u32 [%r12], %r3;", one_warp), Kinds{"write after write"});
    EXPECT_EQ(kinds("st.shared.v2.u32 [%r12], {7, %r3};", one_warp), Kinds{"write after write"});
    // The values differ in bytes that are not stored.
    EXPECT_EQ(kinds("shl.b32 %r5, %r60, 8; st.shared.u8 [%r12], %r5;", one_warp), none);
    EXPECT_EQ(kinds("cvt.u64.u32 %rd5, %r60; shl.b64 %rd5, %rd5, 32; st.shared.u32 [%r12], %rd5;", one_warp),
              none);
    EXPECT_EQ(kinds("cvt.u64.u32 %rd5, %r60; st.shared.u64 [%r12], %rd5;", one_warp),
              Kinds{"write after write"});
}

TEST(Race, storing_what_is_there_already_is_none) {
    // Warp 1 stores what warp 0 has stored; then something else.
    EXPECT_EQ(kinds("st.shared.u32 [%r12], 7; bar.warp.sync -1; st.shared.u32 [%r12], 7;"), none);
    EXPECT_EQ(kinds("selp.b32 %r5, 7, 8, %p8; st.shared.u32 [%r12], %r5;"), Kinds{"write after write"});
    EXPECT_EQ(kinds("@%p8 st.shared.u32 [%r12], 7; @!%p8 ld.shared.u32 %r5, [%r12];"),
              Kinds{"read after write"});
}

TEST(Race, different_values_at_once_are_told_so) {
    const auto findings =
        races("setp.eq.u32 %p1, %r60, 3; setp.eq.u32 %p2, %r60, 5; or.pred %p1, %p1, %p2; @%p1 "
              "st.shared.u32 [%r12], %r60;");
    ASSERT_THAT(findings, SizeIs(1));
    EXPECT_EQ(findings[0].message,
              "threads (3,0,0) and (5,0,0) write different values to the same 4 bytes of "
              "shared memory at 0x0 at once");
    EXPECT_THAT(findings[0].cause, HasSubstr("same index"));
}

// ---- sizes ----

TEST(Race, is_told_to_the_byte) {
    const std::string byte = "add.u32 %r5, %r12, %r60;";
    EXPECT_EQ(kinds(byte + "st.shared.u8 [%r5], %r60; ld.shared.u8 %r6, [%r5];"), none);
    EXPECT_EQ(kinds(byte + "st.shared.u8 [%r5], %r60; bar.warp.sync -1; ld.shared.u8 %r6, [%r5+1];"),
              Kinds{"write after read"});
    EXPECT_EQ(kinds("mad.lo.u32 %r5, %r60, 2, %r12; st.shared.u16 [%r5], %r60; ld.shared.u16 %r6, [%r5];"),
              none);
    // Records words before any byte access.
    EXPECT_EQ(kinds("@%p8 st.shared.u32 [%r10], %r60; @!%p8 ld.shared.u8 %r5, [%r10+-125];"),
              Kinds{"read after write"});
    EXPECT_EQ(kinds(byte + "@%p8 st.shared.u8 [%r5+1], %r60; @!%p8 ld.shared.u32 %r5, [%r10+-128];"),
              Kinds{"read after write"});
}

TEST(Race, of_vectors_concerns_all_their_words) {
    const std::string four = "mad.lo.u32 %r5, %r60, 16, %r12;";
    EXPECT_EQ(kinds(four +
                    "st.shared.v4.u32 [%r5], {1, 2, 3, %r60}; ld.shared.v4.u32 {%r6, %r7, %r8, %r9}, [%r5];"),
              none);
    EXPECT_EQ(
        kinds(four + "@%p8 st.shared.v4.u32 [%r5], {1, 2, 3, %r60}; @!%p8 ld.shared.u32 %r6, [%r5+-500];"),
        Kinds{"read after write"});
    EXPECT_EQ(
        kinds(four + "@%p8 ld.shared.u32 %r6, [%r5+12]; @!%p8 st.shared.v4.u32 [%r5+-512], {1, 2, 3, %r60};"),
        Kinds{"write after read"});
}

TEST(Race, of_lanes_that_are_not_side_by_side_is_found_to_the_last) {
    // Warp 0 writes words in a row, from the last to the first, every second one and so on: all lanes, or
    // only the even ones. Warp 1 reads the word of one lane.
    const std::string words[] = {
        "mad.lo.u32 %r5, %r3, 4, %r12;", "sub.u32 %r5, 47, %r3; mad.lo.u32 %r5, %r5, 4, %r12;",
        "mad.lo.u32 %r5, %r3, 8, %r12;", "xor.b32 %r5, %r3, 29; mad.lo.u32 %r5, %r5, 16, %r12;",
        "sub.u32 %r5, 31, %r3; mad.lo.u32 %r5, %r5, 128, %r12;"};
    for (const std::string& word : words)
        for (const std::string step : {"1", "2"})
            for (const int lane : {0, 14, 30}) {
                const std::string writes =
                    word + "rem.u32 %r6, %r3, " + step +
                    "; setp.eq.and.u32 %p1, %r6, 0, %p8; @%p1 st.shared.u32 [%r5], %r60;";
                const std::string reads = "setp.eq.u32 %p2, %r60, " + std::to_string(32 + lane) +
                                          "; @%p2 ld.shared.u32 %r6, [%r5];";
                EXPECT_EQ(kinds(writes + reads), Kinds{"read after write"}) << word << step << ' ' << lane;
                EXPECT_EQ(kinds(writes + "@%p1 ld.shared.u32 %r6, [%r5]; @%p1 st.shared.u32 [%r5], 0;"),
                          none);
                if (step == "2") {
                    const std::string odd = "setp.eq.u32 %p2, %r60, " + std::to_string(33 + lane) +
                                            "; @%p2 ld.shared.u32 %r6, [%r5];";
                    EXPECT_EQ(kinds(writes + odd), none) << word << ' ' << lane;
                }
            }
}

TEST(Race, of_scattered_lanes_is_found_as_well) {
    EXPECT_EQ(
        kinds("and.b32 %r5, %r60, 7; mad.lo.u32 %r5, %r5, 4, %r12; st.shared.u32 [%r5], %r60;", one_warp),
        Kinds{"write after write"});
    EXPECT_EQ(
        kinds("and.b32 %r5, %r60, 7; mad.lo.u32 %r6, %r5, 4, %r12; st.shared.u32 [%r6], %r5;", one_warp),
        none);
    const std::string scattered = "xor.b32 %r5, %r60, 13; mad.lo.u32 %r5, %r5, 8, %r12;";
    EXPECT_EQ(kinds(scattered + "st.shared.u32 [%r5], %r60; ld.shared.u32 %r6, [%r5];"), none);
    EXPECT_EQ(kinds(scattered + "@%p8 st.shared.u32 [%r5], %r60; @!%p8 ld.shared.u32 %r6, [%r5+-256];"),
              Kinds{"read after write"});
    EXPECT_EQ(kinds(scattered + "@%p8 ld.shared.u32 %r6, [%r5]; @!%p8 st.shared.u32 [%r5+-256], %r60;"),
              Kinds{"write after read"});
    EXPECT_EQ(kinds("@%p7 st.shared.u32 [%r10], %r60; @!%p7 ld.shared.u32 %r6, [%r13];", one_warp),
              Kinds{"read after write"});
}

// ---- atomics ----

TEST(Race, atomics_are_in_no_race_with_each_other) {
    EXPECT_EQ(
        kinds("red.shared.add.u32 [%r12], 1; atom.shared.max.u32 %r5, [%r12], %r60; atom.shared.cas.b32 %r5, "
              "[%r12], %r60, 0; bar.sync 0; ld.shared.u32 %r5, [%r12];"),
        none);
    EXPECT_EQ(kinds("ld.relaxed.cta.shared.u32 %r5, [%r12]; st.relaxed.cta.shared.u32 [%r12], %r60; "
                    "red.shared.add.u32 [%r12], 1;"),
              none);
}

TEST(Race, an_atomic_and_a_plain_access_are) {
    EXPECT_EQ(kinds("@%p8 red.shared.add.u32 [%r12], 1; @!%p8 ld.shared.u32 %r5, [%r12];"),
              Kinds{"read after atomic"});
    EXPECT_EQ(kinds("@%p8 red.shared.add.u32 [%r12], 1; @!%p8 st.shared.u32 [%r12], 0;"),
              Kinds{"write after atomic"});
    EXPECT_EQ(kinds("@%p9 st.shared.u32 [%r12], 0; red.shared.add.u32 [%r12], 1;"),
              Kinds{"atomic after write"});
    EXPECT_EQ(kinds("@%p9 ld.shared.u32 %r5, [%r12]; red.shared.add.u32 [%r12], 1;"),
              Kinds{"atomic after read"});
    EXPECT_EQ(kinds("red.shared.add.u32 [%r12], 1; ld.shared.u32 %r5, [%r12];", one_warp),
              Kinds{"read after atomic"});
    EXPECT_EQ(kinds("red.shared.add.u32 [%r12], 1; bar.warp.sync -1; ld.shared.u32 %r5, [%r12];", one_warp),
              none);
}

// ---- named barriers ----

TEST(Race, a_named_barrier_orders_the_warps_that_come_to_it) {
    // Warps 0 and 1 exchange words with barrier 1; warp 2 stays out.
    const Setting three{.threads = 96};
    const std::string two = "setp.lt.u32 %p1, %r60, 64; xor.b32 %r5, %r60, 32; mad.lo.u32 %r5, %r5, 4, %r12;";
    EXPECT_EQ(
        kinds(two + "@%p1 st.shared.u32 [%r10], %r60; @%p1 bar.sync 1, 64; @%p1 ld.shared.u32 %r6, [%r5];",
              three),
        none);
    EXPECT_EQ(kinds(two + "st.shared.u32 [%r10], %r60; @%p1 bar.sync 1, 64; @!%p1 ld.shared.u32 %r6, [%r12];",
                    three),
              Kinds{"read after write"});
    EXPECT_EQ(kinds(two + "@!%p1 st.shared.u32 [%r10], %r60; @%p1 bar.sync 1, 64; @%p9 ld.shared.u32 %r6, "
                          "[%r12+256];",
                    three),
              Kinds{"read after write"});
}

TEST(Race, arriving_orders_what_was_before_with_those_who_wait) {
    // Warp 0 produces and arrives; warp 1 waits and consumes.
    const std::string produce =
        "@%p8 st.shared.u32 [%r10], %r60; @%p8 bar.arrive 1, 64; @!%p8 bar.sync 1, 64;"
        "@!%p8 ld.shared.u32 %r5, [%r10+-128];";
    EXPECT_EQ(kinds(produce), none);
    // It does not wait: the second value needs a barrier after the read of the first.
    EXPECT_EQ(kinds(produce + "@%p8 st.shared.u32 [%r10], %r5;"), Kinds{"read after write"});
    EXPECT_EQ(kinds(produce + "@!%p8 bar.arrive 2, 64; @%p8 bar.sync 2, 64; @%p8 st.shared.u32 [%r10], %r5;"),
              none);
}

TEST(Race, order_is_handed_on_from_barrier_to_barrier) {
    // Warp 0 to warp 1 by barrier 1, warp 1 to warp 2 by barrier 2.
    const Setting three{.threads = 96};
    const std::string first =
        "setp.eq.u32 %p1, %r4, 1; setp.eq.u32 %p2, %r4, 2; @%p8 st.shared.u32 [%r10], %r60;"
        "@%p8 bar.arrive 1, 64; @%p1 bar.sync 1, 64;";
    EXPECT_EQ(
        kinds(first + "@%p1 bar.arrive 2, 64; @%p2 bar.sync 2, 64; @%p2 ld.shared.u32 %r5, [%r10+-256];",
              three),
        none);
    EXPECT_EQ(kinds(first + "@%p2 ld.shared.u32 %r5, [%r10+-256];", three).size(), 1u);
}

TEST(Race, where_barriers_are_named_every_reader_is_remembered) {
    // Warps 1 to 3 read; warp 0 writes after it has met some of them.
    const Setting four{.threads = 128};
    for (const std::string late : {"1", "2", "3"}) {
        const std::string body = "setp.ne.u32 %p1, %r4, " + late +
                                 "; @!%p8 ld.shared.u32 %r5, [%r12]; @%p1 "
                                 "bar.sync 1, 96; @%p9 st.shared.u32 [%r12], %r60;";
        EXPECT_EQ(kinds(body, four).size(), 1u) << late;
    }
    EXPECT_EQ(
        kinds("@!%p8 ld.shared.u32 %r5, [%r12]; bar.sync 1, 128; @%p9 st.shared.u32 [%r12], %r60;", four),
        none);
}

// ---- messages ----

constexpr const char* lock_and_unlock[2] = {
    "LOCK: atom.shared.cas.b32 %r5, [%r12], 0, 1; setp.ne.u32 %p1, %r5, 0; @%p1 bra LOCK; membar.cta;",
    "membar.cta; atom.shared.exch.b32 %r5, [%r12], 0;"};

TEST(Race, a_lock_protects) {
    const std::string init = "@%p9 st.shared.u32 [%r12], 0; @%p9 st.shared.u32 [%r12+4], 0; bar.sync 0;"
                             "and.b32 %r6, %r60, 31; setp.eq.u32 %p2, %r6, 0; @!%p2 bra END;";
    const std::string add = "ld.shared.u32 %r7, [%r12+4]; add.u32 %r7, %r7, 1; st.shared.u32 [%r12+4], %r7;";
    const Setting four{.threads = 128};
    EXPECT_EQ(kinds(init + lock_and_unlock[0] + add + lock_and_unlock[1] + "END:", four), none);
    EXPECT_THAT(kinds(init + add + "END:", four), Not(IsEmpty()));
    // Without fences nothing is handed on.
    EXPECT_THAT(
        kinds(init + "LOCK: atom.shared.cas.b32 %r5, [%r12], 0, 1; setp.ne.u32 %p1, %r5, 0; @%p1 bra LOCK;" +
                  add + "atom.shared.exch.b32 %r5, [%r12], 0; END:",
              four),
        Not(IsEmpty()));
}

TEST(Race, a_flag_that_is_released_and_acquired_hands_on_what_was_before) {
    const std::string init = "@%p9 st.shared.u32 [%r12], 0; bar.sync 0;";
    const auto exchange = [&](const std::string& store, const std::string& load) {
        return kinds(init + "@!%p9 bra WAIT; st.shared.u32 [%r12+256], 42;" + store +
                     "bra END; WAIT: @%p8 bra END; LOOP: " + load +
                     "setp.eq.u32 %p1, %r5, 0; @%p1 bra LOOP; ld.shared.u32 %r6, [%r12+256]; END:");
    };
    EXPECT_EQ(exchange("st.release.cta.shared.u32 [%r12], 1;", "ld.acquire.cta.shared.u32 %r5, [%r12];"),
              none);
    EXPECT_EQ(exchange("membar.cta; st.volatile.shared.u32 [%r12], 1;",
                       "ld.volatile.shared.u32 %r5, [%r12]; membar.cta;"),
              none);
    EXPECT_EQ(exchange("membar.cta; atom.shared.exch.b32 %r5, [%r12], 1;",
                       "ld.relaxed.cta.shared.u32 %r5, [%r12]; membar.cta;"),
              none);
    EXPECT_EQ(exchange("st.relaxed.cta.shared.u32 [%r12], 1;", "ld.acquire.cta.shared.u32 %r5, [%r12];"),
              Kinds{"read after write"});
    EXPECT_EQ(exchange("st.release.cta.shared.u32 [%r12], 1;", "ld.relaxed.cta.shared.u32 %r5, [%r12];"),
              Kinds{"read after write"});
    EXPECT_EQ(
        exchange("membar.cta; atom.shared.exch.b32 %r5, [%r12+4], 1; st.relaxed.cta.shared.u32 [%r12], 1;",
                 "ld.relaxed.cta.shared.u32 %r5, [%r12]; membar.cta;"),
        none); // the fence is before that store too
}

TEST(Race, volatile_data_are_data) {
    EXPECT_EQ(kinds("st.volatile.shared.u32 [%r10], %r60; ld.volatile.shared.u32 %r5, [%r11];", one_warp),
              Kinds{"read after write"});
    EXPECT_EQ(
        kinds("st.volatile.shared.u32 [%r10], %r60; bar.warp.sync -1; ld.volatile.shared.u32 %r5, [%r11];",
              one_warp),
        none);
    EXPECT_EQ(
        kinds("@%p8 st.volatile.shared.u32 [%r10], %r60; @!%p8 ld.volatile.shared.u32 %r5, [%r10+-128];"),
        Kinds{"read after write"});
    // A fence makes a flag of what is stored after it, up to the next barrier; not of what was before.
    const std::string load = "@!%p8 ld.volatile.shared.u32 %r5, [%r12];";
    EXPECT_EQ(kinds("@%p9 membar.cta; @%p9 st.volatile.shared.u32 [%r12], 1;" + load), none);
    EXPECT_EQ(kinds("@%p9 membar.cta; @%p9 st.volatile.shared.u32 [%r12], 1; @%p9 membar.cta;" + load), none);
    EXPECT_EQ(kinds("@%p9 st.volatile.shared.u32 [%r12], 1; @%p9 membar.cta;" + load),
              Kinds{"read after write"});
    EXPECT_THAT(kinds("@%p9 membar.cta; bar.sync 0; @%p9 st.volatile.shared.u32 [%r12], 1;" + load),
                SizeIs(1));
}

TEST(Race, a_counter_hands_on_what_all_have_left) {
    // Warps 0 and 1 each leave a word and count up; warp 2 reads both when it sees 2.
    const auto count = [](const std::string& fence) {
        return kinds(
            "@%p9 st.shared.u32 [%r12+512], 0; bar.sync 0; setp.ne.u32 %p1, %r3, 0; @%p1 bra END;"
            "setp.eq.u32 %p2, %r4, 2; @%p2 bra WAIT; st.shared.u32 [%r10], 7;" +
                fence +
                "atom.shared.add.u32 %r5, [%r12+512], 1; bra END;"
                "WAIT: ld.relaxed.cta.shared.u32 %r5, [%r12+512]; setp.lt.u32 %p1, %r5, 2; @%p1 bra WAIT;"
                "membar.cta; ld.shared.u32 %r6, [%r12]; ld.shared.u32 %r6, [%r12+128]; END:",
            {.threads = 96});
    };
    EXPECT_EQ(count("membar.cta;"), none);
    EXPECT_EQ(count(""), (Kinds{"read after write", "read after write"}));
}

// ---- global memory ----

TEST(Race, in_global_memory_is_looked_for_on_request) {
    const std::string body = "@%p8 st.global.u32 [%rd1], %r60; @!%p8 ld.global.u32 %r5, [%rd1+-128];";
    EXPECT_EQ(kinds(body), none);
    EXPECT_EQ(kinds(body, {.options = {.global = true}}), Kinds{"read after write"});
    EXPECT_EQ(kinds("@%p8 st.global.u32 [%rd1], %r60; bar.sync 0; @!%p8 ld.global.u32 %r5, [%rd1+-128];",
                    {.options = {.global = true}}),
              none);
}

TEST(Race, between_blocks_is_ordered_by_no_barrier) {
    EXPECT_EQ(kinds("st.global.u32 [%rd2], %r62; bar.sync 0; ld.global.u32 %r5, [%rd2];", grid), none);
    EXPECT_EQ(kinds("st.global.u32 [%rd2], %r62; bar.sync 0; ld.global.u32 %r5, [%rd60];", grid),
              Kinds{"read after write"});
    EXPECT_EQ(kinds("ld.global.u32 %r5, [%rd60+1024]; bar.sync 0; st.global.u32 [%rd2], %r62;", grid), none);
    EXPECT_EQ(
        kinds("ld.global.u32 %r5, [%rd60+4]; bar.sync 0; setp.eq.u32 %p1, %r62, 193; @%p1 st.global.u32 "
              "[%rd60+4], %r62;",
              grid),
        Kinds{"write after read"});
    EXPECT_EQ(kinds("@%p9 st.global.u32 [%rd60], %r61;", grid), Kinds{"write after write"});
    EXPECT_EQ(kinds("@%p9 st.global.u32 [%rd60], 7; red.global.add.u32 [%rd61], 1;", grid), none);
    EXPECT_EQ(kinds("red.global.add.u32 [%rd60], 1; @%p9 ld.global.u32 %r5, [%rd60];",
                    {.threads = 1, .blocks = 2, .options = {.global = true}}),
              Kinds{"atomic after read"});
}

/// The last block to finish adds up what all have left. Each may do something `before` its atomic, named
/// `atomic`, and the last one `after` it.
std::string last_block(const std::string& before, const std::string& atomic, const std::string& after,
                       const std::string& last = "3") {
    return "@!%p9 bra END; st.global.u32 [%rd2], %r62;" + before + atomic +
           " %r5, [%rd61], 1; setp.ne.u32 %p1, %r5, " + last + "; @%p1 bra END;" + after +
           "ld.global.u32 %r6, [%rd60]; END:";
}

TEST(Race, a_release_and_an_acquire_order_blocks) {
    const std::string atom = "atom.global.add.u32", fence = "membar.gl;";
    for (const std::string each : {"membar.gl;", "membar.sys;", "fence.sc.gpu;", "fence.acq_rel.gpu;"})
        EXPECT_EQ(kinds(last_block(each, atom, each), grid), none) << each;
    EXPECT_EQ(kinds(last_block("", "atom.acq_rel.gpu.global.add.u32", ""), grid), none);
    EXPECT_EQ(kinds(last_block(fence, "atom.acquire.gpu.global.add.u32", ""), grid), none);
    EXPECT_EQ(kinds(last_block("", "atom.release.gpu.global.add.u32", fence), grid), none);
    EXPECT_EQ(kinds(last_block(fence, "atom.relaxed.sys.global.add.u32", fence), grid), none);

    const Kinds race{"read after write"};
    EXPECT_EQ(kinds(last_block("", atom, ""), grid), race);
    EXPECT_EQ(kinds(last_block("", atom, fence), grid), race);
    EXPECT_EQ(kinds(last_block(fence, atom, ""), grid), race);
    EXPECT_EQ(kinds(last_block("", "atom.acquire.gpu.global.add.u32", ""), grid), race);
    EXPECT_EQ(kinds(last_block("", "atom.release.gpu.global.add.u32", ""), grid), race);
}

TEST(Race, a_release_reaches_block_600) {
    const Setting wide_grid{.blocks = 600, .options = {.global = true}};
    const std::string atom = "atom.global.add.u32", fence = "membar.gl;";
    EXPECT_EQ(kinds(last_block(fence, atom, fence, "599"), wide_grid), none);
    EXPECT_EQ(kinds(last_block(fence, atom, "", "599"), wide_grid), Kinds{"read after write"});
}

TEST(Race, a_scope_has_to_include_both_blocks) {
    const std::string atom = "atom.global.add.u32", fence = "membar.gl;";
    const Kinds race{"read after write"};
    for (const std::string narrow : {"membar.cta;", "fence.acq_rel.cta;", "fence.sc.cluster;"}) {
        EXPECT_EQ(kinds(last_block(narrow, atom, fence), grid), race) << narrow;
        EXPECT_EQ(kinds(last_block(fence, atom, narrow), grid), race) << narrow;
    }
    // Narrow atomics of two blocks do not even keep each other out.
    const Kinds both{"atomic after atomic", "read after write"};
    EXPECT_EQ(kinds(last_block(fence, "atom.relaxed.cta.global.add.u32", fence), grid), both);
    EXPECT_EQ(kinds(last_block("", "atom.acq_rel.cluster.global.add.u32", ""), grid), both);
}

TEST(Race, atomics_for_a_block_are_in_a_race_with_those_of_other_blocks) {
    const auto add = [](const std::string& first, const std::string& second) {
        return kinds("setp.eq.u32 %p1, %r61, 0; @%p1 " + first + " [%rd60], 1; @!%p1 " + second +
                         " [%rd60], 1;",
                     grid);
    };
    const std::string wide = "red.global.add.u32", narrow = "red.relaxed.cta.global.add.u32";
    EXPECT_EQ(add(wide, wide), none);
    EXPECT_EQ(add(narrow, wide), Kinds{"atomic after atomic"});
    EXPECT_EQ(add(narrow, narrow), Kinds{"atomic after atomic"});
    EXPECT_EQ(kinds("red.relaxed.cta.global.add.u32 [%rd2], 1;", grid), none);
}

TEST(Race, order_is_handed_on_from_block_to_block) {
    // Each block waits for the previous one; the last one reads the first one's value.
    EXPECT_EQ(kinds("@!%p9 bra END; st.global.u32 [%rd2], %r62; mul.wide.u32 %rd3, %r61, 4;"
                    "add.u64 %rd3, %rd61, %rd3; setp.eq.u32 %p1, %r61, 0; @%p1 bra SET;"
                    "WAIT: ld.relaxed.gpu.global.u32 %r5, [%rd3+-4]; setp.eq.u32 %p2, %r5, 0; @%p2 bra WAIT;"
                    "SET: membar.gl; st.relaxed.gpu.global.u32 [%rd3], 1; setp.ne.u32 %p1, %r61, 3;"
                    "@%p1 bra END; ld.global.u32 %r6, [%rd60]; END:",
                    grid),
              none);
}

TEST(Race, finding_names_the_fence_that_is_missing) {
    const auto cause = [](const std::string& before, const std::string& after) {
        return races(last_block(before, "atom.global.add.u32", after), grid).at(0).cause;
    };
    const std::string atomic = "the atomic at atom.global.add.u32 %r5, [%rd61], 1;";
    EXPECT_EQ(cause("", "membar.gl;"), "No fence between the write at st.global.u32 [%rd2], %r62; and " +
                                           atomic + ": a __threadfence() is missing there.");
    // Every block counts itself with the same atomic, as NVIDIA's sample threadFenceReduction does.
    EXPECT_EQ(cause("membar.gl;", ""),
              "The last-block pattern, without a fence on the reader's side. The atomic at "
              "atom.global.add.u32 %r5, [%rd61], 1; orders nothing by itself: by the memory model, the read "
              "at ld.global.u32 %r6, [%rd60]; may come too early. Cards forgive it as long as they don't "
              "load ahead of the branch on the atomic's result, which the model does not promise. Add a "
              "__threadfence() between the two, in the thread that executes the atomic. Or make it that of a "
              "cuda::atomic_ref, with memory_order_acq_rel.");
    // There all threads execute the fence, and others read.
    EXPECT_THAT(races("@%p9 st.global.u32 [%rd2], %r62; membar.gl; @!%p9 bra MEET;"
                      "atom.global.add.u32 %r5, [%rd61], 1; st.shared.u32 [%r12], %r5; MEET: bar.sync 0;"
                      "ld.shared.u32 %r5, [%r12]; setp.ne.u32 %p1, %r5, 3; @%p1 bra END;"
                      "ld.global.u32 %r6, [%rd60]; END:",
                      grid)
                    .at(0)
                    .cause,
                HasSubstr("The last-block pattern, without a fence on the reader's side."));
    // … and not where each block has an atomic of its own.
    EXPECT_EQ(races("setp.eq.u32 %p1, %r61, 0; @!%p1 bra READ; st.global.u32 [%rd60], 1; membar.gl;"
                    "atom.global.add.u32 %r5, [%rd61], 1; bra END; READ: atom.global.add.u32 %r5, [%rd61], 0;"
                    "setp.eq.u32 %p1, %r5, 77; @%p1 bra END; ld.global.u32 %r6, [%rd60]; END:",
                    {.threads = 1, .blocks = 2, .options = {.global = true}})
                  .at(0)
                  .cause,
              "No fence between the atomic at atom.global.add.u32 %r5, [%rd61], 0; and the read at "
              "ld.global.u32 %r6, [%rd60];: a __threadfence() is missing there.");
    EXPECT_THAT(cause("", ""), testing::ContainsRegex("No fence between the write.*No fence between the at"));
    EXPECT_THAT(cause("membar.cta;", "membar.gl;"),
                HasSubstr("The fence at membar.cta; is for the threads of its block only"));
}

// ---- mbarriers ----

TEST(Race, an_mbarrier_is_initialized_before_it_is_used) {
    const std::string init = "@%p9 mbarrier.init.shared.b64 [tile], 64;";
    const std::string arrive = "mbarrier.arrive.shared.b64 %rd5, [tile];";
    const std::string wait = "WAIT: mbarrier.test_wait.shared.b64 %p5, [tile], %rd5; @!%p5 bra WAIT;";
    EXPECT_EQ(kinds(init + "bar.sync 0;" + arrive + wait), none);
    const auto findings = races(init + "bar.warp.sync -1;" + arrive);
    ASSERT_THAT(findings, SizeIs(1));
    EXPECT_EQ(findings[0].kind, "atomic after write");
    EXPECT_EQ(findings[0].count, 32u); // those of warp 1
    EXPECT_EQ(findings[0].message, "thread (32,0,0) uses the mbarrier in shared memory at 0x0, which thread "
                                   "(0,0,0) of another warp has initialized: nothing orders the two");
    EXPECT_EQ(findings[0].cause,
              "A __syncthreads() is missing after the initialization: another thread may use the mbarrier "
              "before.");
    EXPECT_EQ(kinds(init + arrive, one_warp), Kinds{"atomic after write"});
    // Whoever waits has to know of it beforehand.
    const std::string arrive_in_warp_0 = "@!%p8 bra WAIT; @%p9 mbarrier.init.shared.b64 [tile], 32; "
                                         "bar.warp.sync -1; mbarrier.arrive.shared.b64 %rd5, [tile];";
    EXPECT_EQ(kinds(arrive_in_warp_0 + "WAIT: mbarrier.test_wait.parity.shared.b64 %p5, [tile], 0;"
                                       "@!%p5 bra WAIT;"),
              Kinds{"atomic after write"});
}

TEST(Race, an_mbarrier_is_initialized_by_one_thread_at_a_time) {
    const auto cause = [](const std::string& body) { return races(body).at(0).cause; };
    EXPECT_EQ(cause("@%p8 mbarrier.init.shared.b64 [tile], 64;"),
              "Several threads initialize the same mbarrier: let one thread do it.");
    EXPECT_EQ(cause("@%p9 mbarrier.init.shared.b64 [tile], 65; bar.sync 0;"
                    "mbarrier.arrive.shared.b64 %rd5, [tile]; @%p9 mbarrier.init.shared.b64 [tile], 64;"),
              "A __syncthreads() is missing before the initialization: another thread may still use the "
              "mbarrier.");
    const std::string use = "@%p9 mbarrier.init.shared.b64 [tile], 32; bar.sync 0;"
                            "mbarrier.arrive.shared.b64 %rd5, [tile];"
                            "WAIT: mbarrier.test_wait.shared.b64 %p5, [tile], %rd5; @!%p5 bra WAIT;",
                      end = "@%p9 mbarrier.inval.shared.b64 [tile];", store = "@%p9 st.shared.u32 [tile], 1;";
    EXPECT_EQ(kinds(use + end, one_warp), none) << "a use like another";
    EXPECT_EQ(kinds(use + end + store, one_warp), Kinds{"write after atomic"});
    EXPECT_EQ(kinds(use + "bar.sync 0;" + end + store, one_warp), none);
}

// ---- the async proxy ----

TEST(Race, a_bulk_copy_reads_what_a_proxy_fence_shows_to_it) {
    const std::string store = "st.shared.u32 [%r10], %r60;",
                      copy = "@%p9 cp.async.bulk.global.shared::cta.bulk_group [%rd60], [tile], 256;";
    const auto findings = races(store + "bar.sync 0;" + copy);
    ASSERT_THAT(findings, SizeIs(1));
    EXPECT_EQ(
        findings[0].message,
        "a bulk copy of thread (0,0,0) reads 16 bytes of shared memory at 0x0, which thread (0,0,0) has "
        "written: no thread has executed a fence.proxy.async in between");
    EXPECT_THAT(findings[0].cause, HasSubstr("through the async proxy"));
    for (const std::string fence : {"fence.proxy.async;", "fence.proxy.async.shared::cta;"}) {
        EXPECT_EQ(kinds(store + fence + "bar.sync 0;" + copy), none);
        EXPECT_EQ(kinds(store + "bar.sync 0; @%p9 " + fence + copy), none);
        EXPECT_EQ(kinds(fence + store + "bar.sync 0;" + copy), Kinds{"read after write"});
    }
    for (const std::string fence : {"fence.proxy.async.global;", "fence.acq_rel.gpu;"})
        EXPECT_EQ(kinds(store + fence + "bar.sync 0;" + copy), Kinds{"read after write"});
    // What a copy has written needs none.
    EXPECT_EQ(kinds("@%p9 mbarrier.init.shared.b64 [tile+512], 1;"
                    "@%p9 mbarrier.arrive.expect_tx.shared.b64 %rd5, [tile+512], 256;"
                    "@%p9 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%rd60], "
                    "256, [tile+512]; @!%p9 bra END;"
                    "WAIT: mbarrier.test_wait.shared.b64 %p5, [tile+512], %rd5; @!%p5 bra WAIT;" +
                    copy + "END:"),
              none);
}

// ---- what is said ----

TEST(Race, finding_names_both_parties_and_the_place) {
    const auto findings =
        races("@%p8 st.shared.u32 [%r10+64], %r60; @!%p8 ld.shared.u32 %r5, [%r10+-64];", {.blocks = 3});
    ASSERT_THAT(findings, SizeIs(1));
    const Finding& finding = findings[0];
    EXPECT_EQ(finding.checker, "race");
    EXPECT_EQ(finding.message,
              "thread (32,0,0) reads 4 bytes of shared memory at 0x40, which thread (0,0,0) of "
              "another warp has written: nothing orders the two");
    EXPECT_THAT(finding.kernel, HasSubstr("k"));
    EXPECT_EQ(finding.allocation, "tile, 4,096 bytes of shared memory");
    EXPECT_EQ(finding.cause, "A __syncthreads() is missing between the two.");
    EXPECT_EQ(finding.count, 96u); // 32 threads in each of 3 blocks
    ASSERT_THAT(finding.parties, SizeIs(2));
    EXPECT_EQ(finding.parties[0].role, "read");
    EXPECT_EQ(finding.parties[0].block, "(0,0,0)");
    EXPECT_EQ(finding.parties[0].thread, "(32,0,0)");
    EXPECT_THAT(finding.parties[0].ptx, HasSubstr("ld.shared.u32 %r5"));
    EXPECT_EQ(finding.parties[1].role, "earlier write");
    EXPECT_EQ(finding.parties[1].thread, "(0,0,0)");
    EXPECT_THAT(finding.parties[1].ptx, HasSubstr("st.shared.u32 [%r10+64]"));
}

TEST(Race, finding_tells_what_is_missing) {
    EXPECT_EQ(races("st.shared.u32 [%r10], %r60; ld.shared.u32 %r5, [%r11];", one_warp).at(0).cause,
              "A __syncwarp() is missing between the two, or a __syncthreads() if other warps use this "
              "memory too: the lanes of a warp need not run in lockstep.");
    EXPECT_THAT(
        races("ld.shared.u32 %r5, [%r12]; add.u32 %r5, %r5, %r60; st.shared.u32 [%r12], %r5;", one_warp)
            .at(0)
            .cause,
        HasSubstr("use an atomic"));
    const Finding blocks =
        races("st.global.u32 [%rd2], %r62; bar.sync 0; ld.global.u32 %r5, [%rd60];", grid).at(0);
    EXPECT_THAT(blocks.message, HasSubstr("of block (0,0,0)"));
    EXPECT_THAT(blocks.allocation, HasSubstr("cudaMalloc #1"));
    EXPECT_THAT(blocks.cause, HasSubstr("two launches"));
}

TEST(Race, loads_that_a_cas_checks_are_none) {
    EXPECT_THAT(
        kinds("ld.shared.u32 %r5, [%r12]; mov.b32 %r6, %r5; atom.shared.cas.b32 %r7, [%r12], %r6, %r60;"),
        IsEmpty());
    EXPECT_EQ(kinds("ld.shared.u32 %r5, [%r12]; atom.shared.cas.b32 %r7, [%r12], 0, %r5;"),
              Kinds{"atomic after read"})
        << "it is what the atomic writes";
    EXPECT_EQ(kinds("ld.shared.u32 %r5, [%r12]; atom.shared.exch.b32 %r7, [%r12], %r5;"),
              Kinds{"atomic after read"});
}

TEST(Race, places_of_one_line_are_one_finding) {
    const std::string unrolled =
        ".loc 1 7 0\n@%p8 st.shared.u32 [%r10], %r60; @%p8 st.shared.u32 [%r10+256], %r60;\n"
        ".loc 1 9 0\n@!%p8 ld.shared.u32 %r5, [%r10+-128]; @!%p8 ld.shared.u32 %r5, "
        "[%r10+128];\n";
    EXPECT_EQ(kinds(unrolled).size(), 2u); // no such file: its lines are unknown
    Program program(
        module_of("mov.u32 %r12, tile; mad.lo.u32 %r10, %r60, 4, %r12; setp.lt.u32 %p8, %r60, 32;" + unrolled,
                  ".file 1 \"tree.cu\"\n.shared .align 16 .b8 tile[4096];"));
    Findings findings;
    RaceChecker checker(findings);
    Watcher* const watchers[] = {&checker};
    program.launch("k", grid_of(64), {}, {.host_threads = 1, .watchers = watchers});
    ASSERT_THAT(findings.list(), SizeIs(1));
    EXPECT_EQ(findings.list()[0].count, 64u);
    EXPECT_EQ(findings.list()[0].parties.at(0).where, "tree.cu:9");
    EXPECT_EQ(findings.list()[0].parties.at(1).where, "tree.cu:7");
}

// ---- whatever the run ----

TEST(Race, does_not_depend_on_the_order_in_which_threads_run) {
    const std::string right = "st.shared.u32 [%r10], %r60; bar.sync 0; ld.shared.u32 %r5, [%r11]; bar.sync 0;"
                              "st.shared.u32 [%r10], %r5; bar.warp.sync -1; ld.shared.u32 %r5, [%r13];";
    const std::string wrong = "st.shared.u32 [%r10], %r60; bar.warp.sync -1; ld.shared.u32 %r5, [%r11];";
    for (std::uint64_t seed = 0; seed < 30; ++seed) {
        EXPECT_EQ(kinds(right, {.threads = 128, .blocks = 5, .schedule = seed}), none) << seed;
        EXPECT_EQ(kinds(wrong, {.threads = 128, .blocks = 5, .schedule = seed}).size(), 1u) << seed;
    }
}

TEST(Race, is_the_same_when_stamps_run_out) {
    const std::string loop =
        "mov.u32 %r20, 0; LOOP: st.shared.u32 [%r10], %r60; bar.sync 0; ld.shared.u32 %r5, "
        "[%r11]; bar.warp.sync -1; membar.cta; bar.sync 0; add.u32 %r20, %r20, 1; setp.lt.u32 "
        "%p1, %r20, 50; @%p1 bra LOOP;";
    EXPECT_EQ(kinds(loop, {.blocks = 3, .options = {.ticks = 100}}), none);
    EXPECT_EQ(kinds(loop + "st.shared.u32 [%r10], %r60; bar.warp.sync -1; ld.shared.u32 %r5, [%r11];",
                    {.blocks = 3, .options = {.ticks = 100}})
                  .size(),
              1u);
    // Warp 0 arrives, and stamps run out before warp 1 comes: what warp 0 does meanwhile is not ordered.
    const std::string tick = "@%p8 bar.warp.sync -1;";
    EXPECT_EQ(
        kinds(tick + tick + tick + tick + tick + tick + "@%p8 bar.arrive 1, 64;" + tick + tick + tick +
                  "@%p9 st.shared.u32 [%r12], 1; @!%p8 bar.sync 1, 64; @!%p8 ld.shared.u32 %r5, [%r12];",
              {.options = {.ticks = 10}}),
        Kinds{"read after write"});
}
