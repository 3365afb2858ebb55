#include "harness/detail/sweep.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "harness/exit_status.hpp"

using namespace harness;
using testing::AllOf, testing::ElementsAre, testing::HasSubstr, testing::ThrowsMessage;

namespace {

std::ptrdiff_t lines(const std::string& text) { return std::count(text.begin(), text.end(), '\n'); }

TEST(SweptSizes, double_from_1024_on_and_do_not_pass_the_largest) {
    EXPECT_THAT(swept_sizes(1024), ElementsAre(1024));
    EXPECT_THAT(swept_sizes(4095), ElementsAre(1024, 2048));
    EXPECT_THAT(swept_sizes(4096), ElementsAre(1024, 2048, 4096));
    EXPECT_EQ(swept_sizes(std::size_t{1} << 26).size(), 17u);
    EXPECT_EQ(swept_sizes(SIZE_MAX).back(), std::size_t{1} << 63) << "and then they end";
}

TEST(SweptSizes, end_where_the_device_and_its_memory_say) {
    constexpr std::size_t gib = std::size_t{1} << 30;
    Device emulator, gpu;
    gpu.kind = DeviceKind::gpu;
    EXPECT_EQ(default_largest_swept(emulator, 64 * gib), std::size_t{1} << 26);
    EXPECT_EQ(default_largest_swept(gpu, 140 * gib), std::size_t{1} << 30);
    // The input and a copy of it, 4 GiB each; and something has to be left.
    EXPECT_EQ(default_largest_swept(gpu, 8 * gib), std::size_t{1} << 29);
    EXPECT_EQ(default_largest_swept(gpu, 9 * gib), std::size_t{1} << 30);
    EXPECT_EQ(default_largest_swept(gpu, 0), smallest_swept);
}

TEST(SweepOptions, are_checked) {
    Options options, with_format, with_check;
    EXPECT_NO_THROW(check_sweep_options(options));
    options.n = 1024;
    EXPECT_NO_THROW(check_sweep_options(options));
    options.n = 1023;
    EXPECT_THAT([&] { check_sweep_options(options); }, ThrowsMessage<UsageError>(HasSubstr("--n 1023: ")));
    with_format.format = OutputFormat::csv;
    EXPECT_THAT([&] { check_sweep_options(with_format); }, ThrowsMessage<UsageError>(HasSubstr("--format")));
    with_check.verify_only = true;
    EXPECT_THAT([&] { check_sweep_options(with_check); }, ThrowsMessage<UsageError>(HasSubstr("--verify")));
}

/// Two sizes; `slow` has a turn at the first of them only.
Sweep example() {
    Sweep sweep{.largest = 2048};
    for (const std::size_t n : {1024, 2048}) {
        Report report;
        report.lesson = "lesson42";
        report.elements = n;
        for (const char* name : {"slow", "quick"}) {
            if (name == std::string("slow") && n > 1024) continue;
            report.kernels.push_back(
                {.name = name, .launch = {}, .verification = {}, .times = {}, .counters = {}});
        }
        sweep.reports.push_back(report);
    }
    return sweep;
}

TEST(Sweep, leaves_out_what_took_too_long) {
    Sweep sweep{.largest = 2048};
    sweep.took("quick", 1024, 9.9);
    sweep.took("slow", 1024, 10.1);
    sweep.took("quick", 2048, 60); // there is nothing to leave out
    EXPECT_FALSE(sweep.leaves_out("quick"));
    EXPECT_TRUE(sweep.leaves_out("slow"));
    ASSERT_EQ(sweep.left_out.size(), 1u);
    EXPECT_EQ(describe(sweep.left_out[0]), "slow is left out beyond 1,024 ints: they took 10 s");
}

TEST(Sweep, has_one_header_and_a_row_for_each_size_and_kernel) {
    Sweep sweep = example();
    const std::string csv = format_csv(sweep);
    EXPECT_EQ(lines(csv), 1 + 3);
    EXPECT_EQ(csv.substr(0, csv.find('\n')),
              format_csv(sweep.reports[0]).substr(0, format_csv(sweep.reports[0]).find('\n')));
    EXPECT_THAT(csv,
                AllOf(HasSubstr(",1024,,,slow,"), HasSubstr(",1024,,,quick,"), HasSubstr(",2048,,,quick,")));
    sweep.took("slow", 1024, 60);
    EXPECT_EQ(format_csv(sweep), "# slow is left out beyond 1,024 ints: they took 60 s\n" + csv);
}

} // namespace
