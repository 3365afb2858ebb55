#include "emulator/cli/draw.hpp"

#include "emulator/cli/draw_parts.hpp"
#include "emulator/cli/exit_status.hpp"
#include "emulator/machine/dim3.hpp"
#include "emulator/machine/memory_traffic.hpp"
#include "emulator/program/names.hpp"
#include "emulator/session/access_recorder.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <tuple>

namespace emulate {

namespace {

namespace fs = std::filesystem;
using emulator::AccessTrace;
using emulator::TracedAccess;
using emulator::ptx::Space;

/// The criteria for choosing an access, most important first.
auto costliness(const TracedAccess& access) {
    const auto [lowest, highest] =
        std::minmax_element(access.worst.addresses.begin(), access.worst.addresses.end());
    return std::tuple(!is_atomic(access.kind),
                      access.worst.cost - std::min(access.worst.cost, access.worst.ideal),
                      access.cost - std::min(access.cost, access.ideal), *highest != *lowest, access.cost,
                      *highest - *lowest);
}

/// "reduce<a::b>" of "void (anonymous namespace)::reduce<a::b>(int const*)"
std::string kernel_name(const AccessTrace& trace) {
    const std::string name = emulator::short_name(trace.kernel);
    const std::size_t arguments = std::min(name.find('<'), name.size());
    const std::size_t colons = name.rfind("::", arguments);
    return colons == std::string::npos ? name : name.substr(colons + 2);
}

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

std::string no_access(const AccessTrace& trace, Space space, std::uint32_t line) {
    const char* const memory = space == Space::shared ? "shared" : "global";
    std::set<std::uint32_t> lines;
    for (const TracedAccess& access : trace.accesses)
        if (access.space == space) lines.insert(access.place.line);
    if (lines.empty()) return fmt::format("no access to {} memory, no picture", memory);
    return fmt::format("no access to {} memory on line {}; there are some on {} {}", memory, line,
                       lines.size() == 1 ? "line" : "lines", fmt::join(lines, ", "));
}

/// The message about a picture: what it shows, or why there is none.
struct Result {
    Drawing drawing{};
    std::string about{};
};

Result draw_one(std::string_view kind, std::string_view kernel, const AccessTrace& trace, std::uint32_t line,
                const SourceOf& source_of) {
    if (kind == "activity") {
        if (trace.steps.empty())
            return {.about = line == 0 ? "no step to draw" : fmt::format("no step on line {}", line)};
        return {draw_activity(kernel, trace, source_of),
                fmt::format("block {}", emulator::triple(trace.index))};
    }
    const Space space = kind == "sectors" ? Space::global : Space::shared;
    const TracedAccess* const access = most_costly(trace, space, line);
    if (!access) return {.about = no_access(trace, space, line)};
    const auto picture = kind == "sectors" ? draw_sectors : kind == "banks" ? draw_banks : draw_tile;
    return {picture(kernel, trace, *access, source_of),
            fmt::format("{} at {}", access_name(access->space, access->kind), name_of(access->place))};
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

const TracedAccess* most_costly(const AccessTrace& trace, Space space, std::uint32_t line) {
    const TracedAccess* chosen = nullptr;
    for (const TracedAccess& access : trace.accesses) {
        if (access.space != space || (line != 0 && access.place.line != line)) continue;
        if (!chosen || costliness(access) > costliness(*chosen)) chosen = &access;
    }
    return chosen;
}

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
    for (const Json& record : report.accesses) {
        const auto trace = record.get<AccessTrace>();
        const std::string kernel = kernel_name(trace);
        const Result result = draw_one(kind, kernel, trace, options.request.line.value_or(0), source_of);
        has_lines &= trace.accesses.empty() || !trace.accesses.front().place.path.empty();
        if (result.drawing.svg.empty()) {
            text += fmt::format("{}: {}\n", kernel, result.about);
            continue;
        }
        const fs::path file = file_for(options.output, kernel, kind, taken);
        write(file, result.drawing.svg);
        text += fmt::format("{}: {}\n    {}\n", file.string(), result.about, result.drawing.result);
    }
    if (report.accesses.empty()) text += "no kernel ran that --kernel and --launch choose: no picture\n";
    if (!has_lines) text += "Compile with nvcc -lineinfo to see lines of the source.\n";
    for (const std::string& path : stale)
        text += fmt::format("{} is newer than the program: its lines may have moved.\n", path);
    if (!taken.empty() && !options.request.line) text += "--line N picks another line of the kernel.\n";
    return text;
}

} // namespace emulate
