/// The emulator's counters. A GPU has none that a program can read: use Nsight Compute (`make profile`).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace harness {

/// Values by Nsight Compute's metric names, in the emulator's order. Names that begin with ptx__ are our own.
using Counters = std::vector<std::pair<std::string, std::uint64_t>>;

/// What `emulate --time` estimates of a launch.
struct Estimate {
    std::string json = {};                                  ///< the whole, as in a report of `emulate`
    std::string card = {};                                  ///< "NVIDIA H200"
    std::optional<double> time_us = {}, peak_fraction = {}; ///< the second: of the card's peak bandwidth
    std::string reason = {};                                ///< why there is no time
    std::optional<std::uint64_t> instructions = {}, data_pipe_passes = {}; ///< of the machine code
    /// How far off such kernels were found; empty: that is not known.
    std::string error_found = {};
};

/// A counter's place in the text table.
struct KnownCounter {
    const char* name;       ///< "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"
    std::string_view group; ///< "global loads"; empty: the table has no row for it
    std::string_view label; ///< "sectors"
    bool is_rare;           ///< the table has its row only where a kernel has any
};

/// All counters that a table can show, whether or not the device counts them.
const std::vector<KnownCounter>& known_counters();

/// The value of the counter `name`; nullopt if the emulator does not count it.
std::optional<std::uint64_t> find_counter(const Counters& counters, std::string_view name);

/// Whether this process has loaded the emulator in place of the CUDA runtime.
bool emulator_is_loaded();

/// What the last launch would take on a card, if `emulate` was asked for it. \param no_time if not null, the reason to
/// report in place of the time
std::optional<Estimate> last_launch_estimate(const char* no_time = nullptr);

/// \param json of a launch, or of a kernel in a lesson's report
std::optional<Estimate> parse_estimate(const std::string& json);

/// The counters of the last kernel launch. Empty on a GPU.
Counters last_launch_counters();

} // namespace harness
