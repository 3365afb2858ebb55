#include "harness/detail/observing.hpp"

#include "harness/exit_status.hpp"
#include "harness/numbers.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <spawn.h>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace harness {
namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

const Names checkers{"all", "mem", "init", "race", "sync"};
const Names pictures{"banks", "sectors", "activity", "tile"};

void check_name(const char* option, const std::string& given, const std::string& name, const Names& names) {
    if (std::find(names.begin(), names.end(), name) != names.end()) return;
    const std::string nearest = nearest_name(name, names);
    throw UsageError(fmt::format("{} {}: unknown. Write one of: {}.{}", option, given, fmt::join(names, ", "),
                                 nearest.empty() ? "" : fmt::format(" Did you mean {}?", nearest)));
}

/// "--option=value", for emulate, with the number written out.
std::string number_option(const char* option, const std::string& text, std::uint64_t least) {
    const std::string right = fmt::format("Write a whole number from {} up.", least);
    try {
        const std::uint64_t value = parse_whole_number(text);
        if (value < least) throw std::invalid_argument("too small");
        return fmt::format("{}={}", option, value);
    } catch (const std::invalid_argument& error) {
        throw UsageError(fmt::format("{} {}: {}. {}", option, text, error.what(), right));
    }
}

} // namespace

const Names& observing_option_names() {
    static const Names names{"--lines", "--check", "--draw", "--line", "--schedule", "--schedules"};
    return names;
}

const char* observing_help() {
    return R"(
Reports on the kernels, from the emulator, on stderr:
  --lines         the kernels' source with the counters of each line
  --check [WHAT]  errors: all, or some of mem,init,race,sync. Default: all
  --draw WHAT     a picture of each kernel, as an SVG file in the folder
                  pictures: banks, sectors, activity or tile
  --line N        draw: the access in line N of the source
  --schedule S    verify with blocks, warps and lanes in the order of seed S;
                  other blocks see stores late unless a fence orders them
  --schedules K   the same with K seeds; report the first that changes a result
  emulate --help explains these and lists more.
)";
}

Names emulate_options(const ObservingOptions& options, bool json) {
    Names result;
    if (options.lines) result.emplace_back("--lines");
    for (const std::string& list : options.check) {
        const std::string named = list.empty() ? "all" : list;
        std::istringstream words(named + ",");
        for (std::string word; std::getline(words, word, ',');) check_name("--check", named, word, checkers);
        result.push_back("--check=" + named);
    }
    const bool checks_or_counts = !result.empty();
    if (!options.draw.empty()) {
        check_name("--draw", options.draw, options.draw, pictures);
        result.push_back("--draw=" + options.draw);
    }
    if (!options.line.empty()) result.push_back(number_option("--line", options.line, 1));
    if (!options.schedule.empty()) result.push_back(number_option("--schedule", options.schedule, 0));
    if (!options.schedules.empty()) result.push_back(number_option("--schedules", options.schedules, 1));

    if (!options.line.empty() && options.draw.empty())
        throw UsageError("--line: picks the access to draw. Add --draw.");
    if (!options.draw.empty() && checks_or_counts)
        throw UsageError("--draw: makes pictures only. Leave out --lines and --check.");
    if (!options.schedules.empty() && result.size() > 1)
        throw UsageError("--schedules: only compares runs. Pass the seed that it reports to --schedule.");
    if (json && (checks_or_counts || !options.schedules.empty())) result.emplace_back("--format=json");
    return result;
}

Names without_observing_options(const char* const* arguments) {
    Names kept;
    for (; *arguments; ++arguments) {
        const std::string_view argument = *arguments, name = argument.substr(0, argument.find('='));
        const Names& names = observing_option_names();
        if (std::find(names.begin(), names.end(), name) == names.end()) {
            kept.emplace_back(argument);
            continue;
        }
        if (name == "--check" || name.starts_with("--schedule")) kept.emplace_back("--verify");
        const bool value_may_follow = name == argument && name != "--lines";
        if (value_may_follow && arguments[1] && arguments[1][0] != '-') ++arguments;
    }
    return kept;
}

namespace {

/// Its path in the build tree. Builds it if it is not there yet.
fs::path find_emulate(const fs::path& self) {
    const fs::path bin = self.parent_path(), emulate = bin / "emulate";
    if (fs::exists(emulate)) return emulate;
    const fs::path script = HARNESS_ROOT "/scripts/build";
    if (fs::exists(script) && fs::exists(bin.parent_path() / "CMakeCache.txt")) {
        fmt::print(stderr, "{}: building ./emulate first, once\n", self.filename().string());
        pid_t builder = 0;
        std::string arguments[] = {script.string(), bin.parent_path().string(), "emulate"};
        char* const words[] = {arguments[0].data(), arguments[1].data(), arguments[2].data(), nullptr};
        int status = 0;
        if (posix_spawn(&builder, words[0], nullptr, nullptr, words, environ) == 0)
            waitpid(builder, &status, 0);
    }
    if (fs::exists(emulate)) return emulate;
    throw DeviceError(fmt::format("there is no {} (`make emulate` builds it)", emulate.string()));
}

} // namespace

void become_emulate(const Names& options, char** argv) {
    std::error_code error;
    const fs::path self = fs::read_symlink("/proc/self/exe", error);
    const fs::path emulate = find_emulate(self);

    Names words{"emulate"};
    words.insert(words.end(), options.begin(), options.end());
    words.emplace_back("--");
    words.emplace_back(std::strchr(argv[0], '/') ? argv[0] : self.string());
    const Names arguments = without_observing_options(argv + 1);
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    execv(emulate.c_str(), pointers.data());
    throw DeviceError(fmt::format("could not start {}: {}", emulate.string(), std::strerror(errno)));
}

bool is_observed() { return std::getenv("EMULATOR_REQUEST") != nullptr; }

} // namespace harness
