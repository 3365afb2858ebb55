#include <cuda_runtime_api.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "harness/check.hpp"
#include "harness/detail/measure.hpp"
#include "harness/exit_status.hpp"
#include "harness/launch_size.hpp"
#include "harness/lesson.hpp"
#include "harness/reduction.hpp"
#include "harness/verification.hpp"
#include "test_device.hpp"
#include "wrong_kernels.hpp"

using namespace harness;
using testing::AllOf, testing::ElementsAre, testing::HasSubstr, testing::ThrowsMessage;

namespace {

/// The device for timed runs: measure() takes it for a GPU, whatever it is.
Device as_gpu() {
    Device device = test_device();
    device.kind = DeviceKind::gpu;
    device.l2_bytes = 1 << 20;
    return device;
}

KernelResult measure_reduction(const char* name, std::function<void(const Pass&)> launch, std::size_t n,
                               unsigned int block = 256,
                               MeasurePlan plan = {.verify_only = true, .runs = 1}) {
    const RandomInts input(n, 42);
    Reduction reduction(name, input, block, {}, std::move(launch));
    return measure(test_device(), plan, name, reduction.launch_configuration(),
                   {.prepare = [&] { reduction.prepare(); },
                    .launch = [&] { reduction.launch_first(); },
                    .verify = [&] { return reduction.finish(); }});
}

TEST(DeviceBuffer, writes_and_reads) {
    DeviceBuffer<int> buffer(5);
    EXPECT_EQ(buffer.bytes(), 20u);
    buffer.write(std::vector<int>{1, 2, 3, 4, 5});
    buffer.write(std::vector<int>{30, 40}, 2);
    EXPECT_THAT(buffer.read(), ElementsAre(1, 2, 30, 40, 5));
    EXPECT_THAT(buffer.read(1, 2), ElementsAre(2, 30));
    DeviceBuffer<int> copy(5);
    copy.write(buffer);
    EXPECT_THAT(copy.read(), ElementsAre(1, 2, 30, 40, 5));
    copy.write_from_device(buffer.data() + 2, 2);
    EXPECT_THAT(copy.read(), ElementsAre(30, 40, 30, 40, 5));
}

TEST(Reduction, restores_the_input_of_a_kernel_that_works_in_place) {
    // One thread sums its block's elements in place: three passes of blocks of 32.
    const RandomInts input(5000, 42);
    Reduction reduction("sums_its_block_in_place", input, 32, {.in_place = true},
                        launch_sums_its_block_in_place);
    for (int run = 0; run < 2; ++run) {
        reduction.prepare();
        reduction.launch_first();
        const Verification result = reduction.finish();
        EXPECT_TRUE(result.passed) << "run " << run << ": " << result.actual;
    }
    EXPECT_EQ(input.device().read(), input.values(0, 5000)) << "the input that all kernels share";
    // Without a fresh copy the second launch would sum the first one's results.
    reduction.prepare();
    reduction.launch_first();
    reduction.launch_first();
    EXPECT_FALSE(reduction.finish().passed);
}

TEST(Reduction, has_no_copy_of_the_input_for_other_kernels) {
    const RandomInts input(100, 42);
    Reduction reduction("reduce2", input, 32, {}, [](const Pass& pass) {
        EXPECT_EQ(pass.work, nullptr);
        launch_reduce2(pass);
    });
    reduction.prepare();
    reduction.launch_first();
    EXPECT_TRUE(reduction.finish().passed);
}

TEST(DeviceBuffer, can_be_poisoned) {
    DeviceBuffer<unsigned char> buffer(3);
    buffer.poison();
    EXPECT_THAT(buffer.read(), ElementsAre(poison_byte, poison_byte, poison_byte));
}

TEST(DeviceBuffer, moves) {
    DeviceBuffer<int> first(2), second(1);
    first.write(std::vector<int>{7, 8});
    const int* data = first.data();
    second = std::move(first);
    const DeviceBuffer<int> third(std::move(second));
    EXPECT_EQ(third.data(), data);
    EXPECT_THAT(third.read(), ElementsAre(7, 8));
}

TEST(DeviceBuffer, says_how_much_memory_is_missing) {
    for (const std::size_t size : {std::size_t{1} << 50, std::size_t{1} << 62, ~std::size_t{0}}) {
        EXPECT_THAT(
            [&] { DeviceBuffer<int> buffer(size); },
            ThrowsMessage<DeviceError>(AllOf(HasSubstr("too little device memory"), HasSubstr("are free"),
                                             HasSubstr("cudaErrorMemoryAllocation"))));
    }
    EXPECT_EQ(cudaGetLastError(), cudaSuccess); // nothing is left for a later check to trip over
}

TEST(RandomInts, are_on_the_device_and_summed_across_chunks) {
    const std::size_t n = (1 << 22) + 3; // one chunk and three elements
    const RandomInts input(n, 7);
    const std::vector<int> values = input.device().read();
    EXPECT_EQ(values, input.values(0, n));
    EXPECT_EQ(input.sum(), reference_sum(values));
    EXPECT_THAT(input.values(n - 1, 1), ElementsAre(random_int(7, n - 1)));
}

TEST(RandomInts, may_start_anywhere_in_their_allocation) {
    const RandomInts input(100, 7, 3);
    EXPECT_EQ(input.size(), 100u);
    EXPECT_EQ(input.offset(), 3u);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(input.data()) % 256, 3 * sizeof(int));
    const std::vector<int> memory = input.device().read();
    ASSERT_EQ(memory.size(), 103u);
    EXPECT_EQ(std::vector<int>(memory.begin() + 3, memory.end()), RandomInts(100, 7).values(0, 100));
    EXPECT_EQ(input.sum(), RandomInts(100, 7).sum());
    for (int i = 0; i < 3; ++i) EXPECT_EQ(memory[i], int(0xA5A5A5A5)); // poisoned
    EXPECT_THAT([] { RandomInts(~std::size_t{0} - 2, 7, 3); },
                ThrowsMessage<DeviceError>(HasSubstr("too little device memory")));
}

TEST(ResidentBlocks, fill_every_multiprocessor) {
    int multiprocessors = 0, threads = 0;
    HARNESS_CHECK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
    HARNESS_CHECK(cudaDeviceGetAttribute(&threads, cudaDevAttrMaxThreadsPerMultiProcessor, 0));
    // reduce2 needs so few registers that threads limit the occupancy.
    EXPECT_EQ(resident_blocks_of_reduce2(256, 1024),
              static_cast<unsigned int>(multiprocessors) * (threads / 256));
    EXPECT_EQ(resident_blocks_of_reduce2(1024, 4096),
              static_cast<unsigned int>(multiprocessors) * (threads / 1024));
    // Two blocks of 40,000 bytes need more shared memory than threads would.
    EXPECT_LT(resident_blocks_of_reduce2(256, 40'000),
              static_cast<unsigned int>(multiprocessors) * (threads / 256));
}

TEST(WithBlockSize, gives_every_block_as_a_constant) {
    for (const unsigned int block : {32, 64, 128, 256, 512, 1024}) {
        unsigned int given = 0;
        with_block_size(block,
                        [&](auto block_size) { given = std::integral_constant<unsigned int, block_size>(); });
        EXPECT_EQ(given, block);
    }
    EXPECT_THAT([] { with_block_size(48, [](auto) {}); },
                ThrowsMessage<std::logic_error>(HasSubstr("no kernel is compiled for blocks of 48")));
}

TEST(Check, names_the_call_the_place_and_the_error) {
    EXPECT_THAT([] { HARNESS_CHECK(cudaMemcpy(nullptr, nullptr, 1, cudaMemcpyKind(99))); },
                ThrowsMessage<DeviceError>(AllOf(HasSubstr("measure_test.cpp:"),
                                                 HasSubstr("cudaMemcpy(nullptr, nullptr, 1"),
                                                 HasSubstr("returned cudaErrorInvalid"))));
    EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

TEST(Check, finds_a_launch_that_was_refused) {
    EXPECT_THAT([] { measure_reduction("reduce2", launch_reduce2, 100, 2048); },
                ThrowsMessage<DeviceError>(HasSubstr("reduce2 could not be launched: cudaErrorInvalid")));
}

TEST(Reduction, verifies_a_right_kernel) {
    const KernelResult result = measure_reduction("reduce2", launch_reduce2, 100'003);
    EXPECT_TRUE(result.verification.passed);
    EXPECT_EQ(result.verification.actual, RandomInts(100'003, 42).sum());
    EXPECT_EQ(result.launch.grid.x, 391u); // 100,003 elements in blocks of 256
    EXPECT_EQ(result.launch.block.x, 256u);
    EXPECT_EQ(result.launch.dynamic_shared_bytes, 1024u);
    EXPECT_EQ(result.launch.bytes, (100'003u + 391u) * 4);
    EXPECT_EQ(result.launch.passes, 3u); // 391 partial sums, then 2, then 1
}

TEST(Reduction, gives_every_pass_memory_of_its_own_and_aligned_as_from_cudaMalloc) {
    std::vector<Pass> passes;
    measure_reduction(
        "reduce2",
        [&](const Pass& pass) {
            passes.push_back(pass);
            launch_reduce2(pass);
        },
        100'003);
    ASSERT_EQ(passes.size(), 3u);
    for (std::size_t i = 0; i < passes.size(); ++i) {
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(passes[i].partial_sums) % 256, 0u);
        if (i == 0) continue;
        EXPECT_EQ(passes[i].input, passes[i - 1].partial_sums);
        EXPECT_EQ(passes[i].n, passes[i - 1].grid);
        EXPECT_GE(passes[i].partial_sums, passes[i - 1].partial_sums + passes[i - 1].grid);
    }
}

TEST(Reduction, finds_a_lost_tail) {
    EXPECT_TRUE(measure_reduction("drops_the_tail", launch_drops_the_tail, 65'536).verification.passed);
    const Verification result = measure_reduction("drops_the_tail", launch_drops_the_tail, 1000).verification;
    EXPECT_FALSE(result.passed);
    EXPECT_NE(result.expected, result.actual);
    ASSERT_EQ(result.wrong_places.size(), 1u);
    EXPECT_THAT(
        result.wrong_places[0],
        AllOf(HasSubstr("pass 1, block 3 (elements 768 to 999 of 1,000): expected "), HasSubstr(", got 0")));
}

TEST(Reduction, tells_the_total_where_blocks_have_elements_here_and_there) {
    const RandomInts input(1000, 42);
    Reduction reduction("drops_the_tail", input, 256, {.most_blocks = 100}, launch_drops_the_tail);
    reduction.prepare();
    reduction.launch_first();
    EXPECT_THAT(reduction.finish().wrong_places,
                ElementsAre(HasSubstr("pass 1, the total of 4 blocks (1,000 elements): expected ")));
}

TEST(Reduction, finds_a_mistake_in_a_later_pass) {
    // The first pass is full, 300 blocks of 256; the second sums 300 values and loses 44.
    const Verification result =
        measure_reduction("drops_the_tail", launch_drops_the_tail, 76'800).verification;
    EXPECT_FALSE(result.passed);
    EXPECT_THAT(result.wrong_places,
                ElementsAre(HasSubstr("pass 2, block 1 (elements 256 to 299 of 300): expected")));
}

TEST(RandomInts, have_the_sum_of_any_part) {
    // Whole pieces of 256 and parts of them; from the start of a piece, and from within one.
    const RandomInts input(1000, 42, 3);
    EXPECT_EQ(input.sum(), reference_sum(input.values(0, 1000)));
    for (const std::size_t first : {0, 1, 255, 256, 300, 512, 768, 999}) {
        for (const std::size_t count : {0, 1, 32, 255, 256, 257, 512, 600, 1000}) {
            if (first + count > 1000) continue;
            EXPECT_EQ(input.sum(first, count), reference_sum(input.values(first, count)))
                << first << ", " << count;
        }
    }
}

TEST(Reduction, checks_each_pass_before_the_next_one) {
    // The complete sum is right, and in the end each partial sum is too: 4 blocks, then 1.
    void (*const launch)(const Pass&) = launch_sums_in_the_last_pass;
    const Verification result = measure_reduction("sums_in_the_last_pass", launch, 1000).verification;
    EXPECT_FALSE(result.passed);
    ASSERT_EQ(result.wrong_places.size(), 4u);
    EXPECT_THAT(result.wrong_places[0],
                AllOf(HasSubstr("pass 1, block 0 (elements 0 to 255 of 1,000): "), HasSubstr(", got 0")));
    EXPECT_EQ(result.expected, reference_sum(RandomInts(256, 42).values(0, 256)))
        << "of the first wrong block";
    EXPECT_EQ(result.actual, 0);

    const RandomInts input(1000, 42);
    Reduction free("sums_in_the_last_pass", input, 256, {.most_blocks = 100}, launch);
    free.prepare();
    free.launch_first();
    EXPECT_THAT(free.finish().wrong_places,
                ElementsAre(AllOf(HasSubstr("pass 1, the total of 4 blocks"), HasSubstr(", got 0"))));
}

TEST(Reduction, finds_a_missing_barrier) {
    const Verification result =
        measure_reduction("lacks_a_barrier", launch_lacks_a_barrier, 1 << 14).verification;
    EXPECT_FALSE(result.passed);
    EXPECT_EQ(result.wrong_places.size(), most_wrong_places);
}

TEST(Reduction, finds_an_output_that_is_never_written) {
    const Verification result = measure_reduction("leaves_one_out", launch_leaves_one_out, 1000).verification;
    EXPECT_FALSE(result.passed);
    EXPECT_THAT(result.wrong_places,
                ElementsAre(AllOf(HasSubstr("pass 1, block 3"), HasSubstr("never written"))));
}

TEST(Reduction, finds_an_output_that_only_an_earlier_run_wrote) {
    bool first = true;
    const auto writes_once = [&](const Pass& pass) {
        if (std::exchange(first, false)) launch_reduce2(pass);
    };
    EXPECT_FALSE(measure_reduction("writes_once", writes_once, 100, 256, {.verify_only = true, .runs = 2})
                     .verification.passed);
}

/// Writes down the order of the steps. The result of run `wrong_run`, counted from 1, is wrong.
struct Steps {
    int wrong_run = 0;
    std::string order = "";
    int runs = 0;

    std::function<void()> prepare = [this] { order += 'p'; };
    std::function<void()> launch = [this] { order += 'l'; };
    std::function<void()> launch_rest = [this] { order += 'r'; };
    std::function<Verification()> verify = [this] {
        order += 'v';
        return compare_value(0, ++runs == wrong_run);
    };

    RunSteps steps() const { return {.prepare = prepare, .launch = launch, .verify = verify}; }
};

TEST(Measure, verifies_every_run) {
    Steps once, thrice;
    EXPECT_TRUE(
        measure(test_device(), {.verify_only = true, .runs = {}}, "k", {}, once.steps()).verification.passed);
    EXPECT_EQ(once.order, "plv");
    EXPECT_TRUE(measure(test_device(), {.verify_only = true, .runs = 3}, "k", {}, thrice.steps())
                    .verification.passed);
    EXPECT_EQ(thrice.order, "plvplvplv");
}

TEST(Measure, verifies_all_passes_as_they_are_timed) {
    Steps checked, timed, wrong{.wrong_run = 1};
    const auto with_rest = [](Steps& steps) {
        RunSteps all = steps.steps();
        all.launch_rest = steps.launch_rest;
        return all;
    };
    measure(test_device(), {.verify_only = true, .runs = 2}, "k", {}, with_rest(checked));
    EXPECT_EQ(checked.order, "plvplrv");
    measure(as_gpu(), {.verify_only = false, .runs = 2}, "k", {}, with_rest(timed));
    EXPECT_EQ(timed.order, "plvplvplvplrvplrv");
    measure(test_device(), {.verify_only = true, .runs = 2}, "k", {}, with_rest(wrong));
    EXPECT_EQ(wrong.order, "plv") << "after a wrong run";
}

TEST(Measure, stops_at_a_wrong_run) {
    Steps steps{.wrong_run = 2};
    EXPECT_FALSE(
        measure(test_device(), {.verify_only = true, .runs = 5}, "k", {}, steps.steps()).verification.passed);
    EXPECT_EQ(steps.order, "plvplv");
}

TEST(Measure, times_after_a_warm_up_on_a_gpu) {
    Steps steps;
    const KernelResult result = measure(as_gpu(), {.verify_only = false, .runs = 4}, "k", {}, steps.steps());
    EXPECT_EQ(steps.order, "plvplvplvplvplv");
    ASSERT_TRUE(result.times);
    EXPECT_EQ(result.times->runs, 4u);
    EXPECT_TRUE(result.times->cold_cache);
    EXPECT_LE(result.times->min, result.times->median);
    EXPECT_FALSE(result.counters);
}

TEST(Measure, gives_a_wrong_result_no_time) {
    for (const int wrong_run : {1, 2, 3}) {
        Steps steps{.wrong_run = wrong_run};
        EXPECT_FALSE(measure(as_gpu(), {.verify_only = false, .runs = 4}, "k", {}, steps.steps()).times);
        EXPECT_EQ(steps.order.size(), 3u * wrong_run);
    }
}

TEST(Measure, verifies_once_by_default) {
    Steps steps;
    measure(as_gpu(), {.verify_only = true, .runs = {}}, "k", {}, steps.steps());
    EXPECT_EQ(steps.order, "plv");
}

TEST(Measure, finds_in_place_input_that_was_not_restored) {
    const std::size_t n = 100;
    const RandomInts input(n, 42);
    DeviceBuffer<int> data(n);
    const auto run = [&](bool restore) {
        data.write(input.device());
        return measure(test_device(), {.verify_only = true, .runs = 2}, "sums_in_place", {},
                       {.prepare =
                            [&] {
                                if (restore) data.write(input.device());
                            },
                        .launch = [&] { launch_sums_in_place(data.data(), n); },
                        .verify = [&] { return compare_value(input.sum(), data.read(0, 1).front()); }});
    };
    EXPECT_TRUE(run(true).verification.passed);
    EXPECT_FALSE(run(false).verification.passed);
}

TEST(CountersOnEmulator, are_those_of_the_first_pass_alone) {
    const KernelResult result =
        measure_reduction("reduce2", launch_reduce2, 10'000, 256, {.verify_only = false, .runs = 2});
    ASSERT_TRUE(result.counters);
    // 10,000 x 4 bytes are 1250 sectors; the second pass would load 5 more for its 40 partial sums.
    EXPECT_EQ(find_counter(*result.counters, "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"), 1250u);
    EXPECT_FALSE(result.times);
}

TEST(Measure, counts_nothing_when_only_verifying) {
    EXPECT_FALSE(measure_reduction("reduce2", launch_reduce2, 10'000).counters);
}

TEST(CountersOnEmulator, have_all_the_names_that_tables_show) {
    measure_reduction("reduce2", launch_reduce2, 10);
    const Counters counters = last_launch_counters();
    EXPECT_EQ(counters.size(), known_counters().size());
    for (const KnownCounter& known : known_counters())
        EXPECT_TRUE(find_counter(counters, known.name)) << known.name;
    EXPECT_FALSE(find_counter(counters, "no such counter"));
}

} // namespace
