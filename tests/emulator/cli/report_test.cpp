#include "emulator/cli/report.hpp"
#include "emulator/cli/report_forms.hpp"
#include "emulator/cli/temporary_file.hpp"
#include "emulator/machine/counters.hpp"
#include "emulator/program/names.hpp"
#include "emulator/runtime/observation.hpp"
#include "emulator/text.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <fstream>

using namespace emulate;
using testing::AllOf, testing::AnyOf, testing::HasSubstr, testing::Not, testing::SizeIs, testing::StartsWith;

namespace {

Report report_of(const std::string& records) {
    const TemporaryFile file;
    std::ofstream(file.path()) << records;
    return read_report(file.path());
}

Json launch(std::uint64_t number, const std::string& kernel, const emulator::Counters& counters,
            int process = 1) {
    return {{"record", "launch"},
            {"process", process},
            {"launch", number},
            {"kernel", kernel},
            {"name", kernel + "(int*)"},
            {"grid", emulator::Dim3{4096, 1, 1}},
            {"block", emulator::Dim3{32, 8, 1}},
            {"dynamic_shared_bytes", 1024},
            {"counters", counters}};
}

std::string lines_of(const std::vector<Json>& records) {
    std::string text;
    for (const Json& record : records) text += record.dump() + "\n";
    return text;
}

emulator::Finding finding(const std::string& where) {
    emulator::Finding finding;
    finding.checker = "race";
    finding.kind = "write after read";
    finding.kernel = "reduce0(int*)";
    finding.parties = {{.role = "write", .block = "(0,0,0)", .thread = "(1,0,0)", .where = where, .ptx = ""}};
    finding.count = 3;
    return finding;
}

TEST(Reports, know_the_launch_that_has_not_ended) {
    const Json running{{"record", "running"}, {"process", 1}, {"launch", 1}, {"name", "b(int*)"}};
    const auto launch_that_runs = [&](const Json& next) {
        return report_of(lines_of({launch(0, "a", {}), running, next})).running.has_value();
    };
    EXPECT_FALSE(launch_that_runs(launch(1, "b", {})));
    EXPECT_TRUE(launch_that_runs(launch(2, "b", {})));
    EXPECT_TRUE(launch_that_runs(launch(1, "b", {}, 2))) << "another process";
}

TEST(Reports, leave_out_a_record_that_was_cut_off) {
    const std::string first = lines_of({launch(0, "a", {})}), second = lines_of({launch(1, "b", {})});
    for (std::size_t length = 0; length + 2 < second.size(); length += 17)
        ASSERT_THAT(report_of(first + second.substr(0, length)).launches, SizeIs(1));
    EXPECT_THAT(report_of(first + second).launches, SizeIs(2));
    EXPECT_THAT(report_of("").launches, SizeIs(0));
}

TEST(Reports, tell_when_they_could_not_be_written) {
    EXPECT_TRUE(report_of("").is_complete);
    EXPECT_FALSE(report_of("{\"record\": \"cut off\"}\n").is_complete);
}

TEST(Reports, sort_records_by_kind) {
    Json other = launch(0, "b", {});
    other["record"] = "other launch";
    const Report report = report_of(lines_of({{{"record", "process"}, {"process", 1}, {"program", "/p"}},
                                              launch(0, "a", {}),
                                              other,
                                              {{"record", "lines"},
                                               {"process", 1},
                                               {"launch", 0},
                                               {"kernel", "a"},
                                               {"name", "a(int*)"},
                                               {"functions", Json::array()}},
                                              {{"record", "accesses"}, {"launch", 0}},
                                              {{"record", "error"}, {"text", "what went wrong"}},
                                              {{"record", "of another kind"}}}));
    EXPECT_THAT(report.processes, SizeIs(1));
    EXPECT_THAT(report.launches, SizeIs(1));
    EXPECT_THAT(report.other_launches, SizeIs(1));
    EXPECT_THAT(report.lines, SizeIs(1));
    EXPECT_THAT(report.accesses, SizeIs(1));
    EXPECT_THAT(report.errors, testing::ElementsAre("what went wrong"));
}

TEST(Reports, group_findings_of_several_launches) {
    std::vector<Json> records;
    for (const char* where : {"a.cu:1", "a.cu:2", "a.cu:1"}) {
        Json record = finding(where);
        record["record"] = "finding";
        records.push_back(record);
    }
    const Report report = report_of(lines_of(records));
    ASSERT_THAT(report.findings, SizeIs(2));
    EXPECT_EQ(report.findings[0].parties[0].where, "a.cu:1");
    EXPECT_EQ(report.findings[0].count, 6u);
    EXPECT_EQ(report.findings[1].count, 3u);
}

TEST(Counters, are_all_in_the_table) {
    emulator::Counters counters;
    for (std::size_t i = 0; i < emulator::metric_count; ++i) counters.values[i] = 1'000'001 + i;
    const std::string text = counters_as_text(report_of(lines_of({launch(0, "reduce0", counters)})));
    EXPECT_THAT(text, StartsWith(R"(launch 0: reduce0(int*)
  grid (4096,1,1), block (32,8,1), 1,024 bytes of dynamic shared memory
                                                 loads          stores
  global memory   sectors                    1,000,001       1,000,002
)"));
    for (std::size_t i = 0; i < emulator::metric_count; ++i) {
        const std::string name = emulator::metric_name(static_cast<emulator::Metric>(i));
        EXPECT_THAT(text, HasSubstr(" " + emulator::thousands(1'000'001 + i))) << name;
    }
}

TEST(Counters, are_named_as_in_nsight_compute_if_asked_for) {
    const Report report = report_of(lines_of({launch(0, "reduce0", emulator::Counters())}));
    EXPECT_THAT(counters_as_text(report), AllOf(Not(HasSubstr("l1tex")), HasSubstr("--explain prints")));
    const std::string text = counters_as_text(report, true);
    EXPECT_THAT(text, Not(HasSubstr("--explain")));
    for (std::size_t i = 0; i < emulator::metric_count; ++i) {
        std::string name = emulator::metric_name(static_cast<emulator::Metric>(i));
        if (name.ends_with("_st.sum")) name.replace(name.size() - 6, 2, "ld"); // "_st in place of _ld"
        EXPECT_TRUE(text.find(" " + name) != std::string::npos || name.starts_with("ptx__")) << name;
    }
}

TEST(Counters, of_atomics_are_shown_where_there_are_any) {
    emulator::Counters counters;
    EXPECT_THAT(counters_as_text(report_of(lines_of({launch(0, "a", counters)}))), Not(HasSubstr("atomics")));
    counters[emulator::Metric::global_red_sectors] = 7;
    EXPECT_THAT(counters_as_text(report_of(lines_of({launch(0, "a", counters)}))),
                HasSubstr("                                           result used          unused\n"
                          "  global atomics  sectors                            0               7\n"));
}

TEST(Counters, of_asynchronous_copies_are_shown_where_there_are_any) {
    const auto text = [](const emulator::Counters& counters) {
        return counters_as_text(report_of(lines_of({launch(0, "a", counters)})));
    };
    emulator::Counters counters;
    EXPECT_THAT(text(counters), Not(AnyOf(HasSubstr("copies"), HasSubstr("ldgsts"), HasSubstr("tma"))));
    counters[emulator::Metric::bulk_sectors] = 7;
    EXPECT_THAT(text(counters),
                HasSubstr("                                              cp.async            bulk\n"
                          "  async copies    instructions                       0               0\n"
                          "                  wavefronts                         0\n"
                          "                  sectors                                            7\n"));
}

TEST(Counters, of_launches_that_are_alike_share_a_table) {
    emulator::Counters zero, one;
    one[emulator::Metric::warp_instructions] = 1;
    const std::string text =
        counters_as_text(report_of(lines_of({launch(0, "a", zero), launch(1, "a", zero), launch(2, "a", one),
                                             launch(3, "b", one), launch(4, "a", zero)})));
    EXPECT_THAT(text, StartsWith("launches 0 to 1, each: a(int*)\n"));
    for (const char* heading : {"\nlaunch 2: a(int*)\n", "\nlaunch 3: b(int*)\n", "\nlaunch 4: a(int*)\n"})
        EXPECT_THAT(text, HasSubstr(heading));
}

TEST(Counters, tell_processes_apart) {
    const auto process = [](int number) {
        return Json{{"record", "process"}, {"process", number}, {"program", "/p"}};
    };
    const std::string text = counters_as_text(
        report_of(lines_of({process(17), process(18), launch(0, "a", {}, 17), launch(0, "a", {}, 18)})));
    EXPECT_THAT(text, StartsWith("launch 0 of process 17: a(int*)\n"));
    EXPECT_THAT(text, HasSubstr("\nlaunch 0 of process 18: a(int*)\n"));
}

TEST(Counters, come_as_rows_with_quoted_names) {
    Json record = launch(3, "f", {}, 17);
    record["name"] = "f(\"x\", int)";
    const std::string csv = counters_as_csv(report_of(lines_of({record})));
    EXPECT_THAT(csv,
                HasSubstr("\n17,3,\"f(\"\"x\"\", int)\",4096,1,1,32,8,1,1024,smsp__inst_executed.sum,0\n"));
    EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 1 + std::ssize(emulator::Counters{}.values));
}

TEST(ShortNames, leave_out_parameters_and_return_types) {
    using emulator::short_name;
    EXPECT_EQ(short_name("reduce3"), "reduce3");
    EXPECT_EQ(short_name("reduce3(int const*, int*, unsigned long)"), "reduce3");
    EXPECT_EQ(short_name("void reduce<256>(int const*)"), "reduce<256>");
    EXPECT_EQ(short_name("void a::b<unsigned int, (a::mode)1>(void (*)(int), int)"),
              "a::b<unsigned int, (a::mode)1>");
    EXPECT_EQ(short_name("(anonymous namespace)::fill(int*)"), "(anonymous namespace)::fill");
    EXPECT_EQ(short_name("void (anonymous namespace)::scale<6>(int*)"), "(anonymous namespace)::scale<6>");
}

} // namespace
