#include "emulator/cli/report_forms.hpp"

#include "emulator/cli/exit_status.hpp"
#include "emulator/cli/picture.hpp"
#include "emulator/cli/time.hpp"
#include "emulator/session/recorders.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>

namespace emulate {

namespace {

namespace fs = std::filesystem;
using emulator::AccessTrace;

/// "reduce<256>" becomes "reduce_256". Kernels of libraries have names that are too long for a file.
std::string file_name(std::string_view kernel) {
    std::string name;
    for (const char c : kernel) {
        if (std::isalnum(static_cast<unsigned char>(c)) != 0)
            name += c;
        else if (!name.empty() && name.back() != '_')
            name += '_';
    }
    name.resize(std::min<std::size_t>(name.size(), 100));
    while (!name.empty() && name.back() == '_') name.pop_back();
    return name.empty() ? "kernel" : name;
}

/// Each picture of a run has a name of its own: "reduce1_banks.svg" in the folder `output`, or `output`
/// itself if it is the name of a picture.
fs::path file_for(const std::string& output, std::string_view kernel, std::string_view kind,
                  std::set<fs::path>& taken) {
    const fs::path wanted = output;
    const bool is_named = wanted.extension() == ".svg";
    const fs::path stem = is_named ? fs::path(wanted).replace_extension()
                                   : wanted / fmt::format("{}_{}", file_name(kernel), kind);
    for (int number = 1;; ++number) {
        const fs::path file = stem.string() + (number == 1 ? "" : fmt::format("_{}", number)) + ".svg";
        if (taken.insert(file).second) return file;
    }
}

void write(const fs::path& file, const std::string& text) {
    std::error_code error;
    if (file.has_parent_path()) fs::create_directories(file.parent_path(), error);
    std::ofstream stream(file);
    stream << text << std::flush;
    if (!stream)
        throw CommandError(ExitStatus::failed,
                           fmt::format("{}: cannot be written: {}", file.string(), std::strerror(errno)));
}

} // namespace

std::string draw(const Report& report, const Options& options, const ReadSource& read_source) {
    std::string text;
    bool has_lines = true;
    std::set<std::string> stale;
    const SourceOf source_of = [&](const emulator::TracedPlace& place) -> std::string {
        const auto file = read_source(place.path);
        if (!file || place.line == 0 || place.line > file->lines.size()) return "";
        if (file->is_newer_than_program) stale.insert(place.path);
        const std::string& line = file->lines[place.line - 1];
        const std::size_t first = line.find_first_not_of(" \t");
        return first == std::string::npos ? "" : line.substr(first);
    };
    const std::string& kind = options.request.draw;
    std::set<fs::path> taken;
    const auto add = [&](const std::string& kernel, const Picture& picture) {
        if (picture.drawing.svg.empty()) {
            text += fmt::format("{}: {}\n", kernel, picture.about);
            return;
        }
        const fs::path file = file_for(options.output, kernel, kind, taken);
        write(file, picture.drawing.svg);
        text += fmt::format("{}: {}\n    {}\n", file.string(), picture.about, picture.drawing.result);
    };
    for (const Json& record : report.accesses) {
        const auto trace = record.get<AccessTrace>();
        add(kernel_name(trace.kernel),
            draw_picture(kind, trace, options.request.line.value_or(0), source_of));
        has_lines &= trace.accesses.empty() || !trace.accesses.front().place.path.empty();
    }
    const bool is_time = kind == "time";
    if (is_time && !missing_tool(options.request).empty()) return ""; // as was said before the run
    std::set<std::string> told;                                       // that there is no estimate
    for (const Json& launch : report.launches) {
        if (!is_time || !(launch.contains("timeline") ||
                          (launch.contains("no_estimate") && told.insert(launch.at("name")).second)))
            continue;
        const std::string kernel = kernel_name(launch.at("name"));
        add(kernel, draw_timeline(kernel, launch));
    }
    if (report.accesses.empty() && (!is_time || text.empty()))
        text += "no kernel ran that --kernel and --launch choose: no picture\n";
    if (!has_lines) text += "Compile with nvcc -lineinfo to see lines of the source.\n";
    for (const std::string& path : stale)
        text += fmt::format("{} is newer than the program: its lines may have moved.\n", path);
    if (!taken.empty() && !options.request.line && !is_time)
        text += "--line N picks another line of the kernel.\n";
    return text;
}

} // namespace emulate
