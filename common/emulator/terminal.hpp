/// Color on a terminal.
#pragma once

#include <cstdlib>
#include <string>
#include <string_view>
#include <unistd.h>

namespace emulator {

/// Numbers of the escape sequence "select graphic rendition".
enum class Style { bold = 1, dim = 2, red = 31, green = 32 };

/// The text in a style, or as it is without color.
inline std::string styled(const std::string& text, Style style, bool color) {
    return color ? "\x1b[" + std::to_string(static_cast<int>(style)) + "m" + text + "\x1b[0m" : text;
}

/// Whether text for `descriptor` gets color. \param how always, never, or auto: on a terminal that has color,
/// unless NO_COLOR is set (no-color.org)
inline bool wants_color(std::string_view how, int descriptor) {
    if (how != "auto") return how == "always";
    const char* const no_color = std::getenv("NO_COLOR");
    const char* const terminal = std::getenv("TERM");
    return isatty(descriptor) == 1 && (!no_color || !*no_color) && terminal &&
           terminal != std::string_view("dumb");
}

} // namespace emulator
