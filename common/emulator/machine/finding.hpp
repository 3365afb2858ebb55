/// What checkers find, in groups: one entry per location, with its number of occurrences.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace emulator {

/// One side of a finding: a thread, and its location in the program.
struct Party {
    std::string role;     ///< "write", "earlier read", "waits here"
    std::string block{};  ///< "(3,0,0)"
    std::string thread{}; ///< "(17,0,0)"; of several, the first
    std::string where{};  ///< "kernels.cuh:17"; empty: compiled without -lineinfo
    std::string ptx{};    ///< the PTX statement, on one line
    /// Instead of block and thread, if all of it counts: "kernel fill(int*) in stream #2". Of a call of the host
    /// neither `where` nor `ptx` are known.
    std::string operation{};
};

struct Finding {
    std::string checker;   ///< "mem", "init", "race" or "sync"
    std::string kind;      ///< "write after read", "out of bounds": the same for all of a group
    std::string message{}; ///< one sentence: what happened, with addresses and sizes; of the group's first
    std::string kernel{};  ///< readable name; empty for what the host did
    std::vector<Party> parties{};
    std::string allocation{}; ///< "cudaMalloc #3, 4,096 bytes"; empty where there is none
    std::string cause{};      ///< one sentence: what usually causes it
    std::uint64_t count = 1;
};

/// Collects the findings of a process, from all host threads.
class Findings {
public:
    /// Counts a finding whose checker, kind, kernel and locations match an earlier one; stores a new one.
    void add(Finding finding);

    /// In the order in which they were first found.
    std::vector<Finding> list() const;

    /// The same, and forgets them.
    std::vector<Finding> take();

private:
    mutable std::mutex mutex_;
    std::vector<Finding> findings_;
    std::map<std::string, std::size_t> index_; // by what makes two findings equal
};

} // namespace emulator
