/// Numbers and foreign text as messages show them.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace emulator {

/// The text with its control characters as "\x1b" and the like, so that a terminal does not interpret them.
inline std::string printable(std::string_view text) {
    std::string result;
    for (const char c : text) {
        const auto code = static_cast<unsigned char>(c);
        char escaped[5] = {c};
        if (code < 0x20 || code == 0x7F) std::snprintf(escaped, sizeof escaped, "\\x%02x", code);
        result += escaped;
    }
    return result;
}

/// "0x7f00"
inline std::string hexadecimal(std::uint64_t value) {
    char text[20];
    std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
    return text;
}

/// "1,048,576"
inline std::string thousands(std::uint64_t value) {
    std::string text = std::to_string(value);
    for (std::size_t place = text.size(); place > 3; place -= 3) text.insert(place - 3, 1, ',');
    return text;
}

/// "1 byte", "4,096 bytes"
inline std::string byte_count(std::uint64_t bytes) {
    return thousands(bytes) + (bytes == 1 ? " byte" : " bytes");
}

} // namespace emulator
