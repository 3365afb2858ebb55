/// \file
/// Lines that fit a terminal.
#pragma once

#include <cstddef>
#include <sstream>
#include <string>

namespace harness {

inline constexpr std::size_t terminal_columns = 80;

/// The text's words in lines that fit a terminal, each with its newline.
inline std::string wrap(const std::string& text) {
    std::istringstream words(text);
    std::string lines;
    std::size_t length = 0;
    for (std::string word; words >> word; length += word.size() + 1) {
        if (length + word.size() > terminal_columns) {
            lines.back() = '\n';
            length = 0;
        }
        lines += word + " ";
    }
    if (!lines.empty()) lines.back() = '\n';
    return lines;
}

} // namespace harness
