// The counters of lessons 10 to 12, to the digit: first as published, then as they follow from each kernel's
// access pattern.
#include "gmem_smem_counters.hpp"

#include <string>

namespace gmem_smem_counters {

void expect_published_sectors(std::initializer_list<Published> cases) {
    for (const auto& [lesson, kernel, loads, stores] : cases) {
        SCOPED_TRACE(kernel);
        const Launch launch(lesson, kernel, arguments(published_n, 256));
        EXPECT_EQ(launch.sectors("ld"), loads);
        EXPECT_EQ(launch.sectors("st"), stores);
    }
}

void expect_counters(std::initializer_list<Case> cases) {
    for (const Case& expected : cases) {
        const std::string its_arguments = arguments(expected.n, expected.block);
        SCOPED_TRACE(expected.kernel + its_arguments);
        const Launch launch(expected.lesson, expected.kernel, its_arguments);
        EXPECT_EQ(launch.blocks(), expected.blocks);
        EXPECT_EQ(launch.sectors("ld"), expected.sectors.loads);
        EXPECT_EQ(launch.sectors("st"), expected.sectors.stores);
        EXPECT_EQ(launch.requests("ld"), expected.requests.loads);
        EXPECT_EQ(launch.requests("st"), expected.requests.stores);
        EXPECT_EQ(launch.wavefronts("ld"), expected.blocks * expected.wavefronts.loads);
        EXPECT_EQ(launch.wavefronts("st"), expected.blocks * expected.wavefronts.stores);
        EXPECT_EQ(launch.conflicts("ld"), 0u);
        EXPECT_EQ(launch.conflicts("st"), 0u);
        EXPECT_EQ(launch.sectors("atom"), 0u);
        EXPECT_EQ(launch.sectors("red"), 0u);
        // Including threads without an element: one that returned early would be missing here.
        EXPECT_EQ(launch.counter("ptx__thread_inst_executed_op_bar"),
                  expected.blocks * expected.block * expected.barriers);
    }
}

} // namespace gmem_smem_counters
