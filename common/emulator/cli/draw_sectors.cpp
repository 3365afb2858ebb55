#include "emulator/cli/draw_parts.hpp"
#include "emulator/machine/memory_traffic.hpp"
#include "emulator/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <vector>

namespace emulate {

namespace {

using emulator::Access, emulator::AccessTrace, emulator::for_each_lane, emulator::LaneMask,
    emulator::sector_bytes, emulator::thousands, emulator::TracedVariable;

constexpr std::uint64_t line_bytes = 128;

struct Sector {
    std::uint64_t address = 0;                ///< of its first byte
    std::map<std::uint64_t, LaneMask> wanted; ///< by the offset of the lanes' first byte

    std::uint64_t line() const { return address / line_bytes; }
};

/// By address.
std::vector<Sector> sectors_of(const Access& access) {
    std::map<std::uint64_t, Sector> sectors;
    for_each_lane(access.active, [&](int lane) {
        const std::uint64_t offset = access.addresses[lane] % sector_bytes;
        Sector& sector = sectors[access.addresses[lane] - offset];
        sector.address = access.addresses[lane] - offset;
        sector.wanted[offset] |= LaneMask{1} << lane;
    });
    std::vector<Sector> list;
    for (auto& [address, sector] : sectors) list.push_back(std::move(sector));
    return list;
}

/// Bytes that at least one lane accesses.
std::uint64_t wanted_bytes(const std::vector<Sector>& sectors, std::uint32_t bytes_each) {
    std::uint64_t bytes = 0;
    for (const Sector& sector : sectors) bytes += bytes_each * sector.wanted.size();
    return bytes;
}

const TracedVariable* allocation_of(const AccessTrace& trace, std::uint64_t address) {
    for (const TracedVariable& one : trace.allocations)
        if (address >= one.address && address - one.address < one.bytes) return &one;
    return nullptr;
}

/// "cudaMalloc #1", if all sectors belong to the same allocation.
std::string name_of_allocation(const AccessTrace& trace, const std::vector<Sector>& sectors) {
    const TracedVariable* const first = allocation_of(trace, sectors.front().address);
    const bool is_one = first && std::all_of(sectors.begin(), sectors.end(), [&](const Sector& sector) {
                            return allocation_of(trace, sector.address) == first;
                        });
    return is_one ? first->name : "the allocation";
}

class SectorPicture {
public:
    SectorPicture(const AccessTrace& trace, const Access& access, const std::vector<Sector>& sectors,
                  double top)
        : trace_(trace), access_(access), sectors_(sectors), lanes_{top} {
        double gaps = 0;
        for (std::size_t i = 1; i < sectors.size(); ++i) gaps += starts_line(i) ? line_gap : 0;
        const double height = lanes_.bottom() - lanes_.top, count = static_cast<double>(sectors.size());
        row_height_ = std::min(38.0, (height - gaps) / count);
        double y = lanes_.top + (height - gaps - row_height_ * count) / 2;
        for (std::size_t i = 0; i < sectors.size(); ++i) {
            y += i > 0 && starts_line(i) ? line_gap : 0;
            tops_.push_back(y);
            y += row_height_;
        }
    }

    double bottom() const { return lanes_.bottom(); }

    void draw(Svg& svg) const {
        draw_headings(svg);
        svg.begin("lanes");
        lanes_.draw(svg, access_.active);
        svg.end();
        svg.begin("requests");
        for (std::size_t i = 0; i < sectors_.size(); ++i)
            for (const auto& [offset, lanes] : sectors_[i].wanted)
                for_each_lane(lanes, [&](int lane) {
                    svg.line(LaneColumn::right + 6, lanes_.middle(lane), box_left, middle(i), "first");
                });
        svg.end();
        svg.begin("sectors");
        for (std::size_t i = 0; i < sectors_.size(); ++i) draw_sector(svg, i);
        svg.end();
        svg.begin("lines");
        for (std::size_t i = 0, end = 1; i < sectors_.size(); i = end++) {
            while (end < sectors_.size() && !starts_line(end)) ++end;
            draw_line(svg, i, end);
        }
        svg.end();
    }

private:
    static constexpr double line_gap = 4, box_left = 240, byte_width = 9.25, box_width = byte_width * 32,
                            offset_left = box_left + box_width + 8,
                            brace = Svg::usual_width - Svg::margin - 50;

    bool starts_line(std::size_t i) const { return i == 0 || sectors_[i - 1].line() != sectors_[i].line(); }
    double middle(std::size_t i) const { return tops_[i] + row_height_ / 2; }

    void draw_headings(Svg& svg) const {
        const double y = lanes_.top - 14;
        svg.text(LaneColumn::right, y, "lane", "small bold right");
        svg.text(box_left, y, "32-byte sectors: lanes in them", "small bold");
        svg.text(Svg::usual_width - Svg::margin, y, "of each 128-byte line", "small bold right");
    }

    void draw_sector(Svg& svg, std::size_t i) const {
        const Sector& sector = sectors_[i];
        const double top = tops_[i] + 1.5, height = row_height_ - 3;
        svg.rectangle(box_left, top, box_width, height, "waste");
        for (const auto& [offset, lanes] : sector.wanted)
            svg.rectangle(box_left + byte_width * static_cast<double>(offset), top,
                          byte_width * access_.bytes, height, "first cell");
        for (const auto& [offset, lanes] : sector.wanted) {
            const double left = box_left + byte_width * static_cast<double>(offset),
                         width = byte_width * access_.bytes;
            const int sharing = std::popcount(lanes);
            const std::string label =
                sharing > 1 ? fmt::format("×{}", sharing) : std::to_string(std::countr_zero(lanes));
            if (text_width(label, "small") < width)
                svg.text(left + width / 2, middle(i), label, "small middle inside");
        }
        svg.text(offset_left, middle(i), place_of(sector), "small");
    }

    /// "byte 64"
    std::string place_of(const Sector& sector) const {
        const TracedVariable* const allocation = allocation_of(trace_, sector.address);
        return allocation ? "byte " + thousands(sector.address - allocation->address) : "";
    }

    void draw_line(Svg& svg, std::size_t begin, std::size_t end) const {
        const double top = tops_[begin] + 2, bottom = tops_[end - 1] + row_height_ - 2;
        svg.line(brace, top, brace, bottom, "rule");
        svg.line(brace - 4, top, brace, top, "rule");
        svg.line(brace - 4, bottom, brace, bottom, "rule");
        svg.text(brace + 6, (top + bottom) / 2, fmt::format("{} of 4", end - begin), "small");
    }

    const AccessTrace& trace_;
    const Access access_;
    const std::vector<Sector>& sectors_;
    const LaneColumn lanes_;
    std::vector<double> tops_;
    double row_height_ = 0;
};

/// "4 sectors where 1 would do"
std::string verdict_of(std::uint64_t sectors, std::uint64_t ideal) {
    return count_of(sectors, "sector") +
           (sectors > ideal ? fmt::format(" where {} would do", thousands(ideal)) : ", the fewest possible");
}

/// "4 sectors where 1 would do: 96 of 128 bytes are wasted"
std::string result_of(std::size_t sectors, std::uint64_t ideal, std::uint64_t wanted) {
    const std::uint64_t moved = sector_bytes * sectors;
    const std::string waste = moved == wanted ? "no byte is wasted"
                                              : fmt::format("{} of {} bytes are wasted",
                                                            thousands(moved - wanted), thousands(moved));
    return fmt::format("{}: {}", verdict_of(sectors, ideal), waste);
}

/// Whether two lanes access the same bytes.
bool has_sharing(const std::vector<Sector>& sectors) {
    return std::any_of(sectors.begin(), sectors.end(), [](const Sector& sector) {
        return std::any_of(sector.wanted.begin(), sector.wanted.end(),
                           [](const auto& wish) { return std::popcount(wish.second) > 1; });
    });
}

} // namespace

Drawing draw_sectors(std::string_view kernel, const AccessTrace& trace, const emulator::TracedAccess& access,
                     const SourceOf& source_of) {
    const std::vector<Sector> sectors = sectors_of(access.worst_access());
    const std::uint64_t wanted = wanted_bytes(sectors, access.bytes);
    Heading heading{.title =
                        fmt::format("{}: sectors of a {}", kernel, access_name(access.space, access.kind)),
                    .result = result_of(sectors.size(), access.worst.ideal, wanted),
                    .code = code_of(access.place, source_of),
                    .facts = {access_label(trace, access)}};
    if (access.worst.cost != sectors.size()) // an atomic
        heading.facts.push_back(
            fmt::format("Counted as {}: lanes that want the same word go one after the other.",
                        count_of(access.worst.cost, "sector")));
    Svg svg;
    const SectorPicture picture(trace, access.worst_access(), sectors, draw_heading(svg, heading) + 40);
    picture.draw(svg);
    svg.begin_keys(picture.bottom() + 14);
    svg.key("first", "bytes that a lane wants");
    if (wanted < sector_bytes * sectors.size()) svg.key("waste", "bytes that come along for nobody");
    double y = svg.end_keys();
    y = svg.paragraph(
        Svg::margin, y, svg.width() - 2 * Svg::margin,
        fmt::format("Bytes count from the start of {}.{} In this block, this instruction: {}, {}. "
                    "Emulated, from the addresses that the PTX computed.",
                    name_of_allocation(trace, sectors),
                    has_sharing(sectors) ? " ×4: four lanes want the same ones." : "",
                    count_of(access.requests, "request"),
                    is_atomic(access.kind) ? count_of(access.cost, "sector")
                                           : verdict_of(access.cost, access.ideal)),
        "small quiet");
    return {svg.finish(y + Svg::margin, heading.title, heading.result), heading.result};
}

} // namespace emulate
