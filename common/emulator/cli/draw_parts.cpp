#include "emulator/cli/draw_parts.hpp"

#include "emulator/machine/dim3.hpp"
#include "emulator/text.hpp"

#include <fmt/format.h>

#include <bit>

namespace emulate {

using emulator::AccessKind, emulator::thousands;

double draw_heading(Svg& svg, const Heading& heading) {
    const double width = svg.width() - 2 * Svg::margin;
    double y = svg.paragraph(Svg::margin, Svg::margin, width, heading.title, "title") + 6;
    y = svg.paragraph(Svg::margin, y, width, heading.result, "strong") + 4;
    // Two lines at most.
    y = svg.paragraph(Svg::margin, y, width, shortened(heading.code, 1.8 * width, "code"), "code");
    for (const std::string& fact : heading.facts) y = svg.paragraph(Svg::margin, y, width, fact, "quiet");
    return y;
}

std::string name_of(const emulator::TracedPlace& place) {
    if (place.path.empty()) return fmt::format("PTX line {}", place.line);
    return fmt::format("{}:{}", place.path.substr(place.path.rfind('/') + 1), place.line);
}

std::string code_of(const emulator::TracedPlace& place, const SourceOf& source_of, std::string_view what) {
    const std::string source = place.path.empty() ? "" : source_of(place);
    return fmt::format("{}{}: {}", name_of(place), what.empty() ? "" : fmt::format(" ({})", what),
                       source.empty() ? place.ptx : source);
}

std::string count_of(std::uint64_t count, std::string_view one) {
    return fmt::format("{} {}{}", thousands(count), one, count == 1 ? "" : "s");
}

std::string conflicts_of(const emulator::TracedRequest& request) {
    const std::uint32_t conflicts = request.cost - request.ideal;
    const std::string wavefronts = count_of(request.cost, "wavefront");
    if (conflicts == 0) return wavefronts + ", no bank conflict";
    return fmt::format("{} instead of {}: {}", wavefronts, request.ideal,
                       count_of(conflicts, "bank conflict"));
}

bool is_atomic(AccessKind kind) { return kind == AccessKind::atom || kind == AccessKind::red; }

std::string access_label(const emulator::AccessTrace& trace, const emulator::TracedAccess& access) {
    const std::uint64_t time = access.worst.turn + 1;
    const char* const ending = time % 100 / 10 == 1 ? "th"
                               : time % 10 == 1     ? "st"
                               : time % 10 == 2     ? "nd"
                               : time % 10 == 3     ? "rd"
                                                    : "th";
    const int lanes = std::popcount(access.worst.active);
    const bool is_one = lanes == 1;
    const std::string_view verb = access.kind == AccessKind::load    ? is_one ? "loads" : "load"
                                  : access.kind == AccessKind::store ? is_one ? "stores" : "store"
                                  : is_one                           ? "does an atomic on"
                                                                     : "do an atomic on";
    return fmt::format("Warp {} of block {}, its {}{} time here: {} {} {}{}.", access.worst.warp,
                       emulator::triple(trace.index), thousands(time), ending,
                       lanes == emulator::warp_size ? "all 32 lanes" : fmt::format("{} of 32 lanes", lanes),
                       verb, count_of(access.bytes, "byte"), is_one ? "" : " each");
}

void LaneColumn::draw(Svg& svg, emulator::LaneMask active) const {
    for (int lane = 0; lane < emulator::warp_size; ++lane)
        svg.text(right, middle(lane), fmt::format("lane {}", lane),
                 (active >> lane & 1) != 0 ? "small right" : "small right quiet");
}

} // namespace emulate
