/// The command line of `emulate`.
#pragma once

#include "emulator/session/request.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace emulate {

enum class Format { text, json, csv, html };

struct Options {
    bool counters = false;
    bool explain = false;                     ///< with the counters' names in Nsight Compute
    emulator::Request request{};              ///< everything that the library has to know
    std::optional<std::uint64_t> schedules{}; ///< so many seeds to try
    std::optional<std::uint64_t> devices{};   ///< so many are emulated
    std::optional<std::uint64_t> tagged{};    ///< seed of the tags for numbers; see ptx/grading.hpp
    Format format = Format::text;
    std::string output{}; ///< the file for the report or the page; empty: stderr. For pictures their folder
    bool color = false;   ///< in the report
    int error_exit_code = 10;
    std::vector<std::string> program{}; ///< and its arguments
    std::string asked_by{};             ///< whose command line has these options; empty: that of `emulate`
    std::string answer{};               ///< what --help or --version prints; empty otherwise

    /// Whether anything is to be reported. If not, the program just runs.
    bool reports() const;
};

/// \param options as far as they were read when it throws \throws UsageError
void parse_options(int argc, const char* const* argv, Options& options);

/// What --help prints.
std::string help_text();

} // namespace emulate
