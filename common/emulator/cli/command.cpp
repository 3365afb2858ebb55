#include "emulator/cli/command.hpp"

#include "emulator/cli/exit_status.hpp"
#include "emulator/cli/options.hpp"
#include "emulator/cli/program.hpp"
#include "emulator/cli/render.hpp"
#include "emulator/cli/report_forms.hpp"
#include "emulator/cli/run.hpp"
#include "emulator/cli/schedules.hpp"
#include "emulator/cli/temporary_file.hpp"
#include "emulator/cli/time.hpp"
#include "emulator/device_count.hpp"
#include "emulator/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace emulate {
namespace {

/// On stderr. If that is full, only the exit status is left.
void say(const std::string& line) { std::fputs((line + "\n").c_str(), stderr); }

/// The status for findings, unless a signal ended the program.
Ending with_findings(const Ending& ending, bool found, const Options& options) {
    return found && ending.signal == 0 ? Ending{.status = options.error_exit_code} : ending;
}

/// "5 launches", "cudaCreateTextureObject", or both: what a card would have done, and the emulator cannot.
std::string refusals_as_text(const Report& report) {
    std::vector<std::string> refused(report.refused_functions.begin(), report.refused_functions.end());
    if (const std::size_t launches = report.refused_launches; launches != 0)
        refused.insert(refused.begin(),
                       launches == 1 ? "1 launch" : emulator::thousands(launches) + " launches");
    return fmt::format("{}", fmt::join(refused, ", "));
}

/// \throws CommandError where the program takes no note of them.
void expect_no_refusal(const Report& report) {
    const std::string refused = refusals_as_text(report);
    if (refused.empty() || report.ending != Ending{}) return;
    throw CommandError(ExitStatus::failed,
                       fmt::format("{}: ended with 0, but {} could not be run, for the reason above",
                                   emulator::printable(report.program.front()), refused));
}

Ending compare_schedules(const Options& options) {
    const ScheduleResult result = try_schedules(options);
    if (result.difference && !result.difference->repeatable)
        throw CommandError(ExitStatus::failed, schedules_as_text(result));
    write_text(options.format == Format::json ? schedules_as_json(result)
                                              : schedules_as_text(result, options.color),
               options);
    expect_no_refusal(result.default_run);
    return with_findings(result.default_run.ending, result.difference.has_value(), options);
}

/// Where a tool for machine code is missing, the program runs without what needs it.
void prepare_estimates(Options& options) {
    if (options.request.time.empty() && !options.request.lines) return;
    find_tools(options.request);
    const std::string missing = missing_tool(options.request);
    if (missing.empty() || options.request.time.empty()) return; // the report of the lines says it
    const std::string what = "no times can be estimated: " + missing;
    if (options.request.time_only) throw CommandError(ExitStatus::failed, what);
    say("emulate: " + what);
}

Ending run(const Options& options) {
    if (options.tagged) {
        const TemporaryFile tagged;
        write_tagged_ptx(options.request.ptx, *options.tagged, tagged.path());
        Options changed = options;
        changed.tagged.reset();
        changed.request.ptx = tagged.path();
        return run(changed);
    }
    expect_writable_output(options);
    const std::string& program = options.program.front();
    for (const std::string& library : cuda_linkage(find_program(program)).libraries)
        say(fmt::format("emulate: {}: is linked with {}, which needs NVIDIA's driver: its calls fail\n"
                        "Kernels of the program's own run, and so do CUB and Thrust.",
                        emulator::printable(program), library));
    if (options.schedules) return compare_schedules(options);
    const Report report = run_on_emulator(options.program, options.request);
    if (!options.reports() && !report.processes.empty()) {
        write_report(report, options);
        expect_no_refusal(report);
        return report.ending;
    }
    const std::string obstacle = why_nothing_was_observed(report);
    if (obstacle.empty() || options.format != Format::text) write_report(report, options);
    if (!obstacle.empty() && report.ending == Ending{}) throw CommandError(ExitStatus::failed, obstacle);
    if (!obstacle.empty()) say("emulate: " + obstacle);
    const bool has_failed = !options.request.check.empty() && !failed_launches_as_text(report).empty();
    if (!has_failed) expect_no_refusal(report);
    return with_findings(report.ending, !report.findings.empty() || has_failed, options);
}

/// For the program, and those that it starts.
void set_devices(const Options& options) {
    if (options.devices) setenv(emulator::devices_variable, std::to_string(*options.devices).c_str(), 1);
    const char* const text = std::getenv(emulator::devices_variable);
    if (text && *text && !emulator::parse_device_count(text))
        throw UsageError(fmt::format("{}={}: write a whole number from 1 to {}", emulator::devices_variable,
                                     emulator::printable(text), emulator::max_devices));
}

} // namespace

int command(int argc, char** argv) {
    Options options;
    const auto fail = [](const CommandError& error) {
        say(std::string("emulate: ") + error.what());
        return static_cast<int>(error.status());
    };
    try {
        parse_options(argc, argv, options);
        if (options.answer.empty()) {
            set_devices(options);
            prepare_estimates(options);
            end_like(run(options));
        }
        const bool is_written = std::fputs(options.answer.c_str(), stdout) >= 0 && std::fflush(stdout) == 0;
        return is_written ? 0 : static_cast<int>(ExitStatus::failed);
    } catch (const Interrupted& interrupted) {
        if (interrupted.ending != Ending{}) end_like(interrupted.ending);
        return fail({ExitStatus::failed, "interrupted before all orders were tried"});
    } catch (const UsageError& error) {
        const bool own = options.asked_by.empty();
        say(fmt::format("{}: {}\nTry: {} --help", own ? "emulate" : options.asked_by, error.what(),
                        emulator::printable(own ? "emulate" : options.program.front())));
        return static_cast<int>(own ? error.status() : ExitStatus::asked_wrong);
    } catch (const CommandError& error) {
        return fail(error);
    } catch (const std::exception& error) {
        return fail({ExitStatus::failed, fmt::format("internal error: {}", error.what())});
    }
}

} // namespace emulate
