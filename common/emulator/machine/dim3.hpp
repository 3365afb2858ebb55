/// Extents and indices in three dimensions.
#pragma once

#include <cstdint>
#include <string>

namespace emulator {

/// Extents in x, y and z.
struct Dim3 {
    std::uint32_t x = 1, y = 1, z = 1;

    std::uint64_t count() const { return std::uint64_t{x} * y * z; }
    friend bool operator==(const Dim3&, const Dim3&) = default;
};

/// "(3,0,0)"
inline std::string triple(Dim3 index) {
    std::string text = "(";
    text += std::to_string(index.x) + "," + std::to_string(index.y) + "," + std::to_string(index.z);
    return text += ")";
}

/// Linear index to coordinates, x fastest.
inline Dim3 coordinates(std::uint64_t index, Dim3 extent) {
    return {static_cast<std::uint32_t>(index % extent.x),
            static_cast<std::uint32_t>(index / extent.x % extent.y),
            static_cast<std::uint32_t>(index / extent.x / extent.y)};
}

} // namespace emulator
