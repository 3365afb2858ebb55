/// Counters per source line, summed over all launches of a kernel.
#pragma once

#include "emulator/observe/line_counts.hpp"
#include "emulator/session/records.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace emulate {

using emulator::Json, emulator::LineCounts;

struct KernelCounts {
    std::string kernel{}; ///< "reduce3"
    std::string name{};   ///< "reduce3(int const*, int*, unsigned long)"
    std::size_t launches = 0;
    std::vector<std::string> shapes{}; ///< "grid (8192,1,1), block (256,1,1)": each that was launched
    std::vector<emulator::FunctionLines> functions{}; ///< the kernel first
    std::string no_machine_code{};                    ///< why that of a launch was not counted; empty: it was
};

/// Adds a "lines" record. A program may launch a kernel thousands of times, so only the sum is kept. Failed
/// launches do not count. \param launches the "launch" records so far
void add_lines(std::vector<KernelCounts>& kernels, const Json& record, const std::vector<Json>& launches);

/// Adds the lines of the machine code to those kernels, from a "time" or "machine code" record.
void add_machine_code(std::vector<KernelCounts>& kernels, const Json& record,
                      const std::vector<Json>& launches);

LineCounts& operator+=(LineCounts& sum, const LineCounts& other);

} // namespace emulate
