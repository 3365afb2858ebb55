#include "harness/numbers.hpp"

#include "emulator/command_line.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <stdexcept>

using namespace harness;
using emulator::nearest_name, emulator::parse_whole_number;
using testing::HasSubstr, testing::ThrowsMessage;

namespace {

TEST(ParseWholeNumber, reads_plain_numbers) {
    EXPECT_EQ(parse_whole_number("0"), 0u);
    EXPECT_EQ(parse_whole_number("1"), 1u);
    EXPECT_EQ(parse_whole_number("0001000"), 1000u);
    EXPECT_EQ(parse_whole_number("18446744073709551615"), std::numeric_limits<std::uint64_t>::max());
}

TEST(ParseWholeNumber, reads_units_of_1000_and_of_1024) {
    EXPECT_EQ(parse_whole_number("3k"), 3'000u);
    EXPECT_EQ(parse_whole_number("16M"), 16'000'000u);
    EXPECT_EQ(parse_whole_number("2G"), 2'000'000'000u);
    EXPECT_EQ(parse_whole_number("3Ki"), 3'072u);
    EXPECT_EQ(parse_whole_number("16Mi"), 16'777'216u);
    EXPECT_EQ(parse_whole_number("1Gi"), 1'073'741'824u);
}

TEST(ParseWholeNumber, reads_powers) {
    EXPECT_EQ(parse_whole_number("2^24"), 16'777'216u);
    EXPECT_EQ(parse_whole_number("10^6"), 1'000'000u);
    EXPECT_EQ(parse_whole_number("7^0"), 1u);
    EXPECT_EQ(parse_whole_number("0^0"), 1u);
    EXPECT_EQ(parse_whole_number("0^5"), 0u);
    EXPECT_EQ(parse_whole_number("1^18446744073709551615"), 1u); // and does so at once
    EXPECT_EQ(parse_whole_number("2^63"), std::uint64_t{1} << 63);
}

TEST(ParseWholeNumber, rejects_all_else_and_says_why) {
    const struct {
        const char *text, *reason;
    } cases[] = {
        {"", "empty"},
        {"-5", "negative"},
        {"-", "not a whole number"},
        {"--check", "not a whole number"},
        {"abc", "not a whole number"},
        {"+5", "not a whole number"},
        {" 5", "not a whole number"},
        {"5 ", "' ' is no unit"},
        {"1.5M", "not a whole number"},
        {"1e99", "'e99' is no unit"},
        {"16Q", "'Q' is no unit"},
        {"16K", "'K' is no unit"},
        {"16m", "'m' is no unit"},
        {"16MiB", "'MiB' is no unit"},
        {"0x10", "'x10' is no unit"},
        {"1,000", "',000' is no unit"},
        {"2^", "not a whole number"},
        {"2^-1", "not a whole number"},
        {"2^3M", "'M' follows"},
        {"^3", "not a whole number"},
        {"18446744073709551616", "64 bits"},
        {"18446744073709551615k", "64 bits"},
        {"17179869184Gi", "64 bits"},
        {"2^64", "64 bits"},
        {"10^20", "64 bits"},
        {"2^18446744073709551615", "64 bits"},
    };
    for (const auto& rejected : cases)
        EXPECT_THAT([&] { parse_whole_number(rejected.text); },
                    ThrowsMessage<std::invalid_argument>(HasSubstr(rejected.reason)))
            << "'" << rejected.text << "'";
}

TEST(GroupDigits, puts_commas_between_thousands) {
    EXPECT_EQ(group_digits(std::int64_t{0}), "0");
    EXPECT_EQ(group_digits(std::int64_t{999}), "999");
    EXPECT_EQ(group_digits(std::int64_t{1000}), "1,000");
    EXPECT_EQ(group_digits(std::int64_t{-999}), "-999");
    EXPECT_EQ(group_digits(std::int64_t{-123456}), "-123,456");
    EXPECT_EQ(group_digits(std::uint64_t{4'194'304}), "4,194,304");
    EXPECT_EQ(group_digits(std::numeric_limits<std::uint64_t>::max()), "18,446,744,073,709,551,615");
    EXPECT_EQ(group_digits(std::numeric_limits<std::int64_t>::min()), "-9,223,372,036,854,775,808");
}

TEST(FormatBytes, chooses_the_unit) {
    EXPECT_EQ(format_bytes(0), "0 bytes");
    EXPECT_EQ(format_bytes(1023), "1023 bytes");
    EXPECT_EQ(format_bytes(1024), "1.0 KiB");
    EXPECT_EQ(format_bytes(std::uint64_t{4'194'304} * 4), "16.0 MiB");
    EXPECT_EQ(format_bytes(std::uint64_t{1} << 63), "8.0 EiB");
}

TEST(EditDistance, counts_changes_of_single_letters) {
    EXPECT_EQ(emulator::edit_distance("", ""), 0u);
    EXPECT_EQ(emulator::edit_distance("", "abc"), 3u);
    EXPECT_EQ(emulator::edit_distance("reduce2", "reduce3"), 1u);
    EXPECT_EQ(emulator::edit_distance("redcue3", "reduce3"), 2u);
    EXPECT_EQ(emulator::edit_distance("reduceSmem", "reducesmem"), 0u);
    EXPECT_EQ(emulator::edit_distance("kitten", "sitting"), 3u);
}

TEST(NearestName, suggests_only_what_is_near_and_unambiguous) {
    EXPECT_EQ(nearest_name("redcue3", {"reduce2", "reduce3"}), "reduce3");
    EXPECT_EQ(nearest_name("REDUCE2", {"reduce2", "reduce3"}), "reduce2");
    EXPECT_EQ(nearest_name("reduce9", {"reduce2", "reduce3"}), ""); // both are as near
    EXPECT_EQ(nearest_name("transpose", {"reduce2", "reduce3"}), "");
    EXPECT_EQ(nearest_name("-x", {"--n"}), ""); // two changes make any short name out of any other
    EXPECT_EQ(nearest_name("", {}), "");
}

} // namespace
