#include "emulator/cli/options.hpp"

#include "emulator/cli/exit_status.hpp"
#include "emulator/cli/time.hpp"
#include "emulator/command_line.hpp"
#include "emulator/counter_legend.hpp"
#include "emulator/device_count.hpp"
#include "emulator/terminal.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace emulate {
namespace {

using Names = std::vector<std::string>;

const Names checkers{"mem", "init", "race", "sync"};
const Names pictures{"banks", "sectors", "activity", "tile", "time"};

bool contains(const Names& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

std::uint64_t parse_number(const char* option, const std::string& text, std::uint64_t least,
                           std::uint64_t most = UINT64_MAX) {
    try {
        const std::uint64_t value = emulator::parse_whole_number(text);
        if (value >= least && value <= most) return value;
    } catch (const std::invalid_argument&) { // the same for it
    }
    const std::string largest = most == UINT64_MAX ? "2^64 - 1" : std::to_string(most);
    throw UsageError(fmt::format("{} {}: write a whole number from {} to {}", option, text, least, largest));
}

/// "; did you mean race?" or nothing.
std::string suggestion(const std::string& word, const Names& names) {
    const std::string nearest = emulator::nearest_name(word, names);
    return nearest.empty() ? "" : fmt::format("; did you mean {}?", nearest);
}

/// "mem,race", several times; "all" stands for all of them.
Names parse_checkers(const Names& lists) {
    Names words_given;
    for (const std::string& list : lists) {
        std::istringstream words(list + ",");
        for (std::string word; std::getline(words, word, ',');) {
            if (word != "all" && !contains(checkers, word))
                throw UsageError(
                    fmt::format("--check {}: there is no checker '{}'; write all, or some of {}{}", list,
                                word, fmt::join(checkers, ","), suggestion(word, checkers)));
            words_given.push_back(word);
        }
    }
    Names asked;
    for (const std::string& name : checkers)
        if (contains(words_given, "all") || contains(words_given, name)) asked.push_back(name);
    return asked;
}

Format parse_format(const std::string& text) {
    const std::pair<const char*, Format> formats[] = {
        {"text", Format::text}, {"json", Format::json}, {"csv", Format::csv}, {"html", Format::html}};
    for (const auto& [name, format] : formats)
        if (text == name) return format;
    throw UsageError(fmt::format("--format {}: write text, json, csv or html", text));
}

/// The format that belongs to a file's extension.
Format format_of_file(const std::string& file) {
    const std::string ending = std::filesystem::path(file).extension();
    if (ending == ".json") return Format::json;
    if (ending == ".csv") return Format::csv;
    if (ending == ".html") return Format::html;
    return Format::text;
}

void require(bool holds, const char* what_is_wrong) {
    if (!holds) throw UsageError(what_is_wrong);
}

/// Options that need each other, and options that exclude each other.
void check(const Options& options, bool has_format) {
    const emulator::Request& request = options.request;
    const bool counters = options.counters, lines = request.lines, draws = !request.draw.empty();
    const bool checks = !request.check.empty();
    require(!options.explain || counters, "--explain: add --counters");
    require(!request.leaks || request.checks("mem"), "--leaks: add --check mem");
    require(!request.global_races || request.checks("race"), "--global-races: add --check race");
    const bool times = !request.time.empty();
    const bool draws_time = request.draw == "time";
    const bool orders = request.schedule || options.schedules;
    require(!draws_time || !(request.replay || orders),
            "--draw time: draws an estimate; leave out --export, --schedule and --schedules");
    require(!times || !((draws && !draws_time) || request.replay || orders),
            "--time: estimates alone or with --counters, --lines and --check; leave out --draw (but for "
            "--draw time), --export, --schedule and --schedules");
    require(!request.at_most || times, "--at-most: limits estimates; add --time");
    require(!request.time_only || !(counters || lines || checks),
            "--time-only: runs no launch; leave out --counters, --lines and --check");
    require(!request.line || draws, "--line: picks the access to draw; add --draw");
    require(!request.line || !draws_time, "--line: picks an access; leave it out with --draw time");
    require(!draws || !(counters || lines || checks),
            "--draw: makes a picture of its own; leave out --counters, --lines and --check");
    require(!draws || !has_format || options.format == Format::json,
            "--draw: a picture is SVG; leave out --format, or write --format json for its data");
    require(
        !request.replay || !(counters || lines || checks || draws || request.schedule || options.schedules),
        "--export: makes a page of its own, which counts, checks and draws; leave out --counters, --lines, "
        "--check, --draw, --schedule and --schedules");
    require(!request.replay || !has_format, "--export: a page is always HTML; leave out --format");
    require(
        !options.schedules || !(counters || lines || checks || draws || request.schedule),
        "--schedules: only compares runs; pass the seed that it reports to --schedule, with what else you "
        "want to see");
    const bool selects = !request.kernel.empty() || request.launch;
    require(!options.schedules || !selects, "--schedules: compares all that the program does; leave out "
                                            "--kernel and --launch");
    require(options.reports() || options.schedules || !(has_format || selects || !options.output.empty()),
            "nothing to report: add --counters, --lines, --check, --time, --draw or --export");
    require(options.format != Format::csv || (counters && !lines && !checks && !times),
            "csv is for counters: write --counters, without --lines, --check and --time");
    require(options.format != Format::html || (lines && !counters && !checks && !times),
            "html is for lines: write --lines, without --counters, --check and --time");
}

} // namespace

bool Options::reports() const {
    return counters || request.lines || !request.check.empty() || !request.draw.empty() || request.replay ||
           !request.time.empty();
}

void parse_options(int argc, const char* const* argv, Options& options) {
    std::string launch, line, page, schedule, schedules, devices, tagged, format, error_exit_code, at_most,
        color = "auto";
    Names check_lists;
    bool help = false, version = false, time_only = false;
    emulator::Request& request = options.request;

    CLI::App app;
    app.set_help_flag();
    app.prefix_command(); // the first word that is no option of ours is the program
    // Values are taken as text and read here, so that each error says what would be right.
    const auto flag = [&](const char* name, bool& value) {
        app.add_flag(name, value)->disable_flag_override();
    };
    const auto option = [&](const char* name, std::string& value) {
        app.add_option(name, value)->take_last();
    };
    flag("--counters", options.counters);
    flag("--explain", options.explain);
    flag("--lines", request.lines);
    app.add_option("--check", check_lists)->allow_extra_args(false);
    flag("--leaks", request.leaks);
    flag("--global-races", request.global_races);
    app.add_flag("--time{h200}", request.time)->take_last(); // --time=CARD; a word behind it is the program
    flag("--time-only", time_only);
    option("--draw", request.draw);
    option("--line", line);
    option("--export", page);
    option("--schedule", schedule);
    option("--schedules", schedules);
    option("--devices", devices);
    option("--ptx", request.ptx);
    option("--tag-numbers", tagged);
    option("--kernel", request.kernel);
    option("--launch", launch);
    option("--format", format);
    option("--output", options.output);
    option("--color", color);
    option("--error-exitcode", error_exit_code);
    option("--asked-by", options.asked_by);
    option("--at-most", at_most);
    flag("-h,--help", help);
    flag("--version", version);
    try {
        emulator::parse_command_line(app, argc, argv);
    } catch (const std::invalid_argument& error) {
        throw UsageError(error.what());
    }

    if (help)
        options.answer = help_text();
    else if (version)
        options.answer = fmt::format("emulate {} (The CUDA Reduction Tutorial)\n", EMULATE_VERSION);
    if (!options.answer.empty()) return;

    const auto given = [&](const char* name) { return app.count(name) > 0; };
    options.program = app.remaining();
    if (!options.program.empty() && options.program.front() == "--")
        options.program.erase(options.program.begin());
    else if (!options.program.empty() && options.program.front().starts_with("-"))
        throw UsageError(options.program.front() + ": unknown option");
    require(!options.program.empty() && !options.program.front().empty(),
            "which program? Write: emulate [options] program [arguments]");

    request.check = parse_checkers(check_lists);
    if (given("--draw") && !contains(pictures, request.draw))
        throw UsageError(fmt::format("--draw {}: write one of {}{}", request.draw, fmt::join(pictures, ", "),
                                     suggestion(request.draw, pictures)));
    if ((time_only || request.draw == "time") && !given("--time")) request.time = "h200";
    request.time_only = time_only;
    if (given("--time") && !contains(known_cards(), request.time))
        throw UsageError(fmt::format("--time={}: there is no description of that card; write one of {}",
                                     request.time, fmt::join(known_cards(), ", ")));
    if (given("--line"))
        request.line = static_cast<std::uint32_t>(parse_number("--line", line, 1, UINT32_MAX));
    if (given("--schedule")) request.schedule = parse_number("--schedule", schedule, 0);
    if (given("--schedules")) options.schedules = parse_number("--schedules", schedules, 1, 1'000'000);
    if (given("--devices")) options.devices = parse_number("--devices", devices, 1, emulator::max_devices);
    if (given("--at-most")) request.at_most = parse_number("--at-most", at_most, 0, 1'000'000);
    if (given("--launch")) request.launch = parse_number("--launch", launch, 0);
    if (given("--error-exitcode"))
        options.error_exit_code = static_cast<int>(parse_number("--error-exitcode", error_exit_code, 0, 255));
    try {
        emulator::kernel_filter(request.kernel);
    } catch (const std::runtime_error&) {
        throw UsageError(
            fmt::format("--kernel {}: not a regular expression (as in JavaScript)", request.kernel));
    }
    if (given("--tag-numbers")) options.tagged = parse_number("--tag-numbers", tagged, 0);
    require(!options.tagged || given("--ptx"), "--tag-numbers: changes stores of a PTX file; add --ptx");
    require(!given("--ptx") || !request.ptx.empty(), "--ptx: empty; write the name of a file");
    require(!given("--output") || !options.output.empty(), "--output: empty; write the name of a file");
    require(!given("--export") || !page.empty(), "--export: empty; write the name of a file");
    require(!given("--export") || !given("--output"),
            "--export: names the page's file itself; leave out --output");
    request.replay = given("--export");
    options.format = given("--format") ? parse_format(format) : format_of_file(options.output);
    check(options, given("--format"));
    if (color != "auto" && color != "always" && color != "never")
        throw UsageError(fmt::format("--color {}: write auto, always or never", color));
    options.color = options.format == Format::text && (options.output.empty() || color == "always") &&
                    emulator::wants_color(color, STDERR_FILENO);
    request.values = !request.draw.empty() && options.format == Format::json;
    if (!request.draw.empty() && !request.values && options.output.empty()) options.output = "pictures";
    if (request.replay) options.output = page;
}

std::string help_text() {
    return fmt::format(R"(emulate: runs a CUDA program on a machine without a GPU, and reports what it did

Usage: emulate [options] program [arguments]

Runs any program that is linked with the CUDA runtime. The program keeps its
input, output and exit status. The report follows on stderr.

What to report:
  --counters       a table for each kernel launch; named as in Nsight Compute
  --explain        counters: also their names in Nsight Compute
  --lines          the kernels' source with each line's counters: of PTX, and
                   of the machine code (sm_90) if what --time needs is there
  --check WHAT     errors and their lines: all, or some of mem,init,race,sync
                     mem   accesses out of bounds, misaligned or after a free
                     init  reads of memory that was never written
                     race  accesses to shared memory that no barrier orders;
                           of proxy fences only those that a bulk copy from
                           shared memory needs
                     sync  barriers and masks that threads miss
  --leaks          mem: also memory that is never freed
  --global-races   race: also global memory, between blocks
  --time[=CARD]    an estimate of each launch's time on a card, and what it
                   waits for. CARD: {}. Default: h200
  --time-only      the same without running the launches, which is faster. What
                   the program computes is wrong then
  --at-most MS     time: leave out what takes longer than so many milliseconds
                   in all, as lessons do that estimate unasked
  --draw WHAT      a picture: banks, sectors, activity, tile or time. Time needs
                   what --time needs, and is estimated for the same CARD
  --line N         draw: of the access in line N of the source
  --export FILE    a page in which a browser runs the launches again, counts,
                   checks and draws: HTML that works offline
  --schedule SEED  run streams, blocks, warps and lanes in the order of SEED.
                   Blocks see each other's stores late unless a fence orders
                   them
  --schedules K    try the orders of K seeds; report the first that changes what
                   the program prints on stdout, or its exit status

On which devices, and with which kernels:
  --devices N      emulate N devices, which can access each other's memory.
                   Default: the variable EMULATE_DEVICES, else 1
  --ptx FILE       those of this PTX file replace the program's kernels of the
                   same mangled names; nvcc -ptx -arch=compute_90 makes one
  --tag-numbers SEED
                   ptx: each int gets a tag when it is stored in shared memory,
                   made of SEED and the thread's number. When a thread's number
                   with its tag is stored in global memory, it loses the tag;
                   any other becomes -1

Of which launches:
  --kernel REGEX   those of kernels whose name matches
  --launch K       only the K-th of the process, from 0

How:
  --format HOW     text, json, csv (counters) or html (lines). Default: by the
                   ending of the output file, else text
  --output FILE    where to; for pictures a folder, in which each kernel gets
                   its own. Default: stderr; for pictures the folder pictures
  --color HOW      auto, always or never. Default: auto, color on a terminal
                   unless NO_COLOR is set
  --error-exitcode N
                   the exit status when something is found. Default: 10
  --asked-by NAME  a program NAME was given these options: what is wrong with
                   them is said in its name, and the exit status is 2
  --help           print this
  --version        print the version

Examples:
  emulate --counters ./lesson03
  emulate --counters --kernel reduce3 --output counters.csv ./lesson03
  emulate --lines --output lines.html ./my_program its arguments
  emulate --check all ./my_program
  emulate --draw banks --line 17 ./my_program
  emulate --export page.html ./my_program
  emulate --schedules 20 ./my_program

Exit status:
  that of the program, or its signal, except:
   10  --check or --schedules found something, or a launch failed, so that
       --check could not check it
  125  the command line is wrong; the report cannot be written; the program
       ended with 0, but nothing could be observed; or it needs a kernel or a
       function that the emulator does not support
  126  the program cannot be run, or its static CUDA runtime cannot be replaced
  127  there is no such program

)",
                       fmt::join(known_cards(), ", ")) +
           emulator::counter_legend();
}

} // namespace emulate
