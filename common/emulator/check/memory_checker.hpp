/// The checker `mem`: invalid memory accesses, invalid frees and leaks.
#pragma once

#include "emulator/machine/finding.hpp"
#include "emulator/machine/observer.hpp"
#include "emulator/memory/memory_events.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace emulator {

/// Absorbs access faults: the kernel goes on without the access. Also finds accesses to the gaps between a
/// thread's local arrays, and between a block's shared arrays.
class MemoryChecker final : public Watcher, public MemoryEvents {
public:
    /// `leaks`: also finds allocations that the program never frees.
    explicit MemoryChecker(Findings& findings, bool leaks = false) : findings_(findings), leaks_(leaks) {}

    std::unique_ptr<Observer> observer(const Grid& grid) override;

    void allocated(const Allocation& allocation, bool host_writes) override;
    void freed(const Allocation& allocation) override;
    void rejected(const RejectedCall& call, const GlobalMemory& memory) override;
    void lost(const Allocation& allocation) override;
    void program_ends() override;

private:
    Findings& findings_;
    const bool leaks_;
    std::map<std::uint64_t, std::string> allocations_; // live ones, by their first address
    std::vector<std::string> lost_;                    // that cudaDeviceReset has ended
};

} // namespace emulator
