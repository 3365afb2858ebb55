#include "emulator/cli/schedules.hpp"

#include "emulator/cli/exit_status.hpp"
#include "emulator/cli/run.hpp"
#include "emulator/cli/temporary_file.hpp"
#include "emulator/terminal.hpp"
#include "emulator/text.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <sstream>
#include <sys/stat.h>

namespace emulate {
namespace {

/// Shows the progress on stderr after two seconds, if stderr is a terminal.
class Progress {
public:
    explicit Progress(std::uint64_t schedules) : schedules_(schedules) {}
    ~Progress() {
        if (told_) fmt::print(stderr, "\r\x1b[K");
    }
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    void tell(std::uint64_t schedule) {
        using namespace std::chrono;
        const auto elapsed = duration_cast<seconds>(steady_clock::now() - start_);
        if (elapsed < 2s || !isatty(STDERR_FILENO)) return;
        fmt::print(stderr, "\rschedule {} of {} ... {} s", schedule, schedules_, elapsed.count());
        std::fflush(stderr);
        told_ = true;
    }

private:
    std::uint64_t schedules_;
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
    bool told_ = false;
};

/// The program's stdin: a file, read from the same offset in each run. Anything else can be read only once,
/// so the program gets none.
class Input {
public:
    Input() {
        struct stat facts {};
        if (fstat(STDIN_FILENO, &facts) == 0 && S_ISREG(facts.st_mode))
            start_ = lseek(STDIN_FILENO, 0, SEEK_CUR);
        else
            nothing_ = open("/dev/null", O_RDONLY | O_CLOEXEC);
    }
    ~Input() {
        if (nothing_ >= 0) close(nothing_);
    }
    Input(const Input&) = delete;
    Input& operator=(const Input&) = delete;

    /// The descriptor for the next run.
    int rewound() const {
        if (nothing_ >= 0) return nothing_;
        lseek(STDIN_FILENO, start_, SEEK_SET);
        return STDIN_FILENO;
    }

private:
    off_t start_ = 0;
    int nothing_ = -1;
};

struct Outcome {
    Report report;
    std::string out; ///< what it printed on stdout
};

Outcome run(const Options& options, std::optional<std::uint64_t> seed, const Input& input) {
    emulator::Request request = options.request;
    request.schedule = seed;
    const TemporaryFile out, err;
    // The other runs would repeat it. `--schedule SEED` shows what one of them prints.
    std::map<int, int> descriptors{{STDIN_FILENO, input.rewound()}, {STDOUT_FILENO, out.descriptor()}};
    if (seed) descriptors.emplace(STDERR_FILENO, err.descriptor());
    Report report = run_on_emulator(options.program, request, descriptors);
    if (was_interrupted()) throw Interrupted{report.ending};
    std::ifstream file(out.path(), std::ios::binary);
    return {std::move(report), {std::istreambuf_iterator<char>(file), {}}};
}

/// nullopt: the two runs did the same.
std::optional<Difference> difference(const Outcome& usual, const Outcome& other) {
    if (other.out == usual.out && other.report.ending == usual.report.ending) return std::nullopt;
    Difference result{.ending = other.report.ending};
    if (other.out == usual.out) return result;
    std::istringstream usual_lines(usual.out), other_lines(other.out);
    const auto next = [](std::istringstream& lines) {
        std::string line;
        if (!std::getline(lines, line)) return std::optional<std::string>();
        return std::optional(lines.eof() ? line + " (and no end of line)" : line);
    };
    do {
        ++result.line;
        result.usual_line = next(usual_lines);
        result.other_line = next(other_lines);
    } while (result.usual_line == result.other_line && result.usual_line);
    return result;
}

std::string describe(const ScheduleResult& result) {
    const Difference& difference = *result.difference;
    const auto row = [](const std::string& name, const std::string& value) {
        return fmt::format("  {:<16}{}\n", name, value);
    };
    const auto line = [](const std::optional<std::string>& text) { return text.value_or("(no such line)"); };
    const std::string usual = "default order", other = fmt::format("seed {}", difference.seed);
    std::string text;
    if (difference.ending != result.default_run.ending)
        text += "The program ends with\n" + row(usual, describe(result.default_run.ending)) +
                row(other, describe(difference.ending));
    if (difference.line != 0)
        text += fmt::format("Line {} of its output is\n", difference.line) +
                row(usual, line(difference.usual_line)) + row(other, line(difference.other_line));
    return text;
}

} // namespace

ScheduleResult try_schedules(const Options& options) {
    const Input input;
    Outcome usual = run(options, std::nullopt, input);
    if (std::fwrite(usual.out.data(), 1, usual.out.size(), stdout) != usual.out.size() ||
        std::fflush(stdout) != 0)
        throw CommandError(ExitStatus::failed, "the program's output cannot be written to stdout");

    ScheduleResult result;
    Progress progress(*options.schedules);
    for (std::uint64_t seed = 1; seed <= *options.schedules && !result.difference; ++seed) {
        progress.tell(seed);
        const Outcome other = run(options, seed, input);
        result.difference = difference(usual, other);
        if (!result.difference) {
            ++result.agreed;
            continue;
        }
        result.difference->seed = seed;
        result.difference->repeatable = !difference(other, run(options, seed, input));
    }
    result.default_run = std::move(usual.report);
    return result;
}

std::string schedules_as_text(const ScheduleResult& result, bool color) {
    const std::string agreed = emulator::thousands(result.agreed);
    if (!result.difference)
        return emulator::styled(fmt::format("The program does the same in {}: same output, same exit status.",
                                            result.agreed == 1 ? "1 other order" : agreed + " other orders"),
                                emulator::Style::green, color) +
               "\n";
    const std::uint64_t seed = result.difference->seed;
    if (!result.difference->repeatable)
        return fmt::format("{} gives two different results in the order of seed {}, so orders cannot be "
                           "compared.\nDoes it print times, addresses or random numbers?",
                           result.default_run.program.front(), seed);
    return emulator::styled(fmt::format("The order of seed {} changes what the program does.", seed),
                            emulator::Style::red, color) +
           fmt::format("\n{}{}"
                       "To see it again, write --schedule {} instead of --schedules; to find the cause, add "
                       "--check all to it.\n",
                       describe(result),
                       result.agreed == 0 ? ""
                                          : fmt::format("The {} before it agree{} with the default order.\n",
                                                        result.agreed == 1 ? "seed" : agreed + " seeds",
                                                        result.agreed == 1 ? "s" : ""),
                       seed);
}

std::string schedules_as_json(const ScheduleResult& result) {
    Json json{{"program", result.default_run.program},
              {"exit_status", result.default_run.ending.status},
              {"agreed", result.agreed},
              {"difference", nullptr}};
    if (const auto& difference = result.difference)
        json["difference"] = {{"seed", difference->seed},
                              {"exit_status", difference->ending.status},
                              {"line", difference->line},
                              {"default_order", difference->usual_line.value_or("")},
                              {"other_order", difference->other_line.value_or("")}};
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace emulate
