#include "emulator/cli/lines.hpp"

#include "emulator/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace emulate {

namespace {

using emulator::thousands;

/// Three digits and a unit, from ten thousand on: "9,999", "65.5k", "1.05M".
std::string shortened(std::uint64_t value) {
    if (value < 10'000) return thousands(value);
    double scaled = static_cast<double>(value) / 1000;
    const char* unit = "kMGTPE";
    for (; scaled >= 999.5; scaled /= 1000) ++unit;
    return fmt::format("{:.{}f}{}", scaled, scaled < 9.995 ? 2 : scaled < 99.95 ? 1 : 0, *unit);
}

bool begins_character(char c) { return (c & 0xC0) != 0x80; } // in UTF-8

/// Columns that a line takes, if no character is wide.
std::size_t width(const std::string& text) {
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), begins_character));
}

/// Replaces tabs by spaces and control characters by dots.
std::string printable(const std::string& text) {
    std::string result;
    for (const char c : text) {
        if (c == '\t')
            result.append(4 - width(result) % 4, ' ');
        else
            result += (c >= 0 && c < ' ') || c == '\x7f' ? '.' : c;
    }
    return result;
}

/// Not more than `columns` of the line; "..." shows that there is more.
std::string cut(const std::string& text, std::size_t columns) {
    if (width(text) <= columns) return text;
    std::size_t end = 0;
    for (std::size_t taken = 0; taken <= columns - 3; ++end)
        if (begins_character(text[end])) ++taken;
    return text.substr(0, end - 1) + "...";
}

std::string without_end_spaces(std::string line) { return line.erase(line.find_last_not_of(' ') + 1) + "\n"; }

std::size_t indentation(const std::string& line) {
    return std::min(line.find_first_not_of(' '), line.size());
}

/// The line in rows of so many columns: code goes on in the next row, a comment at its end is cut.
std::vector<std::string> rows_of(std::string line, std::size_t columns) {
    std::vector<std::string> rows;
    const std::string indent(indentation(line) + 4, ' ');
    while (width(line) > columns && line.find("//") > columns) {
        const std::size_t end = line.rfind(' ', columns);
        if (end == std::string::npos || end <= indent.size() || indent.size() > columns / 2) break;
        rows.push_back(line.substr(0, end));
        line = indent + line.substr(end + 1);
    }
    rows.push_back(cut(line, columns));
    return rows;
}

/// Removes the indentation that all lines share.
std::vector<std::string> source_of(const Listing& listing) {
    std::vector<std::string> lines;
    std::size_t least = std::string::npos;
    for (const ListedLine& line : listing.lines) {
        lines.push_back(printable(line.text));
        if (!line.text.empty()) least = std::min(least, indentation(lines.back()));
    }
    for (std::string& line : lines) line.erase(0, least);
    return lines;
}

/// How the lines of a kernel are laid out.
class LineTable {
public:
    LineTable(const KernelLines& kernel, std::size_t columns);

    std::string header() const;
    std::string listing(const Listing& listing) const;
    std::string total() const;
    bool is_short() const { return is_short_; }

private:
    struct Column {
        std::size_t index; ///< in line_columns()
        std::size_t width; ///< of its numbers
    };

    std::string number(std::uint64_t value) const { return is_short_ ? shortened(value) : thousands(value); }
    std::string gap() const { return is_short_ ? " " : "  "; } ///< its first place is for a mark
    void measure();
    bool has_room() const;
    std::size_t counts_width() const;
    std::size_t source_begins() const { return (is_stacked_ ? 0 : counts_width()) + number_width_ + 3; }
    std::string counts(const LineCounts& counts, bool with_marks) const;
    std::string below(const LineCounts& counts, bool with_marks) const;

    const KernelLines& kernel_;
    const Hottest hottest_;
    std::vector<Column> shown_;
    const std::size_t columns_; ///< of the terminal
    std::size_t number_width_ = 4, longest_source_ = 0, source_width_ = 0;
    bool is_short_ = false;   ///< numbers: rather than leave the source too little room
    bool is_stacked_ = false; ///< the counts of a line stand below it: there is no room beside it
};

LineTable::LineTable(const KernelLines& kernel, std::size_t columns)
    : kernel_(kernel), hottest_(kernel), columns_(columns) {
    for (std::size_t i = 0; i < line_columns().size(); ++i)
        if (!line_columns()[i].is_empty(kernel.total)) shown_.push_back({i, 0});
    for (const Listing& listing : kernel.listings) {
        for (const std::string& line : source_of(listing))
            longest_source_ = std::max(longest_source_, width(line));
        number_width_ = std::max(number_width_, std::to_string(listing.lines.back().number).size());
    }
    for (const auto& [is_stacked, is_short] :
         {std::pair(false, false), {false, true}, {true, false}, {true, true}}) {
        is_stacked_ = is_stacked;
        is_short_ = is_short;
        measure();
        if (has_room()) break;
    }
    constexpr std::size_t least = 16;
    source_width_ = std::max(columns - std::min(columns, source_begins()), least);
}

/// Whether a source line of usual length fits, or the counts do, where they stand below it.
bool LineTable::has_room() const {
    constexpr std::size_t usual = 72;
    const std::size_t needed = is_stacked_ ? counts_width() : std::min(longest_source_, usual);
    return source_begins() + needed <= columns_;
}

void LineTable::measure() {
    for (Column& column : shown_) {
        const LineColumn& counted = line_columns()[column.index];
        column.width = std::max(counted.label.size(), number(counted.value(kernel_.total)).size());
        if (counted.group != "sectors" && counted.group != "wavefronts") // which have room over two columns
            column.width = std::max(column.width, counted.group.size());
        for (const Listing& listing : kernel_.listings) // short numbers may be longer than a short sum
            for (const ListedLine& line : listing.lines)
                if (line.counts)
                    column.width = std::max(column.width, number(counted.value(*line.counts)).size());
    }
}

std::size_t LineTable::counts_width() const {
    std::size_t sum = 0;
    for (const Column& column : shown_) sum += column.width + gap().size();
    return sum;
}

/// Two rows, and one below them: a group stands over the columns that share it.
std::string LineTable::header() const {
    std::string groups, labels;
    for (std::size_t i = 0; i < shown_.size(); ++i) {
        const LineColumn& column = line_columns()[shown_[i].index];
        labels += fmt::format("{:>{}}{}", column.label, shown_[i].width, gap());
        if (column.is_ideal) continue;
        const bool is_shared = i + 1 < shown_.size() && line_columns()[shown_[i + 1].index].is_ideal;
        const std::size_t both = shown_[i].width + (is_shared ? gap().size() + shown_[i + 1].width : 0);
        groups += fmt::format("{:>{}}{}", column.group, both, gap());
    }
    const std::string number = fmt::format("{:>{}} |", "line", number_width_);
    if (is_stacked_) {
        const std::size_t width = std::max(longest_source_, counts_width());
        return without_end_spaces(std::string(number.size() + 1, ' ') + groups) +
               without_end_spaces(number + " " + labels) + std::string(number.size() - 1, '-') + "+" +
               std::string(1 + std::min(width, source_width_), '-') + "\n";
    }
    labels += number;
    return without_end_spaces(groups) + labels + "\n" + std::string(labels.size() - 1, '-') + "+" +
           std::string(1 + std::min(longest_source_, source_width_), '-') + "\n";
}

std::string LineTable::counts(const LineCounts& counts, bool with_marks) const {
    std::string text;
    for (const Column& column : shown_) {
        const std::uint64_t value = line_columns()[column.index].value(counts);
        const bool is_hot = with_marks && hottest_.is_hot(column.index, counts);
        const bool is_blank = value == 0 && column.index > 0; // that a line is never executed is worth a 0
        text += fmt::format("{:>{}}{:{}}", is_blank ? "" : number(value), column.width, is_hot ? "*" : "",
                            gap().size());
    }
    return text;
}

std::string LineTable::listing(const Listing& listing) const {
    const std::string no_counts(counts_width(), ' ');
    const std::vector<std::string> source = source_of(listing);
    std::string text;
    for (std::size_t i = 0; i < source.size(); ++i) {
        const ListedLine& line = listing.lines[i];
        std::string beside;
        if (!is_stacked_) beside = line.counts ? counts(*line.counts, true) : no_counts;
        std::string number = std::to_string(line.number);
        for (const std::string& row : rows_of(source[i], source_width_)) {
            text += without_end_spaces(fmt::format("{}{:>{}} | {}", beside, number, number_width_, row));
            beside = is_stacked_ ? "" : no_counts;
            number.clear();
        }
        if (is_stacked_ && line.counts) text += below(*line.counts, true);
    }
    return text;
}

std::string LineTable::below(const LineCounts& counts, bool with_marks) const {
    return without_end_spaces(
        fmt::format("{:>{}} : {}", "", number_width_, this->counts(counts, with_marks)));
}

std::string LineTable::total() const {
    const std::string row = fmt::format("{:>{}} | all lines\n", "", number_width_);
    return is_stacked_ ? row + below(kernel_.total, false) : counts(kernel_.total, false) + row;
}

/// The path of the source, and notes about it.
std::string heading(const KernelLines& kernel, const Listing& listing) {
    std::string text = listing.function == kernel.name ? "  " : "\n  calls " + listing.function + "\n  ";
    switch (listing.kind) {
    case ListingKind::source:
        text += listing.file + "\n";
        if (listing.is_stale)
            text += "  It is newer than the program: build the program again, or counts may stand beside "
                    "the wrong lines.\n";
        break;
    case ListingKind::lost:
        text += listing.file + "\n  It cannot be read (has it moved?), so only line numbers are shown.\n";
        break;
    case ListingKind::ptx:
        text += "lines of its PTX; compile with nvcc -lineinfo to see those of the source\n";
    }
    return text;
}

constexpr const char* marks = "*      the highest in its column, or less than 10 % below it\n";
constexpr const char* ptx_alone =
    "instr  executed instructions per warp, counted on PTX; the GPU's own may differ\n";
constexpr const char* counts_of_machine_code =
    "instr  executed instructions per warp: of the PTX, and of the machine code for\n"
    "       sm_90 that ptxas makes of it\n"
    "passes of that code through the data pipe: shared memory, shuffles, barriers,\n"
    "       thread indices, and accesses that no lane executes\n";
constexpr const char* legend = "ideal  sectors: if the bytes of each request lay side by side;\n"
                               "       wavefronts: if no two lanes wanted different words of one bank\n"
                               "req.   requests: loads and stores of global memory, per warp\n";
constexpr const char* units = "k M G  thousands, millions, billions; --format json has every digit\n";

} // namespace

std::string lines_as_text(const std::vector<KernelLines>& kernels, std::size_t columns,
                          const std::string& missing_tool) {
    if (kernels.empty()) return "no kernel ran to its end, so there are no lines to show\n";
    std::string text;
    bool any_short = false, any_machine_code = false;
    for (const KernelLines& kernel : kernels) {
        const LineTable table(kernel, columns);
        any_short = any_short || table.is_short();
        any_machine_code = any_machine_code || kernel.total.machine_instructions > 0;
        text += fmt::format("{}\n  {}\n", kernel.name, fmt::join(kernel.launched, "\n    "));
        if (missing_tool.empty() && !kernel.no_machine_code.empty())
            text += fmt::format("  its machine code (sm_90) was not counted: {}\n", kernel.no_machine_code);
        for (const Listing& listing : kernel.listings)
            text += heading(kernel, listing) + "\n" + table.header() + table.listing(listing);
        text += table.total() + "\n";
    }
    if (!missing_tool.empty()) text += "No machine code (sm_90) was counted: " + missing_tool + "\n\n";
    return text + marks + (any_machine_code ? counts_of_machine_code : ptx_alone) + legend +
           (any_short ? units : "");
}

} // namespace emulate
