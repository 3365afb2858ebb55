#include "emulator/program/source_location.hpp"

#include "emulator/ptx/diagnostic.hpp"

#include <algorithm>
#include <filesystem>

namespace emulator {

namespace {

/// The compiler writes line 0, which does not exist, where it has no line.
SourceLocation place_of(const Code& code, const ptx::Location* location) {
    if (!location) return {};
    const auto file = code.module->files.find(location->file);
    if (file == code.module->files.end()) return {};
    return {file->second, location->line};
}

const ptx::Location* outermost(const ptx::Location* location) {
    while (location && location->inlined_at) location = location->inlined_at;
    return location;
}

/// The innermost location in the outermost one's file.
const ptx::Location* innermost_in_file(const ptx::Location* location) {
    const ptx::Location* const kernel = outermost(location);
    while (location != kernel && (location->file != kernel->file || location->line == 0))
        location = location->inlined_at;
    return location;
}

/// The location of the instruction, or of the next one that has one.
SourceLocation nearest_location(const Code& code, std::uint32_t pc,
                                const ptx::Location* (*choose)(const ptx::Location*)) {
    if (code.function->locations.empty()) return {};
    const auto place = [&](std::uint32_t at) {
        const ptx::Statement* const statement = code.statements[at];
        return place_of(code, statement ? choose(statement->location) : nullptr);
    };
    for (std::uint32_t before = pc + 1; before-- > 0;)
        if (const SourceLocation found = place(before)) return found;
    for (std::uint32_t after = pc + 1; after < code.statements.size(); ++after)
        if (const SourceLocation found = place(after)) return found;
    return {};
}

} // namespace

SourceLocation source_location(const Code& code, std::uint32_t pc) {
    return nearest_location(code, pc, outermost);
}

SourceLocation function_location(const Code& code) {
    const auto& locations = code.function->locations;
    return locations.empty() ? SourceLocation{} : place_of(code, outermost(locations.front().get()));
}

std::string source_line(const Code& code, std::uint32_t pc) {
    const SourceLocation place = nearest_location(code, pc, innermost_in_file);
    return place ? short_path(place.path) + ":" + std::to_string(place.line) : "";
}

bool comes_from(const Code& code, std::uint32_t pc, std::string_view path_ending) {
    const ptx::Statement* const statement = code.statements[pc];
    const ptx::Location* location = statement ? statement->location : nullptr;
    while (location && !place_of(code, location).path.ends_with(path_ending)) location = location->inlined_at;
    return location;
}

std::string short_path(std::string_view path) {
    std::error_code error;
    std::filesystem::path relative = std::filesystem::current_path(error); // a web page has none
    if (!error) relative = std::filesystem::proximate(path, relative, error);
    if (error || relative.empty() || relative.native().starts_with(".."))
        return std::filesystem::path(path).lexically_normal().native();
    return relative.native();
}

std::string ptx_line(const Code& code, std::uint32_t pc) {
    const ptx::Statement* const statement = code.statements[pc];
    return ptx::excerpt(code.module->text, statement ? statement->place : code.function->place);
}

std::string ptx_statement(const Code& code, std::uint32_t pc) {
    const ptx::Statement* const statement = code.statements[pc];
    if (!statement) return "ret;";
    const std::string_view text = code.module->text;
    const std::size_t end = std::min(text.find(';', statement->place), text.size() - 1);
    std::string line(text.substr(statement->place, end + 1 - statement->place));
    // Calls take several lines.
    std::replace_if(
        line.begin(), line.end(), [](unsigned char c) { return c < ' '; }, ' ');
    return line;
}

} // namespace emulator
