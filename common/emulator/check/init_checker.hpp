/// The checker `init`: reads of unwritten memory.
#pragma once

#include "emulator/check/written_bytes.hpp"
#include "emulator/machine/finding.hpp"
#include "emulator/machine/observer.hpp"
#include "emulator/memory/memory_events.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <string>

namespace emulator {

/// Tracks each byte of shared memory, and of global memory that only kernels and API calls write. It leaves
/// out managed and pinned memory, which the host writes directly, and variables, which start as zeros.
class InitChecker final : public Watcher, public MemoryEvents {
public:
    explicit InitChecker(Findings& findings) : findings_(findings) {}

    std::unique_ptr<Observer> observer(const Grid& grid) override;
    bool judges_blocks() const override { return true; }

    void allocated(const Allocation& allocation, bool host_writes) override;
    void freed(const Allocation& allocation) override;
    void written(std::uint64_t first, std::size_t bytes) override;
    void copied(std::uint64_t from, std::uint64_t to, std::size_t bytes) override;
    void read(std::uint64_t first, std::size_t bytes) override;

    /// Addresses that belong to one account, or to none.
    struct Stretch {
        std::uint64_t first = 0, end = 0;
        WrittenBytes* written = nullptr;

        bool contains(std::uint64_t address) const { return address - first < end - first; }
    };
    /// That which holds `address`.
    Stretch stretch(std::uint64_t address);

private:
    struct Account {
        std::string allocation; ///< "cudaMalloc #3, 4,096 bytes"
        WrittenBytes written;
    };
    Findings& findings_;
    std::map<std::uint64_t, Account> accounts_; // by first address
};

} // namespace emulator
