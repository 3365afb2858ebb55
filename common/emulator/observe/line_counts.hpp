/// The counters of a launch, line by line.
#pragma once

#include "emulator/machine/counters.hpp"
#include "emulator/machine/observer.hpp"

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace emulator {

/// The counters of one line.
struct LineCounts {
    std::uint32_t line = 0;
    Counters counted;
    /// The sectors and wavefronts of the same requests with contiguous bytes and no bank conflicts. Other
    /// metrics are 0 here.
    Counters ideal;
    /// Of the machine code, if it is known: executed instructions, and passes of the data pipe.
    std::uint64_t machine_instructions = 0, data_pipe_passes = 0;
};

/// The lines of a function: of CUDA source, or of PTX where there is no source.
struct FunctionLines {
    std::string function;          ///< readable name
    std::string path;              ///< of the source, as passed to the compiler; empty: these are PTX lines
    std::uint32_t first_line = 0;  ///< where the function begins
    std::vector<LineCounts> lines; ///< all that have instructions, executed or not; ascending
    std::vector<std::string> ptx;  ///< without a source: the PTX lines from the first on
};

/// A line of a function.
struct CodeLine {
    std::string function, path; ///< as in FunctionLines
    std::uint32_t line = 0;

    friend bool operator==(const CodeLine&, const CodeLine&) = default;
};

/// Where the machine code of a kernel counts, which was made of its PTX: where that PTX counts.
class MachineLines {
public:
    /// \param unit that was compiled: a part of the module's text
    MachineLines(const Code& kernel, std::string_view unit);

    /// An index in lines() for a line of the unit; 0: it counts where it is called from.
    std::uint32_t find(std::uint32_t line_of_unit) const;

    /// From 1 on. The first is that of the kernel's begin.
    const std::vector<CodeLine>& lines() const { return lines_; }

private:
    void add(const Code& code, bool counts_here);
    std::uint32_t index_of(const Code& code, std::uint32_t instruction, std::uint32_t line_of_ptx);

    std::uint32_t lines_before_ = 0; ///< the unit
    std::map<std::uint32_t, std::uint32_t>
        found_; ///< by the lines of the module's text where statements begin
    std::vector<CodeLine> lines_{{}};
};

struct CodeCounts;

/// Counts one launch.
///
/// An inlined function counts on the line that calls it. So does a called function from another file, such as
/// a header, or one compiled without line information, such as libdevice. Other functions have lines of their
/// own. The sum over all lines of all functions equals the counters of the launch.
class LineCounting final : public Watcher {
public:
    LineCounting();
    ~LineCounting() override;

    std::unique_ptr<Observer> observer(const Grid& grid) override;

    /// The executed functions, the kernel first. Call it after the launch, while its module is loaded.
    std::vector<FunctionLines> functions() const;

private:
    using ThreadCounts = std::vector<std::unique_ptr<CodeCounts>>;

    const Code* kernel_ = nullptr;
    std::deque<ThreadCounts> counts_; ///< of each host thread
};

} // namespace emulator
