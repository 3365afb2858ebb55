/// A lesson's output: a table for people, JSON and CSV for programs.
#pragma once

#include "harness/detail/measure.hpp"
#include "harness/detail/options.hpp"
#include "harness/device.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace harness {

/// One of the lesson's own options whose value is not the default.
struct ChangedOption {
    std::string name;                   ///< "--offset"
    std::optional<std::uint64_t> value; ///< nullopt: a flag
    std::string choice = {};            ///< the value's name, if the option has names
};

struct Report {
    std::string lesson;
    std::string title;
    Device device;
    std::size_t elements = 0;
    ElementType element_type = {};
    std::optional<std::uint64_t> seed;  ///< nullopt: no random input
    std::vector<ChangedOption> options; ///< without random input: all options but flags
    bool verified_only = false;         ///< --verify: no times and no counters
    bool estimated_only = false;        ///< the kernels were not run
    bool explain = false;               ///< also print what the counters are called in Nsight Compute
    bool changed_only = false;          ///< the text shows only what differs between the kernels, time first
    bool color = false;                 ///< in the text
    std::vector<KernelResult> kernels;
};

/// The whole report, with a newline at its end.
std::string format_report(const Report& report, OutputFormat format);

std::string format_text(const Report& report); ///< a table
std::string format_json(const Report& report); ///< one object; whole numbers are exact
std::string format_csv(const Report& report);  ///< a header, and one row per kernel; JSON's null is empty

/// What the kernels would take on a card, and how far off such estimates are. Empty: nothing was estimated.
std::string format_estimates(const Report& report);

/// Estimates the kernels' times, and at large_n too if `at_large_n`: unasked, what takes a second each, about.
/// \param arguments of this program
void add_estimates(Report& report, std::vector<std::string> arguments, bool at_large_n);

/// Where the last kernel is on the way to a card's peak: "lesson 02 of 09: [####      ] 18 % of …". Empty: the lesson is not of
/// the ladder, or nothing was timed or estimated at large_n.
std::string ladder_line(const Report& report);

/// Tells on stderr what a kernel's result is, what it should be, and where it went wrong.
void tell_wrong_result(const std::string& lesson, const KernelResult& kernel);

} // namespace harness
