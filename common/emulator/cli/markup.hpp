/// \file
/// Text inside of HTML and SVG.
#pragma once

#include <string>
#include <string_view>

namespace emulate {

/// `text` so that a reader of HTML or XML takes it for text. XML allows no control characters but white
/// space.
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

} // namespace emulate
