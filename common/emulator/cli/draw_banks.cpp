#include "emulator/cli/draw_parts.hpp"
#include "emulator/machine/memory_traffic.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <set>
#include <vector>

namespace emulate {

namespace {

using emulator::Access, emulator::bank_bytes, emulator::bank_count, emulator::for_each_lane,
    emulator::LaneMask, emulator::warp_size;

/// A word that a bank delivers in one wavefront.
struct Service {
    std::uint64_t word = 0; ///< address / 4
    std::uint32_t wavefront = 0;
    bool is_first = true; ///< that the bank gives to the lanes that are served together; else a conflict
    LaneMask lanes = 0;

    std::uint32_t bank() const { return static_cast<std::uint32_t>(word % bank_count); }
};

/// Assigns words to wavefronts. The hardware does not reveal its order. Here a bank delivers its words in the
/// order of the lanes that access them.
std::vector<Service> services_of(const Access& access) {
    std::vector<Service> services;
    const int together = emulator::lanes_served_together(access);
    const std::uint32_t words_each = std::max(access.bytes / bank_bytes, 1u);
    std::uint32_t wavefronts = 0;
    for (int first = 0; first < warp_size; first += together) {
        std::array<std::uint32_t, bank_count> given{};
        std::map<std::uint64_t, std::size_t> known; // words of these lanes
        for (int lane = first; lane < first + together; ++lane) {
            if ((access.active >> lane & 1) == 0) continue;
            for (std::uint32_t k = 0; k < words_each; ++k) {
                const std::uint64_t word = access.addresses[lane] / bank_bytes + k;
                const auto [place, is_new] = known.try_emplace(word, services.size());
                if (is_new) {
                    const std::uint32_t turn = given[word % bank_count]++;
                    services.push_back({word, wavefronts + turn, turn == 0});
                }
                services[place->second].lanes |= LaneMask{1} << lane;
            }
        }
        wavefronts += *std::max_element(given.begin(), given.end());
    }
    return services;
}

class BankPicture {
public:
    BankPicture(const Access& access, double top)
        : access_(access), services_(services_of(access)), lanes_{top} {
        for (const Service& service : services_) {
            wavefronts_ = std::max(wavefronts_, service.wavefront + 1);
            ++words_of_bank_[service.bank()];
            has_conflict_[service.bank()] |= !service.is_first;
        }
        column_width_ = std::min(34.0, chips_width / wavefronts_);
    }

    bool has_sharing() const {
        return std::any_of(services_.begin(), services_.end(),
                           [](const Service& service) { return std::popcount(service.lanes) > 1; });
    }
    double bottom() const { return lanes_.bottom(); }

    void draw(Svg& svg) const {
        draw_headings(svg);
        svg.begin("lanes");
        lanes_.draw(svg, access_.active);
        for_each_lane(access_.active, [&](int lane) {
            svg.rectangle(tag_left, lanes_.middle(lane) - box_height / 2, tag_width, box_height,
                          service_of(lane).is_first ? "first" : "later");
        });
        for_each_lane(access_.active, [&](int lane) {
            svg.text(tag_left + tag_width / 2, lanes_.middle(lane),
                     std::to_string(service_of(lane).wavefront + 1), "small middle inside");
        });
        svg.end();
        svg.begin("requests");
        draw_requests(svg);
        svg.end();
        svg.begin("banks");
        for (std::uint32_t bank = 0; bank < bank_count; ++bank) draw_bank(svg, bank);
        for (std::uint32_t bank = 0; bank < bank_count; ++bank) name_bank(svg, bank);
        svg.end();
        svg.begin("wavefronts");
        draw_wavefronts(svg);
        svg.end();
    }

private:
    static constexpr double tag_left = LaneColumn::right + 8, tag_width = 34,
                            lines_left = tag_left + tag_width + 4, bank_left = 330, bank_width = 92,
                            knot = bank_left - 46, chips_left = bank_left + bank_width + 10,
                            chips_width = Svg::usual_width - Svg::margin - chips_left, box_height = 17,
                            knot_range = 11;

    double left_of(std::uint32_t wavefront) const { return chips_left + column_width_ * wavefront; }
    double middle(std::uint32_t bank) const { return lanes_.middle(static_cast<int>(bank)); }

    void draw_headings(Svg& svg) const {
        const double y = lanes_.top - 32;
        svg.text(Svg::margin, y, "lane and its wavefront", "small bold");
        svg.text(bank_left + bank_width / 2, y, "bank: words", "small bold middle");
        svg.text(chips_left, y, "wavefronts: lanes served", "small bold");
    }

    /// All of a lane's words come in one wavefront: accesses are aligned, so two lanes share all words or
    /// none.
    const Service& service_of(int lane) const {
        return *std::find_if(services_.begin(), services_.end(),
                             [&](const Service& one) { return (one.lanes >> lane & 1) != 0; });
    }

    /// A line from each lane to its bank. Lanes that share a word share the end of it.
    void draw_requests(Svg& svg) const {
        const std::uint32_t words_each = std::max(access_.bytes / bank_bytes, 1u);
        std::map<std::uint64_t, LaneMask> wishes; // by the first word
        for_each_lane(access_.active,
                      [&](int lane) { wishes[access_.addresses[lane] / bank_bytes] |= LaneMask{1} << lane; });
        std::array<int, bank_count> shared_words{}, knots{}; // of the bank with the first word
        for (const auto& [word, lanes] : wishes) shared_words[word % bank_count] += std::popcount(lanes) > 1;
        std::set<std::uint32_t> spans;
        for (const auto& [word, lanes] : wishes) {
            const auto bank = static_cast<std::uint32_t>(word % bank_count);
            const double top = middle(bank), bottom = middle(bank + words_each - 1);
            const bool is_shared = std::popcount(lanes) > 1, is_wide = words_each > 1;
            double y = (top + bottom) / 2;
            if (is_shared && shared_words[bank] > 1)
                y += knot_range * (static_cast<double>(knots[bank]++) / (shared_words[bank] - 1) - 0.5);
            if (is_wide && spans.insert(bank).second)
                svg.triangle(knot, (top + bottom) / 2, bank_left, top - box_height / 2, bank_left,
                             bottom + box_height / 2, "span");
            const std::string look = is_conflict(word) ? "later" : "first";
            for_each_lane(lanes, [&](int lane) {
                svg.line(lines_left, lanes_.middle(lane), is_shared || is_wide ? knot : bank_left, y, look);
            });
            if (!is_shared) continue;
            if (!is_wide) svg.line(knot, y, bank_left, y, look + " joined");
            svg.circle(knot, y, 4.5, look);
        }
    }

    bool is_conflict(std::uint64_t word) const {
        return std::any_of(services_.begin(), services_.end(),
                           [&](const Service& service) { return service.word == word && !service.is_first; });
    }

    void draw_bank(Svg& svg, std::uint32_t bank) const {
        const std::uint32_t words = words_of_bank_[bank];
        svg.rectangle(bank_left, middle(bank) - box_height / 2, bank_width, box_height,
                      words == 0            ? "idle"
                      : has_conflict_[bank] ? "later"
                                            : "first");
    }

    void name_bank(Svg& svg, std::uint32_t bank) const {
        const std::uint32_t words = words_of_bank_[bank];
        svg.text(bank_left + bank_width / 2, middle(bank),
                 words == 0 ? fmt::format("bank {}", bank) : fmt::format("bank {}: {}", bank, words),
                 words == 0            ? "small middle quiet"
                 : has_conflict_[bank] ? "small middle bold inside"
                                       : "small middle inside");
    }

    /// One column per wavefront. Each bank can deliver one word in it.
    void draw_wavefronts(Svg& svg) const {
        const std::uint32_t every = column_width_ >= 18 ? 1 : column_width_ >= 10 ? 2 : 4;
        for (std::uint32_t wave = 0; wave < wavefronts_; ++wave)
            if (wave == 0 || (wave + 1) % every == 0)
                svg.text(left_of(wave) + column_width_ / 2, lanes_.top - 10, std::to_string(wave + 1),
                         "small middle");
        for (std::uint32_t wave = 0; wave < wavefronts_; ++wave)
            svg.rectangle(left_of(wave) + 1, lanes_.top + 2, column_width_ - 2, bottom() - lanes_.top - 4,
                          "idle");
        for (const bool is_first : {true, false})
            for (const Service& service : services_)
                if (service.is_first == is_first)
                    svg.rectangle(left_of(service.wavefront) + 1, middle(service.bank()) - box_height / 2,
                                  column_width_ - 2, box_height, is_first ? "first" : "later");
        for (const Service& service : services_) {
            const int sharing = std::popcount(service.lanes);
            const std::string label =
                sharing > 1 ? fmt::format("×{}", sharing) : std::to_string(std::countr_zero(service.lanes));
            if (text_width("31", "small") < column_width_ - 6)
                svg.text(left_of(service.wavefront) + column_width_ / 2, middle(service.bank()), label,
                         "small middle inside");
        }
    }

    const Access access_;
    const std::vector<Service> services_;
    const LaneColumn lanes_;
    std::uint32_t wavefronts_ = 1;
    std::array<std::uint32_t, bank_count> words_of_bank_{};
    std::array<bool, bank_count> has_conflict_{};
    double column_width_;
};

} // namespace

Drawing draw_banks(std::string_view kernel, const emulator::AccessTrace& trace,
                   const emulator::TracedAccess& access, const SourceOf& source_of) {
    const Access worst = access.worst_access();
    Heading heading{.title = fmt::format("{}: banks of a {}", kernel, access_name(access.space, access.kind)),
                    .result = conflicts_of(access.worst),
                    .code = code_of(access.place, source_of),
                    .facts = {access_label(trace, access)}};
    if (is_atomic(access.kind))
        heading.facts.emplace_back(
            "Counted as a load from these addresses would be: there is no count for atomics.");
    if (access.bytes > bank_bytes)
        heading.facts.push_back(fmt::format("With {} bytes each, {} lanes are served at a time.",
                                            access.bytes, emulator::lanes_served_together(worst)));
    Svg svg;
    const BankPicture picture(worst, draw_heading(svg, heading) + 58);
    picture.draw(svg);
    svg.begin_keys(picture.bottom() + 14);
    svg.key("first", "the first word that the bank gives");
    if (access.worst.cost > access.worst.ideal)
        svg.key("later", "one more word of the same bank: a conflict");
    double y = svg.end_keys();
    if (picture.has_sharing())
        y = svg.paragraph(Svg::margin, y, svg.width() - 2 * Svg::margin,
                          "Where lines meet in a dot, lanes want the same word and share it; ×4: four lanes.",
                          "small");
    y = svg.paragraph(
        Svg::margin, y, svg.width() - 2 * Svg::margin,
        fmt::format("In this block, this instruction: {}, {}, {}. Emulated, from the addresses that "
                    "the PTX computed. The number of wavefronts is counted; which word comes in "
                    "which of them is chosen for the picture.",
                    count_of(access.requests, "request"), count_of(access.cost, "wavefront"),
                    count_of(access.cost - access.ideal, "bank conflict")),
        "small quiet");
    return {svg.finish(y + Svg::margin, heading.title, heading.result), heading.result};
}

} // namespace emulate
