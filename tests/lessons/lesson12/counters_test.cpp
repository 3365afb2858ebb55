#include <gmock/gmock.h>

#include <vector>

#include "gmem_smem_counters.hpp"

namespace gmem_smem_counters {

TEST(Lesson12PublishedSectors, are_reproduced_to_the_digit) {
    expect_published_sectors({
        {"lesson12", "reduceSmem", 2'097'152, 65'536},
        {"lesson12", "reduceSmemDyn", 2'097'152, 65'536},
        {"lesson12", "reduceSmemUnroll", 2'097'152, 16'384},
        {"lesson12", "reduceSmemUnrollDyn", 2'097'152, 16'384},
    });
}

TEST(Lesson12GmemAndSmemCounters, follow_from_the_access_pattern) {
    expect_counters({
        // clang-format off
    {"lesson12", "reduceSmemDyn", mega, 256, many, {131'072, many}, {32'768, many}, sequential_256, 3},
    {"lesson12", "reduceSmemUnrollDyn", mega, 256, few, {131'072, few}, {32'768, few}, sequential_256, 3},
    {"lesson12", "reduceSmemDyn", 1000, 128, 8, {125, 8}, {32, 8}, sequential_128, 2},
    {"lesson12", "reduceSmemUnrollDyn", 1000, 128, 2, {125, 2}, {32, 2}, sequential_128, 2},
    {"lesson12", "reduceSmemUnrollDyn", 612, 128, 2, {77, 2}, {20, 2}, sequential_128, 2},
    {"lesson12", "reduceSmemDyn", 65, 32, 3, {9, 3}, {3, 3}, of_32, 1},
    {"lesson12", "reduceSmemUnrollDyn", 65, 32, 1, {9, 1}, {3, 1}, of_32, 1},
        // clang-format on
    });
}

TEST(Lesson12Divergence, follows_from_the_conditions) {
    expect_divergence({
        {"lesson12", "reduceSmemDyn", 4096},
        {"lesson12", "reduceSmemUnrollDyn", 1024},
    });
}

// Whether the compiler or the launch determines the array's size makes no difference to any counter.
TEST(Lesson12DynamicSharedMemory, has_all_the_counters_of_static_shared_memory) {
    const auto counters = [](const char* kernel) {
        const Launch launch("lesson12", kernel, arguments(100'003, 128));
        std::vector<std::uint64_t> values;
        for (const char* operation : {"ld", "st"}) {
            values.insert(values.end(), {launch.sectors(operation), launch.requests(operation),
                                         launch.wavefronts(operation), launch.conflicts(operation)});
        }
        for (const char* name : {"smsp__inst_executed", "smsp__thread_inst_executed",
                                 "smsp__sass_branch_targets_threads_divergent"})
            values.push_back(launch.counter(name));
        return values;
    };
    EXPECT_EQ(counters("reduceSmemDyn"), counters("reduceSmem"));
    EXPECT_EQ(counters("reduceSmemUnrollDyn"), counters("reduceSmemUnroll"));
}

// What lesson 12's page reports of the launch: the bytes only if they are dynamic.
TEST(Lesson12DynamicSharedMemory, is_asked_for_by_the_launch) {
    const ProgramResult result = run_lesson("lesson12", "--n 1000 --block 512 --format json");
    ASSERT_EQ(result.status, 0) << result.err;
    const nlohmann::json kernels = nlohmann::json::parse(result.out)["kernels"];
    ASSERT_EQ(kernels.size(), 4u);
    for (const nlohmann::json& kernel : kernels) {
        const bool is_dynamic = kernel["name"].get<std::string>().ends_with("Dyn");
        EXPECT_EQ(kernel["dynamic_shared_bytes"], is_dynamic ? 2048 : 0) << kernel["name"];
    }
}

} // namespace gmem_smem_counters
