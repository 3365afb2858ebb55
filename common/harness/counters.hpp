/// \file
/// The emulator's counters. A GPU has none to offer here: on one, use Nsight Compute (`make profile`).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace harness {

/// Names as Nsight Compute has them (ptx__…: it has none), and values, in the emulator's order.
using Counters = std::vector<std::pair<std::string, std::uint64_t>>;

/// A counter's place in the text table.
struct KnownCounter {
    const char* name;     ///< "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"
    const char* group;    ///< "global loads"; null: the table has no row for it
    const char* label;    ///< "sectors"
    bool is_rare = false; ///< the table has its row only where a kernel has any
};

/// The counters that tables have a row or a column for, whether or not the device counts them.
std::span<const KnownCounter> known_counters();

/// The value of the counter `name`, or nothing when the emulator doesn't count it.
std::optional<std::uint64_t> find_counter(const Counters& counters, std::string_view name);

/// Whether the emulator stands in for the CUDA runtime in this process.
bool emulator_is_loaded();

/// The counters of the last kernel launch. Empty on a GPU.
Counters last_launch_counters();

} // namespace harness
