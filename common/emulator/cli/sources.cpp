#include "emulator/cli/sources.hpp"

#include <filesystem>
#include <fstream>
#include <utility>

namespace emulate {

ReadSource read_source_files(const std::string& program) {
    return [program](const std::string& path) -> std::optional<SourceFile> {
        std::error_code unknown;
        if (!std::filesystem::is_regular_file(path, unknown)) return std::nullopt;
        std::ifstream stream(path);
        if (!stream) return std::nullopt;
        SourceFile file;
        for (std::string line; std::getline(stream, line);) {
            if (line.ends_with('\r')) line.pop_back();
            file.lines.push_back(std::move(line));
        }
        std::error_code no_program, no_file;
        const auto built = std::filesystem::last_write_time(program, no_program);
        const auto written = std::filesystem::last_write_time(path, no_file);
        file.is_newer_than_program = !no_program && !no_file && written > built;
        return file;
    };
}

} // namespace emulate
