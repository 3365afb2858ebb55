/// The counters of kernels by source line: `emulate --lines`.
#pragma once

#include "emulator/cli/kernel_counts.hpp"
#include "emulator/cli/sources.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace emulate {

using emulator::LineCounts;

/// One of the counts that a page or table has for each line.
struct LineColumn {
    std::string_view id;           ///< in JSON
    std::string_view name;         ///< on a page
    std::string_view group, label; ///< in a terminal, one above the other; a group may stand over two columns
    bool is_ideal = false;         ///< of the column before it
    std::vector<emulator::Metric> metrics{}; ///< to be added up; none: of the machine code
    std::uint64_t LineCounts::*of_machine_code = nullptr;

    std::uint64_t value(const LineCounts& counts) const;
    bool is_empty(const LineCounts& total) const; ///< nothing that it is about was counted
};

/// From left to right.
const std::vector<LineColumn>& line_columns();

struct ListedLine {
    std::uint32_t number = 0;
    std::string text{};
    std::optional<LineCounts> counts{}; ///< none: the line has no instructions
};

enum class ListingKind {
    source, ///< lines of CUDA
    ptx,    ///< there is no other source: compiled without -lineinfo
    lost,   ///< the source could not be read: line numbers only
};

/// A function, line by line.
struct Listing {
    std::string function{}; ///< readable name
    std::string file{};     ///< as it is found from the current directory; empty: PTX
    ListingKind kind = ListingKind::source;
    bool is_stale = false; ///< the file is newer than the program: lines may have moved
    std::vector<ListedLine> lines{};
};

/// The sum over all launches of a kernel.
struct KernelLines {
    std::string kernel{}; ///< "reduce3"
    std::string name{};   ///< "reduce3(int const*, int*, unsigned long)"
    std::size_t launches = 0;
    std::vector<std::string> launched{}; ///< "grid (8192,1,1), block (256,1,1)"; of several, first how many
    std::vector<Listing> listings{};     ///< the kernel's own, then those of the functions that it calls
    LineCounts total{};
    std::string no_machine_code{}; ///< why it has no counts of its machine code; empty: it has
};

/// Finds the lines of a kernel with the highest counts.
class Hottest {
public:
    explicit Hottest(const KernelLines& kernel);

    /// The share of the column's maximum, 0 to 1. 0 for columns of ideals.
    double share(std::size_t column, const LineCounts& counts) const;

    /// Whether it is within 10 % of the maximum. False for all lines if that holds for most of them.
    bool is_hot(std::size_t column, const LineCounts& counts) const;

private:
    struct Column {
        std::uint64_t most = 0;
        bool has_hot_lines = true;
    };
    std::vector<Column> columns_;
};

/// With their sources.
std::vector<KernelLines> kernel_lines(const std::vector<KernelCounts>& kernels,
                                      const ReadSource& read_source);

// ---- as text, JSON and HTML ----

/// For a terminal of so many columns.
/// \param missing_tool without which no machine code is counted, and what to do; empty: there are all
std::string lines_as_text(const std::vector<KernelLines>& kernels, std::size_t columns,
                          const std::string& missing_tool = "");

Json lines_as_json(const std::vector<KernelLines>& kernels);

/// One HTML page without external files.
std::string lines_as_html(const std::vector<KernelLines>& kernels, const std::string& program);

} // namespace emulate
