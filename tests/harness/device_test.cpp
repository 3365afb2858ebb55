#include "harness/device.hpp"

#include <gtest/gtest.h>

#include "harness/lesson.hpp"

using namespace harness;

namespace {

TEST(EmulatorDirectory, lies_beside_bin) {
    EXPECT_EQ(emulator_directory("/a/build/default/bin/lesson03"), "/a/build/default/emulator");
}

TEST(LibraryPath, puts_the_emulator_first_and_keeps_the_rest) {
    EXPECT_EQ(library_path_with("/e", nullptr), "/e");
    EXPECT_EQ(library_path_with("/e", ""), "/e");
    EXPECT_EQ(library_path_with("/e", "/a:/b"), "/e:/a:/b");
    EXPECT_EQ(library_path_with("/e", "/emulator"), "/e:/emulator");
    EXPECT_EQ(library_path_with("/e", "/a:/e"), "/e:/a:/e");
}

TEST(LibraryPath, stays_as_it_is_once_the_emulator_is_first) {
    EXPECT_EQ(library_path_with("/e", "/e"), "/e");
    EXPECT_EQ(library_path_with("/e", "/e:/a"), "/e:/a");
}

TEST(PeakBandwidth, is_clock_times_two_times_width) {
    EXPECT_DOUBLE_EQ(*peak_bandwidth_gbs(877'000, 4096), 898.048); // V100: 0.877e9 x 2 x 512 bytes
    EXPECT_FALSE(peak_bandwidth_gbs(0, 4096));
    EXPECT_FALSE(peak_bandwidth_gbs(877'000, 0));
}

Device gpu_with_l2(std::size_t bytes) {
    return {.kind = DeviceKind::gpu,
            .name = "",
            .compute_capability = "",
            .l2_bytes = bytes,
            .peak_bandwidth_gbs = {}};
}

TEST(DefaultElements, are_several_times_the_l2_cache_on_a_gpu) {
    constexpr std::size_t plenty = std::size_t{1} << 40;
    EXPECT_EQ(default_elements(gpu_with_l2(6 << 20), plenty), std::size_t{1} << 25);  // 128 MiB for 6
    EXPECT_EQ(default_elements(gpu_with_l2(60 << 20), plenty), std::size_t{1} << 26); // 256 MiB for 60
    EXPECT_EQ(default_elements(gpu_with_l2(0), plenty), std::size_t{1} << 25);
}

TEST(DefaultElements, leave_half_of_the_free_memory) {
    EXPECT_EQ(default_elements(gpu_with_l2(0), 128 << 20), std::size_t{1} << 24); // 64 of 128 MiB
    EXPECT_EQ(default_elements(gpu_with_l2(0), 0), 1u);
}

TEST(DefaultElements, are_few_on_the_emulator) { EXPECT_EQ(default_elements(Device{}, 0), 4'194'304u); }

} // namespace
