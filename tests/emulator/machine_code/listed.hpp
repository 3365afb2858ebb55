/// Machine code of a few lines, and memory to run it on.
#pragma once

#include "emulator/machine_code/sampling.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace emulator {

/// Any word anywhere: the ladder's kernels only add them.
class AnyMemory final : public machine_code::MemorySource {
public:
    const std::byte* bytes(std::uint64_t address, std::size_t) const override {
        words_.fill(static_cast<std::uint32_t>(address * 2654435761));
        return reinterpret_cast<const std::byte*>(words_.data());
    }

private:
    mutable std::array<std::uint32_t, 4> words_{};
};

/// Lines of a listing without labels: each instruction waits for nothing.
inline std::string listed(const std::vector<std::string>& lines) {
    std::string listing = "\n.text.k:\n";
    for (const std::string& line : lines)
        listing += line.ends_with(":") ? line + "\n"
                                       : "/*0000*/ " + line + " ; /* 0x0 */\n/* 0x000fe20000000000 */\n";
    return listing;
}

} // namespace emulator
