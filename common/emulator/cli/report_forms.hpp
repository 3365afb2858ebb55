/// What becomes of a report: tables, words, pictures, a page.
#pragma once

#include "emulator/cli/options.hpp"
#include "emulator/cli/picture.hpp"
#include "emulator/cli/report.hpp"
#include "emulator/cli/sources.hpp"
#include "emulator/machine/finding.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace emulate {

// ---- counters.cpp: the counters of launches as tables ----

/// One table per launch. Equal launches in a row share one. \param explain add the counters' names in Nsight
/// Compute
std::string counters_as_text(const Report& report, bool explain = false);

/// A row for each launch and counter.
std::string counters_as_csv(const Report& report);

// ---- findings_text.cpp: what the checkers found, in words, for --check ----

/// \param columns of the terminal
/// \param checkers that ran: they are named if none found anything
std::string findings_as_text(const std::vector<emulator::Finding>& findings,
                             const std::vector<std::string>& checkers, const ReadSource& read_source,
                             std::size_t columns, bool color = false);

/// Which signal ended the program, and which kernel was running. Names the line of one of its threads if the
/// launch took long.
std::string signal_as_text(const Report& report, const ReadSource& read_source);

/// How many launches failed, and so were not checked. Empty if none failed.
std::string failed_launches_as_text(const Report& report);

// ---- draw.cpp: pictures of a run, for --draw ----

/// Writes what `options` ask for, one file per kernel. Returns the messages for the user.
/// \throws CommandError when a file cannot be written.
std::string draw(const Report& report, const Options& options, const ReadSource& read_source);

/// What the warps of a multiprocessor do at first, by the model: of a launch with an estimate. In timeline.cpp.
Picture draw_timeline(std::string_view kernel, const Json& launch);

// ---- export.cpp: the page of --export, in which a browser runs the recorded launches again ----

/// The page without launches, as `make playground` made it.
/// \throws CommandError if it is not there
std::string page_without_launches();

struct ExportedPage {
    std::string html;
    std::string about; ///< "2 launches, 1.4 MB", and what to know of them
};

/// \throws CommandError if a page cannot run them
ExportedPage export_page(const Report& report, const ReadSource& read_source);

} // namespace emulate
