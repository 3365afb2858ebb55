#include "harness/detail/report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

using namespace harness;
using nlohmann::json;
using testing::AllOf, testing::AnyOf, testing::HasSubstr, testing::Not;

namespace {

constexpr const char* sectors_ld = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum";
constexpr const char* conflicts_ld = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum";

KernelResult kernel(std::string name, unsigned int grid) {
    return {.name = std::move(name),
            .launch = {.grid = dim3(grid),
                       .block = dim3(256),
                       .dynamic_shared_bytes = 1024,
                       .bytes = 67'239'936,
                       .passes = 3},
            .verification = compare_value(-1234, -1234),
            .times = {},
            .counters = {}};
}

Report emulator_report() {
    Report report{.lesson = "lesson03",
                  .title = "Loads, \"and\" adds",
                  .device = {.kind = DeviceKind::emulator,
                             .name = "Emulator",
                             .compute_capability = "9.0",
                             .l2_bytes = 0,
                             .peak_bandwidth_gbs = {}},
                  .elements = 16'777'216,
                  .seed = 18446744073709551615u,
                  .options = {},
                  .verified_only = false,
                  .kernels = {kernel("reduce2", 65536), kernel("reduce3", 32768)}};
    report.kernels[0].counters = Counters{{sectors_ld, 2'097'152}, {conflicts_ld, 70}};
    report.kernels[1].counters = Counters{{sectors_ld, 2'097'152}, {conflicts_ld, 0}};
    return report;
}

Report gpu_report() {
    Report report = emulator_report();
    report.device = {.kind = DeviceKind::gpu,
                     .name = "NVIDIA H200",
                     .compute_capability = "9.0",
                     .l2_bytes = 1,
                     .peak_bandwidth_gbs = 4000};
    for (KernelResult& result : report.kernels) result.counters.reset();
    report.kernels[0].times = Times{.median = 40, .min = 38.5, .runs = 50, .cold_cache = true};
    report.kernels[1].times = Times{.median = 20, .min = 19.5, .runs = 50, .cold_cache = true};
    return report;
}

std::vector<std::string> split(const std::string& text, char separator) {
    std::vector<std::string> parts;
    std::istringstream stream(text);
    for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
    return parts;
}

/// A line's words, single spaces between them.
std::string squeeze(const std::string& line) {
    std::istringstream words(line);
    std::string result;
    for (std::string word; words >> word;) result += (result.empty() ? "" : " ") + word;
    return result;
}

std::string line_with(const std::string& text, const std::string& start) {
    for (const std::string& line : split(text, '\n')) {
        if (squeeze(line).starts_with(start)) return squeeze(line);
    }
    return "no line starts with " + start;
}

TEST(Summarize, takes_the_median_and_the_minimum) {
    const Times odd = summarize({5, 1, 9});
    EXPECT_EQ(odd.median, 5);
    EXPECT_EQ(odd.min, 1);
    EXPECT_EQ(odd.runs, 3u);
    EXPECT_EQ(summarize({4, 1, 2, 9}).median, 3);
    EXPECT_EQ(summarize({7}).median, 7);
}

TEST(Timing, ends_early_for_slow_kernels_unless_the_runs_are_planned) {
    EXPECT_FALSE(is_timed_enough(49, 1, {}));
    EXPECT_TRUE(is_timed_enough(50, 1, {}));
    EXPECT_TRUE(is_timed_enough(5, 2, {}));
    EXPECT_FALSE(is_timed_enough(5, 1.999, {}));
    EXPECT_FALSE(is_timed_enough(5, 2, 6));
    EXPECT_FALSE(is_timed_enough(2, 3600, {})) << "too few for a median";
    EXPECT_TRUE(is_timed_enough(3, 3600, {}));
    EXPECT_TRUE(is_timed_enough(1, 0, 1));
}

TEST(Bandwidth, is_bytes_over_the_median_time) {
    // The V100's first row, from the published time: 128 MiB and 131072 partial sums in 804.187 us.
    KernelResult result = kernel("reduce0", 131072);
    result.launch.bytes = (33'554'432 + 131'072) * 4;
    EXPECT_FALSE(result.bandwidth_gbs());
    result.times = Times{.median = 804.187, .min = 0, .runs = 1, .cold_cache = true};
    EXPECT_NEAR(*result.bandwidth_gbs(), 167.55, 0.01);
}

TEST(Json, has_the_documented_fields_in_order_on_the_emulator) {
    const nlohmann::ordered_json report = nlohmann::ordered_json::parse(format_json(emulator_report()));
    EXPECT_EQ(report.dump(),
              R"({"lesson":"lesson03","title":"Loads, \"and\" adds",)"
              R"("device":{"kind":"emulator","name":"Emulator","compute_capability":"9.0",)"
              R"("peak_bandwidth_gbs":null},"elements":16777216,"seed":18446744073709551615,)"
              R"("options":{},"kernels":[)"
              R"({"name":"reduce2","grid":[65536,1,1],"block":[256,1,1],"dynamic_shared_bytes":1024,)"
              R"("verified":true,"expected":-1234,"actual":-1234,"bytes":67239936,"time_us":null,)"
              R"("complete_time_us":null,"bandwidth_gbs":null,"peak_fraction":null,"counters":{)"
              R"("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum":2097152,)"
              R"("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum":70}},)"
              R"({"name":"reduce3","grid":[32768,1,1],"block":[256,1,1],"dynamic_shared_bytes":1024,)"
              R"("verified":true,"expected":-1234,"actual":-1234,"bytes":67239936,"time_us":null,)"
              R"("complete_time_us":null,"bandwidth_gbs":null,"peak_fraction":null,"counters":{)"
              R"("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum":2097152,)"
              R"("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum":0}}]})");
}

TEST(Json, keeps_a_grid_on_one_line) {
    EXPECT_THAT(format_json(emulator_report()),
                HasSubstr("\n      \"grid\": [65536, 1, 1],\n      \"block\": [256, 1, 1],\n"));
}

TEST(Json, has_times_and_no_counters_on_a_gpu) {
    const json report = json::parse(format_json(gpu_report()));
    const json& second = report["kernels"][1];
    EXPECT_EQ(report["device"]["kind"], "gpu");
    EXPECT_EQ(report["device"]["peak_bandwidth_gbs"], 4000.0);
    EXPECT_EQ(second["time_us"], (json{{"median", 20.0}, {"min", 19.5}, {"runs", 50}}));
    EXPECT_DOUBLE_EQ(second["bandwidth_gbs"], 67'239'936 / 20e-6 / 1e9);
    EXPECT_DOUBLE_EQ(second["peak_fraction"], 67'239'936 / 20e-6 / 1e9 / 4000);
    EXPECT_TRUE(second["counters"].is_null());
}

TEST(Csv, has_one_row_a_kernel_and_quotes_what_needs_it) {
    const std::vector<std::string> lines = split(format_csv(gpu_report()), '\n');
    ASSERT_EQ(lines.size(), 3u);
    EXPECT_TRUE(lines[0].starts_with(
        "lesson,title,device_kind,device_name,compute_capability,peak_bandwidth_gbs,elements,"
        "seed,options,name,grid_x,grid_y,grid_z,block_x,block_y,block_z,dynamic_shared_bytes,verified,"
        "expected,actual,bytes,time_us_median,time_us_min,time_us_runs,"
        "complete_time_us_median,bandwidth_gbs,peak_fraction,l1tex__t_sectors_pipe_lsu_mem_global_op_ld."
        "sum,"))
        << lines[0];
    EXPECT_TRUE(lines[2].starts_with(
        "lesson03,\"Loads, \"\"and\"\" adds\",gpu,NVIDIA H200,9.0,4000.0,16777216,"
        "18446744073709551615,,reduce3,32768,1,1,256,1,1,1024,true,-1234,-1234,67239936,20.0,"
        "19.5,50,,"))
        << lines[2];
}

TEST(CompleteTimes, are_those_of_all_passes_and_never_those_of_the_first_alone) {
    Report report = gpu_report();
    KernelResult& first = report.kernels[0];
    report.kernels[1].launch.passes = 1;
    json kernels = json::parse(format_json(report))["kernels"];
    EXPECT_TRUE(kernels[0]["complete_time_us"].is_null()); // three passes, and only the first was timed
    EXPECT_EQ(kernels[1]["complete_time_us"], kernels[1]["time_us"]); // one pass is all

    first.complete_times = Times{.median = 47.25, .min = 46, .runs = 50, .cold_cache = true};
    kernels = json::parse(format_json(report))["kernels"];
    EXPECT_EQ(kernels[0]["complete_time_us"], (json{{"median", 47.25}, {"min", 46.0}, {"runs", 50}}));
    const std::string text = format_text(report);
    EXPECT_THAT(text, HasSubstr("   all  "));
    EXPECT_THAT(text, HasSubstr(" 47.25 "));
    EXPECT_THAT(text, Not(HasSubstr("   min  ")));
}

TEST(Csv, has_the_same_columns_on_both_devices) {
    const auto columns = [](const std::string& csv) { return split(csv, '\n').front(); };
    EXPECT_EQ(columns(format_csv(gpu_report())), columns(format_csv(emulator_report())));
    const std::vector<std::string> names = split(columns(format_csv(emulator_report())), ',');
    const std::vector<std::string> lines = split(format_csv(emulator_report()), '\n');
    // The title holds one comma of its own. An empty last field ends the row with a comma, which split()
    // drops.
    EXPECT_EQ(std::count(lines[1].begin(), lines[1].end(), ','), static_cast<std::ptrdiff_t>(names.size()));
    EXPECT_THAT(lines[1], HasSubstr(",67239936,,,,,,,2097152,"));
}

TEST(Text, leaves_out_a_launch_that_nobody_knows) {
    for (Report report : {emulator_report(), gpu_report()}) {
        for (KernelResult& result : report.kernels) result.launch.grid = result.launch.block = dim3(0);
        const std::string text = format_text(report);
        EXPECT_THAT(text, Not(HasSubstr("blocks of")));
        EXPECT_THAT(text, Not(HasSubstr("threads per block")));
        report.kernels[1].launch = {.grid = dim3(8), .block = dim3(512)};
        const bool is_gpu = report.device.kind == DeviceKind::gpu;
        EXPECT_THAT(format_text(report),
                    HasSubstr(is_gpu ? "; blocks of 512 threads." : "threads per block"));
    }
}

TEST(Text, shows_counters_side_by_side_on_the_emulator_and_no_times) {
    const std::string text = format_text(emulator_report());
    EXPECT_THAT(text, HasSubstr("16,777,216 random ints (64.0 MiB), seed 18446744073709551615"));
    EXPECT_THAT(text,
                HasSubstr("Emulator: counted, not timed.\n"
                          "Counts of all blocks: sectors of 32 bytes; requests and wavefronts of warps.\n"));
    EXPECT_EQ(line_with(text, "reduce2"), "reduce2 reduce3 change");
    EXPECT_EQ(line_with(text, "verified"), "verified yes yes");
    EXPECT_EQ(line_with(text, "result"), "result -1,234 -1,234");
    EXPECT_EQ(line_with(text, "blocks"), "blocks 65,536 32,768 x 0.50");
    EXPECT_EQ(line_with(text, "sectors"), "sectors 2,097,152 2,097,152");
    EXPECT_EQ(line_with(text, "bank conflicts"), "bank conflicts 70 0 gone");
    EXPECT_THAT(text, HasSubstr("instructions (PTX)"));
    EXPECT_THAT(text, HasSubstr("branches (PTX)"));
    EXPECT_THAT(text, HasSubstr("first launch"));
    for (const char* unit : {" us", "GB/s", "median"}) EXPECT_THAT(text, Not(HasSubstr(unit)));
}

/// The report, with estimates of reduce2 and none of reduce3.
Report estimated_report() {
    Report report = emulator_report();
    report.kernels[0].estimate = parse_estimate(
        R"({"card": "NVIDIA H200", "instructions_sm_90": 56229888, "data_pipe_passes": 15532032, "time_us_estimated": 84.14,
            "floors_us": {"memory": 15.3}, "waits": {"long_scoreboard": 0.37},
            "error_found": {"kernels": "reductions", "median_percent": 1.55, "most_percent": 19.4}})");
    report.kernels[1].estimate =
        parse_estimate(R"({"card": "NVIDIA H200", "no_estimate": "blocks in clusters are not modeled"})");
    return report;
}

TEST(Text, shows_counts_of_the_machine_code_and_estimates_where_there_are_any) {
    Report report = estimated_report();
    const std::string text = format_text(report), at = "Estimated for an NVIDIA H200: reduce2 84.1 us";
    EXPECT_THAT(text, HasSubstr("instructions (sm_90)\n"));
    EXPECT_EQ(squeeze(text.substr(text.find("(sm_90)") + 8, 80)).substr(0, 26), "per warp 56,229,888 0 gone");
    EXPECT_EQ(line_with(text, "passes"), "passes 15,532,032 0 gone");
    EXPECT_THAT(text,
                HasSubstr(at + ".\nError of such estimates for reductions: 1.6 % in the median, at most "
                               "19 %.\nNo estimate for reduce3: blocks in clusters are not modeled.\n"));
    report.kernels[0].large_estimate = Estimate{.time_us = 1210.23};
    EXPECT_THAT(format_text(report), HasSubstr(at + " here, 1,210 us at 2^28.\n"));
    report.kernels[0].large_estimate = Estimate{.reason = "it takes too long"};
    EXPECT_THAT(
        format_text(report),
        AllOf(HasSubstr(at + ".\n"), HasSubstr("\nNo estimate for reduce2 at 2^28: it takes too long.\n")));
    EXPECT_THAT(format_text(emulator_report()), Not(AnyOf(HasSubstr("sm_90"), HasSubstr("stimate"))));
    for (const std::string& line : split(text, '\n')) EXPECT_LE(line.size(), 80u) << line;
}

/// Both kernels estimated: reduce3 has half of the blocks, as many sectors, no conflicts and fewer instructions.
Report changed_report() {
    Report report = emulator_report();
    report.elements = std::size_t{1} << 22;
    report.changed_only = true;
    const char* const estimates[] = {
        R"({"card": "NVIDIA H200", "instructions_sm_90": 18268160, "data_pipe_passes": 5, "time_us_estimated": 27.71})",
        R"({"card": "NVIDIA H200", "instructions_sm_90": 14073856, "data_pipe_passes": 5, "time_us_estimated": 22})"};
    const char* const large[] = {R"({"card": "NVIDIA H200", "time_us_estimated": 1412.6})",
                                 R"({"card": "NVIDIA H200", "time_us_estimated": 1214.2, "bytes": 1077936128,
            "peak_bandwidth_gbs": 4814.304})"};
    for (int k : {0, 1}) {
        report.kernels[k].estimate = parse_estimate(estimates[k]);
        report.kernels[k].large_estimate = parse_estimate(large[k]);
        report.kernels[k].counters->emplace_back("smsp__inst_executed.sum", 100 + k);
    }
    return report;
}

TEST(Changed, shows_the_rows_that_moved_and_time_first) {
    EXPECT_EQ(format_text(changed_report()), R"(                              reduce2        reduce3    change
an H200 would take [us] (estimate)
  for 268,435,456 ints          1,413          1,214    x 0.86
counted for 4,194,304 ints
blocks                         65,536         32,768    x 0.50
shared loads
  bank conflicts                   70              0      gone
instructions (sm_90)
  per warp                 18,268,160     14,073,856    x 0.77
)");
}

TEST(Changed, shows_the_size_that_was_run_where_no_other_was_estimated) {
    Report report = changed_report();
    for (KernelResult& result : report.kernels) result.large_estimate.reset();
    EXPECT_EQ(line_with(format_text(report), "for "), "for 4,194,304 ints 27.7 22.0 x 0.79");
}

TEST(Changed, shows_counters_alone_where_nothing_is_estimated) {
    Report report = changed_report();
    for (KernelResult& result : report.kernels) {
        result.estimate.reset();
        result.large_estimate.reset();
    }
    const std::string text = format_text(report);
    EXPECT_THAT(text,
                AllOf(Not(HasSubstr("estimate")), Not(HasSubstr("sm_90")), HasSubstr("\ncounted for ")));
    EXPECT_THAT(text, HasSubstr("\ninstructions (PTX)\n"));
    EXPECT_THAT(text,
                testing::EndsWith("\n\n(PTX): counted on PTX; the GPU's own machine code may differ.\n"));
}

TEST(Changed, says_why_a_kernel_has_no_estimate) {
    Report report = changed_report();
    report.kernels[1] = kernel("reduce3", 32768);
    report.kernels[1].estimate =
        parse_estimate(R"({"card": "NVIDIA H200", "no_estimate": "blocks in clusters are not modeled"})");
    const std::string text = format_text(report);
    EXPECT_EQ(line_with(text, "for "), "for 268,435,456 ints 1,413 -") << "no change";
    EXPECT_THAT(text, Not(HasSubstr("sm_90")));
    EXPECT_THAT(text, testing::EndsWith(
                          "may differ.\nNo estimate for reduce3: blocks in clusters are not modeled.\n"));
}

TEST(Changed, shows_what_was_measured_on_a_gpu) {
    Report report = gpu_report();
    report.changed_only = true;
    EXPECT_EQ(format_text(report), R"(                              reduce2        reduce3    change
the H200 took [us]
  for 16,777,216 ints            40.0           20.0    x 0.50
launched for 16,777,216 ints
blocks                         65,536         32,768    x 0.50
)");
}

TEST(Changed, says_so_where_nothing_moved) {
    Report report = changed_report();
    report.kernels[1] = report.kernels[0];
    report.kernels[1].name = "reduce2a";
    EXPECT_EQ(format_text(report), "Nothing moved: reduce2 and reduce2a have the same counters.\n");
    report.kernels.pop_back();
    EXPECT_EQ(format_text(report), "Nothing to compare: only reduce2 ran.\n");
}

TEST(Changed, shows_times_that_are_equal_beside_what_moved) {
    Report report = changed_report();
    report.kernels[1].large_estimate->time_us = 1412.9;
    EXPECT_EQ(line_with(format_text(report), "for "), "for 268,435,456 ints 1,413 1,413");
}

TEST(Changed, still_says_wrong) {
    Report report = changed_report();
    report.kernels[1].verification = compare_value(-1234, 99);
    EXPECT_EQ(line_with(format_text(report), "verified"), "verified yes NO");
}

TEST(Changed, has_columns_for_several_kernels_and_no_change) {
    Report report = changed_report();
    report.kernels.push_back(report.kernels[1]);
    report.kernels[2].name = "reduce4";
    const std::string text = format_text(report);
    EXPECT_EQ(squeeze(split(text, '\n').front()), "reduce2 reduce3 reduce4");
    EXPECT_EQ(line_with(text, "for "), "for 268,435,456 ints 1,413 1,214 1,214");
}

TEST(Changed, has_a_row_for_each_of_many_kernels) {
    Report report = changed_report();
    for (const char* const name : {"reduce4", "reduce5", "reduce6", "reduce7"}) {
        report.kernels.push_back(report.kernels[1]);
        report.kernels.back().name = name;
    }
    const std::string text = format_text(report);
    EXPECT_THAT(text, testing::StartsWith("estimate: for an H200 and 268,435,456 ints\n"
                                          "counted for 4,194,304 ints\n"));
    EXPECT_EQ(line_with(text, "reduce2"), "reduce2 1,413 65,536 70");
    EXPECT_EQ(line_with(text, "reduce7"), "reduce7 1,214 32,768 0");
    EXPECT_THAT(text, AllOf(HasSubstr("14,073,856"), Not(HasSubstr("passes")), Not(HasSubstr("verified"))));
}

// 1,077,936,128 bytes in 1214.2 us are 887.8 GB/s, 18.4 % of 4814.304, and 2.6 of 14 places. reduce3's 3362.0 GB/s are 84.0 % of 4000.
TEST(LadderLine, tells_how_much_of_the_card_the_last_kernel_uses) {
    Report report = changed_report();
    EXPECT_EQ(ladder_line(report),
              "lesson 03 of 09: [###           ] 18 % of an H200's peak bandwidth (estimate)\n");
    EXPECT_EQ(ladder_line(gpu_report()), "lesson 03 of 09: [############  ] 84 % of the card's peak\n");
    report.kernels[1].verification = compare_value(-1234, 99);
    EXPECT_EQ(ladder_line(report), "") << "a wrong result";
    report = changed_report();
    report.lesson = "lesson10";
    EXPECT_EQ(ladder_line(report), "") << "not of the ladder";
    EXPECT_EQ(ladder_line(emulator_report()), "") << "nothing was timed";
}

TEST(Changed, fits_a_terminal_of_80_columns) {
    Report report = changed_report();
    report.element_type.plural = "complex numbers";
    for (const std::size_t kernels : {2, 5, 6}) {
        while (report.kernels.size() < kernels) report.kernels.push_back(report.kernels[1]);
        for (const std::string& line : split(format_text(report), '\n')) EXPECT_LE(line.size(), 80u) << line;
    }
}

TEST(Text, has_columns_for_the_machine_code_of_many_kernels) {
    Report report = estimated_report();
    for (int i = 0; i < 5; ++i) report.kernels.push_back(report.kernels[i]);
    const std::string text = format_text(report);
    EXPECT_THAT(text, AllOf(HasSubstr("56,229,888"), HasSubstr("15,532,032"), HasSubstr("(sm_90)")));
    for (const std::string& line : split(text, '\n')) EXPECT_LE(line.size(), 80u) << line;
}

TEST(Text, says_that_nothing_was_run_where_times_are_estimated_only) {
    Report report = estimated_report();
    report.estimated_only = true;
    for (KernelResult& result : report.kernels) result.counters.reset(), result.verification = {};
    const std::string text = format_text(report);
    EXPECT_THAT(text, AllOf(HasSubstr("\nNothing was run.\n"), HasSubstr("reduce2 84.1 us"),
                            Not(HasSubstr("verified"))));
    const json first = json::parse(format_json(report))["kernels"][0];
    EXPECT_TRUE(first["verified"].is_null() && first["actual"].is_null() && first["counters"].is_null());
    EXPECT_EQ(first["time_us_estimated"], 84.14);
}

TEST(Json, has_what_was_estimated) {
    const json kernels = json::parse(format_json(estimated_report()))["kernels"];
    EXPECT_EQ(kernels[0]["card"], "NVIDIA H200");
    EXPECT_EQ(kernels[0]["instructions_sm_90"], 56'229'888);
    EXPECT_EQ(kernels[0]["floors_us"]["memory"], 15.3);
    EXPECT_EQ(kernels[0]["error_found"]["kernels"], "reductions");
    EXPECT_EQ(kernels[1]["no_estimate"], "blocks in clusters are not modeled");
    EXPECT_FALSE(json::parse(format_json(emulator_report()))["kernels"][0].contains("card"));
}

TEST(Report, names_the_options_that_changed) {
    Report report = emulator_report();
    report.options = {{"--offset", 3000}, {"--aligned", {}}, {"--type", 2, "half"}};
    EXPECT_THAT(format_text(report),
                HasSubstr("seed 18446744073709551615, --offset 3,000, --aligned, --type half\n"));
    EXPECT_EQ(json::parse(format_json(report))["options"],
              (json{{"--offset", 3000}, {"--aligned", true}, {"--type", "half"}}));
    EXPECT_THAT(format_csv(report),
                HasSubstr(",18446744073709551615,--offset 3000 --aligned --type half,reduce2,"));
}

TEST(Report, shows_what_the_elements_are) {
    Report report = emulator_report();
    report.element_type = {"halves", 2};
    EXPECT_THAT(format_text(report), HasSubstr("16,777,216 random halves (32.0 MiB), seed"));
}

TEST(Report, shows_a_result_that_is_no_whole_number_as_its_text) {
    Report report = emulator_report();
    report.kernels[1].verification.expected_text = "0.25";
    report.kernels[1].verification.actual_text = "0.5 at 17";
    EXPECT_THAT(squeeze(line_with(format_text(report), "result")), "result -1,234 0.5 at 17");
    const json kernels = json::parse(format_json(report))["kernels"];
    EXPECT_EQ(kernels[0]["expected"], -1234);
    EXPECT_EQ(kernels[1]["expected"], 0.25);
    EXPECT_EQ(kernels[1]["actual"], "0.5 at 17");
    EXPECT_THAT(format_csv(report), HasSubstr(",0.25,0.5 at 17,"));
    report.verified_only = true;
    EXPECT_THAT(format_text(report), HasSubstr("reduce3: verified, 0.5 at 17\n"));
    report.kernels[1].verification.passed = false;
    EXPECT_THAT(format_text(report), HasSubstr("reduce3: WRONG, expected 0.25, got 0.5 at 17\n"));
    testing::internal::CaptureStderr();
    tell_wrong_result("lesson03", report.kernels[1]);
    EXPECT_EQ(testing::internal::GetCapturedStderr(),
              "lesson03: reduce3: wrong result: expected 0.25, got 0.5 at 17\n");
}

TEST(Report, tells_the_options_of_a_lesson_without_random_input_and_no_seed) {
    Report report = emulator_report();
    report.seed.reset();
    report.options = {{"--width", 32}, {"--height", 16}};
    EXPECT_THAT(format_text(report), HasSubstr("adds\n--width 32, --height 16\nEmulator"));
    EXPECT_TRUE(json::parse(format_json(report))["seed"].is_null());
    EXPECT_THAT(format_csv(report), HasSubstr(",16777216,,--width 32 --height 16,reduce2,"));
}

TEST(Text, shows_an_illustration_of_one_line_as_a_row_of_the_one_before) {
    Report report = emulator_report();
    report.kernels[0].illustration = "kernel    error\nreduce2   1\n";
    report.kernels[1].illustration = "reduce3   2\n";
    EXPECT_THAT(format_text(report), HasSubstr("\n\nkernel    error\nreduce2   1\nreduce3   2\n\n"));
}

// The float nearest to 0.1 is 0.100000001490116...: nine digits distinguish it from its neighbors.
TEST(Report, shows_floats_in_place_of_whole_numbers) {
    Report report = emulator_report();
    report.kernels[0].verification = compare_float(0.1f, 0x1.8p-149f, 1, 0); // rounds to 2^-148
    report.kernels[1].verification = compare_float(-2.5f, NAN, 1, 0);
    const json kernels = json::parse(format_json(report))["kernels"];
    EXPECT_EQ(kernels[0]["expected"].dump(), "0.100000001");
    EXPECT_EQ(kernels[0]["actual"].dump(), "2.80259693e-45");
    EXPECT_EQ(kernels[1]["expected"].dump(), "-2.5");
    EXPECT_EQ(kernels[1]["actual"], "nan"); // JSON has no such number
    EXPECT_THAT(format_text(report), HasSubstr(" 2.80259693e-45            nan"));
    report.verified_only = true;
    EXPECT_THAT(format_text(report), HasSubstr("reduce2: WRONG, expected 0.100000001, got 2.80259693e-45\n"));
}

TEST(Text, shows_illustrations_above_the_table) {
    for (Report report : {emulator_report(), gpu_report()}) {
        report.kernels[0].illustration = "a map\nof banks\n";
        report.kernels[1].illustration = "another\nmap\n";
        EXPECT_THAT(format_text(report),
                    testing::ContainsRegex("\n\na map\nof banks\n\nanother\nmap\n\n[k ]"));
        report.verified_only = true;
        EXPECT_THAT(format_text(report), Not(HasSubstr("a map")));
    }
}

TEST(Text, tells_the_fewest_and_the_most_runs) {
    Report report = gpu_report();
    report.kernels[1].times->runs = 5;
    EXPECT_THAT(format_text(report), HasSubstr("\n5 to 50 runs after a warm-up"));
}

/// A ladder of six kernels, which would be too wide as columns.
Report many_kernels(Report report) {
    const KernelResult last = report.kernels.back();
    for (const char* name : {"reduce4", "reduce5", "reduce6", "reduce7"}) {
        report.kernels.push_back(last);
        report.kernels.back().name = name;
    }
    return report;
}

/// Checks all lines of a report but the second, which lists the options.
void expect_narrow(const Report& report) {
    const std::vector<std::string> lines = split(format_text(report), '\n');
    for (std::size_t i = 0; i < lines.size(); ++i) EXPECT_TRUE(i == 1 || lines[i].size() <= 80) << lines[i];
}

TEST(Text, fits_a_terminal_of_80_columns) {
    for (const Report& report : {emulator_report(), gpu_report()}) {
        expect_narrow(report);
        expect_narrow(many_kernels(report));
    }
}

TEST(Text, fits_a_terminal_of_80_columns_with_the_longest_names) {
    for (Report report :
         {emulator_report(), gpu_report(), many_kernels(emulator_report()), many_kernels(gpu_report())}) {
        report.device.name = "NVIDIA RTX 6000 Ada Generation";
        for (KernelResult& result : report.kernels) {
            result.name = "transpose_neighbored_Swizzled";
            result.verification.passed = false;
            if (result.times)
                result.times = Times{.median = 123456.78, .min = 123456.78, .runs = 5, .cold_cache = true};
        }
        expect_narrow(report);
    }
}

// Columns of 15, 15, 22, 22 and 15 and the labels' 22 are 111 characters. The labels need 16, which leaves
// (80 - 16) / 5 = 12 for each column, with a gap of 2.
TEST(Text, breaks_long_names_where_the_table_would_be_too_wide) {
    Report report = emulator_report();
    for (const char* name : {"reduceNeighboredGmem", "scan_blelloch_padded", "reduce4"}) {
        report.kernels.push_back(report.kernels.front());
        report.kernels.back().name = name;
    }
    const std::string text = format_text(report);
    EXPECT_EQ(line_with(text, "reduce "), "reduce scan_");
    EXPECT_EQ(line_with(text, "Neighbored"), "Neighbored blelloch_");
    EXPECT_EQ(line_with(text, "reduce2"), "reduce2 reduce3 Gmem padded reduce4");
    expect_narrow(report);
}

// Results of 40 characters: one column fits beside the labels' 16.
TEST(Text, becomes_several_tables_where_no_line_holds_all_columns) {
    Report report = emulator_report();
    for (KernelResult& result : report.kernels) result.verification.actual_text = std::string(40, '7');
    const std::string text = format_text(report);
    EXPECT_LT(text.find("reduce2"), text.find("\n  sectors"));
    EXPECT_GT(text.find("reduce3"), text.find("\n  sectors"));
    expect_narrow(report);
}

TEST(Text, gives_long_names_a_line_of_their_own_where_rows_would_be_too_wide) {
    Report report = many_kernels(emulator_report());
    for (KernelResult& result : report.kernels) result.name = "kernel_with_a_name_of_thirty_three";
    EXPECT_THAT(format_text(report),
                testing::ContainsRegex("\nkernel_with_a_name_of_thirty_three\n +32,768 "));
}

TEST(Text, says_of_which_kernels_it_shows_the_first_pass_only) {
    for (Report report : {emulator_report(), gpu_report()}) {
        EXPECT_THAT(format_text(report),
                    HasSubstr(" first launch, which leaves one partial sum per block.\n"));
        report.kernels[1].launch.passes = 1;
        EXPECT_THAT(format_text(report), HasSubstr(" first launch, which leaves one partial sum per block;\n"
                                                   "those of reduce3 are of the whole result.\n"));
        report.kernels[0].launch.passes = 1;
        EXPECT_THAT(format_text(report), AllOf(Not(HasSubstr("pass")), Not(HasSubstr("whole"))));
    }
}

TEST(Text, shows_atomics_only_where_there_are_any) {
    Report report = emulator_report();
    EXPECT_THAT(format_text(report), Not(HasSubstr("atomics")));
    report.kernels[1].counters->emplace_back("l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum", 5);
    EXPECT_THAT(format_text(report), HasSubstr("global atomics, result unused"));
}

TEST(Text, shows_asynchronous_copies_only_where_there_are_any) {
    Report report = emulator_report();
    EXPECT_THAT(format_text(report), Not(HasSubstr("copies")));
    report.kernels[1].counters->emplace_back("smsp__inst_executed_op_ldgsts.sum", 8);
    EXPECT_THAT(format_text(report),
                AllOf(HasSubstr("\nasynchronous copies\n  instructions"), Not(HasSubstr("bulk copies"))));
    report.kernels[1].counters->emplace_back("l1tex__m_xbar2l1tex_read_sectors_mem_global_op_tma_ld.sum", 5);
    EXPECT_THAT(format_text(report),
                AllOf(HasSubstr("\nbulk copies\n  sectors"), Not(HasSubstr("bulk copies\n  instructions"))));
}

TEST(Text, names_the_counters_as_nsight_compute_does_if_asked_to_explain) {
    for (Report report : {emulator_report(), many_kernels(emulator_report())}) {
        EXPECT_THAT(format_text(report), AllOf(Not(HasSubstr("l1tex")), HasSubstr("\n--explain prints ")));
        report.explain = true;
        EXPECT_THAT(format_text(report),
                    AllOf(HasSubstr("\n  sectors         " + std::string(sectors_ld) + "\n"),
                          Not(HasSubstr("--explain"))));
    }
}

TEST(Text, shows_a_change_only_between_two_kernels) {
    Report report = emulator_report();
    report.kernels.pop_back();
    EXPECT_EQ(line_with(format_text(report), "blocks"), "blocks 65,536");
}

// The columns have 15 characters, the labels 22, and changes 10.
TEST(Text, is_colored_if_asked_for) {
    Report report = emulator_report();
    EXPECT_THAT(format_text(report), Not(HasSubstr("\x1b")));
    report.color = true;
    report.kernels[1].verification = compare_value(-1234, 99);
    EXPECT_THAT(
        format_text(report),
        AllOf(HasSubstr(
                  "\nverified              \x1b[32m            yes\x1b[0m\x1b[31m             NO\x1b[0m\n"),
              HasSubstr("\n\x1b[1mblocks                         65,536         32,768    x 0.50\x1b[0m\n"),
              HasSubstr("\n\x1b[2m  sectors                   2,097,152      2,097,152\x1b[0m\n")));
    report.verified_only = true;
    EXPECT_THAT(format_text(report), AllOf(HasSubstr("reduce2: \x1b[32mverified\x1b[0m, "),
                                           HasSubstr("reduce3: \x1b[31mWRONG\x1b[0m, expected ")));
    report.kernels.pop_back(); // nothing moves from one kernel to the next
    report.verified_only = false;
    EXPECT_THAT(format_text(report), Not(AnyOf(HasSubstr("\x1b[1m"), HasSubstr("\x1b[2m"))));
    report = many_kernels(emulator_report());
    report.color = true;
    EXPECT_THAT(format_text(report), HasSubstr("\n\x1b[32mverified: all 6 results\x1b[0m\n"));
    EXPECT_THAT(format_json(report) + format_csv(report), Not(HasSubstr("\x1b")));
}

TEST(Text, says_wrong_loudly) {
    Report report = emulator_report();
    report.kernels[1].verification = compare_value(-1234, 99);
    EXPECT_EQ(line_with(format_text(report), "verified"), "verified yes NO");
    report.verified_only = true;
    EXPECT_THAT(format_text(report), HasSubstr("reduce3: WRONG, expected -1,234, got 99"));
}

TEST(Text, shows_times_on_a_gpu) {
    const std::string text = format_text(gpu_report());
    EXPECT_EQ(line_with(text, "kernel"), "kernel blocks [us] [us] GB/s peak up");
    EXPECT_EQ(line_with(text, "median"), "median min % of speed-");
    EXPECT_THAT(text, HasSubstr("\nverified: all 2 results\n"));
    // 67,239,936 bytes in 20 us are 3362.0 GB/s, 84.0 % of 4000.
    EXPECT_EQ(line_with(text, "reduce3"), "reduce3 32,768 20.00 19.50 3362.0 84.0 2.00");
    EXPECT_THAT(text, HasSubstr("50 runs after a warm-up, the L2 cache flushed before each"));
    EXPECT_THAT(text, HasSubstr("the card's peak is 4000.0"));
}

TEST(Text, shows_a_dash_where_a_gpu_has_no_time) {
    Report report = gpu_report();
    report.kernels[0].times.reset();
    report.kernels[0].verification.passed = false;
    report.device.peak_bandwidth_gbs.reset();
    EXPECT_EQ(line_with(format_text(report), "reduce2"), "reduce2 65,536 - - - - -");
    EXPECT_THAT(format_text(report), HasSubstr("\nverified: 1 of 2 results; WRONG: reduce2\n"));
    EXPECT_EQ(line_with(format_text(report), "reduce3"), "reduce3 32,768 20.00 19.50 3362.0 - -");
}

TEST(Text, is_brief_when_only_verifying) {
    Report report = emulator_report();
    report.verified_only = true;
    EXPECT_THAT(format_text(report), HasSubstr("reduce2: verified, -1,234\nreduce3: verified, -1,234\n"));
    EXPECT_THAT(format_text(report), Not(HasSubstr("sectors")));
}

TEST(Text, has_a_row_for_each_of_many_kernels) {
    Report report = many_kernels(emulator_report());
    report.kernels[1].counters = Counters{
        {sectors_ld, 2'097'160},
        {"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", 1000},
        {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", 2000},
        {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum", 300},
        {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum", 7},
        {"smsp__inst_executed.sum", 40'000},
        {"smsp__sass_branch_targets_threads_divergent.sum", 50},
        {"ptx__thread_inst_executed_op_bar.sum", 32768 * 256 * 9ull},
    };
    const std::string text = format_text(report);
    EXPECT_EQ(line_with(text, "reduce3"), "reduce3 32,768 1,000 2,300 7 40,000 50 9");
    EXPECT_EQ(line_with(text, "reduce2"), "reduce2 65,536 0 0 70 0 0 0");
    EXPECT_THAT(text, HasSubstr("\nSectors of global loads: 2,097,152 to 2,097,160.\n"));
}

TEST(Text, keeps_large_speed_ups_apart) {
    Report report = many_kernels(gpu_report());
    report.kernels[0].times->median = 1234 * report.kernels[1].times->median;
    EXPECT_THAT(line_with(format_text(report), "reduce3 "), testing::EndsWith(" 1234.00 1234.00"));
}

TEST(Text, tells_the_step_from_kernel_to_kernel_if_there_are_many) {
    Report report = many_kernels(gpu_report());
    report.kernels[3].times = Times{.median = 16, .min = 15, .runs = 50, .cold_cache = true};
    const std::string text = format_text(report);
    EXPECT_THAT(line_with(text, "reduce2 "), testing::EndsWith(" 1.00"));
    EXPECT_THAT(line_with(text, "reduce3 "), testing::EndsWith(" 2.00 2.00"));
    EXPECT_THAT(line_with(text, "reduce5 "), testing::EndsWith(" 2.50 1.25"));
    EXPECT_THAT(text, HasSubstr("speed-up: over reduce2; step: over the kernel above."));
    EXPECT_THAT(format_text(gpu_report()), Not(HasSubstr("step")));
}

} // namespace
