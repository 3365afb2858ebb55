// Waits at mbarriers that can never end, and those that only look so.

#include "ptx_fixture.hpp"

#include <gmock/gmock.h>

using namespace emulator::fixture;
using emulator::Failure;
using std::uint32_t;
using testing::AllOf, testing::Each, testing::HasSubstr, testing::Not;

namespace {

constexpr const char* declarations = ".shared .align 8 .b64 barrier; .shared .align 8 .b64 other; "
                                     ".shared .b32 word;\n";

/// After the initialization of both mbarriers, for `arrivals`. %r11 and %r13 are their addresses, %p8 holds
/// in warp 0.
std::vector<uint32_t> run_with(const std::string& arrivals, const std::string& body, uint32_t threads = 64) {
    return run("mov.u32 %r0, 0; mov.u32 %r11, barrier; mov.u32 %r13, other; mov.u32 %r12, word;"
               "setp.lt.u32 %p8, %r60, 32; setp.ne.u32 %p1, %r60, 0; @%p1 bra READY;"
               "st.shared.b32 [%r12], 0; mbarrier.init.shared.b64 [%r11], " +
                   arrivals + "; mbarrier.init.shared.b64 [%r13], " + arrivals + "; READY: bar.sync 0;" +
                   body,
               threads, {}, declarations);
}
std::string message_of(const std::string& arrivals, const std::string& body, uint32_t threads = 64) {
    const auto error = error_of([&] { run_with(arrivals, body, threads); });
    EXPECT_EQ(error.failure(), Failure::launch_failure);
    return error.what();
}

constexpr const char* arrive = "mbarrier.arrive.shared.b64 %rd5, [%r11];\n";
constexpr const char* wait_for_it =
    "WAIT: mbarrier.try_wait.parity.shared.b64 %p5, [%r11], 0; @!%p5 bra WAIT; mov.u32 %r0, 1;\n";

/// How cuda::barrier waits: the result is a number, and the clock determines how long to sleep.
constexpr const char* patient_wait = R"(
    mov.u64 %rd7, %globaltimer; mov.u32 %r15, 0; bra.uni ASK;
    AGAIN: add.s32 %r15, %r15, 1;
    ASK: mbarrier.test_wait.parity.shared.b64 %p5, [%r11], 0; selp.u16 %rs1, 1, 0, %p5;
    setp.eq.s16 %p2, %rs1, 0; @%p2 bra NO; bra.uni OVER;
    NO: setp.lt.s32 %p3, %r15, 16; @%p3 bra AGAIN;
    mov.u64 %rd11, %globaltimer; sub.s64 %rd4, %rd11, %rd7; setp.lt.s64 %p4, %rd4, 40000; @%p4 bra ASK;
    nanosleep.u32 20; bra.uni ASK;
    OVER: mov.u32 %r0, 1;
)";

} // namespace

TEST(MbarrierDeadlock, is_reported_with_what_is_missing) {
    const std::string message = message_of("65", std::string(arrive) + wait_for_it);
    EXPECT_THAT(message, HasSubstr("no thread of block (0,0,0) of k can go on"));
    EXPECT_THAT(message, HasSubstr("32 threads of warp 0 (from thread 0 to 31) wait at the mbarrier at 0x0 "
                                   "(barrier, 8 bytes of shared memory), which lacks 1 of 65 arrivals"));
    EXPECT_THAT(message,
                HasSubstr("32 threads of warp 1 (from thread 32 to 63) wait at the mbarrier at 0x0"));
    EXPECT_THAT(message, HasSubstr("mbarrier.try_wait.parity.shared.b64 %p5, [%r11], 0;"));
}

TEST(MbarrierDeadlock, is_found_in_a_loop_that_chooses_how_long_to_sleep) {
    EXPECT_THAT(message_of("65", std::string(arrive) + patient_wait), HasSubstr("lacks 1 of 65 arrivals"));
}

TEST(MbarrierDeadlock, is_found_where_the_others_wait_at_a_barrier_or_have_exited) {
    // Warp 1 does not arrive, and reaches a barrier that warp 0 never does.
    EXPECT_THAT(message_of("64", "@!%p8 bra LAST;" + std::string(arrive) + wait_for_it + "LAST: bar.sync 0;"),
                AllOf(HasSubstr("which lacks 32 of 64 arrivals"),
                      HasSubstr("32 threads of warp 1 (from thread 32 to 63) wait at barrier 0")));
    EXPECT_THAT(message_of("64", "@!%p8 exit;" + std::string(arrive) + wait_for_it),
                HasSubstr("which lacks 32 of 64 arrivals"));
    // Lanes of one warp.
    EXPECT_THAT(message_of("2",
                           "setp.lt.u32 %p6, %r60, 8; @!%p6 bra LAST;" + std::string(wait_for_it) +
                               "LAST: bar.warp.sync -1;",
                           32),
                AllOf(HasSubstr("8 threads of warp 0 (from thread 0 to 7) wait at the mbarrier"),
                      HasSubstr("which lacks 2 of 2 arrivals"), HasSubstr("for the lanes that their mask")));
}

TEST(MbarrierDeadlock, of_bytes_that_no_copy_brings_is_reported) {
    EXPECT_THAT(message_of("1", "@%p1 bra WAIT; mbarrier.arrive.expect_tx.shared.b64 _, [%r11], 512;" +
                                    std::string(wait_for_it)),
                HasSubstr("which lacks 0 of 1 arrival and 512 bytes of copies"));
    EXPECT_THAT(message_of("1", "@%p1 bra WAIT; mbarrier.complete_tx.shared.b64 [%r11], 16; "
                                "mbarrier.arrive.shared.b64 _, [%r11];" +
                                    std::string(wait_for_it)),
                HasSubstr("which lacks 0 of 1 arrival, and got 16 bytes more of copies than are expected"));
}

TEST(MbarrierDeadlock, crosswise_is_reported) {
    const std::string message = message_of(
        "32",
        "@%p8 bra LOW;" + std::string(wait_for_it) + "mbarrier.arrive.shared.b64 %rd5, [%r13]; bra END;" +
            "LOW: mbarrier.try_wait.parity.shared.b64 %p5, [%r13], 0; @!%p5 bra LOW;" + arrive + "END:");
    EXPECT_THAT(message, AllOf(HasSubstr("mbarrier at 0x0 (barrier"), HasSubstr("mbarrier at 0x8 (other")));
}

TEST(MbarrierDeadlock, names_the_initialization_of_an_mbarrier_in_use) {
    // Warp 1 runs first, arrives and waits. Then thread 0 initializes the mbarrier again.
    constexpr const char* again = "@!%p1 mbarrier.init.shared.b64 [%r11], 64;\n";
    constexpr const char* invalidate = "@!%p1 mbarrier.inval.shared.b64 [%r11];\n";
    constexpr const char* cause = "which lacks 32 of 64 arrivals; it was initialized again while it was in "
                                  "use, at mbarrier.init.shared.b64 [%r11], 64;";
    const std::string meet = std::string(arrive) + wait_for_it;
    EXPECT_THAT(message_of("64", again + meet), HasSubstr(cause));
    EXPECT_THAT(message_of("64", std::string(invalidate) + again + meet), HasSubstr(cause));
    // It waits after that.
    EXPECT_THAT(message_of("64", "@%p8 bra REST;" + std::string(arrive) + "REST: bar.sync 0;" + again +
                                     "bar.sync 0; @!%p8 bra WAIT;" + meet),
                HasSubstr(cause));
    EXPECT_THAT(
        message_of("64", std::string(again) + "bar.sync 0; mbarrier.arrive.shared.b64 %rd5, [%r11], 65;"),
        HasSubstr("more come than it was initialized for; it was initialized again"));
    // Not after its invalidation, when nobody waits.
    EXPECT_THAT(message_of("64", std::string(invalidate) + again + "bar.sync 0; @!%p8 bra WAIT;" + meet),
                Not(HasSubstr("again")));
}

// ---- what ends after all ----

TEST(MbarrierWait, ends_with_its_phase_even_if_the_mbarrier_ends) {
    // Warp 1 waits when warp 0 ends the phase. Before warp 1 asks again, thread 0 ends the mbarrier.
    const std::string wait = arrive + std::string(wait_for_it);
    EXPECT_THAT(run_with("64", wait + "@!%p1 mbarrier.inval.shared.b64 [%r11];"), Each(1u));
    EXPECT_THAT(run_with("64", wait + "@!%p1 mbarrier.init.shared.b64 [%r11], 64; bar.sync 0;" + arrive +
                                   "AGAIN: mbarrier.try_wait.parity.shared.b64 %p5, [%r11], 0; "
                                   "@!%p5 bra AGAIN; bar.sync 0;"),
                Each(1u));
    // Who has given up is not released: the new one's first phase has not ended.
    EXPECT_THAT(run_with("64", std::string(arrive) +
                                   "mbarrier.test_wait.parity.shared.b64 %p5, [%r11], 0; bar.sync 0;"
                                   "@!%p1 mbarrier.init.shared.b64 [%r11], 64; bar.sync 0;"
                                   "mbarrier.test_wait.parity.shared.b64 %p5, [%r11], 0; "
                                   "selp.u32 %r0, 2, 3, %p5;"),
                Each(3u));
}

TEST(MbarrierWait, ends_when_a_thread_arrives_that_works_for_long) {
    // Warp 1 counts to 400,000 first: many turns of the block.
    EXPECT_THAT(run_with("32", "@%p8 bra WAIT; mov.u32 %r20, 0; COUNT: add.u32 %r20, %r20, 1; setp.lt.u32 "
                               "%p6, %r20, 400000; @%p6 bra COUNT;" +
                                   std::string(arrive) + "bra WAIT;" + wait_for_it),
                Each(1u));
}

TEST(MbarrierWait, is_over_for_good_whatever_phases_follow) {
    // Warp 0 has tested without success, and waited for the first phase; the third, with the same parity, has
    // begun.
    EXPECT_THAT(
        run_with("32", "@!%p8 bra LAST;" + std::string(wait_for_it) +
                           "bar.sync 1; bar.sync 1; mov.u32 %r20, 0; COUNT: add.u32 %r20, %r20, 1; "
                           "setp.lt.u32 %p6, %r20, 400000; @%p6 bra COUNT; bra END;"
                           "LAST: mov.u32 %r20, 0; LATE: add.u32 %r20, %r20, 1; setp.lt.u32 %p6, %r20, "
                           "100000; @%p6 bra LATE; mbarrier.arrive.shared.b64 %rd5, [%r11]; bar.sync 1; "
                           "mbarrier.arrive.shared.b64 %rd5, [%r11]; mov.u32 %r0, 1; bar.sync 1;"
                           "END: bar.sync 2;"),
        Each(1u));
}

TEST(MbarrierWait, that_counts_its_questions_may_give_up) {
    EXPECT_THAT(
        run_with("65", std::string(arrive) +
                           "mov.u32 %r20, 0; WAIT: mbarrier.try_wait.parity.shared.b64 %p5, [%r11], 0; "
                           "@%p5 bra OVER; add.u32 %r20, %r20, 1; setp.lt.u32 %p6, %r20, 200000; "
                           "@%p6 bra WAIT; mov.u32 %r0, 2; bra END; OVER: mov.u32 %r0, 1; END:"),
        Each(2u));
    // The same, but the arrival that is missing is made good.
    EXPECT_THAT(
        run_with("65", std::string(arrive) +
                           "mov.u32 %r20, 0; WAIT: mbarrier.try_wait.parity.shared.b64 %p5, [%r11], 0; "
                           "@%p5 bra OVER; add.u32 %r20, %r20, 1; setp.ne.u32 %p6, %r20, 200000; "
                           "or.pred %p6, %p6, %p1; @%p6 bra WAIT;" +
                           std::string(arrive) + "bra WAIT; OVER: mov.u32 %r0, 1;"),
        Each(1u));
}

TEST(MbarrierWait, that_looks_at_memory_too_is_not_judged) {
    // Warp 0 goes on once the word is set, which warp 1 does after giving up its own wait.
    EXPECT_THAT(run_with("65",
                         "@!%p8 bra OTHERS; WAIT: mbarrier.try_wait.parity.shared.b64 %p5, [%r11], 0; "
                         "@%p5 bra OVER; ld.volatile.shared.u32 %r21, [%r12]; setp.eq.u32 %p6, %r21, 0; "
                         "@%p6 bra WAIT; bra OVER; OTHERS: mov.u32 %r20, 0; MORE: "
                         "mbarrier.test_wait.parity.shared.b64 %p5, [%r11], 0; add.u32 %r20, %r20, 1; "
                         "setp.lt.u32 %p6, %r20, 200000; @%p6 bra MORE; st.volatile.shared.u32 [%r12], "
                         "1; OVER: mov.u32 %r0, 1;"),
                Each(1u));
}

TEST(MbarrierWait, that_takes_turns_with_another_is_not_judged) {
    // In each turn another mbarrier is asked for its phase 1 or 0; the second is over from the beginning.
    EXPECT_THAT(run_with("65",
                         "mov.u32 %r22, 0; WAIT: mbarrier.try_wait.parity.shared.b64 %p5, [%r11], %r22; "
                         "@%p5 bra OVER; add.u32 %r23, %r23, 1; setp.gt.u32 %p6, %r23, 200000; @%p6 "
                         "mov.u32 %r22, 1; bra WAIT; OVER: mov.u32 %r0, 1;"),
                Each(1u));
}

TEST(MbarrierWait, that_arrives_elsewhere_in_its_loop_is_not_judged) {
    // Thread 32 asks in vain and arrives at the other mbarrier each time, until the others' wait there is
    // over.
    EXPECT_THAT(run_with("200000",
                         "@!%p8 bra ASK; OTHER: mbarrier.try_wait.parity.shared.b64 %p5, [%r13], 0; "
                         "@!%p5 bra OTHER; mov.u32 %r20, 6250; "
                         "mbarrier.arrive.shared.b64 %rd5, [%r11], %r20; bra WAIT; "
                         "ASK: mbarrier.try_wait.parity.shared.b64 %p5, [%r11], 0; @%p5 bra OVER; "
                         "mbarrier.arrive.shared.b64 %rd5, [%r13]; bra ASK;" +
                             std::string(wait_for_it) + "OVER: mov.u32 %r0, 1;",
                         33),
                Each(1u));
}

TEST(MbarrierWait, for_copies_that_are_under_way_ends) {
    // Warp 0 asks; warp 1 arrives with its copies, and waits at a barrier that warp 0 comes to afterwards. In
    // orders with short turns all wait before the copies have ended.
    Program program(module_of("mov.u32 %r11, barrier; setp.lt.u32 %p8, %r60, 32; setp.ne.u32 %p1, %r60, 0; "
                              "@!%p1 mbarrier.init.shared.b64 [%r11], 32; bar.sync 0; @%p8 bra WAIT; "
                              "cp.async.mbarrier.arrive.noinc.shared.b64 [%r11]; bra END;" +
                                  std::string(wait_for_it) + "END: bar.sync 1;",
                              declarations));
    for (std::uint64_t seed = 0; seed < 50; ++seed)
        program.launch("k", grid_of(64), {}, {.host_threads = 1, .schedule = seed});
}
