#include "emulator/cli/time.hpp"

#include "emulator/machine/dim3.hpp"
#include "emulator/text.hpp"

#include <cards.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <sstream>
#include <tuple>
#include <unistd.h>

namespace emulate {
namespace {

namespace fs = std::filesystem;

/// Where a tool may be: in the toolkit that CUDA_HOME names, in what scripts/setup fetched for this build tree,
/// in the PATH, and, if CUDA_HOME is not set, at the usual place.
std::vector<fs::path> tool_folders() {
    std::vector<fs::path> folders;
    const char* const home = std::getenv("CUDA_HOME");
    if (home && *home) folders.push_back(fs::path(home) / "bin");
    std::error_code error;
    const fs::path builds = fs::read_symlink("/proc/self/exe", error).parent_path() / ".." / "..";
    folders.push_back(builds / "toolkit" / "cuda" / "bin");
    folders.push_back(builds / "disassembler" / "bin");
    const char* const path = std::getenv("PATH");
    std::istringstream words(path ? path : "");
    for (std::string word; std::getline(words, word, ':');)
        if (!word.empty()) folders.emplace_back(word);
    if (!home) folders.emplace_back("/usr/local/cuda/bin");
    return folders;
}

/// Empty: it is nowhere.
std::string find_tool(const char* name) {
    std::error_code error;
    for (const fs::path& folder : tool_folders())
        if (const fs::path tool = fs::absolute(folder / name).lexically_normal();
            fs::is_regular_file(tool, error) && access(tool.c_str(), X_OK) == 0)
            return tool;
    return "";
}

std::string microseconds(double time) { return fmt::format("{:.{}f}", time, time < 99.95 ? 1 : 0); }

/// "memory 30.1, block starts 78.9 (highest), …": those of at least a tenth of the highest.
std::string floors_as_text(const Json& floors) {
    double highest = 0;
    for (const auto& [name, time] : floors.items()) highest = std::max(highest, time.get<double>());
    std::string text;
    for (const auto& [name, time] : floors.items()) {
        if (time.get<double>() < highest / 10) continue;
        std::string readable = name;
        std::replace(readable.begin(), readable.end(), '_', ' ');
        text += fmt::format("{}{} {}{}", text.empty() ? "" : ", ", readable, microseconds(time),
                            time.get<double>() == highest ? " (the highest)" : "");
    }
    return text;
}

/// "long_scoreboard 31 %, …": those of at least 3 %, the longest first.
std::string waits_as_text(const Json& waits) {
    std::string text;
    for (const auto& [name, share] : waits.items())
        if (share.get<double>() >= 0.03)
            text += fmt::format("{}{} {:.0f} %", text.empty() ? "" : ", ", name, 100 * share.get<double>());
    return text;
}

std::string error_as_text(const Json& error) {
    const auto percent = [](const Json& found) {
        return fmt::format("{:.1f} % in the median, at most {:.0f} %",
                           found.at("median_percent").get<double>(), found.at("most_percent").get<double>());
    };
    std::string text;
    if (error.contains("most_percent"))
        text += fmt::format("  error of such estimates for {}: {}\n", error.at("kernels").get<std::string>(),
                            percent(error));
    if (error.contains("of_no_lesson"))
        text += fmt::format("  and for kernels of no lesson: {}\n", percent(error.at("of_no_lesson")));
    return text;
}

std::string launch_as_text(const Json& launch) {
    std::string text = fmt::format(
        "launch {}: {}\n  grid {}, block {}\n", launch.at("launch").get<std::uint64_t>(),
        launch.at("name").get<std::string>(), emulator::triple(launch.at("grid").get<emulator::Dim3>()),
        emulator::triple(launch.at("block").get<emulator::Dim3>()));
    const std::string card = launch.value("card", "");
    if (launch.contains("no_estimate"))
        return text + fmt::format("  no estimate for {}: {}\n  floors in us: {}\n", card,
                                  launch.at("no_estimate").get<std::string>(),
                                  floors_as_text(launch.at("floors_us")));
    if (!launch.contains("time_us_estimated")) return text;
    text += fmt::format("  estimate for {}: {} us\n", card, microseconds(launch.at("time_us_estimated")));
    text += error_as_text(launch.at("error_found"));
    text += fmt::format("  floors in us: {}\n", floors_as_text(launch.at("floors_us")));
    text += fmt::format("  warps wait: {}\n", waits_as_text(launch.at("waits")));
    return text + fmt::format("  instructions (sm_90): {}; passes of the data pipe: {}\n",
                              emulator::thousands(launch.at("instructions_sm_90")),
                              emulator::thousands(launch.at("data_pipe_passes")));
}

} // namespace

std::vector<std::string> known_cards() { return {std::begin(card_ids), std::end(card_ids)}; }

void find_tools(emulator::Request& request) {
    request.ptxas = find_tool("ptxas");
    request.nvdisasm = find_tool("nvdisasm");
}

std::string missing_tool(const emulator::Request& request) {
    for (const auto& [tool, name, setup] : {std::tuple(request.ptxas, "ptxas", "scripts/setup"),
                                            {request.nvdisasm, "nvdisasm", "scripts/setup time"}})
        if (tool.empty())
            return fmt::format("there is no {}. In the tutorial's folder, type `{}`; "
                               "elsewhere, set CUDA_HOME to a CUDA toolkit that has it",
                               name, setup);
    return "";
}

std::string times_as_text(const Report& report) {
    std::string text;
    for (const Json& launch : report.launches) text += (text.empty() ? "" : "\n") + launch_as_text(launch);
    if (text.find("\n  estimate for ") == std::string::npos) return text;
    return text + "\nThese times come from a model of the card; nothing was measured. A floor is the time "
                  "that one part "
                  "of the card\nneeds alone, in that model.\n";
}

} // namespace emulate
