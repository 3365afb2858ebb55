/// The command line of a lesson.
#pragma once

#include "harness/detail/lesson_info.hpp"
#include "harness/device.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace harness {

enum class OutputFormat { text, json, csv };

/// The command line's values.
struct Options {
    std::optional<std::size_t> n; ///< default: depends on the device
    unsigned int block = 0;
    std::vector<std::string> kernels; ///< those that --kernel names, in the lesson's order; else all
    bool named_kernels = false;       ///< --kernel was given
    DeviceChoice device = DeviceChoice::automatic;
    std::optional<unsigned int> repeat;
    std::uint64_t seed = 42;
    OutputFormat format = OutputFormat::text;
    std::string save;                   ///< folder for the report as JSON and CSV; empty: not written
    bool verify_only = false;           ///< no times and no counters
    bool explain = false;               ///< also print what the counters are called in Nsight Compute
    bool changed = false;               ///< print only what differs between the kernels, time first
    bool color = false;                 ///< in the text on stdout
    OptionValues lesson_options;        ///< of the lesson's own options
    std::vector<std::string> emulate;   ///< options for `emulate`; empty: nothing is to be observed
    std::vector<std::string> arguments; ///< the others, for the lesson that `emulate` runs
    std::string answer;                 ///< the output of --help, --version or --list; else empty
    std::string note;                   ///< what an old spelling means today, for stderr; else empty
};

/// \param kernels names of the lesson's kernels
/// \throws UsageError
Options parse_options(int argc, const char* const* argv, const LessonInfo& info,
                      const std::vector<std::string>& kernels);

/// A text that lasts as long as the program, as those of a LessonInfo have to.
const char* kept(std::string text);

/// What --help prints.
std::string help_text(const LessonInfo& info, const std::vector<std::string>& kernels);

} // namespace harness
