/// The time that a launch would take on a card: {"record": "time", "card": "NVIDIA H200", "peak_bandwidth_gbs":
/// 4814.304, "time_us_estimated": 84.1, "floors_us": {"memory": 30.1, …}, "waits": {"long_scoreboard": 0.31, …},
/// "error_found": {"kernels": "reductions", "median_percent": 1.6, "most_percent": 19.4, "of_no_lesson":
/// {"median_percent": 5.6, "most_percent": 77.2}}, "instructions_sm_90": 61538304, "data_pipe_passes": …, "data_pipe_conflicts": …, "data_pipe_passes_estimated": …,
/// "data_pipe_conflicts_estimated": …} for each selected
/// launch; the estimated passes and conflicts are those in the order that the model's warps run in. Where there is no estimate,
/// "no_estimate" has the reason, and "floors_us" those that are known. For a picture, only each kernel's first
/// launch gets a record, with what warps do at first: "timeline": {"cycles": 4000, "warps": [{"block": 0,
/// "place": 0, "warp": 0, "runs": [["long_scoreboard", 12.5, 800], …], "loads": [[12.5, 800, 128], …]}, …]}: loads with their
/// bytes.
///
/// For lines, also "lines_sm_90": [[function, path, line, instructions, passes], …], whose sums are those of the launch.
/// Lines without estimates: {"record": "machine code", …} with these counts alone, or "no_sm_90", the reason why
/// there are none.
#pragma once

#include "emulator/machine_code/listing.hpp"
#include "emulator/machine_code/sampling.hpp"
#include "emulator/session/recorder.hpp"
#include "emulator/session/request.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace emulator {

class TimeRecorder final : public Recorder {
public:
    explicit TimeRecorder(const Request& request)
        : card_(request.time), by_line_(request.lines),
          draws_(request.draw == "time"), tools_{.ptxas = request.ptxas, .nvdisasm = request.nvdisasm},
          deadline_(request.at_most
                        ? std::chrono::steady_clock::now() + std::chrono::milliseconds(*request.at_most)
                        : machine_code::Deadline::max()) {}

    /// Estimates before the launch, from memory as it is then.
    Watcher* begin(const ObservedLaunch& launch) override;
    std::vector<Json> end(const ObservedLaunch& launch) override;

private:
    const std::string card_; ///< empty: no estimates
    const bool by_line_, draws_;
    const machine_code::Tools tools_;
    const machine_code::Deadline deadline_;
    std::map<std::string, Json>
        times_;                   ///< by launch: what is launched again, with the same arguments, is known
    std::set<std::string> drawn_; ///< kernels
    std::map<std::uint64_t, Json*> pending_; ///< by launch
};

} // namespace emulator
