/// What a lesson says about itself, for its command line and its report. No part of the standard library that takes
/// long to compile: every lesson includes this. Texts outlive the lesson: they are literals, or made by kept().
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace harness {

/// The values of a lesson's own options, by their names: "--offset".
class OptionValues {
public:
    /// \throws std::out_of_range if the lesson has no such option
    const std::uint64_t& at(const char* name) const;
    std::uint64_t& at(const char* name);
    void add(const char* name, std::uint64_t value) { values_.push_back({name, value}); }
    bool empty() const { return values_.empty(); }

private:
    struct Value {
        const char* name;
        std::uint64_t value;
    };
    std::vector<Value> values_;
};

/// A lesson's own option, besides those of all lessons: a whole number, a flag or a named choice.
struct LessonOption {
    const char* name;  ///< "--offset"
    const char* value; ///< the value's name in --help: "K". Empty: a flag, 0 or 1
    const char* help;  ///< lines of at most 62 characters, printed after the name in --help
    std::uint64_t smallest = 0, largest = 1;
    std::uint64_t default_value = 0;
    /// The names to choose from, in place of a number: "half". The value is the name's index.
    std::vector<const char*> choices = {};

    bool is_flag() const { return *value == '\0'; }
};

/// What a lesson's elements are, for its table's heading.
struct ElementType {
    const char* plural = "ints";
    std::size_t bytes = sizeof(int);
};

/// A lesson's name, limits and own options.
struct LessonInfo {
    const char* name;                  ///< "lesson03"
    const char* title;                 ///< one line
    unsigned int smallest_block = 32;  ///< its kernels are right for blocks of a power of two from here
    unsigned int largest_block = 1024; ///< to here. The same: there is no --block
    unsigned int default_block = 256;
    std::vector<LessonOption> options = {}; ///< the lesson's own
    /// The most elements that its kernels can handle.
    std::optional<std::size_t> largest_n = std::nullopt;
    /// The number of elements without --n, on any device, and of the estimates. nullopt: see default_elements.
    std::optional<std::size_t> default_n = std::nullopt;
    const char* larger_n_hint = ""; ///< what to do for more elements: "lesson42 sums any number."
    /// false: its kernels generate their data, and there is no --n, --block or --seed.
    bool random_input = true;
    /// The number of elements, if the lesson's own options set it: rows x columns. There is no --n.
    std::size_t (*count_elements)(const OptionValues&) = nullptr;
    /// What the elements are with these values of the lesson's own options. Null: ints.
    ElementType (*element_type)(const OptionValues&) = nullptr;
    struct OptionalKernel {
        const char* name;
        const char* option;
    };
    std::vector<OptionalKernel> optional_kernels = {}; ///< run only with the lesson's own option, or by name
    bool sweep = false;                                ///< has --sweep: its kernels over many sizes, as a CSV
    /// Called with the values of the lesson's own options, before a device is chosen. Sets values that the
    /// command line left open, and checks combinations. \throws UsageError
    void (*complete_options)(OptionValues&) = nullptr;

    bool takes_n() const { return random_input && !count_elements; }
    bool takes_block() const { return random_input && smallest_block < largest_block; }
    /// The option without which a kernel runs only by name, or null.
    const char* option_for(const char* kernel) const;
};

} // namespace harness
