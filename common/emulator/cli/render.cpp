#include "emulator/cli/render.hpp"

#include "emulator/cli/exit_status.hpp"
#include "emulator/cli/lines.hpp"
#include "emulator/cli/report_forms.hpp"
#include "emulator/cli/time.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sys/ioctl.h>
#include <unistd.h>

namespace emulate {
namespace {

namespace fs = std::filesystem;

ReadSource sources_of(const Report& report) {
    if (!report.ptx.empty()) return read_source_files(report.ptx);
    return read_source_files(report.processes.empty() ? "" : report.processes.front().value("program", ""));
}

/// Columns of the report's terminal. A file gets enough for most lines.
std::size_t columns(const Options& options) {
    winsize size{};
    const bool is_terminal = options.output.empty() && ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0;
    return is_terminal && size.ws_col > 0 ? size.ws_col : 120;
}

std::string as_text(const Report& report, const ReadSource& sources, const Options& options) {
    std::vector<std::string> parts;
    if (options.counters) parts.push_back(counters_as_text(report, options.explain));
    if (!options.request.time.empty() && missing_tool(options.request).empty())
        parts.push_back(times_as_text(report));
    if (options.request.lines)
        parts.push_back(lines_as_text(kernel_lines(report.lines, sources), columns(options),
                                      missing_tool(options.request)));
    if (const emulator::Request& request = options.request; !request.check.empty()) {
        parts.push_back(
            findings_as_text(report.findings, request.check, sources, columns(options), options.color));
        if (report.findings.empty() && request.checks("race") && !request.global_races)
            parts.back() += "race checked shared memory; with --global-races it checks global memory, too\n";
        if (const std::string failed = failed_launches_as_text(report); !failed.empty())
            parts.push_back(failed);
    }
    std::string text;
    if (report.ending.signal != 0) parts.push_back(signal_as_text(report, sources));
    for (const std::string& part : parts) text += (text.empty() ? "" : "\n") + part;
    return text;
}

std::string as_json(const Report& report, const ReadSource& sources, const Options& options) {
    Json json{{"program", report.program}, {"exit_status", report.ending.status}};
    if (report.ending.signal != 0) json["signal"] = report.ending.signal;
    json["processes"] = report.processes;
    json["launches"] = report.launches;
    if (!report.copies.empty()) json["copies"] = report.copies;
    if (report.running) json["running"] = *report.running;
    if (options.request.lines) json["lines"] = lines_as_json(kernel_lines(report.lines, sources));
    if (!options.request.check.empty()) json["findings"] = report.findings;
    if (options.request.values) json["accesses"] = report.accesses;
    json["errors"] = report.errors;
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string render(const Report& report, const ReadSource& sources, const Options& options) {
    switch (options.format) {
    case Format::text: return as_text(report, sources, options);
    case Format::json: return as_json(report, sources, options);
    case Format::csv: return counters_as_csv(report);
    case Format::html: return lines_as_html(kernel_lines(report.lines, sources), options.program.front());
    }
    return "";
}

CommandError not_writable(const Options& options, int error) {
    return {ExitStatus::failed,
            fmt::format("{} {}: cannot be written: {}", options.request.replay ? "--export" : "--output",
                        options.output, std::strerror(error))};
}

/// A reader may leave, and a program may run without stderr: neither is an error.
void tell(const std::string& text) {
    std::signal(SIGPIPE, SIG_IGN);
    if (std::fputs(text.c_str(), stderr) >= 0 || errno == EPIPE || errno == EBADF) return;
    throw CommandError(ExitStatus::failed,
                       fmt::format("the report cannot be written to stderr: {}", std::strerror(errno)));
}

} // namespace

void expect_writable_output(const Options& options) {
    if (options.output.empty() || (!options.request.draw.empty() && !options.request.values)) return;
    const fs::path file = options.output, folder = file.has_parent_path() ? file.parent_path() : ".";
    std::error_code unknown;
    if (fs::is_directory(file, unknown)) throw not_writable(options, EISDIR);
    const bool exists = fs::exists(file, unknown);
    if (access(exists ? file.c_str() : folder.c_str(), W_OK) != 0) throw not_writable(options, errno);
    if (options.request.replay) static_cast<void>(page_without_launches());
}

void write_report(const Report& report, const Options& options) {
    const ReadSource sources = sources_of(report);
    if (!options.reports()) {
        if (report.running && report.ending.signal != 0) write_text(signal_as_text(report, sources), options);
    } else if (!options.request.draw.empty() && !options.request.values) {
        tell(draw(report, options, sources));
    } else if (options.request.replay) {
        const ExportedPage page = export_page(report, sources);
        write_text(page.html, options);
        tell(fmt::format("{}: {}\n", options.output, page.about));
    } else
        write_text(render(report, sources, options), options);
}

void write_text(const std::string& text, const Options& options) {
    if (options.output.empty() && text.empty()) return;
    // On a terminal the program's output is right above.
    if (options.output.empty()) return tell((isatty(STDERR_FILENO) ? "\n" : "") + text);
    std::ofstream file(options.output, std::ios::binary);
    file << text << std::flush;
    if (!file) throw not_writable(options, errno);
}

} // namespace emulate
