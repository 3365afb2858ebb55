// Clusters: their blocks run together, see each other's shared memory, and have a barrier together. What
// addresses and ranks look like was seen on an H200.

#include "ptx_fixture.hpp"

#include <gmock/gmock.h>

#include <algorithm>

using namespace emulator::fixture;
using emulator::Dim3, emulator::Failure, emulator::LaunchConfiguration, emulator::Metric;
using std::uint32_t, std::uint64_t;
using testing::AllOf, testing::ElementsAre, testing::HasSubstr, testing::Not;

namespace {

constexpr const char* tile = ".shared .u32 tile[1024];";
constexpr const char* cluster_sync = "barrier.cluster.arrive; barrier.cluster.wait;";

LaunchConfiguration in_clusters(LaunchConfiguration configuration, Dim3 cluster) {
    configuration.cluster = cluster;
    return configuration;
}

/// Runs `body` in clusters of `cluster` blocks, and returns what each thread leaves in %r0.
Words run_clusters(const std::string& body, uint32_t threads, uint32_t blocks, uint32_t cluster,
                   const emulator::RunOptions& options = {.host_threads = 1}) {
    Program program(module_of("mul.wide.u32 %rd63, %r62, 4; add.s64 %rd60, %rd60, %rd63;" + body +
                                  " st.global.u32 [%rd60], %r0;",
                              tile));
    auto* const words = program.allocate<uint32_t>(threads * blocks);
    program.launch("k", in_clusters(grid_of(threads, blocks), {cluster, 1, 1}), {words}, options);
    return {words, words + threads * blocks};
}

/// Each thread writes its index in the grid to shared memory, and reads that of the same thread in the next
/// block of the cluster. %r10 is the own word's address.
std::string from_the_next(const std::string& read) {
    return "mov.u32 %r10, tile; mad.lo.u32 %r10, %r60, 4, %r10; st.shared.u32 [%r10], %r62;"
           "mov.u32 %r11, %cluster_ctarank; mov.u32 %r12, %cluster_nctarank; add.u32 %r11, %r11, 1;"
           "rem.u32 %r11, %r11, %r12;" +
           std::string(cluster_sync) + read + cluster_sync;
}
constexpr const char* read_32 =
    "mapa.shared::cluster.u32 %r13, %r10, %r11; ld.shared::cluster.u32 %r0, [%r13];";

Words next_ones(uint32_t threads, uint32_t blocks, uint32_t cluster) {
    Words expected;
    for (uint32_t block = 0; block < blocks; ++block)
        for (uint32_t thread = 0; thread < threads; ++thread)
            expected.push_back((block / cluster * cluster + (block + 1) % cluster) * threads + thread);
    return expected;
}

/// The error of a launch that runs or is refused.
emulator::Error error_in_clusters(const std::string& body, uint32_t threads, uint32_t blocks,
                                  uint32_t cluster) {
    return error_of([&] { run_clusters(body, threads, blocks, cluster); });
}

} // namespace

TEST(Cluster, barriers_are_executed_once_by_those_that_wait) {
    const auto instructions = [](const char* body) {
        Program program(module_of(body));
        return program.launch("k", in_clusters(grid_of(32, 2), {2, 1, 1}))[Metric::warp_instructions];
    };
    EXPECT_EQ(instructions(cluster_sync), instructions("") + 2 * 2); // arrive and wait, in two warps
}

TEST(Cluster, blocks_read_each_others_shared_memory) {
    const char* const reads[] = {
        read_32,
        "cvt.u64.u32 %rd1, %r10; cvta.shared.u64 %rd1, %rd1; mapa.u64 %rd1, %rd1, %r11; ld.u32 %r0, [%rd1];",
        "cvt.u64.u32 %rd1, %r10; mapa.shared::cluster.u64 %rd1, %rd1, %r11; "
        "atom.shared::cluster.cluster.add.u32 "
        "%r0, [%rd1], 0;"};
    for (const char* const read : reads)
        for (const uint32_t cluster : {1u, 2u, 3u, 8u})
            EXPECT_EQ(run_clusters(from_the_next(read), 70, 24, cluster), next_ones(70, 24, cluster))
                << cluster << read;
}

TEST(Cluster, runs_in_any_order_and_on_any_number_of_threads) {
    for (uint64_t seed = 0; seed < 20; ++seed)
        EXPECT_EQ(run_clusters(from_the_next(read_32), 40, 30, 3, {.schedule = seed}), next_ones(40, 30, 3));
    for (const unsigned int host_threads : {2u, 5u})
        EXPECT_EQ(run_clusters(from_the_next(read_32), 40, 999, 3, {.host_threads = host_threads}),
                  next_ones(40, 999, 3));
}

TEST(Cluster, stores_and_atomics_go_to_the_other_block) {
    const std::string body =
        "mov.u32 %r10, tile; mov.u32 %r1, 100; st.shared.u32 [%r10], %r1; mov.u32 %r2, 0; " +
        std::string(cluster_sync) +
        "mapa.shared::cluster.u32 %r13, %r10, 1; red.shared::cluster.add.u32 [%r13], 1;"
        "setp.eq.u32 %p1, %r62, 0; @%p1 st.shared::cluster.u32 [%r13+8], 7; " +
        cluster_sync + "ld.shared.u32 %r0, [%r10]; ld.shared.u32 %r1, [%r10+8]; add.u32 %r0, %r0, %r1;";
    const Words words = run_clusters("mov.u32 %r9, tile; st.shared.u32 [%r9+8], 0;" + body, 1, 2, 2);
    EXPECT_THAT(words, ElementsAre(100u, 100u + 2 + 7));
}

TEST(Cluster, own_addresses_mean_the_same_to_the_others) {
    // Block 1 writes the address of its variable to block 0, which reads through it.
    const std::string body = "mov.u32 %r10, tile; st.shared.u32 [%r10], 5; setp.eq.u32 %p1, %r61, 1;"
                             "@%p1 st.shared.u32 [%r10], 9; mapa.shared::cluster.u32 %r11, %r10, 0;" +
                             std::string("@%p1 st.shared::cluster.u32 [%r11+4], %r10;") + cluster_sync +
                             "mov.u32 %r0, 0; @!%p1 ld.shared.u32 %r12, [%r10+4];"
                             "@!%p1 ld.shared::cluster.u32 %r0, [%r12];" +
                             cluster_sync;
    EXPECT_THAT(run_clusters(body, 1, 2, 2), ElementsAre(9u, 0u));
}

TEST(Cluster, tells_whose_an_address_is) {
    const std::string test =
        "mov.u32 %r10, tile; cvt.u64.u32 %rd1, %r10; cvta.shared.u64 %rd1, %rd1;"
        "mapa.u64 %rd2, %rd1, 1; getctarank.u64 %r0, %rd2; getctarank.shared::cluster.u32 "
        "%r1, %r10; mad.lo.u32 %r0, %r0, 10, %r1;";
    EXPECT_THAT(run_clusters(test, 1, 2, 2), ElementsAre(10u, 11u));
    const auto is_space = [&](const std::string& space) {
        return run_clusters(test + "isspacep." + space + " %p1, %rd2; selp.u32 %r0, 1, 0, %p1;", 1, 2, 2);
    };
    EXPECT_THAT(is_space("shared::cluster"), ElementsAre(1u, 1u));
    EXPECT_THAT(is_space("shared::cta"), ElementsAre(0u, 1u));
    EXPECT_THAT(is_space("shared"), ElementsAre(0u, 1u));
    EXPECT_THAT(is_space("global"), ElementsAre(0u, 0u));
}

TEST(Cluster, has_places_and_ranks) {
    const auto read = [](const std::string& name) {
        Program program(
            module_of("mad.lo.u32 %r5, %ctaid.y, 4, %r61; mul.wide.u32 %rd1, %r5, 4; add.u64 %rd1, "
                      "%rd60, %rd1; mov.u32 %r0, %" +
                      name + "; st.global.u32 [%rd1], %r0;"));
        auto* const words = program.allocate<uint32_t>(24);
        LaunchConfiguration configuration = in_clusters(grid_of(1, 4), {2, 3, 1});
        configuration.grid = {4, 6, 1};
        program.launch("k", configuration, {words});
        return Words{words[0], words[1], words[4], words[11], words[23]}; // (0,0), (1,0), (0,1), (3,2), (3,5)
    };
    EXPECT_THAT(read("cluster_ctarank"), ElementsAre(0u, 1u, 2u, 5u, 5u)); // x + 2 y
    EXPECT_THAT(read("cluster_ctaid.x"), ElementsAre(0u, 1u, 0u, 1u, 1u));
    EXPECT_THAT(read("cluster_ctaid.y"), ElementsAre(0u, 0u, 1u, 2u, 2u));
    EXPECT_THAT(read("clusterid.x"), ElementsAre(0u, 0u, 0u, 1u, 1u));
    EXPECT_THAT(read("clusterid.y"), ElementsAre(0u, 0u, 0u, 0u, 1u));
    EXPECT_THAT(read("nclusterid.x"), ElementsAre(2u, 2u, 2u, 2u, 2u));
    EXPECT_THAT(read("cluster_nctaid.y"), ElementsAre(3u, 3u, 3u, 3u, 3u));
    EXPECT_THAT(read("cluster_nctarank"), ElementsAre(6u, 6u, 6u, 6u, 6u));
}

TEST(Cluster, is_of_one_block_where_none_is_asked_for) {
    EXPECT_EQ(
        run("mov.u32 %r0, %cluster_nctarank; mov.pred %p1, %is_explicit_cluster; @%p1 add.u32 %r0, %r0, 10;" +
                std::string(cluster_sync),
            1, {}, "", 2),
        (Words{1, 1}));
    EXPECT_EQ(
        run_clusters("mov.u32 %r0, 0; mov.pred %p1, %is_explicit_cluster; @%p1 mov.u32 %r0, 1;", 1, 2, 1),
        (Words{1, 1}));
}

TEST(ClusterBarrier, may_be_split_and_forgets_exited_threads) {
    // Between arriving and waiting the threads go on; those of odd blocks exit before.
    const std::string body =
        "mov.u32 %r11, %cluster_ctarank; and.b32 %r12, %r11, 1; setp.eq.u32 %p1, %r12, 1;"
        "mov.u32 %r0, 7; @%p1 st.global.u32 [%rd60], %r0; @%p1 exit;"
        "barrier.cluster.arrive.relaxed.aligned; add.u32 %r0, %r0, 1; bar.sync 0;"
        "barrier.cluster.wait.acquire.aligned; barrier.cluster.arrive.release;"
        "barrier.cluster.wait;";
    Words expected(70 * 4, 8);
    std::fill_n(expected.begin() + 70, 70, 7);
    std::fill_n(expected.begin() + 210, 70, 7);
    EXPECT_EQ(run_clusters(body, 70, 4, 4), expected);
}

TEST(ClusterBarrier, refuses_arriving_twice_and_waiting_without_arriving) {
    const auto twice = error_in_clusters("barrier.cluster.arrive; barrier.cluster.arrive;", 1, 2, 2);
    EXPECT_EQ(twice.failure(), Failure::launch_failure);
    EXPECT_THAT(twice.what(), HasSubstr("has already arrived at the cluster barrier"));
    EXPECT_THAT(error_in_clusters("barrier.cluster.wait;", 1, 2, 2).what(),
                HasSubstr("without having arrived there"));
}

TEST(ClusterBarrier, that_can_never_complete_is_an_error) {
    const auto error = error_in_clusters(
        "setp.eq.u32 %p1, %r62, 0; @%p1 bar.sync 1, 64; " + std::string(cluster_sync), 32, 2, 2);
    EXPECT_EQ(error.failure(), Failure::launch_failure);
    EXPECT_THAT(error.what(), HasSubstr("wait at barrier 1"));
    EXPECT_THAT(error.what(),
                HasSubstr("31 threads of warp 0 (from thread 1 to 31) wait at the cluster barrier"));
}

TEST(Cluster, of_a_wrong_size_is_refused) {
    const std::string nothing = "mov.u32 %r0, 0;";
    for (const auto& [blocks, cluster] : {std::pair{3u, 2u}, {9u, 9u}, {16u, 16u}, {4u, 0u}})
        EXPECT_EQ(error_in_clusters(nothing, 1, blocks, cluster).failure(), Failure::invalid_cluster)
            << blocks << ' ' << cluster;
    EXPECT_THAT(error_in_clusters(nothing, 1, 3, 2).what(),
                HasSubstr("a grid of 3 x 1 x 1 blocks in clusters of 2 x 1 x 1"));

    const auto launch = [](const std::string& attributes, std::optional<Dim3> cluster, uint32_t limit) {
        Program program(".version 8.5\n.target sm_90\n.address_size 64\n.visible .entry k() " + attributes +
                        " { ret; }");
        LaunchConfiguration configuration = grid_of(1, 48);
        configuration.cluster = cluster;
        configuration.cluster_limit = limit;
        program.launch("k", configuration);
    };
    EXPECT_NO_THROW(launch(".explicitcluster .reqnctapercluster 4", {}, 8));
    EXPECT_NO_THROW(launch(".explicitcluster .reqnctapercluster 4, 1, 1", Dim3{4, 1, 1}, 8));
    EXPECT_NO_THROW(launch(".explicitcluster", Dim3{6, 1, 1}, 8));
    EXPECT_NO_THROW(launch("", Dim3{16, 1, 1}, 16));
    EXPECT_NO_THROW(launch(".maxclusterrank 4", Dim3{4, 1, 1}, 8));
    struct Wrong { // whose names a lambda may capture, unlike those of a structured binding in clang 14
        std::string attributes;
        std::optional<Dim3> cluster;
    };
    const Wrong wrong_ones[] = {{".explicitcluster .reqnctapercluster 4", Dim3{2, 1, 1}},
                                {".explicitcluster .reqnctapercluster 16", {}},
                                {".explicitcluster", {}},
                                {".maxclusterrank 4", Dim3{8, 1, 1}}};
    for (const Wrong& wrong : wrong_ones)
        EXPECT_EQ(error_of([&] { launch(wrong.attributes, wrong.cluster, 8); }).failure(),
                  Failure::invalid_cluster)
            << wrong.attributes;
}

TEST(Cluster, refuses_what_lies_in_no_blocks_shared_memory) {
    const std::string map = "mov.u32 %r10, tile; mapa.shared::cluster.u32 %r13, %r10, ";
    const auto beyond =
        error_in_clusters(map + "1; ld.shared::cluster.u32 %r0, [%r13+4096];" + cluster_sync, 1, 2, 2);
    EXPECT_EQ(beyond.failure(), Failure::illegal_address);
    EXPECT_THAT(beyond.what(), HasSubstr("illegal 4-byte load from shared memory of the cluster's block 1 at "
                                         "0x1000: that block has 4,096 bytes"));
    const auto nobody =
        error_in_clusters(map + "2; ld.shared::cluster.u32 %r0, [%r13];" + cluster_sync, 1, 2, 2);
    EXPECT_EQ(nobody.failure(), Failure::launch_failure);
    EXPECT_THAT(nobody.what(), HasSubstr("the cluster has 2 blocks"));
    const auto exited =
        error_in_clusters(map + "1; setp.eq.u32 %p1, %r61, 1; mov.u32 %r0, 0; @%p1 exit; " +
                              std::string(cluster_sync) + "ld.shared::cluster.u32 %r0, [%r13];",
                          1, 2, 2);
    EXPECT_EQ(exited.failure(), Failure::launch_failure);
    EXPECT_THAT(exited.what(), HasSubstr("all threads of block (1,0,0) have exited"));
    // Without ::cluster an address must be in the block's own memory.
    EXPECT_EQ(error_in_clusters(map +
                                    "1; setp.eq.u32 %p1, %r61, 0; mov.u32 %r0, 0; @%p1 ld.shared.u32 %r0, "
                                    "[%r13];" +
                                    cluster_sync,
                                1, 2, 2)
                  .failure(),
              Failure::illegal_address);
}

TEST(Cluster, counts_only_accesses_to_the_blocks_own_shared_memory) {
    const auto wavefronts = [](const std::string& rank) {
        Program program(
            module_of("mov.u32 %r10, tile; mad.lo.u32 %r10, %r60, 4, %r10; mov.u32 %r11, "
                      "%cluster_ctarank; xor.b32 %r12, %r11, 1; mapa.shared::cluster.u32 %r13, %r10, " +
                          rank + "; st.shared::cluster.u32 [%r13], 1;" + cluster_sync +
                          "ld.shared::cluster.u32 %r0, [%r13]; st.global.u32 [%rd60], %r0;" + cluster_sync,
                      tile));
        const auto counters =
            program.launch("k", in_clusters(grid_of(32, 6), {2, 1, 1}), {program.allocate<uint32_t>(1)});
        return std::pair{counters[Metric::shared_load_wavefronts], counters[Metric::shared_store_wavefronts]};
    };
    EXPECT_EQ(wavefronts("%r11"), (std::pair<uint64_t, uint64_t>{6, 6})); // one a block
    EXPECT_EQ(wavefronts("%r12"), (std::pair<uint64_t, uint64_t>{0, 0}));
}

// ---- mbarriers of other blocks ----

namespace {

/// Block 0 of two waits at its mbarrier for one arrival; block 1 does `other`. %r14 is the mbarrier's address
/// in block 0.
std::string waits_for_the_other(const std::string& other) {
    return ".shared .align 8 .b64 bar; mov.u32 %r11, %cluster_ctarank; mov.u32 %r10, bar; "
           "setp.eq.u32 %p1, %r60, 0; mapa.shared::cluster.u32 %r14, %r10, 0; "
           "@%p1 mbarrier.init.shared.b64 [%r10], 1;" +
           std::string(cluster_sync) +
           "setp.ne.u32 %p2, %r11, 0; mov.u32 %r0, 1; @%p2 bra OTHER; "
           "WAIT: mbarrier.try_wait.parity.shared.b64 %p5, [%r10], 0; @!%p5 bra WAIT; bra END; OTHER:" +
           other + "END:" + cluster_sync;
}

} // namespace

TEST(ClusterMbarrier, is_arrived_at_by_another_block_after_a_long_time) {
    const std::string other = "mov.u32 %r20, 0; COUNT: add.u32 %r20, %r20, 1; setp.lt.u32 %p6, %r20, 400000; "
                              "@%p6 bra COUNT; "
                              "@%p1 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r14];";
    EXPECT_EQ(run_clusters(waits_for_the_other(other), 32, 2, 2), Words(64, 1));
    EXPECT_EQ(run_clusters(waits_for_the_other(other), 32, 2, 2, {.schedule = 2}), Words(64, 1));
}

TEST(ClusterMbarrier, that_nobody_arrives_at_is_a_deadlock_of_its_block) {
    EXPECT_THAT(error_in_clusters(waits_for_the_other(""), 32, 2, 2).what(),
                AllOf(HasSubstr("no thread of block (0,0,0) of k can go on"),
                      HasSubstr("wait at the mbarrier at 0x0"), HasSubstr("which lacks 1 of 1 arrival")));
}

TEST(ClusterMbarrier, is_not_blamed_where_the_other_block_waits_for_itself) {
    EXPECT_THAT(error_in_clusters(waits_for_the_other("bar.sync 1, 64;"), 32, 2, 2).what(),
                AllOf(HasSubstr("no thread of block (1,0,0) of k can go on"), HasSubstr("wait at barrier 1"),
                      Not(HasSubstr("mbarrier"))));
}
