#include "emulator/ptx/diagnostic.hpp"

#include <algorithm>
#include <initializer_list>

namespace emulator::ptx {

std::string excerpt(std::string_view text, std::uint32_t offset) {
    constexpr std::size_t longest_line = 160; // initializers of variables can be megabytes long
    const std::size_t place = std::min<std::size_t>(offset, text.size());
    const std::size_t before = place == 0 ? std::string_view::npos : text.rfind('\n', place - 1);
    const std::size_t line_start = before == std::string_view::npos ? 0 : before + 1;
    const std::size_t line_end = std::min(text.find('\n', line_start), text.size());
    const auto line_number =
        std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(line_start), '\n') + 1;

    std::size_t first = text.find_first_not_of(" \t\r", line_start);
    if (first == std::string_view::npos || first > place) first = line_start;
    if (place - first > longest_line / 2) first = place - longest_line / 2;
    std::string line(text.substr(first, std::min(line_end - std::min(first, line_end), longest_line)));
    std::replace_if(
        line.begin(), line.end(), [](unsigned char c) { return c < ' ' || c > '~'; }, ' ');
    return "PTX line " + std::to_string(line_number) + ":\n    " + line + "\n    " +
           std::string(place - first, ' ') + "^";
}

std::string what_instead(std::string_view word) {
    const auto is_one_of = [&](std::initializer_list<std::string_view> words) {
        return std::find(words.begin(), words.end(), word) != words.end();
    };
    if (is_one_of({"tex", "tld4", "txq", "suld", "sust", "sured", "suq", "istypep", ".texref", ".samplerref",
                   ".surfref"}))
        return "\nThe emulator has no textures and no surfaces: keep the data in global memory, and load it "
               "with "
               "__ldg() or an index.";
    if (word.starts_with("wmma") || word.starts_with("wgmma") || word.starts_with("tcgen05") ||
        is_one_of({"mma", "ldmatrix", "stmatrix", "movmatrix"}))
        return "\nThe emulator has no tensor cores: multiply matrices with ordinary arithmetic.";
    return "";
}

std::string quoted(std::string_view text) {
    std::string result = "'";
    result += text;
    return result += "'";
}

Error error_at(Failure failure, std::string_view text, std::uint32_t offset, const std::string& message) {
    return {failure, message + "\n" + excerpt(text, offset)};
}

Error naming(const Error& error, const std::string& function) {
    std::string message = error.what();
    message.insert(std::min(message.find('\n'), message.size()), ", in " + function);
    return {error.failure(), message};
}

} // namespace emulator::ptx
