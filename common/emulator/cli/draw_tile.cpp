#include "emulator/cli/draw_parts.hpp"
#include "emulator/machine/memory_traffic.hpp"
#include "emulator/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

namespace emulate {

namespace {

using emulator::Access, emulator::AccessTrace, emulator::bank_bytes, emulator::bank_count,
    emulator::for_each_lane, emulator::thousands, emulator::TracedAccess, emulator::TracedVariable;

/// The words of an array in shared memory, as rows of a tile.
struct Tile {
    std::string name;
    std::uint64_t first_word = 0, end = 0; ///< from the array's first word to the last one that is touched
    std::uint32_t pitch = bank_count;      ///< words from one row to the next

    std::uint64_t rows() const { return (end - first_word + pitch - 1) / pitch; }
    bool is_touched(const AccessTrace& trace, std::uint64_t word) const {
        return word < end && trace.touched[word];
    }
    std::uint64_t untouched(const AccessTrace& trace) const {
        std::uint64_t count = 0;
        for (std::uint64_t word = first_word; word < first_word + rows() * pitch; ++word)
            count += !is_touched(trace, word);
        return count;
    }
};

/// If threads leave equal gaps after runs of equal length, a run with its gap is a row. Else the block's
/// width is, if the block has a second dimension. Else 32 banks are. (In a one-dimensional block a short gap
/// is more likely a stride than padding.)
std::uint32_t pitch_of(const AccessTrace& trace, std::uint64_t first, std::uint64_t end) {
    const bool is_flat = trace.block.y * trace.block.z == 1;
    const std::uint64_t least = is_flat ? 8 : 2, most = 128;
    const auto length_from = [&](std::uint64_t word, bool touched) {
        const std::uint64_t start = word;
        while (word < end && trace.touched[word] == touched) ++word;
        return word - start;
    };
    const std::uint64_t run = length_from(first, true), pitch = run + length_from(first + run, false);
    bool is_regular = pitch > run && pitch >= least && pitch <= most;
    for (std::uint64_t word = first; is_regular && word < end; ++word)
        is_regular = trace.touched[word] == ((word - first) % pitch < run);
    if (is_regular) return static_cast<std::uint32_t>(pitch);
    return is_flat || trace.block.x < least || trace.block.x > most ? bank_count : trace.block.x;
}

/// The array that holds the byte at `address`.
Tile tile_of(const AccessTrace& trace, std::uint64_t address) {
    Tile tile{.name = "shared memory", .end = trace.touched.size()};
    for (const TracedVariable& variable : trace.shared) {
        if (variable.address > address) continue;
        tile = {.name = variable.name,
                .first_word = variable.address / bank_bytes,
                .end = (variable.address + variable.bytes + bank_bytes - 1) / bank_bytes};
    }
    while (tile.end > tile.first_word && !trace.touched[tile.end - 1]) --tile.end;
    tile.pitch = pitch_of(trace, tile.first_word, tile.end);
    return tile;
}

/// Dark blue to yellow in equal steps of lightness: readable in gray and with all kinds of color vision.
constexpr std::uint32_t first_light_bank = 15; // text on it is black
std::string color_of(std::uint32_t bank) {
    constexpr std::array<std::array<double, 3>, 5> stops{
        {{0, 42, 102}, {66, 78, 108}, {124, 123, 120}, {188, 175, 111}, {255, 234, 120}}};
    const double place = static_cast<double>(bank) / (bank_count - 1) * (stops.size() - 1);
    const auto low = std::min(static_cast<std::size_t>(place), stops.size() - 2);
    std::string color = "#";
    for (std::size_t channel = 0; channel < 3; ++channel)
        color += fmt::format("{:02x}", std::lround(std::lerp(stops[low][channel], stops[low + 1][channel],
                                                             place - static_cast<double>(low))));
    return color;
}

class TilePicture {
public:
    TilePicture(const AccessTrace& trace, const Tile& tile, const Access& access)
        : trace_(trace), tile_(tile) {
        for_each_lane(access.active, [&](int lane) {
            const std::uint64_t first = access.addresses[lane] / bank_bytes,
                                last = (access.addresses[lane] + access.bytes - 1) / bank_bytes;
            for (std::uint64_t word = first; word <= last; ++word) wanted_.insert(word);
        });
    }

    double width() const { return std::max(Svg::usual_width, left + cell * tile_.pitch + Svg::margin); }

    /// Returns the y below it.
    double draw(Svg& svg, double y) const {
        const std::uint64_t rows = tile_.rows(), shown = std::min<std::uint64_t>(rows, max_rows);
        svg.text(left - 8, y, "row", "small bold right");
        for (std::uint32_t column = 0; column < tile_.pitch; column += 4)
            svg.text(left + cell * (column + 0.5), y, std::to_string(column), "small middle quiet");
        const double top = y + 14;
        svg.begin("tile");
        for (std::uint32_t bank = 0; bank <= bank_count; ++bank) // the last one: untouched words
            for (std::uint64_t i = 0; i < shown * tile_.pitch; ++i)
                if (bank_of(i) == bank) draw_word(svg, x_of(i), y_of(top, i), bank);
        for (std::uint64_t i = 0; i < shown * tile_.pitch; ++i) {
            if (i % tile_.pitch == 0)
                svg.text(left - 8, y_of(top, i) + cell / 2, std::to_string(i / tile_.pitch),
                         "small right quiet");
            if (bank_of(i) < bank_count) draw_number(svg, x_of(i), y_of(top, i), bank_of(i));
        }
        svg.end();
        svg.begin("access");
        for (const std::uint64_t word : wanted_) draw_outline(svg, top, word - tile_.first_word, shown);
        svg.end();
        y = top + cell * static_cast<double>(shown);
        if (shown < rows) {
            svg.text(left, y + 12, fmt::format("and {} more", count_of(rows - shown, "row")), "small quiet");
            y += Svg::line_height;
        }
        return draw_banks(svg, y + 24);
    }

private:
    static constexpr double cell = 20, left = Svg::margin + 34;
    static constexpr std::uint64_t max_rows = 64;

    double x_of(std::uint64_t index) const { return left + cell * static_cast<double>(index % tile_.pitch); }
    double y_of(double top, std::uint64_t index) const {
        return top + cell * static_cast<double>(index / tile_.pitch);
    }
    /// Of a word that is touched, else `bank_count`.
    std::uint32_t bank_of(std::uint64_t index) const {
        const std::uint64_t word = tile_.first_word + index;
        return tile_.is_touched(trace_, word) ? static_cast<std::uint32_t>(word % bank_count) : bank_count;
    }

    static void draw_word(Svg& svg, double x, double y, std::uint32_t bank) {
        if (bank < bank_count)
            svg.rectangle(x, y, cell, cell, "cell", color_of(bank));
        else
            svg.rectangle(x, y, cell, cell, "padding");
    }

    static void draw_number(Svg& svg, double x, double y, std::uint32_t bank) {
        svg.text(x + cell / 2, y + cell / 2, std::to_string(bank),
                 bank < first_light_bank ? "tiny middle white" : "tiny middle black");
    }

    void draw_outline(Svg& svg, double top, std::uint64_t index, std::uint64_t rows_shown) const {
        if (index / tile_.pitch >= rows_shown) return;
        const double x = x_of(index), y = y_of(top, index);
        svg.rectangle(x, y, cell, cell, "outer");
        svg.rectangle(x + 0.5, y + 0.5, cell - 1, cell - 1, "inner");
    }

    double draw_banks(Svg& svg, double y) const {
        std::array<std::uint32_t, bank_count> words{};
        for (const std::uint64_t word : wanted_) ++words[word % bank_count];
        svg.text(left, y, "Outlined words in each bank", "small bold");
        y += 14;
        svg.begin("banks");
        for (std::uint32_t bank = 0; bank < bank_count; ++bank) draw_word(svg, left + cell * bank, y, bank);
        for (std::uint32_t bank = 0; bank < bank_count; ++bank) draw_number(svg, left + cell * bank, y, bank);
        for (std::uint32_t bank = 0; bank < bank_count; ++bank)
            if (words[bank] > 0)
                svg.text(left + cell * (bank + 0.5), y + cell + 11, std::to_string(words[bank]),
                         words[bank] > 1 ? "small middle bold" : "small middle");
        svg.end();
        return y + cell + Svg::line_height + 6;
    }

    const AccessTrace& trace_;
    const Tile& tile_;
    std::set<std::uint64_t> wanted_;
};

} // namespace

Drawing draw_tile(std::string_view kernel, const AccessTrace& trace, const TracedAccess& access,
                  const SourceOf& source_of) {
    const Access worst = access.worst_access();
    const Tile tile = tile_of(trace, worst.addresses[0]);
    const std::uint64_t padding = tile.untouched(trace);
    const Heading heading{
        .title = fmt::format("{}: {} by bank", kernel, tile.name),
        .result = conflicts_of(access.worst),
        .code = code_of(access.place, source_of),
        .facts = {fmt::format("{} of {}{}.", count_of(tile.rows(), "row"), count_of(tile.pitch, "word"),
                              padding == 0 ? "" : fmt::format(", {} of them untouched", thousands(padding))),
                  access_label(trace, access)}};
    Svg svg(TilePicture(trace, tile, worst).width());
    const TilePicture picture(trace, tile, worst);
    double y = picture.draw(svg, draw_heading(svg, heading) + 22);
    svg.begin_keys(y);
    svg.key("outlined", fmt::format("word that warp {} wants", access.worst.warp));
    if (padding > 0) svg.key("padding", "padding: no thread of the block touches it");
    y = svg.end_keys();
    y = svg.paragraph(
        Svg::margin, y, svg.width() - 2 * Svg::margin,
        "Numbers and colors are banks. Emulated, from the addresses that the PTX computed. A row's "
        "length is inferred from untouched words or the block's width, else it is 32.",
        "small quiet");
    return {svg.finish(y + Svg::margin, heading.title, heading.result), heading.result};
}

} // namespace emulate
