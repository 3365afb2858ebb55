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

/// A lesson's own option, besides those of all lessons: a whole number, a flag or a named choice.
struct LessonOption {
    std::string name;  ///< "--offset"
    std::string value; ///< the value's name in --help: "K". Empty: a flag, 0 or 1
    std::string help;  ///< lines of at most 62 characters, printed after the name in --help
    std::uint64_t smallest = 0, largest = 1;
    std::uint64_t default_value = 0;
    /// The names to choose from, in place of a number: "half". The value is the name's index.
    std::vector<std::string> choices = {};
};

/// What a lesson's elements are, for its table's heading.
struct ElementType {
    std::string plural = "ints";
    std::size_t bytes = sizeof(int);
};

/// A lesson's name, limits and own options.
struct LessonInfo {
    std::string name;                  ///< "lesson03"
    std::string title;                 ///< one line
    unsigned int smallest_block = 32;  ///< its kernels are right for blocks of a power of two from here
    unsigned int largest_block = 1024; ///< to here. The same: there is no --block
    unsigned int default_block = 256;
    std::vector<LessonOption> options = {}; ///< the lesson's own
    /// The most elements that its kernels can handle.
    std::optional<std::size_t> largest_n = std::nullopt;
    /// The number of elements without --n, on any device. nullopt: see default_elements.
    std::optional<std::size_t> default_n = std::nullopt;
    std::string larger_n_hint = {}; ///< what to do for more elements: "lesson42 sums any number."
    /// false: its kernels generate their data, and there is no --n, --block or --seed.
    bool random_input = true;
    /// The number of elements, if the lesson's own options set it: rows x columns. There is no --n.
    std::function<std::size_t(const std::map<std::string, std::uint64_t>&)> count_elements = {};
    /// What the elements are with these values of the lesson's own options. Empty: ints.
    std::function<ElementType(const std::map<std::string, std::uint64_t>&)> element_type = {};
    /// Kernels that run only with one of the lesson's own options, or by name: kernel -> option.
    std::map<std::string, std::string> optional_kernels = {};
    bool sweep = false; ///< has --sweep: its kernels over many sizes, as a CSV
    /// Called with the values of the lesson's own options, before a device is chosen. Sets values that the
    /// command line left open, and checks combinations. \throws UsageError
    std::function<void(std::map<std::string, std::uint64_t>&)> complete_options = {};

    bool takes_n() const { return random_input && !count_elements; }
    bool takes_block() const { return random_input && smallest_block < largest_block; }
};

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
    std::string save;         ///< folder for the report as JSON and CSV; empty: not written
    bool verify_only = false; ///< no times and no counters
    bool explain = false;     ///< also print what the counters are called in Nsight Compute
    bool color = false;       ///< in the text on stdout
    std::map<std::string, std::uint64_t> lesson_options; ///< the lesson's own options: name -> value
    std::vector<std::string> emulate;   ///< options for `emulate`; empty: nothing is to be observed
    std::vector<std::string> arguments; ///< the others, for the lesson that `emulate` runs
    std::string answer;                 ///< the output of --help, --version or --list; else empty
    std::string note;                   ///< what an old spelling means today, for stderr; else empty
};

/// \param kernels names of the lesson's kernels
/// \throws UsageError
Options parse_options(int argc, const char* const* argv, const LessonInfo& info,
                      const std::vector<std::string>& kernels);

/// What --help prints.
std::string help_text(const LessonInfo& info, const std::vector<std::string>& kernels);

} // namespace harness
