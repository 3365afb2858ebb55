#include "emulator/cli/picture.hpp"

#include "emulator/cli/draw_parts.hpp"
#include "emulator/machine/dim3.hpp"
#include "emulator/machine/memory_traffic.hpp"
#include "emulator/program/names.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <tuple>

namespace emulate {

namespace {

using emulator::AccessTrace, emulator::TracedAccess;
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

std::string no_access(const AccessTrace& trace, Space space, std::uint32_t line) {
    const char* const memory = space == Space::shared ? "shared" : "global";
    std::set<std::uint32_t> lines;
    for (const TracedAccess& access : trace.accesses)
        if (access.space == space) lines.insert(access.place.line);
    if (lines.empty()) return fmt::format("no access to {} memory, no picture", memory);
    return fmt::format("no access to {} memory on line {}; there are some on {} {}", memory, line,
                       lines.size() == 1 ? "line" : "lines", fmt::join(lines, ", "));
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

std::string kernel_name(const std::string& readable) {
    const std::string name = emulator::short_name(readable);
    const std::size_t arguments = std::min(name.find('<'), name.size());
    const std::size_t colons = name.rfind("::", arguments);
    return colons == std::string::npos ? name : name.substr(colons + 2);
}

Picture draw_picture(std::string_view kind, const AccessTrace& trace, std::uint32_t line,
                     const SourceOf& source_of) {
    const std::string kernel = kernel_name(trace.kernel);
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

} // namespace emulate
