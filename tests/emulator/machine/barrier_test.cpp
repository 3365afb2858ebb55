// Block barriers: all threads, some threads, reductions, and barriers that can never complete.

#include "ptx_fixture.hpp"

#include <gmock/gmock.h>

#include <functional>

using namespace emulator::fixture;
using emulator::Failure;
using std::uint32_t;
using testing::HasSubstr;

namespace {

Words threads(const std::function<uint32_t(uint32_t)>& value, uint32_t count) {
    Words result(count);
    for (uint32_t i = 0; i < count; ++i) result[i] = value(i);
    return result;
}

/// Each thread writes its index to shared memory, `barrier`, and reads the index of the thread at the other
/// end.
std::string exchange(const std::string& barrier) {
    return R"(
        mov.u32 %r2, %ntid.x; sub.u32 %r3, %r2, 1; sub.u32 %r3, %r3, %r60; mov.u32 %r4, tile;
        mad.lo.u32 %r5, %r60, 4, %r4; mad.lo.u32 %r6, %r3, 4, %r4;
        st.shared.u32 [%r5], %r60;)" +
           barrier + " ld.shared.u32 %r0, [%r6];";
}
constexpr const char* tile = ".shared .u32 tile[1024];";

} // namespace

TEST(Barrier, holds_every_thread_until_all_have_come) {
    for (const char* const barrier : {"bar.sync 0;", "barrier.sync 0;", "barrier.sync.aligned 3;",
                                      "bar.cta.sync 15;", "mov.u32 %r10, 2; bar.sync %r10;"})
        for (const uint32_t count : {1u, 31u, 32u, 33u, 100u, 256u, 1000u, 1024u})
            EXPECT_EQ(run(exchange(barrier), count, {}, tile),
                      threads([&](uint32_t i) { return count - 1 - i; }, count))
                << barrier << count;
}

TEST(Barrier, counts_whole_warps_where_a_number_is_named) {
    for (const uint32_t count : {32u, 64u, 100u, 33u}) {
        // A last warp of fewer threads counts as a whole one.
        const std::string all = std::to_string((count + 31) / 32 * 32);
        EXPECT_EQ(run(exchange("bar.sync 1, " + all + ";"), count, {}, tile),
                  threads([&](uint32_t i) { return count - 1 - i; }, count))
            << count;
    }
}

TEST(Barrier, of_some_warps_leaves_the_others_alone) {
    // Warps 0 and 1 use barrier 1; warps 2 and 3 use barrier 2, three times.
    EXPECT_EQ(run(R"(
        setp.lt.u32 %p1, %r60, 64; @%p1 bra LOW; bar.sync 2, 64; bar.sync 2, 64; bar.sync 2, 64;
        mov.u32 %r0, 2; bra END;
        LOW: bar.sync 1, 64; mov.u32 %r0, 1;
        END:)",
                  128),
              threads([](uint32_t i) { return i < 64 ? 1 : 2; }, 128));
}

TEST(Barrier, with_a_number_is_not_open_before_that_many_have_come) {
    // A block of 80: the last warp has 16 threads. Lanes of the first two warps come in halves; each reads
    // what the others wrote.
    EXPECT_EQ(run(R"(
        mov.u32 %r4, tile; mad.lo.u32 %r5, %r60, 4, %r4; xor.b32 %r6, %r60, 63;
        mad.lo.u32 %r6, %r6, 4, %r4; setp.ge.u32 %p1, %r60, 64; @%p1 bra END;
        and.b32 %r7, %r60, 16; setp.eq.u32 %p2, %r7, 0; st.shared.u32 [%r5], 7; @%p2 bra HALF;
        nanosleep.u32 1; add.u32 %r8, %r60, 100; st.shared.u32 [%r5], %r8; barrier.sync 1, 64;
        bra READ;
        HALF: add.u32 %r8, %r60, 100; st.shared.u32 [%r5], %r8; barrier.sync 1, 64;
        READ: ld.shared.u32 %r0, [%r6];
        END: @%p1 mov.u32 %r0, 0;)",
                  80, {}, tile),
              threads([](uint32_t i) { return i < 64 ? 100 + (i ^ 63) : 0; }, 80));
}

TEST(Barrier, arrive_does_not_wait) {
    // Warp 1 produces: it writes and arrives. Warp 0 consumes: it waits for both.
    EXPECT_EQ(run(R"(
        setp.lt.u32 %p1, %r60, 32; @%p1 bra CONSUME; mov.u32 %r5, 0;
        WORK: add.u32 %r5, %r5, 1; setp.lt.u32 %p2, %r5, 100; @%p2 bra WORK;
        st.shared.u32 [tile], %r5;
        bar.arrive 1, 64; mov.u32 %r0, 1; bra END;
        CONSUME: bar.sync 1, 64; ld.shared.u32 %r0, [tile];
        END:)",
                  64, {}, tile),
              threads([](uint32_t i) { return i < 32 ? 100 : 1; }, 64));
    // A producer may have exited when the consumer comes.
    EXPECT_EQ(run(R"(
        setp.lt.u32 %p1, %r60, 32; @%p1 bra CONSUME; st.shared.u32 [tile], 5; bar.arrive 1, 64; ret;
        CONSUME: nanosleep.u32 1; bar.sync 1, 64; ld.shared.u32 %r0, [tile];)",
                  64, {}, tile),
              threads([](uint32_t i) { return i < 32 ? 5 : poison; }, 64));
}

TEST(Barrier, begins_anew_with_each_block) {
    // Blocks 0 and 1 take turns in the same storage. Block 0 ends with half of its threads at barrier 1,
    // where all of block 1's must arrive: the second warp writes what the first one reads.
    EXPECT_EQ(run(R"(
        setp.lt.u32 %p1, %r60, 32; setp.eq.u32 %p2, %r61, 1; mov.u32 %r0, 3; @%p2 bra SECOND;
        @%p1 bar.arrive 1, 64; bra END;
        SECOND: @%p1 bra READ; st.shared.u32 [tile], 5;
        READ: bar.sync 1, 64; ld.shared.u32 %r0, [tile];
        END:)",
                  64, {}, tile, 2),
              threads([](uint32_t i) { return i < 64 ? 3 : 5; }, 128));
}

TEST(Barrier, does_not_wait_for_threads_that_have_exited) {
    EXPECT_EQ(run("setp.ge.u32 %p1, %r60, 70; @%p1 exit; mov.u32 %r0, 1; bar.sync 0;", 128),
              threads([](uint32_t i) { return i < 70 ? 1 : poison; }, 128));
    // They exit while the others already wait.
    EXPECT_EQ(run(R"(
        setp.lt.u32 %p1, %r60, 70; @%p1 bra MEET; mov.u32 %r5, 0;
        WORK: add.u32 %r5, %r5, 1; setp.lt.u32 %p2, %r5, 100; @%p2 bra WORK; exit;
        MEET: bar.sync 0; mov.u32 %r0, 1;)",
                  128),
              threads([](uint32_t i) { return i < 70 ? 1 : poison; }, 128));
    // With a number, a warp counts as a whole when the rest of it has exited: before, or afterwards.
    EXPECT_EQ(run(R"(
        and.b32 %r2, %r60, 16; setp.eq.u32 %p1, %r2, 0; @%p1 exit; mov.u32 %r0, 1; bar.sync 1, 64;)",
                  64),
              threads([](uint32_t i) { return i & 16 ? 1 : poison; }, 64));
    EXPECT_EQ(run(R"(
        and.b32 %r2, %r60, 16; setp.eq.u32 %p1, %r2, 0; @%p1 bra LEAVE; mov.u32 %r0, 1;
        bar.sync 1, 64; bra END;
        LEAVE: exit;
        END:)",
                  64),
              threads([](uint32_t i) { return i & 16 ? 1 : poison; }, 64));
}

TEST(Barrier, reduces_the_predicates_of_its_threads) {
    const auto reduced = [](const char* predicate, uint32_t count) {
        return run(std::string(predicate) + R"(
        bar.red.popc.u32 %r2, 0, %p1; bar.red.and.pred %p2, 0, %p1; bar.red.or.pred %p3, 0, %p1;
        bar.red.popc.u32 %r3, 0, !%p1;
        mad.lo.u32 %r0, %r2, 1000, %r3; mul.lo.u32 %r0, %r0, 4; @%p2 add.u32 %r0, %r0, 1;
        @%p3 add.u32 %r0, %r0, 2;)",
                   count);
    };
    const auto result = [](uint32_t count, uint32_t yes) {
        return Words(count, 4 * (1000 * yes + count - yes) + (yes == count) + 2 * (yes != 0));
    };
    for (const uint32_t count : {20u, 64u, 100u}) {
        EXPECT_EQ(reduced("setp.eq.u32 %p1, %r60, 3;", count), result(count, 1));
        EXPECT_EQ(reduced("setp.ne.u32 %p1, %r60, 3;", count), result(count, count - 1));
        EXPECT_EQ(reduced("setp.ge.u32 %p1, %r60, 0;", count), result(count, count));
        EXPECT_EQ(reduced("setp.lt.u32 %p1, %r60, 0;", count), result(count, 0));
    }
    // For one warp of two, and for a partial warp.
    EXPECT_EQ(run(R"(
        setp.lt.u32 %p1, %r60, 40; setp.lt.u32 %p4, %r60, 32; mov.u32 %r0, 9; @%p4 bra END;
        bar.red.popc.u32 %r0, 1, 32, %p1; bar.red.and.pred %p2, 1, 32, !%p4;
        @%p2 add.u32 %r0, %r0, 100;
        END:)",
                  50),
              threads([](uint32_t i) { return i < 32 ? 9 : 108; }, 50));
}

TEST(Barrier, may_be_reached_at_different_places) {
    EXPECT_EQ(run(R"(
        mov.u32 %r0, 2; setp.lt.u32 %p1, %r60, 50; @%p1 bra LOW; bar.sync 0; bra END;
        LOW: mov.u32 %r0, 1; bar.sync 0;
        END:)",
                  100),
              threads([](uint32_t i) { return i < 50 ? 1 : 2; }, 100));
}

TEST(BarrierDeadlock, is_reported_with_who_waits_where) {
    // Warp 0 waits at barrier 1 and warp 1 at barrier 2, each for 64 threads.
    const auto error = error_of([] {
        run(R"(
        setp.lt.u32 %p1, %r60, 32; @%p1 bra LOW; bar.sync 2, 64; bra END;
        LOW: bar.sync 1, 64;
        END:)",
            64);
    });
    EXPECT_EQ(error.failure(), Failure::launch_failure);
    EXPECT_THAT(error.what(), HasSubstr("no thread of block (0,0,0) of k can go on"));
    EXPECT_THAT(error.what(), HasSubstr("32 threads of warp 0 (from thread 0 to 31) wait at barrier 1"));
    EXPECT_THAT(error.what(), HasSubstr("LOW: bar.sync 1, 64;"));
    EXPECT_THAT(error.what(), HasSubstr("32 threads of warp 1 (from thread 32 to 63) wait at barrier 2"));
}

TEST(BarrierDeadlock, of_a_warp_barrier_is_reported_too) {
    const auto error = error_of([] {
        run("setp.lt.u32 %p1, %r60, 8; @%p1 bra LOW; bar.sync 0; bra END; LOW: bar.warp.sync -1; END:", 32,
            {}, "", 2);
    });
    EXPECT_EQ(error.failure(), Failure::launch_failure);
    EXPECT_THAT(
        error.what(),
        HasSubstr("8 threads of warp 0 (from thread 0 to 7) wait for the lanes that their mask names"));
    EXPECT_THAT(error.what(), HasSubstr("24 threads of warp 0 (from thread 8 to 31) wait at barrier 0"));
}

TEST(BarrierDeadlock, of_lanes_that_name_different_members_is_reported) {
    // Each waits for the other, who names somebody else as well. Both stop at once, and so wait once.
    const std::string error =
        error_of([] { run("shl.b32 %r2, 4, %r60; sub.u32 %r2, %r2, 1; bar.warp.sync %r2;", 2); }).what();
    EXPECT_THAT(error, HasSubstr("1 threads of warp 0 (from thread 0 to 0) wait for the lanes"));
    EXPECT_THAT(error, HasSubstr("1 threads of warp 0 (from thread 1 to 1) wait for the lanes"));
    EXPECT_LT(error.size(), 1000u);
}

TEST(BarrierDeadlock, of_too_few_threads_is_reported) {
    EXPECT_THAT(error_of([] { run("bar.sync 0, 96;", 64); }).what(), HasSubstr("wait at barrier 0"));
    EXPECT_THAT(error_of([] {
                    run("setp.lt.u32 %p1, %r60, 48; @!%p1 bra END; bar.sync 1, 64; END: bar.sync 0;", 80);
                }).what(),
                // Its other half is alive, and elsewhere.
                HasSubstr("16 threads of warp 1 (from thread 32 to 47) wait at barrier 1"));
}

TEST(Barrier, numbers_are_checked) {
    EXPECT_THAT(error_of([] { run("bar.sync 16;"); }).what(), HasSubstr("a block has barriers 0 to 15"));
    EXPECT_THAT(error_of([] { run("bar.sync 0, 40;"); }).what(), HasSubstr("multiple of the warp size"));
    EXPECT_THAT(error_of([] { run("bar.sync %r60;"); }).what(), HasSubstr("different barrier numbers"));
    EXPECT_THAT(error_of([] { run("bar.arrive 1, 0;"); }).what(), HasSubstr("at a barrier for 0 threads"));
    EXPECT_NO_THROW(run("bar.sync 0, 0;")) << "all threads";
}
