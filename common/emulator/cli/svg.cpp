#include "emulator/cli/svg.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace emulate {

namespace {

// Blue and vermilion: distinct for all kinds of color vision (after Okabe and Ito). A number, shape or
// hatching repeats what a color shows, but in a timeline, where the legend has shares.
//
// Each rule is written twice: not every SVG viewer supports variables.
constexpr std::string_view picture_style = R"(
text{font-family:system-ui,sans-serif;font-size:15px;fill:#1b1f24}
.code{font-family:ui-monospace,monospace}
.title{font-size:23px;font-weight:700}.strong{font-size:18px;font-weight:600}.bold{font-weight:700}
.small{font-size:14px}.tiny{font-size:12px}.middle{text-anchor:middle}.right{text-anchor:end}
.quiet{fill:#59636e}.inside{fill:#fff}.white{fill:#fff}.black{fill:#000}
.paper{fill:#fff}.first{fill:#0072b2}.later{fill:#b84a00}.idle{fill:#eceff2}
.waste{fill:url(#hatch);stroke:#b84a00;stroke-width:.8}.hatch{stroke:#b84a00}
.spare{fill:#fbe3d3;stroke:#b84a00;stroke-width:.8}.padding{fill:url(#gray);stroke:#8c959f;stroke-width:.8}
.gray{stroke:#8c959f}.cell{stroke:#fff;stroke-width:.6}.span{fill:#c9d1d9}
.outlined{fill:#8f8f8f;stroke:#000;stroke-width:2.6}
.outer{fill:none;stroke:#fff;stroke-width:5}.inner{fill:none;stroke:#000;stroke-width:2.4}
.line{stroke-width:1.4}.line.first{stroke:#0072b2;stroke-width:1.9}.line.later{stroke:#b84a00}
.line.joined{stroke-width:5}.line.rule{stroke:#8c959f;stroke-width:1.2}.dashed{stroke-dasharray:4 3}
)";

/// On a phone the picture has half the size.
constexpr std::string_view narrow_style =
    "text{font-size:16.5px}.small{font-size:15.5px}.tiny{font-size:13px}"
    ".code{font-size:15px}.code.small{font-size:14px}";

constexpr std::string_view dark_style = R"(
text{fill:#e6eaef}.quiet{fill:#a3adb8}.inside{fill:#0c1014}.white{fill:#fff}.black{fill:#000}
.paper{fill:#12161b}.first{fill:#5bb8f0}.later{fill:#ff9a4d}.idle{fill:#2a313a}
.waste{stroke:#ff9a4d}.hatch{stroke:#ff9a4d}.spare{fill:#4d3018;stroke:#ff9a4d}
.span{fill:#434d58}.padding{stroke:#77828e}.outlined{stroke:#fff}.gray{stroke:#77828e}.cell{stroke:#12161b}
.line.first{stroke:#5bb8f0}.line.later{stroke:#ff9a4d}.line.rule{stroke:#77828e}
)";

/// At most two decimals.
std::string number(double value) {
    std::string text = fmt::format("{:.2f}", value);
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') text.pop_back();
    return text == "-0" ? "0" : text;
}

bool has_word(std::string_view look, std::string_view word) {
    const auto place = look.find(word);
    return place != std::string_view::npos && (place == 0 || look[place - 1] == ' ') &&
           (place + word.size() == look.size() || look[place + word.size()] == ' ');
}

/// As the style sheet has it.
double size_of(std::string_view look) {
    return has_word(look, "title")    ? 23
           : has_word(look, "strong") ? 18
           : has_word(look, "small")  ? 14
           : has_word(look, "tiny")   ? 12
                                      : 15;
}

} // namespace

void Svg::add(const std::string& kind, const std::string& first, const std::string& next,
              std::string_view end) {
    const bool is_next = !kind.empty() && kind == last_kind_;
    if (is_next) body_.resize(body_.size() - end.size());
    body_ += (is_next ? next : first) + std::string(end);
    last_kind_ = kind;
}

void Svg::path(std::string_view look, std::string_view fill, const std::string& data) {
    const std::string start =
        fmt::format("<path class=\"{}\"{} d=\"", look, fill.empty() ? "" : fmt::format(" fill=\"{}\"", fill));
    add(start, start + data, data, "\"/>\n");
}

void Svg::rectangle(double x, double y, double width, double height, std::string_view look,
                    std::string_view fill) {
    path(
        look, fill,
        fmt::format("M{} {}h{}v{}h-{}z", number(x), number(y), number(width), number(height), number(width)));
}

void Svg::line(double x1, double y1, double x2, double y2, std::string_view look) {
    path("line " + std::string(look), "",
         fmt::format("M{} {}L{} {}", number(x1), number(y1), number(x2), number(y2)));
}

void Svg::triangle(double x1, double y1, double x2, double y2, double x3, double y3, std::string_view look) {
    path(look, "",
         fmt::format("M{} {}L{} {}L{} {}Z", number(x1), number(y1), number(x2), number(y2), number(x3),
                     number(y3)));
}

void Svg::circle(double x, double y, double radius, std::string_view look) {
    add("",
        fmt::format("<circle class=\"{}\" cx=\"{}\" cy=\"{}\" r=\"{}\"/>\n", look, number(x), number(y),
                    number(radius)),
        "", "");
}

void Svg::text(double x, double y, std::string_view text, std::string_view look) {
    // Some viewers ignore dominant-baseline and would draw the text too high.
    const std::string start =
                          fmt::format("<text class=\"{}\" y=\"{}\"", look, number(y + 0.35 * size_of(look))),
                      words = fmt::format(" x=\"{}\">{}", number(x), escaped(text));
    add(start, start + words, "<tspan" + words + "</tspan>", "</text>\n");
}

void Svg::begin(std::string_view name) { add("", fmt::format("<g class=\"{}\">\n", name), "", ""); }
void Svg::end() { add("", "</g>\n", "", ""); }

double Svg::paragraph(double x, double y, double width, std::string_view text, std::string_view look) {
    while (!text.empty()) {
        std::size_t length = text.size();
        while (text_width(text.substr(0, length), look) > width) {
            const std::size_t space = text.substr(0, length).rfind(' ');
            if (space == std::string_view::npos || space == 0) break;
            length = space;
        }
        this->text(x, y + line_height / 2, text.substr(0, length), look);
        y += has_word(look, "small") ? line_height - 3 : line_height;
        text.remove_prefix(std::min(length + 1, text.size()));
    }
    return y;
}

void Svg::begin_keys(double y) {
    key_x_ = margin;
    key_y_ = y + line_height / 2;
}

void Svg::key(std::string_view swatch, std::string_view text, std::string_view fill) {
    const double needed = 20 + text_width(text, "small");
    if (key_x_ > margin && key_x_ + needed > width_ - margin) begin_keys(key_y_ + line_height / 2);
    rectangle(key_x_, key_y_ - 7, 14, 14, swatch, fill);
    this->text(key_x_ + 20, key_y_, text, "small");
    key_x_ += needed + 18;
}

double Svg::end_keys() const { return key_y_ + line_height / 2 + 6; }

std::string Svg::finish(double height, std::string_view title, std::string_view description) const {
    const auto hatch = [](std::string_view name) {
        return fmt::format(
            "<pattern id=\"{0}\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" "
            "patternTransform=\"rotate(45)\"><line class=\"line {0}\" x1=\"0\" y1=\"0\" x2=\"0\" "
            "y2=\"6\"/></pattern>\n",
            name);
    };
    return fmt::format("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
                       "height=\"{1}\" role=\"img\" style=\"max-width:100%;height:auto\">\n"
                       "<title>{2}</title>\n<desc>{3}</desc>\n"
                       "<style>{4}@media (max-width:480px){{{5}}}\n"
                       "@media screen and (prefers-color-scheme:dark){{{6}}}</style>\n"
                       "<defs>{7}{8}</defs>\n<rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n",
                       number(width_), number(height), escaped(title), escaped(description), picture_style,
                       narrow_style, dark_style, hatch("hatch"), hatch("gray")) +
           body_ + "</svg>\n";
}

double text_width(std::string_view text, std::string_view look) {
    const double per_size = has_word(look, "code") ? 0.61 : 0.54;
    // Bytes that continue a character of UTF-8 do not count.
    const auto characters =
        std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; });
    return size_of(look) * per_size * static_cast<double>(characters);
}

std::string shortened(std::string_view text, double width, std::string_view look) {
    if (text_width(text, look) <= width) return std::string(text);
    // The width shrinks with the first byte of a character, so that none is cut in two.
    const double room = width - text_width("…", look);
    while (!text.empty() && text_width(text, look) > room) text.remove_suffix(1);
    return std::string(text) + "…";
}

} // namespace emulate
