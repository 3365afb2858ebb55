/// \file
/// The command line of a lesson.
#pragma once

#include "harness/device.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace harness {

/// An option that a lesson adds to those that all have: a whole number, or a flag.
struct LessonOption {
    std::string name;  ///< "--offset"
    std::string value; ///< what --help calls its value: "K". Empty: a flag, which is 0 or 1
    std::string help;  ///< lines of at most 62 characters, to follow the name in --help
    std::uint64_t smallest = 0, largest = 1;
    std::uint64_t default_value = 0;
};

/// What a lesson says of itself.
struct LessonInfo {
    std::string name;              ///< "lesson03"
    std::string title;             ///< one line
    unsigned smallest_block = 32;  ///< the blocks that its kernels are right for: powers of two from here
    unsigned largest_block = 1024; ///< to here
    unsigned default_block = 256;
    std::vector<LessonOption> options = {}; ///< its own
    /// The most elements that its kernels take; the default is no more than that.
    std::optional<std::size_t> largest_n = std::nullopt;
    /// The number of elements when --n names none, on any device. None: several times the L2 cache on a GPU.
    std::optional<std::size_t> default_n = std::nullopt;
    std::string larger_n_hint = {}; ///< what to do for more: "lesson15 sums any number."
    /// false: its kernels make their data themselves, and there is no --n, --block or --seed.
    bool random_input = true;
    /// Kernels that have a turn only with one of its own options, or by name: that option, by kernel.
    std::map<std::string, std::string> optional_kernels = {};
    bool sweep = false; ///< has --sweep: its kernels over many sizes, as a CSV and as a plot
    /// Is given the values of the lesson's own options before a device is sought: fills in what the command
    /// line left open, and checks what concerns several of them. \throws UsageError
    std::function<void(std::map<std::string, std::uint64_t>&)> complete_options = {};
};

enum class OutputFormat { text, json, csv };

/// What the command line asks for.
struct Options {
    std::optional<std::size_t> n; ///< default: depends on the device
    unsigned block = 0;
    std::vector<std::string> kernels; ///< those asked for, in the lesson's order; all when none is
    bool named_kernels = false;       ///< some were asked for by name
    DeviceChoice device = DeviceChoice::automatic;
    std::optional<unsigned> repeat;
    std::uint64_t seed = 42;
    OutputFormat format = OutputFormat::text;
    std::string save; ///< the folder for the report's JSON and CSV; empty: none
    bool check = false;
    std::map<std::string, std::uint64_t> lesson_options; ///< a value for each of the lesson's own, by name
    std::vector<std::string>
        emulate;        ///< options of `emulate`, which is to observe the program; none: no need
    std::string answer; ///< what --help, --version or --list print; empty otherwise
};

/// \param kernels the names of the lesson's kernels
/// \throws UsageError
Options parse_options(int argc, const char* const* argv, const LessonInfo& info,
                      const std::vector<std::string>& kernels);

/// What --help prints.
std::string help_text(const LessonInfo& info, const std::vector<std::string>& kernels);

} // namespace harness
