/// How many devices are emulated: the environment variable EMULATE_DEVICES.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>

namespace emulator {

inline constexpr const char* devices_variable = "EMULATE_DEVICES";
inline constexpr int max_devices = 16;

/// Nothing if the text is no whole number from 1 to max_devices.
inline std::optional<int> parse_device_count(std::string_view text) {
    int count = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
    if (error != std::errc() || end != text.data() + text.size() || count < 1 || count > max_devices)
        return std::nullopt;
    return count;
}

} // namespace emulator
