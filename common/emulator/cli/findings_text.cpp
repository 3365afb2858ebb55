#include "emulator/cli/report_forms.hpp"

#include "emulator/terminal.hpp"
#include "emulator/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <sstream>

namespace emulate {
namespace {

using emulator::Finding, emulator::Party, emulator::Style, emulator::styled;

/// `text` under a heading in front of its first line, broken between words.
std::string paragraph(const std::string& heading, const std::string& text, std::size_t columns) {
    constexpr std::size_t least = 30; // columns for the text
    const std::size_t width = std::max(columns, heading.size() + least) - heading.size();
    std::string result, line = heading;
    std::istringstream words(text);
    for (std::string word; words >> word;) {
        if (line.size() > heading.size() && line.size() + word.size() + 1 > heading.size() + width) {
            result += line + "\n";
            line.assign(heading.size(), ' ');
        }
        if (line.size() > heading.size()) line += ' ';
        line += word;
    }
    return result + line + "\n";
}

/// Source files, each read once.
class Sources {
public:
    explicit Sources(const ReadSource& read) : read_(read) {}

    /// The line at "kernels.cuh:17", without indentation. nullopt: the file cannot be read, or is newer than
    /// the program.
    std::optional<std::string> line(const std::string& where) {
        const std::size_t colon = where.rfind(':');
        if (colon == std::string::npos) return std::nullopt;
        const std::string path = where.substr(0, colon);
        const auto [file, is_new] = files_.try_emplace(path);
        if (is_new) file->second = read_(path);
        const std::size_t number = std::stoul(where.substr(colon + 1));
        if (!file->second || file->second->is_newer_than_program || number == 0 ||
            number > file->second->lines.size())
            return std::nullopt;
        const std::string& text = file->second->lines[number - 1];
        return text.substr(std::min(text.find_first_not_of(" \t"), text.size()));
    }

private:
    const ReadSource& read_;
    std::map<std::string, std::optional<SourceFile>> files_;
};

std::string party_text(const Party& party, std::size_t widest_role, Sources& sources) {
    std::string text = fmt::format("    {:<{}}  ", party.role, widest_role);
    const std::size_t indent = text.size();
    text += party.operation.empty() ? fmt::format("block {}, thread {}", party.block, party.thread)
                                    : party.operation;
    if (!party.where.empty()) text += ", at " + party.where;
    if (party.where.empty() && party.ptx.empty()) return text + "\n"; // a call of the host
    const std::string line = sources.line(party.where).value_or(party.ptx);
    return fmt::format("{}\n{:{}}{}\n", text, "", indent, line);
}

std::string finding_text(const Finding& finding, Sources& sources, std::size_t columns) {
    std::string text = finding.checker + ": " + finding.kind;
    if (!finding.parties.empty() && !finding.parties.front().where.empty())
        text = finding.parties.front().where + ": " + text;
    if (finding.count > 1) text += ", " + emulator::thousands(finding.count) + " times";
    text += "\n" + paragraph("    ", finding.message, columns);
    if (!finding.kernel.empty()) text += paragraph("    in ", finding.kernel, columns);
    std::size_t widest_role = 0;
    for (const Party& party : finding.parties) widest_role = std::max(widest_role, party.role.size());
    for (const Party& party : finding.parties) text += party_text(party, widest_role, sources);
    if (!finding.allocation.empty()) text += paragraph("    memory: ", finding.allocation, columns);
    if (!finding.cause.empty()) text += paragraph("    usually: ", finding.cause, columns);
    return text;
}

} // namespace

std::string findings_as_text(const std::vector<Finding>& findings, const std::vector<std::string>& checkers,
                             const ReadSource& read_source, std::size_t columns, bool color) {
    if (findings.empty())
        return styled(fmt::format("no findings ({})", fmt::join(checkers, ", ")), Style::green, color) + "\n";
    Sources sources(read_source);
    std::string text;
    bool has_lines = true;
    for (const Finding& finding : findings) {
        const std::string shown = finding_text(finding, sources, columns);
        const std::size_t heading = shown.find('\n');
        text += styled(shown.substr(0, heading), Style::red, color) + shown.substr(heading) + "\n";
        for (const Party& party : finding.parties)
            has_lines = has_lines && (!party.where.empty() || party.ptx.empty());
    }
    if (!has_lines) text += "Compile with nvcc -lineinfo to see lines of the source.\n";
    return text +
           styled(findings.size() == 1 ? "1 finding" : fmt::format("{} findings", findings.size()),
                  Style::red, color) +
           "\n";
}

std::string signal_as_text(const Report& report, const ReadSource& read_source) {
    const int signal = report.ending.signal;
    const std::string start = fmt::format("Signal {} ({}) ended the program", signal, strsignal(signal));
    if (!report.running) return start + "; if a kernel was running, this is not all that it did.\n";
    const std::string while_it_ran =
        fmt::format("{} while {} ran.", start, report.running->at("name").get<std::string>());
    if (!report.running->contains("somebody")) return while_it_ran + "\n";
    Sources sources(read_source);
    const auto party = report.running->at("somebody").get<Party>();
    return fmt::format("{} Shortly before that\n{}", while_it_ran,
                       party_text(party, party.role.size(), sources)) +
           "If that took too long: does each loop around this line come to an end?\n";
}

std::string failed_launches_as_text(const Report& report) {
    std::size_t failed = report.rejected_launches;
    for (const Json& launch : report.launches) failed += launch.contains("error") ? 1 : 0;
    if (failed == 0) return "";
    return fmt::format("{} failed for the reason above: what {} did not do was not checked.\n",
                       failed == 1 ? "1 launch" : fmt::format("{} launches", failed),
                       failed == 1 ? "it" : "they");
}

} // namespace emulate
