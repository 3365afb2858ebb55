#include "emulator/memory/address_space.hpp"

#include <filesystem>
#include <fstream>
#include <sstream>

namespace emulator {

std::optional<std::string> host_memory_at([[maybe_unused]] std::uint64_t address) {
#ifdef __linux__
    // "5581c7e00000-5581c7e21000 rw-p 00000000 00:00 0          [heap]"
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
        std::istringstream fields(line);
        std::uint64_t first = 0, end = 0;
        char dash = 0;
        std::string access, skipped, name;
        fields >> std::hex >> first >> dash >> end >> access;
        if (address < first || address >= end) continue;
        if (!access.starts_with('r')) return std::nullopt;
        fields >> skipped >> skipped >> skipped >> std::ws;
        std::getline(fields, name);
        if (name == "[stack]") return "its stack";
        if (name == "[heap]") return "its heap";
        if (name.starts_with('/')) return "a variable of " + std::filesystem::path(name).filename().string();
        return "";
    }
#endif
    return std::nullopt;
}

} // namespace emulator
