#include "emulator/machine/where.hpp"

#include "emulator/ptx/diagnostic.hpp"

#include <cstdlib>
#include <cxxabi.h>
#include <filesystem>

namespace emulator {

namespace {

/// Relative to the current directory, if it lies below it.
std::string short_path(const std::string& path) {
    std::error_code error;
    const std::filesystem::path relative = std::filesystem::proximate(path, error);
    if (error || relative.empty() || relative.native().starts_with("..")) return path;
    return relative.native();
}

} // namespace

std::string source_line(const Code& code, std::uint32_t pc) {
    const ptx::Statement* const statement = code.statements[pc];
    const ptx::Location* location = statement ? statement->location : nullptr;
    while (location && location->inlined_at) location = location->inlined_at;
    if (!location) return "";
    const auto file = code.module->files.find(location->file);
    if (file == code.module->files.end()) return "";
    return short_path(file->second) + ":" + std::to_string(location->line);
}

std::string ptx_line(const Code& code, std::uint32_t pc) {
    const ptx::Statement* const statement = code.statements[pc];
    return ptx::excerpt(code.module->text, statement ? statement->place : code.function->place);
}

std::string readable_name(const std::string& mangled) {
    int status = 0;
    char* const text = abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status);
    std::string result = status == 0 ? text : mangled;
    std::free(text);
    return result;
}

} // namespace emulator
