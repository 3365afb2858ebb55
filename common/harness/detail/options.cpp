#include "harness/detail/options.hpp"

#include "emulator/command_line.hpp"
#include "emulator/counter_legend.hpp"
#include "emulator/terminal.hpp"
#include "harness/detail/measure.hpp"
#include "harness/detail/observing.hpp"
#include "harness/detail/text_table.hpp"
#include "harness/exit_status.hpp"
#include "harness/numbers.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <iterator>
#include <list>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace harness {
namespace {

using Names = std::vector<std::string>;

/// " Did you mean --block?" or nothing.
std::string suggestion(std::string_view word, const Names& candidates) {
    const std::string nearest = emulator::nearest_name(word, candidates);
    return nearest.empty() ? "" : fmt::format(" Did you mean {}?", nearest);
}

/// \param right a sentence that says what would be right
std::uint64_t parse_number(const char* option, const std::string& text, std::string_view right) {
    try {
        return emulator::parse_whole_number(text);
    } catch (const std::invalid_argument& error) {
        throw UsageError(fmt::format("{} {}: {}. {}", option, text, error.what(), right));
    }
}

std::size_t parse_n(const std::string& text, const LessonInfo& info) {
    const std::string right =
        info.largest_n
            ? fmt::format("Write a whole number from 1 to {}.", group_digits(std::uint64_t{*info.largest_n}))
            : "Write a whole number from 1 up, such as 1000, 16M, 1Gi or 2^24.";
    const std::uint64_t n = parse_number("--n", text, right);
    if (n == 0) throw UsageError(fmt::format("--n {}: there would be nothing to sum. {}", text, right));
    if (info.largest_n && n > *info.largest_n)
        throw UsageError(fmt::format("--n {}: too many for this lesson's kernels. {} {}", text, right,
                                     info.larger_n_hint));
    return n;
}

unsigned int parse_block(const std::string& text, const LessonInfo& info) {
    const std::string right =
        fmt::format("Write a power of two from {} to {}.", info.smallest_block, info.largest_block);
    const std::uint64_t block = parse_number("--block", text, right);
    const auto wrong = [&](const char* reason) {
        return UsageError(fmt::format("--block {}: {}. {}", text, reason, right));
    };
    if (block < 32) throw wrong("a block should fill at least one warp, which is 32 threads");
    if (block > 1024) throw wrong("a block has at most 1024 threads");
    if (!std::has_single_bit(block)) throw wrong("not a power of two, and each step of the tree halves it");
    if (block < info.smallest_block) throw wrong("too small for this lesson's kernels");
    if (block > info.largest_block) throw wrong("too large for this lesson's kernels");
    return static_cast<unsigned int>(block);
}

unsigned int parse_repeat(const std::string& text) {
    constexpr const char* right = "Write a whole number from 1 to 1M.";
    const std::uint64_t repeat = parse_number("--repeat", text, right);
    if (repeat == 0)
        throw UsageError(fmt::format("--repeat {}: at least one run is needed. {}", text, right));
    if (repeat > 1'000'000) throw UsageError(fmt::format("--repeat {}: too many. {}", text, right));
    return static_cast<unsigned int>(repeat);
}

template <class Value>
Value parse_choice(const char* option, const std::string& text,
                   const std::vector<std::pair<std::string, Value>>& choices) {
    Names names;
    for (const auto& [name, value] : choices) {
        if (name == text) return value;
        names.push_back(name);
    }
    throw UsageError(fmt::format("{} {}: unknown. Write one of: {}.", option, text, fmt::join(names, ", ")));
}

/// The kernels that --kernel names, each once and in the lesson's order; all if it names none.
Names select_kernels(const Names& asked, const Names& kernels) {
    for (const std::string& name : asked) {
        if (std::find(kernels.begin(), kernels.end(), name) != kernels.end()) continue;
        throw UsageError(fmt::format("--kernel {}: unknown. This lesson's kernels are: {}.{}", name,
                                     fmt::join(kernels, ", "), suggestion(name, kernels)));
    }
    if (asked.empty()) return kernels;
    Names selected;
    std::copy_if(kernels.begin(), kernels.end(), std::back_inserter(selected), [&](const std::string& name) {
        return std::find(asked.begin(), asked.end(), name) != asked.end();
    });
    return selected;
}

std::uint64_t parse_lesson_option(const LessonOption& option, const std::string& text) {
    if (!option.choices.empty()) {
        std::vector<std::pair<std::string, std::uint64_t>> choices;
        for (const char* const name : option.choices) choices.emplace_back(name, choices.size());
        return parse_choice(option.name, text, choices);
    }
    const std::string right = fmt::format("Write a whole number from {} to {}.",
                                          group_digits(option.smallest), group_digits(option.largest));
    const std::uint64_t value = parse_number(option.name, text, right);
    const auto wrong = [&](const char* reason) {
        return UsageError(fmt::format("{} {}: {}. {}", option.name, text, reason, right));
    };
    if (value < option.smallest) throw wrong("too small");
    if (value > option.largest) throw wrong("too large");
    return value;
}

/// Why `word` is wrong: the option is unknown, or no option takes the value.
std::string describe_extra(const std::string& word, const LessonInfo& info, const Names& names) {
    if (!word.starts_with("-")) {
        const bool is_number = !word.empty() && std::isdigit(static_cast<unsigned char>(word.front()));
        return fmt::format("'{}': unexpected.{}", word,
                           is_number ? fmt::format(" Did you mean --n {}?", word) : "");
    }
    const std::string option = word.substr(0, word.find('='));
    Names own_names;
    for (const LessonOption& own : info.options) own_names.push_back(own.name);
    if ((option == "--seed" && !info.random_input) || (option == "--n" && !info.takes_n()) ||
        (option == "--block" && !info.takes_block()))
        return fmt::format("{}: this lesson's {}.{}", option,
                           info.random_input ? "own options set the size"
                                             : "kernels make their data themselves",
                           own_names.empty() ? "" : fmt::format(" It has {}.", fmt::join(own_names, ", ")));
    return fmt::format("{}: unknown option.{}", option, suggestion(option, names));
}

/// A lesson's own option in --help.
std::string describe(const LessonOption& option) {
    constexpr std::size_t column = 18; // in which the explanations begin
    std::string text = fmt::format("  {} {}", option.name, option.value);
    if (text.size() + 2 > column) text += "\n";
    std::string indent(column - (text.ends_with("\n") ? 0 : text.size()), ' ');
    std::istringstream lines(option.help);
    for (std::string line; std::getline(lines, line); indent.assign(column, ' '))
        text += indent + line + "\n";
    return text;
}

/// --n and --block in --help, if the lesson has them.
std::string describe_input(const LessonInfo& info) {
    const std::string most =
        info.largest_n ? group_digits(std::uint64_t{*info.largest_n}) : "what memory holds";
    std::string text;
    if (info.takes_n())
        text += fmt::format(R"(
  --n N           how many ints: 1000, 16M, 1Gi or 2^24. k, M, G are powers of
                  1000; Ki, Mi, Gi of 1024. Any from 1 to {}.
                  Default: {})",
                            most,
                            info.default_n   ? group_digits(std::uint64_t{*info.default_n})
                            : info.largest_n ? most
                                             : "several times the L2 on a GPU, 4Mi on the emulator");
    if (info.takes_block())
        text += fmt::format(R"(
  --block B       threads per block: a power of two from {} to {}.
                  Default: {})",
                            info.smallest_block, info.largest_block, info.default_block);
    return text;
}

/// `emulate` judges their values.
void add_observing_options(CLI::App& app) {
    app.add_flag("--lines")->disable_flag_override();
    app.add_option("--check")->expected(0, 1)->allow_extra_args(false)->multi_option_policy(
        CLI::MultiOptionPolicy::TakeAll);
    app.add_option("--time")->expected(0, 1)->allow_extra_args(false)->take_last();
    app.add_flag("--time-only")->disable_flag_override();
    for (const char* const name : {"--draw", "--line", "--schedule", "--schedules", "--devices"})
        app.add_option(name)->take_last();
}

/// The options as they were given: "--check=mem".
Names given_options(const CLI::App& app) {
    Names given;
    for (const CLI::Option* const option : app.get_options())
        for (const std::string& value : option->results()) {
            if (value.empty() && option->get_expected_min() > 0)
                throw UsageError(option->get_name() + ": needs a value.");
            given.push_back(option->get_name() + (option->get_expected_max() > 0 ? "=" + value : ""));
        }
    return given;
}

template <class... Words> void parse(CLI::App& app, Words&&... words) {
    try {
        emulator::parse_command_line(app, std::forward<Words>(words)...);
    } catch (const std::invalid_argument& error) {
        throw UsageError(fmt::format("{}.", error.what()));
    }
}

} // namespace

const std::uint64_t& OptionValues::at(const char* name) const {
    for (const Value& value : values_)
        if (value.name == std::string_view(name)) return value.value;
    throw std::out_of_range(fmt::format("the lesson has no option {}", name));
}

std::uint64_t& OptionValues::at(const char* name) {
    return const_cast<std::uint64_t&>(std::as_const(*this).at(name));
}

const char* LessonInfo::option_for(const char* kernel) const {
    for (const OptionalKernel& optional : optional_kernels)
        if (optional.name == std::string_view(kernel)) return optional.option;
    return nullptr;
}

const char* kept(std::string text) {
    static std::list<std::string> texts;
    return texts.emplace_back(std::move(text)).c_str();
}

Options parse_options(int argc, const char* const* argv, const LessonInfo& info, const Names& kernels) {
    std::string n, block, device = "auto", repeat, seed, format = "text", color = "auto";
    Names asked_kernels;
    bool help = false, version = false, list = false;
    Options options;

    CLI::App observing, app;
    for (CLI::App* const each : {&observing, &app}) {
        each->set_help_flag();
        each->allow_extras();
    }
    add_observing_options(observing);
    parse(observing, argc, argv);
    options.arguments = observing.remaining();
    // CLI11 gets values as text. They are parsed here, so that each error says what would be right.
    if (info.takes_n()) app.add_option("--n", n)->take_last();
    if (info.takes_block()) app.add_option("--block", block)->take_last();
    if (info.random_input) app.add_option("--seed", seed)->take_last();
    app.add_option("--kernel", asked_kernels)->allow_extra_args(false);
    app.add_option("--device", device)->take_last();
    app.add_option("--repeat", repeat)->take_last();
    app.add_option("--format", format)->take_last();
    app.add_option("--color", color)->take_last();
    app.add_option("--save", options.save)->take_last();
    app.add_flag("--verify", options.verify_only)->disable_flag_override();
    app.add_flag("--explain", options.explain)->disable_flag_override();
    app.add_flag("--changed", options.changed)->disable_flag_override();
    app.add_flag("--list", list)->disable_flag_override();
    app.add_flag("-h,--help", help)->disable_flag_override();
    app.add_flag("--version", version)->disable_flag_override();
    std::map<std::string_view, std::string> lesson_options;
    for (const LessonOption& option : info.options) {
        if (option.is_flag())
            app.add_flag(option.name)->disable_flag_override();
        else
            app.add_option(option.name, lesson_options[option.name])->take_last();
    }
    parse(app, observing.remaining_for_passthrough());

    if (help)
        options.answer = help_text(info, kernels);
    else if (version)
        options.answer = fmt::format("{} {} (The CUDA Reduction Tutorial)\n", info.name, HARNESS_VERSION);
    else if (list)
        options.answer = fmt::format("{}\n", fmt::join(kernels, "\n"));
    if (!options.answer.empty()) return options;

    if (!app.remaining().empty()) {
        Names names;
        for (const CLI::App* const known : {&app, &observing})
            for (const CLI::Option* const option : known->get_options()) names.push_back(option->get_name());
        throw UsageError(describe_extra(app.remaining().front(), info, names));
    }
    const auto is_given = [&](const char* name) {
        return app.get_option_no_throw(name) && app.count(name) > 0;
    };
    if (is_given("--n")) options.n = parse_n(n, info);
    options.block = is_given("--block") ? parse_block(block, info) : info.default_block;
    if (is_given("--seed"))
        options.seed = parse_number("--seed", seed, "Write a whole number from 0 to 2^64 - 1.");
    options.kernels = select_kernels(asked_kernels, kernels);
    options.named_kernels = !asked_kernels.empty();
    options.device = parse_choice<DeviceChoice>("--device", device,
                                                {{"auto", DeviceChoice::automatic},
                                                 {"gpu", DeviceChoice::gpu},
                                                 {"emulator", DeviceChoice::emulator}});
    if (app.count("--save") > 0 && options.save.empty())
        throw UsageError("--save: empty. Write the name of a folder.");
    options.emulate = given_options(observing);
    if (std::find(options.emulate.begin(), options.emulate.end(), "--check=") != options.emulate.end())
        options.note =
            "--check runs the checkers. To verify only, without times and counters, write --verify.";
    for (const auto& [given, meant] : {std::pair("--check=", "--check=all"), std::pair("--time=", "--time")})
        std::replace(options.emulate.begin(), options.emulate.end(), std::string(given), std::string(meant));
    if (!options.emulate.empty() && options.device == DeviceChoice::gpu)
        throw UsageError(fmt::format("--device gpu: {} needs the emulator. Leave one of them out.",
                                     options.emulate.front()));
    if (app.count("--repeat") > 0) options.repeat = parse_repeat(repeat);
    options.format = parse_choice<OutputFormat>(
        "--format", format,
        {{"text", OutputFormat::text}, {"json", OutputFormat::json}, {"csv", OutputFormat::csv}});
    if (options.changed && options.format != OutputFormat::text)
        throw UsageError(
            fmt::format("--format {}: --changed prints a table. Leave one of them out.", format));
    for (const LessonOption& option : info.options) {
        const bool given = app.count(option.name) > 0;
        options.lesson_options.add(option.name, given && !option.is_flag()
                                                    ? parse_lesson_option(option, lesson_options[option.name])
                                                    : (given ? 1 : option.default_value));
    }
    const std::vector<std::pair<std::string, bool>> colors{
        {"auto", true}, {"always", true}, {"never", false}};
    options.color = parse_choice("--color", color, colors) && options.format == OutputFormat::text &&
                    emulator::wants_color(color, STDOUT_FILENO);
    if (!options.emulate.empty()) {
        if (is_given("--color")) options.emulate.push_back("--color=" + color);
        const std::size_t checks = observing.count("--check") + observing.count("--schedules");
        // Counters of another schedule are not those of the pages.
        if (checks + observing.count("--schedule") > 0)
            options.arguments.insert(options.arguments.begin(), "--verify");
        // There are no pictures in JSON, and --schedule alone reports nothing.
        if (format == "json" &&
            checks + observing.count("--lines") + observing.count("--time") + observing.count("--time-only") >
                0)
            options.emulate.emplace_back("--format=json");
    }
    const bool only_verifies =
        options.verify_only || (!options.arguments.empty() && options.arguments.front() == "--verify");
    if (options.changed && only_verifies)
        throw UsageError("--changed: compares what was counted or timed. Leave out --verify, --check and "
                         "--schedule.");
    if (info.complete_options) info.complete_options(options.lesson_options);
    return options;
}

std::string help_text(const LessonInfo& info, const Names& kernels) {
    std::string own_options;
    for (const LessonOption& option : info.options) own_options += describe(option);
    Names usual;
    std::map<std::string, Names> others; // option -> kernels
    for (const std::string& kernel : kernels) {
        const char* const option = info.option_for(kernel.c_str());
        (option == nullptr ? usual : others[option]).push_back(kernel);
    }
    std::string optional_kernels;
    for (const auto& [option, names] : others)
        optional_kernels += fmt::format(" With {}, or by name, also {}.", option, fmt::join(names, ", "));
    return fmt::format(
        R"({title}

{summary}
Usage: ./{name} [options]
{input}
  --kernel NAME   run only this kernel; may be given several times. Default: all
  --device WHERE  auto, gpu or emulator. Default: auto, the GPU if there is one
  --repeat R      runs of each kernel, all verified. Default: {runs} timed ones on a
                  GPU, fewer of a slow kernel; 1 on the emulator
{seed}  --format HOW    text, json or csv. Default: text
  --save FOLDER   writes FOLDER/{name}.json and FOLDER/{name}.csv as well
  --verify        verify only: no times, no counters
  --explain       also print what the counters are called in Nsight Compute
  --changed       print only what differs between the kernels, time first. On
                  the emulator, estimated for an H200 and 268,435,456 elements
  --color HOW     auto, always or never. Default: auto, on a terminal unless
                  NO_COLOR is set
{own_options}  --list          print the kernels' names
  --help          print this
  --version       print the version
{observing}
Examples:
  ./{name}                                  all kernels, side by side
{example}  ./{name} --kernel {last} --format json    for a script
  ./{name} --device emulator                counters, even if there is a GPU

Exit status:
  0  every kernel's result is right
  1  a result is wrong; stderr has both values and the first wrong place
  2  the command line is wrong, or standard output cannot be written
  3  the device cannot run it; stderr has the CUDA error's name
  10 --check or --schedules found something

{legend})",
        fmt::arg("observing", observing_help()),
        fmt::arg("title", fmt::format("{}: {}", info.name, info.title)), fmt::arg("name", info.name),
        fmt::arg("summary",
                 wrap(fmt::format("Runs the kernels {}{}, verifies every result and prints what each "
                                  "costs: time and bandwidth on a GPU, memory traffic on the emulator.{}",
                                  fmt::join(usual, ", "), info.random_input ? " on the same random ints" : "",
                                  optional_kernels))),
        fmt::arg("input", describe_input(info)), fmt::arg("last", kernels.back()),
        fmt::arg("runs", default_timed_runs),
        fmt::arg("seed", info.random_input
                             ? fmt::format("  --seed S        the random numbers' seed. Default: {}\n",
                                           Options{}.seed)
                             : ""),
        fmt::arg("example",
                 info.takes_n()
                     ? fmt::format("  ./{} --n 1000 --block 64              a size that fills no block\n",
                                   info.name)
                     : ""),
        fmt::arg("own_options", own_options), fmt::arg("legend", emulator::counter_legend()));
}

} // namespace harness
