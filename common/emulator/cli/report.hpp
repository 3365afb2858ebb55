/// Reads the records that the library wrote about a run.
#pragma once

#include "emulator/cli/child.hpp"
#include "emulator/cli/kernel_counts.hpp"
#include "emulator/machine/finding.hpp"
#include "emulator/session/records.hpp"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace emulate {

using emulator::Json;

/// The records of a run (session/records.hpp lists their members), by kind and in the order of events.
struct Report {
    std::vector<std::string> program; ///< and its arguments
    std::string ptx{};                ///< the file whose kernels ran in place of the program's own
    Ending ending{};
    std::vector<Json> processes, launches, accesses, replays;
    Json copies = Json::array();             ///< between memories, of all processes
    std::vector<KernelCounts> lines;         ///< in the order of their first launches
    std::vector<Json> other_launches;        ///< those that are not selected
    std::size_t rejected_launches = 0;       ///< before they began
    std::size_t refused_launches = 0;        ///< those that the emulator cannot run, and a card could
    std::set<std::string> refused_functions; ///< of the API, that the emulator does not support
    std::optional<Json> running;             ///< the launch that had not ended yet when the program did
    std::vector<emulator::Finding> findings; ///< grouped over all launches
    std::vector<std::string> errors;         ///< that the emulator printed on stderr
    bool is_complete = true;                 ///< false: the library could not write it
};

/// Drops a last record that was cut off when the program ended.
Report read_report(const std::filesystem::path& file);

} // namespace emulate
