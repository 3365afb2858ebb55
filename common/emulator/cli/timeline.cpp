#include "emulator/cli/draw_parts.hpp"
#include "emulator/cli/report_forms.hpp"
#include "emulator/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace emulate {
namespace {

struct Look {
    std::string_view state, swatch, fill;
};

/// What a warp does or waits for, in the profiler's terms, and colors for light and dark screens.
constexpr Look looks[] = {{"selected", "first", ""},
                          {"not_selected", "", "#e8a5c8"},
                          {"wait", "", "#a7b0ba"},
                          {"branch_resolving", "", "#6b7785"},
                          {"math_pipe_throttle", "", "#b5457f"},
                          {"mio_throttle", "", "#8f5fbf"},
                          {"lg_throttle", "", "#d9534f"},
                          {"drain", "", "#8a6d3b"},
                          {"short_scoreboard", "", "#e3c800"},
                          {"long_scoreboard", "", "#e58a2e"},
                          {"barrier", "", "#2f9e77"},
                          {"imc_miss", "", "#4f7fd1"},
                          {"membar", "", "#5c3d2e"},
                          {"dispatch_stall", "", "#7a2e55"}};
constexpr std::size_t issues = 0, state_count = std::size(looks), nothing = state_count;
using Cycles = std::array<double, state_count + 1>;

std::size_t state_of(const Json& run) {
    return static_cast<std::size_t>(
        std::find_if(looks, std::end(looks), [&](const Look& look) { return look.state == run[0]; }) - looks);
}

/// The warps of blocks that follow each other in one place.
struct WarpStripes {
    double top = 0;
    std::vector<Cycles> stripes{};                          ///< cycles in each state
    std::vector<std::pair<std::uint32_t, double>> starts{}; ///< of which block
};

class Timeline {
public:
    explicit Timeline(const Json& timeline)
        : cycles_(timeline.at("cycles")), per_stripe_(std::max(1.0, std::ceil(cycles_ / max_stripes))) {
        for (const Json& warp : timeline.at("warps")) {
            WarpStripes& row = rows_[{warp.at("place"), warp.at("warp")}];
            row.stripes.resize(static_cast<std::size_t>(std::ceil(cycles_ / per_stripe_)));
            row.starts.emplace_back(warp.at("block"), warp.at("runs").at(0).at(1));
            for (const Json& run : warp.at("runs")) add(row, state_of(run), run[1], run[2]);
        }
    }

    double per_stripe() const { return per_stripe_; }
    const Cycles& sums() const { return sums_; } ///< of all warps

    /// Returns the y below it.
    double draw(Svg& svg, double y) {
        draw_axis(svg, y);
        y += 6;
        row_height_ = rows_.size() <= 16 ? 14 : 9;
        for (auto& [key, row] : rows_) {
            row.top = y + (key.second == 0 ? header : 0);
            y = row.top + row_height_;
        }
        for (const auto& [key, row] : rows_) svg.rectangle(left, row.top, width, row_height_ - 1, "idle");
        svg.begin("warps"); // color by color, which makes few elements; what issues is drawn above
        for (std::size_t state = state_count; state-- > 0;)
            for (const auto& [key, row] : rows_) draw_state(svg, row, state);
        svg.end();
        for (const auto& [key, row] : rows_) {
            if (key.second == 0) draw_starts(svg, row);
            if (key.second % (row_height_ > 12 ? 1 : 4) == 0)
                svg.text(left - 8, row.top + row_height_ / 2, fmt::format("warp {}", key.second),
                         "tiny right");
        }
        return y;
    }

private:
    static constexpr double left = 80, width = 620, header = 20, max_stripes = 500;

    void add(WarpStripes& row, std::size_t state, double from, double to) {
        sums_[state] += to - from;
        for (auto k = static_cast<std::size_t>(from / per_stripe_); k < row.stripes.size(); ++k) {
            const double begin = static_cast<double>(k) * per_stripe_;
            // An instruction belongs to the stripe in which it begins.
            if (begin > (state == issues ? to - 1 : to)) break;
            row.stripes[k][state] += std::min(to, begin + per_stripe_) - std::max(from, begin);
        }
    }

    /// What a stripe shows: an instruction, else the longest wait.
    static std::size_t shown(const Cycles& stripe) {
        if (stripe[issues] > 0) return issues;
        const auto longest = std::max_element(stripe.begin(), stripe.end());
        return *longest > 0 ? static_cast<std::size_t>(longest - stripe.begin()) : nothing;
    }

    double x_of(double cycle) const { return left + width * std::min(1.0, cycle / cycles_); }

    /// At most nine numbers.
    void draw_axis(Svg& svg, double y) const {
        double step = 1;
        for (int k = 0; cycles_ / step > 8; ++k) step *= k % 3 == 1 ? 2.5 : 2;
        svg.text(left - 8, y, "cycle", "small bold right");
        for (double cycle = 0; cycle <= cycles_; cycle += step)
            svg.text(x_of(cycle), y, emulator::thousands(static_cast<std::uint64_t>(cycle)), "small middle");
    }

    /// One rectangle for stripes that follow each other, those below instructions included.
    void draw_state(Svg& svg, const WarpStripes& row, std::size_t state) const {
        const std::size_t count = row.stripes.size();
        for (std::size_t k = 0, end = 0; k < count; k = std::max(end, k + 1)) {
            if (shown(row.stripes[k]) != state) continue;
            end = k + 1;
            for (std::size_t next = end; next < count; ++next) {
                const std::size_t other = shown(row.stripes[next]);
                if (other == state) end = next + 1;
                if (other != state && (state == issues || other != issues)) break;
            }
            const double x = x_of(static_cast<double>(k) * per_stripe_),
                         to = x_of(static_cast<double>(end) * per_stripe_);
            svg.rectangle(x, row.top, to - x, row_height_ - 1, looks[state].swatch, looks[state].fill);
        }
    }

    /// The blocks' numbers, as far as there is room.
    void draw_starts(Svg& svg, const WarpStripes& row) const {
        double free = 0;
        for (const auto& [block, start] : row.starts) {
            const std::string text = fmt::format("block {}", block);
            const double x = x_of(start), wide = text_width(text, "tiny");
            svg.line(x, row.top - 13, x, row.top + row_height_, "rule");
            if (x < free || x + wide > svg.width()) continue;
            svg.text(x + 3, row.top - 8, text, "tiny");
            free = x + wide + 6;
        }
    }

    double cycles_, per_stripe_, row_height_ = 0;
    std::map<std::pair<std::uint32_t, std::uint32_t>, WarpStripes> rows_; ///< by place and warp
    Cycles sums_{};
};

} // namespace

Picture draw_timeline(std::string_view kernel, const Json& launch) {
    const std::string card = launch.at("card");
    if (!launch.contains("timeline"))
        return {.about = fmt::format("no estimate for {}, no picture: {}", card,
                                     launch.at("no_estimate").get<std::string>())};
    const Json& record = launch.at("timeline");
    Timeline timeline(record);
    const Cycles& sums = timeline.sums();
    const double all = std::accumulate(sums.begin(), sums.end(), 0.0);
    std::vector<std::size_t> states; // the longest first
    for (std::size_t k = 0; k < state_count; ++k)
        if (sums[k] > 0) states.push_back(k);
    std::stable_sort(states.begin(), states.end(), [&](auto a, auto b) { return sums[a] > sums[b]; });
    const auto share = [&](std::size_t k) {
        return fmt::format("{} {:.0f} %", looks[k].state, 100 * sums[k] / all);
    };
    std::string result;
    for (std::size_t k = 0; k < std::min<std::size_t>(states.size(), 3); ++k)
        result += (k == 0 ? "" : ", ") + share(states[k]);
    const auto cycles = static_cast<std::uint64_t>(std::ceil(record.at("cycles").get<double>()));
    const Heading heading{.title = fmt::format("{}: the warps of a multiprocessor, estimated", kernel),
                          .result = fmt::format("the first {}: {}", count_of(cycles, "cycle"), result),
                          .code = "",
                          .facts = {fmt::format("A model of an {}, in which the launch takes {:.1f} us.",
                                                card, launch.at("time_us_estimated").get<double>())}};
    Svg svg;
    svg.begin_keys(timeline.draw(svg, draw_heading(svg, heading) + 16) + 8);
    for (const std::size_t k : states) svg.key(looks[k].swatch, share(k), looks[k].fill);
    svg.key("idle", "no warp");
    const double y = svg.paragraph(
        Svg::margin, svg.end_keys(), svg.width() - 2 * Svg::margin,
        fmt::format("Each row has the warps that follow each other in one place. A stripe is {:.0f} of the "
                    "cycles: selected if an instruction issues in it, else what the warp waits for longest, "
                    "in the profiler's terms. Nothing was measured.",
                    timeline.per_stripe()),
        "small quiet");
    return {{svg.finish(y + Svg::margin, heading.title, heading.result), heading.result},
            fmt::format("a multiprocessor of an {}, estimated", card)};
}

} // namespace emulate
