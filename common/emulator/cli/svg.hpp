/// Writes SVG pictures that look alike: on light and dark screens and on paper, without a script.
#pragma once

#include <string>
#include <string_view>

namespace emulate {

/// Escapes `text` for SVG, as for all XML and for HTML. XML allows no control characters except white space.
inline std::string escaped(std::string_view text) {
    std::string result;
    for (const char c : text) {
        switch (c) {
        case '&': result += "&amp;"; break;
        case '<': result += "&lt;"; break;
        case '>': result += "&gt;"; break;
        case '"': result += "&quot;"; break;
        default: result += static_cast<unsigned char>(c) < ' ' && c != '\t' && c != '\n' ? ' ' : c;
        }
    }
    return result;
}

/// A picture that grows from top to bottom. A line of text is about 20 units high. Colors and fonts come from
/// the style sheet in svg.cpp: each element has a class. Neighboring
/// shapes of one look become one element, and texts in one row: few elements are shown quickly.
class Svg {
public:
    static constexpr double usual_width = 720, margin = 20, line_height = 22;

    explicit Svg(double width = usual_width) : width_(width) {}

    double width() const { return width_; }

    /// `fill` is the same color on light and on dark screens.
    void rectangle(double x, double y, double width, double height, std::string_view look,
                   std::string_view fill = "");
    void line(double x1, double y1, double x2, double y2, std::string_view look);
    void triangle(double x1, double y1, double x2, double y2, double x3, double y3, std::string_view look);
    void circle(double x, double y, double radius, std::string_view look);
    /// `y` is the middle of the line, `x` its left end, or with the look "middle" or "right" that part of it.
    void text(double x, double y, std::string_view text, std::string_view look);

    /// Opens a group of elements. `name` labels it in the file.
    void begin(std::string_view name);
    void end();

    /// Several lines of text from `y` on, broken where `width` ends. Returns the y below them.
    double paragraph(double x, double y, double width, std::string_view text, std::string_view look);

    /// Starts a legend at the left margin.
    void begin_keys(double y);
    /// The next swatch and what it means, in a new row where it does not fit.
    void key(std::string_view swatch, std::string_view text, std::string_view fill = "");
    /// Returns the y below them.
    double end_keys() const;

    /// The complete picture. Screen readers read `title` and `description`.
    std::string finish(double height, std::string_view title, std::string_view description) const;

private:
    /// `next` and not `first` after an element of this kind, which then goes on; empty: an element of its own.
    void add(const std::string& kind, const std::string& first, const std::string& next,
             std::string_view end);
    void path(std::string_view look, std::string_view fill, const std::string& data);

    double width_;
    std::string body_, last_kind_;
    double key_x_ = 0, key_y_ = 0;
};

/// The approximate width of a text in the font of `look`.
double text_width(std::string_view text, std::string_view look);

/// `text`, cut to `width` with an ellipsis.
std::string shortened(std::string_view text, double width, std::string_view look);

} // namespace emulate
