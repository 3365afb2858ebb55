/// \file
/// What a lesson prints: a table for people, JSON and CSV for programs.
#pragma once

#include "harness/device.hpp"
#include "harness/measure.hpp"
#include "harness/options.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace harness {

/// One of the lesson's own options, given a value that is not its default.
struct ChangedOption {
    std::string name;                   ///< "--offset"
    std::optional<std::uint64_t> value; ///< none: a flag
};

struct Report {
    std::string lesson;
    std::string title;
    Device device;
    std::size_t elements = 0;
    std::optional<std::uint64_t> seed;  ///< none: there is no random input
    std::vector<ChangedOption> options; ///< without random input: all of them but flags
    bool verified_only = false;         ///< no times and no counters were asked for
    std::vector<KernelResult> kernels;
};

/// The whole report, with a newline at its end.
std::string format_report(const Report& report, OutputFormat format);

std::string format_text(const Report& report); ///< a table
std::string format_json(const Report& report); ///< one object; whole numbers are exact
std::string format_csv(const Report& report);  ///< a header, and one row a kernel; empty where JSON has null

} // namespace harness
