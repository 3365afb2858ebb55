#include "emulator/cli/options.hpp"

#include "emulator/cli/exit_status.hpp"

#include <gmock/gmock.h>

#include <sstream>

using namespace emulate;
using testing::ElementsAre, testing::HasSubstr, testing::IsEmpty, testing::ThrowsMessage;

namespace {

Options parse(std::vector<const char*> arguments) {
    arguments.insert(arguments.begin(), "emulate");
    Options options;
    parse_options(static_cast<int>(arguments.size()), arguments.data(), options);
    return options;
}

void expect_error(const std::vector<const char*>& arguments, const char* message) {
    EXPECT_THAT([&] { parse(arguments); }, ThrowsMessage<UsageError>(HasSubstr(message)));
}

TEST(EmulateOptions, have_defaults) {
    const Options options = parse({"./program"});
    EXPECT_FALSE(options.counters);
    EXPECT_EQ(to_text(options.request), "{}");
    EXPECT_FALSE(options.schedules);
    EXPECT_EQ(options.format, Format::text);
    EXPECT_EQ(options.output, "");
    EXPECT_EQ(options.error_exit_code, 10);
    EXPECT_THAT(options.program, ElementsAre("./program"));
}

TEST(EmulateOptions, estimate_for_a_card) {
    EXPECT_EQ(parse({"./program"}).request.time, "");
    EXPECT_EQ(parse({"--time", "./program"}).request.time, "h200");
    EXPECT_THAT(parse({"--time", "./program"}).program, ElementsAre("./program"));
    EXPECT_EQ(parse({"--time=h200", "./program"}).request.time, "h200");
    EXPECT_FALSE(parse({"--time", "./program"}).request.time_only);
    EXPECT_EQ(parse({"--time-only", "./program"}).request.time, "h200");
    EXPECT_TRUE(parse({"--time-only", "./program"}).request.time_only);
    EXPECT_EQ(parse({"--time=h100", "./program"}).request.time, "h100");
    EXPECT_THAT(help_text(), HasSubstr("CARD: h100, h200. Default: h200"));
    expect_error({"--time=a100", "p"},
                 "--time=a100: there is no description of that card; write one of h100, h200");
    expect_error({"--time", "--draw", "banks", "p"}, "--time: estimates alone or with --counters");
    expect_error({"--time-only", "--counters", "p"}, "--time-only: runs no launch");
    EXPECT_EQ(parse({"--time", "--at-most", "1k", "p"}).request.at_most, 1000u);
    expect_error({"--counters", "--at-most", "5", "p"}, "--at-most: limits estimates; add --time");
    EXPECT_EQ(parse({"--draw", "time", "p"}).request.time, "h200");
    EXPECT_EQ(parse({"--draw", "time", "--time=h100", "p"}).request.time, "h100");
    EXPECT_EQ(parse({"--draw", "banks", "p"}).request.time, "");
    EXPECT_TRUE(parse({"--draw", "time", "--time-only", "p"}).request.time_only);
    expect_error({"--draw", "time", "--line", "3", "p"},
                 "--line: picks an access; leave it out with --draw time");
    for (const char* const other : {"--schedule=3", "--schedules=3", "--export=p.html"})
        expect_error({"--draw", "time", other, "p"},
                     "--draw time: draws an estimate; leave out --export, --schedule and --schedules");
    expect_error({"--time", "--format", "csv", "p"}, "csv is for counters");
}

TEST(EmulateOptions, end_where_the_program_begins) {
    EXPECT_THAT(parse({"--counters", "./program", "--lines", "--check", "all", "--", "-h"}).program,
                ElementsAre("./program", "--lines", "--check", "all", "--", "-h"));
    EXPECT_FALSE(parse({"--counters", "./program", "--lines"}).request.lines);
    EXPECT_THAT(parse({"--counters", "--", "./program", "--lines"}).program,
                ElementsAre("./program", "--lines"));
    EXPECT_THAT(parse({"--counters", "--", "--odd"}).program, ElementsAre("--odd"));
    EXPECT_THAT(parse({"--check", "mem", "./program", "race"}).program, ElementsAre("./program", "race"));
    EXPECT_THAT(parse({"p", ""}).program, ElementsAre("p", ""));
}

TEST(EmulateOptions, are_all_read) {
    const Options options =
        parse({"--counters", "--lines", "--check=race,mem", "--leaks", "--global-races", "--schedule",
               "18446744073709551615", "--kernel", "red.*3", "--launch=2", "--ptx", "k.ptx", "--format",
               "json", "--output", "file", "--error-exitcode", "0", "p"});
    EXPECT_TRUE(options.counters);
    EXPECT_TRUE(options.request.lines);
    EXPECT_THAT(options.request.check, ElementsAre("mem", "race"));
    EXPECT_TRUE(options.request.leaks);
    EXPECT_TRUE(options.request.global_races);
    EXPECT_EQ(options.request.schedule, 18446744073709551615u);
    EXPECT_EQ(options.request.kernel, "red.*3");
    EXPECT_EQ(options.request.launch, 2u);
    EXPECT_EQ(options.request.ptx, "k.ptx");
    EXPECT_EQ(parse({"--ptx", "k.ptx", "--tag-numbers", "7", "p"}).tagged, 7u);
    EXPECT_EQ(options.format, Format::json);
    EXPECT_EQ(options.output, "file");
    EXPECT_EQ(options.error_exit_code, 0);
    const Options picture = parse({"--draw", "banks", "--line", "17", "p"});
    EXPECT_EQ(picture.output, "pictures");
    EXPECT_EQ(parse({"--draw", "banks", "--output", "here", "p"}).output, "here");
    EXPECT_EQ(picture.request.draw, "banks");
    EXPECT_EQ(picture.request.line, 17u);
    const Options page = parse({"--export", "page.html", "--kernel", "k", "p"});
    EXPECT_TRUE(page.request.replay);
    EXPECT_EQ(page.output, "page.html");
    EXPECT_EQ(parse({"--schedules", "20", "p"}).schedules, 20u);
    EXPECT_EQ(parse({"--devices", "4", "p"}).devices, 4u);
    EXPECT_EQ(parse({"--schedules", "1k", "p"}).schedules, 1000u);
    EXPECT_EQ(parse({"--schedule", "2^24", "p"}).request.schedule, 16'777'216u);
    EXPECT_EQ(parse({"--asked-by", "lesson42", "p"}).asked_by, "lesson42");
    EXPECT_THAT(parse({"--version"}).answer, HasSubstr("emulate 0."));
    EXPECT_EQ(parse({"--help", "--odd"}).answer, help_text());
}

TEST(EmulateOptions, take_lists_of_checkers) {
    EXPECT_THAT(parse({"--check", "all", "p"}).request.check, ElementsAre("mem", "init", "race", "sync"));
    EXPECT_THAT(parse({"--check", "mem,all,mem", "p"}).request.check,
                ElementsAre("mem", "init", "race", "sync"));
    EXPECT_THAT(parse({"--check", "sync", "--check", "init", "p"}).request.check,
                ElementsAre("init", "sync"));
    expect_error({"--check", "memory", "p"},
                 "--check memory: there is no checker 'memory'; write all, or some of mem,init,race,sync");
    expect_error({"--check", "mem,,race", "p"}, "there is no checker ''");
    expect_error({"--check", "", "p"}, "there is no checker ''");
}

TEST(EmulateOptions, take_the_format_from_the_files_name) {
    EXPECT_EQ(parse({"--counters", "--output", "a.json", "p"}).format, Format::json);
    EXPECT_EQ(parse({"--counters", "--output", "a.csv", "p"}).format, Format::csv);
    EXPECT_EQ(parse({"--lines", "--output", "a.html", "p"}).format, Format::html);
    EXPECT_EQ(parse({"--lines", "--output", "a.txt", "p"}).format, Format::text);
    EXPECT_EQ(parse({"--lines", "--output", "a.html", "--format", "text", "p"}).format, Format::text);
}

TEST(EmulateOptions, are_refused_with_what_would_be_right) {
    expect_error({}, "which program? Write: emulate [options] program [arguments]");
    expect_error({"--counters"}, "which program?");
    expect_error({"--counters", "--"}, "which program?");
    expect_error({"--counters", ""}, "which program?");
    expect_error({"--conters", "p"}, "--conters: unknown option");
    expect_error({"-x", "p"}, "-x: unknown option");
    expect_error({"--counters=1", "p"}, "--counters: takes no value");
    expect_error({"--launch"}, "--launch: needs a value");
    expect_error({"--launch", "first", "p"}, "--launch first: write a whole number from 0 to 2^64 - 1");
    expect_error({"--launch", "-1", "p"}, "--launch");
    expect_error({"--draw", "banks", "--line", "0", "p"},
                 "--line 0: write a whole number from 1 to 4294967295");
    expect_error({"--schedule", "1e3", "p"}, "--schedule 1e3: write a whole number");
    expect_error({"--schedule", "18446744073709551616", "p"}, "write a whole number from 0 to 2^64 - 1");
    expect_error({"--devices", "0", "p"}, "--devices 0: write a whole number from 1 to 16");
    expect_error({"--devices", "17", "p"}, "--devices 17: write a whole number from 1 to 16");
    expect_error({"--schedules", "0", "p"}, "--schedules 0: write a whole number from 1 to 1000000");
    expect_error({"--error-exitcode", "256", "p"},
                 "--error-exitcode 256: write a whole number from 0 to 255");
    expect_error({"--draw", "circles", "p"},
                 "--draw circles: write one of banks, sectors, activity, tile, time");
    expect_error({"--draw", "bank", "p"}, "activity, tile, time; did you mean banks?");
    expect_error({"--check", "rase", "p"}, "mem,init,race,sync; did you mean race?");
    expect_error({"--counters", "--format", "xml", "p"}, "--format xml: write text, json, csv or html");
    expect_error({"--counters", "--kernel", "(", "p"}, "--kernel (: not a regular expression");
    expect_error({"--ptx", "", "p"}, "--ptx: empty; write the name of a file");
    expect_error({"--export", "", "p"}, "--export: empty; write the name of a file");
    expect_error({"--counters", "--output", "", "p"}, "--output: empty; write the name of a file");
}

TEST(EmulateOptions, are_refused_where_they_do_not_belong_together) {
    expect_error({"--format", "json", "p"}, "nothing to report");
    expect_error({"--schedule", "3", "--output", "f", "p"}, "nothing to report");
    expect_error({"--kernel", "f", "p"}, "nothing to report");
    expect_error({"--launch", "0", "p"}, "nothing to report");
    expect_error({"--schedules", "3", "--kernel", "f", "p"},
                 "--schedules: compares all that the program does");
    expect_error({"--schedules", "3", "--launch", "0", "p"},
                 "--schedules: compares all that the program does");
    expect_error({"--leaks", "--check", "race", "p"}, "--leaks: add --check mem");
    expect_error({"--global-races", "p"}, "--global-races: add --check race");
    expect_error({"--explain", "--lines", "p"}, "--explain: add --counters");
    expect_error({"--check", "all", "--color", "pink", "p"}, "--color pink: write auto, always or never");
    expect_error({"--tag-numbers", "3", "p"}, "--tag-numbers: changes stores of a PTX file; add --ptx");
    expect_error({"--line", "3", "--lines", "p"}, "--line: picks the access to draw; add --draw");
    expect_error({"--draw", "banks", "--counters", "p"}, "--draw: makes a picture of its own");
    expect_error({"--draw", "banks", "--format", "text", "p"},
                 "--draw: a picture is SVG; leave out --format");
    const Options data = parse({"--draw", "banks", "--format", "json", "p"});
    EXPECT_TRUE(data.request.values);
    EXPECT_EQ(data.output, ""); // like every report
    EXPECT_FALSE(parse({"--draw", "banks", "p"}).request.values);
    expect_error({"--export", "f.html", "--output", "f", "p"}, "--export: names the page's file itself");
    expect_error({"--export", "f.html", "--format", "html", "p"}, "--export: a page is always HTML");
    for (const char* const other :
         {"--counters", "--lines", "--check=all", "--draw=banks", "--schedule=3", "--schedules=3"})
        expect_error({"--export", "f.html", other, "p"}, "--export: makes a page of its own");
    expect_error({"--schedules", "3", "--check", "all", "p"}, "--schedules: only compares runs");
    expect_error({"--schedules", "3", "--schedule", "3", "p"}, "--schedules: only compares runs");
    expect_error({"--lines", "--format", "csv", "p"}, "csv is for counters");
    expect_error({"--counters", "--lines", "--format", "csv", "p"}, "csv is for counters");
    expect_error({"--counters", "--format", "html", "p"}, "html is for lines");
    expect_error({"--schedules", "3", "--format", "html", "p"}, "html is for lines");
}

TEST(EmulateOptions, are_all_in_the_help) {
    for (const char* option :
         {"--counters",     "--explain",          "--lines",         "--check WHAT",
          "--leaks",        "--global-races",     "--draw WHAT",     "--line N",
          "--export FILE",  "--schedule SEED",    "--schedules K",   "--ptx FILE",
          "--kernel REGEX", "--launch K",         "--format HOW",    "--output FILE",
          "--color HOW",    "--error-exitcode N", "--asked-by NAME", "--tag-numbers SEED",
          "--help",         "--version",          "--at-most MS",    "--devices N"})
        EXPECT_THAT(help_text(), HasSubstr(option));
    std::istringstream lines(help_text());
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80u) << line;
}

TEST(Requests, come_back_as_they_were_sent) {
    EXPECT_EQ(emulator::to_text({}), "{}");
    emulator::Request request{.kernel = "a\"b",
                              .launch = 0,
                              .lines = true,
                              .check = {"mem", "race"},
                              .leaks = true,
                              .global_races = true,
                              .draw = "tile",
                              .line = 7,
                              .values = true,
                              .replay = true,
                              .schedule = 18446744073709551615u,
                              .ptx = "/a/b.ptx"};
    const std::string text = emulator::to_text(request);
    const emulator::Request read = emulator::parse_request(text);
    EXPECT_EQ(emulator::to_text(read), text);
    EXPECT_EQ(read.kernel, "a\"b");
    EXPECT_EQ(read.launch, 0u);
    EXPECT_TRUE(read.lines && read.leaks && read.global_races && read.values && read.replay);
    EXPECT_TRUE(read.checks("mem") && read.checks("race") && !read.checks("init"));
    EXPECT_EQ(read.draw, "tile");
    EXPECT_EQ(read.line, 7u);
    EXPECT_EQ(read.ptx, "/a/b.ptx");
    EXPECT_EQ(read.schedule, 18446744073709551615u);
    for (const char* wrong : {"", "[]", "{\"lines\": 3}", "{\"unknown\": true}"})
        EXPECT_THROW(emulator::parse_request(wrong), std::exception) << wrong;
}

} // namespace
