/// \file
/// Text inside of HTML and SVG.
#pragma once

#include <string>
#include <string_view>

namespace emulate {

/// Escapes `text` for HTML and XML. XML allows no control characters except white space.
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
