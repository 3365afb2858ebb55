/// The request that `emulate` passes to the emulator's library in the process that it starts: the environment
/// variable EMULATOR_REQUEST, a JSON object. EMULATOR_REPORT names the file for the records.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace emulator {

inline constexpr const char* request_variable = "EMULATOR_REQUEST";
inline constexpr const char* report_variable = "EMULATOR_REPORT";

/// What to observe, and in which kernels. JSON uses the members' names and omits default values.
struct Request {
    // Which launches to report counters, lines, pictures and findings of.
    std::string kernel{};                  ///< regular expression that matches in the kernel's readable name
    std::optional<std::uint64_t> launch{}; ///< index among the process's launches, from 0

    bool lines = false;                      ///< count by source line
    std::vector<std::string> check{};        ///< of "mem", "init", "race" and "sync"
    bool leaks = false;                      ///< mem: also memory that is never freed
    bool global_races = false;               ///< race: also between blocks, in global memory
    std::string draw{};                      ///< "banks", "sectors", "activity", "tile" or "time"
    std::optional<std::uint32_t> line{};     ///< draw: the source line of the access
    bool values = false;                     ///< draw: the steps' requests and what they write, too
    std::string time{};                      ///< the card on which to estimate the time; empty: none
    bool time_only = false;                  ///< without running the launches
    std::string ptxas{}, nvdisasm{};         ///< time, lines: where these programs are
    std::optional<std::uint64_t> at_most{};  ///< time: milliseconds for all estimates together
    bool replay = false;                     ///< all that a page needs to run them again
    std::optional<std::uint64_t> schedule{}; ///< seed of another order of blocks, warps and lanes
    std::string ptx{};                       ///< a file whose kernels replace the program's

    bool checks(std::string_view checker) const;
};

/// Whether a regular expression, as in JavaScript, matches in a kernel's readable name.
/// \throws std::runtime_error if it is none
std::function<bool(const std::string&)> kernel_filter(const std::string& pattern);

std::string to_text(const Request& request);

/// \throws std::exception if `text` does not come from to_text
Request parse_request(std::string_view text);

} // namespace emulator
