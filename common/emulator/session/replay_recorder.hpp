/// What a web page needs to run a launch again: {"record": "replay", "kernel": "_Z7reduce3PKiPi", "name":
/// "reduce3", "module": 0, "module_address": of its first variable or 0, "grid": …, "block": …, "shared":
/// 1024, "cluster": absent without one, "cooperative": …, "call_stack_bytes": …, "parameters": [base64 each],
/// "memory": [see below], "modules": {number: PTX}, "pieces": [base64 each]}, for each selected launch.
///
/// Modules and pieces of memory are numbered over all launches. A record has those that are new.
///
/// "memory" is what the launch may access, as it is before: [{"address": …, "variable": the name of one of
/// the kernel's module, "bytes": …, "origin": "cudaMalloc #1", "writable": …, "host_writes": …, "unwritten":
/// [[first, number] of bytes that nobody has written], "contents": [[piece, number]…]}]. Contents are that
/// many pieces from that number on, or, below 0, one piece that many times. They are empty for a variable
/// that still has its initial value.
///
/// Or {"record": "replay", "refusal": "…"}: why a page could not run it; then nothing follows.
#pragma once

#include "emulator/check/init_checker.hpp"
#include "emulator/session/recorder.hpp"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

namespace emulator {

/// Device addresses are addresses in the page's WebAssembly memory as well: not too low, since its emulator
/// needs some, and not too high, since a page gets 2 GiB at most. See GlobalMemory::place_from().
inline constexpr std::uint64_t replay_first_address = 64 << 20, replay_last_address = 1 << 30;

class ReplayRecorder final : public Recorder {
public:
    Watcher* begin(const ObservedLaunch& launch) override;
    std::vector<Json> end(const ObservedLaunch& launch) override;
    MemoryEvents* memory_listener() override { return &written_; }

private:
    Json record_of(const ObservedLaunch& launch);
    Json memory_of(const ObservedLaunch& launch);
    Json contents_of(const std::byte* first, std::size_t bytes);
    Json unwritten_of(std::uint64_t address);
    std::uint32_t number_of_piece(std::string piece);
    void make_room(std::size_t bytes);

    Findings findings_;              // of the checker: nobody reads them
    InitChecker written_{findings_}; // here it only keeps book
    bool refused_ = false;
    std::size_t launches_ = 0, bytes_ = 0; ///< recorded until now
    std::unordered_map<std::string, std::uint32_t> modules_, pieces_;
    Json new_modules_ = Json::object(), new_pieces_ = Json::array();
    std::map<std::uint64_t, Json> pending_; ///< by launch
};

} // namespace emulator
