/// `emulate --schedules K`: the same program in many orders.
#pragma once

#include "emulator/cli/options.hpp"
#include "emulator/cli/report.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace emulate {

/// A difference between two runs.
struct Difference {
    std::uint64_t seed = 0; ///< of that order
    Ending ending{};
    std::uint64_t line = 0; ///< of the output, the first that differs; 0: the output is the same
    std::optional<std::string> usual_line{}, other_line{}; ///< none: the output ends before
    bool repeatable = true; ///< false: the seed's run differs from itself, when it is run once more
};

struct ScheduleResult {
    Report default_run;                   ///< in the default order; its output has gone to our own stdout
    std::uint64_t agreed = 0;             ///< so many seeds, from 1 on, printed the same and ended alike
    std::optional<Difference> difference; ///< made by the next one
};

/// Runs the program in the default order, then with the seeds 1 to `options.schedules`, until a run differs.
/// Each run reads the same file on stdin, or nothing if stdin is no file.
/// \throws CommandError
ScheduleResult try_schedules(const Options& options);

std::string schedules_as_text(const ScheduleResult& result, bool color = false);
std::string schedules_as_json(const ScheduleResult& result);

} // namespace emulate
