/// The source files of programs.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace emulate {

struct SourceFile {
    std::vector<std::string> lines{};
    bool is_newer_than_program = false; ///< lines may have moved since it was compiled
};

/// Returns the source file at a path. nullopt: it cannot be read.
using ReadSource = std::function<std::optional<SourceFile>(const std::string& path)>;

/// Reads files, for a program of that path.
ReadSource read_source_files(const std::string& program);

} // namespace emulate
