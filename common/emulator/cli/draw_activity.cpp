#include "emulator/cli/draw_parts.hpp"
#include "emulator/machine/dim3.hpp"
#include "emulator/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <vector>

namespace emulate {

namespace {

using emulator::AccessTrace, emulator::all_lanes, emulator::LaneMask, emulator::thousands,
    emulator::TracedStep, emulator::warp_size;

struct Active {
    std::uint64_t threads = 0, warps = 0;

    Active& operator+=(const Active& other) {
        threads += other.threads;
        warps += other.warps;
        return *this;
    }
};

Active active_in(const TracedStep& step) {
    Active active;
    for (const LaneMask lanes : step.active)
        active += {static_cast<std::uint64_t>(std::popcount(lanes)), lanes != 0};
    return active;
}

constexpr std::size_t max_steps = 64;

/// Steps without the loads, unless the block only loads.
std::vector<TracedStep> steps_to_draw(const AccessTrace& trace) {
    const bool has_other = std::any_of(trace.steps.begin(), trace.steps.end(),
                                       [](const TracedStep& step) { return !step.is_load; });
    std::vector<TracedStep> steps;
    for (const TracedStep& step : trace.steps)
        if (!step.is_load || !has_other) steps.push_back(step);
    return steps;
}

/// All warps of the block side by side. A warp is a strip of its lanes, folded when there are many warps.
class ActivityPicture {
public:
    ActivityPicture(const AccessTrace& trace, const std::vector<TracedStep>& steps, const SourceOf& source_of)
        : steps_(steps), source_of_(source_of), warps_(trace.warps()), warp_width_(width / warps_) {}

    /// As many as fit.
    int lanes_per_row() const { return warps_ <= 8 ? 32 : warps_ <= 16 ? 16 : 8; }

    /// Returns the y below it.
    double draw(Svg& svg, double y) const {
        draw_scale(svg, y);
        y += 14;
        svg.begin("steps");
        for (std::size_t i = 0; i < steps_.size(); ++i) {
            const TracedStep& step = steps_[i];
            if (i > 0 && step.barriers != steps_[i - 1].barriers) {
                svg.line(Svg::margin, y + 3, svg.width() - Svg::margin, y + 3, "rule dashed");
                y += 8;
            }
            if (i == 0 || !is_same_instruction(step, steps_[i - 1])) {
                const std::string text = code_of(step.place, source_of_, step.what);
                svg.text(Svg::margin, y + 11, shortened(text, svg.width() - 2 * Svg::margin, "code small"),
                         "code small");
                y += 22;
            }
            draw_step(svg, y, i);
            y += step_height + 6;
        }
        svg.end();
        return y;
    }

private:
    static constexpr double left = 82, width = 500, step_height = 24;

    static bool is_same_instruction(const TracedStep& a, const TracedStep& b) {
        return a.place.line == b.place.line && a.place.path == b.place.path && a.what == b.what;
    }

    void draw_scale(Svg& svg, double y) const {
        const std::uint32_t every = warps_ <= 8 ? 1 : warps_ <= 16 ? 2 : 4;
        svg.text(svg.width() - Svg::margin, y, "threads in warps", "small bold right");
        svg.text(left - 10, y, "warp", "small bold right");
        for (std::uint32_t warp = 0; warp < warps_; warp += every)
            svg.text(left + warp_width_ * (warp + 0.5), y, std::to_string(warp), "small middle");
    }

    void draw_step(Svg& svg, double y, std::size_t i) const {
        const double middle = y + step_height / 2;
        svg.text(left - 10, middle, fmt::format("step {}", i + 1), "small right");
        svg.begin("step");
        for (std::uint32_t warp = 0; warp < warps_; ++warp) draw_warp(svg, y, warp, steps_[i].active[warp]);
        for (std::uint32_t warp = 0; warp < warps_; ++warp) draw_lanes(svg, y, warp, steps_[i].active[warp]);
        svg.end();
        const Active active = active_in(steps_[i]);
        svg.text(svg.width() - Svg::margin, middle,
                 fmt::format("{} in {}", thousands(active.threads), active.warps), "small right");
    }

    void draw_warp(Svg& svg, double y, std::uint32_t warp, LaneMask active) const {
        svg.rectangle(left + warp_width_ * warp + 1, y, warp_width_ - 2, step_height,
                      active == 0           ? "idle"
                      : active == all_lanes ? "first"
                                            : "spare");
    }

    /// The active lanes of a warp that is not full.
    void draw_lanes(Svg& svg, double y, std::uint32_t warp, LaneMask active) const {
        if (active == all_lanes) return;
        const int per_row = lanes_per_row();
        const double x = left + warp_width_ * warp + 1, lane_width = (warp_width_ - 2) / per_row,
                     row_height = step_height * per_row / warp_size;
        // One rectangle for adjacent lanes.
        for (int lane = 0, end = 1; lane < warp_size; lane = end++) {
            if ((active >> lane & 1) == 0) continue;
            while (end % per_row != 0 && (active >> end & 1) != 0) ++end;
            const int row = lane / per_row;
            svg.rectangle(x + lane_width * (lane % per_row), y + row_height * row, lane_width * (end - lane),
                          row_height, "first");
        }
    }

    const std::vector<TracedStep>& steps_;
    const SourceOf& source_of_;
    const std::uint32_t warps_;
    const double warp_width_;
};

} // namespace

Drawing draw_activity(std::string_view kernel, const AccessTrace& trace, const SourceOf& source_of) {
    std::vector<TracedStep> steps = steps_to_draw(trace);
    const bool is_cut = trace.steps_left_out > 0 || steps.size() > max_steps;
    steps.resize(std::min(steps.size(), max_steps));
    Active all;
    for (const TracedStep& step : steps) all += active_in(step);
    const std::uint64_t lanes = all.warps * warp_size;
    const Heading heading{
        .title = fmt::format("{}: active lanes, step by step", kernel),
        .result = fmt::format("{}: {} of {} lanes of running warps are active ({} %)",
                              count_of(steps.size(), "step"), thousands(all.threads), thousands(lanes),
                              lanes == 0 ? 0 : (all.threads * 100 + lanes / 2) / lanes),
        .code = "",
        .facts = {fmt::format("Block {}: {} in {}.", emulator::triple(trace.index),
                              count_of(trace.threads(), "thread"), count_of(trace.warps(), "warp"))}};
    Svg svg;
    double y = draw_heading(svg, heading) + 22;
    const ActivityPicture picture(trace, steps, source_of);
    y = picture.draw(svg, y);
    svg.begin_keys(y + 4);
    svg.key("first", "active lane");
    if (all.threads < lanes) svg.key("spare", "idle lane of a warp that runs");
    if (lanes < steps.size() * trace.warps() * warp_size) svg.key("idle", "warp that does not run");
    y = svg.end_keys();
    y = svg.paragraph(
        Svg::margin, y, svg.width() - 2 * Svg::margin,
        fmt::format("A step is what all warps do at one instruction. Dashed: a barrier of the whole "
                    "block. {}{}Emulated, from the lanes that executed the PTX.",
                    picture.lanes_per_row() == warp_size
                        ? ""
                        : fmt::format("A warp's lanes are in rows of {}. ", picture.lanes_per_row()),
                    is_cut ? "Later steps are not drawn. " : ""),
        "small quiet");
    return {svg.finish(y + Svg::margin, heading.title, heading.result), heading.result};
}

} // namespace emulate
