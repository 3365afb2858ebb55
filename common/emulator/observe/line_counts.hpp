/// The counters of a launch, line by line.
#pragma once

#include "emulator/machine/counters.hpp"
#include "emulator/machine/observer.hpp"

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace emulator {

/// The counters of one line.
struct LineCounts {
    std::uint32_t line = 0;
    Counters counted;
    /// The sectors and wavefronts of the same requests with contiguous bytes and no bank conflicts. Other
    /// metrics are 0 here.
    Counters ideal;
};

/// The lines of a function: of CUDA source, or of PTX where there is no source.
struct FunctionLines {
    std::string function;          ///< readable name
    std::string path;              ///< of the source, as passed to the compiler; empty: these are PTX lines
    std::uint32_t first_line = 0;  ///< where the function begins
    std::vector<LineCounts> lines; ///< all that have instructions, executed or not; ascending
    std::vector<std::string> ptx;  ///< without a source: the PTX lines from the first on
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
