/// The checker `race` between operations of streams: launches, copies, memsets and frees that use the same memory,
/// at least one of them to write, and that nothing orders.
#pragma once

#include "emulator/machine/finding.hpp"
#include "emulator/machine/observer.hpp"
#include "emulator/memory/memory_events.hpp"
#include "emulator/memory/operation_order.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace emulator {

/// Keeps for each byte of global memory the operations that have last used it, one per stream and instruction.
/// When an operation ends, what it has used is compared with what earlier ones have that do not happen before
/// it: see OperationOrder. So the order in which they ran does not matter.
///
/// What a thread of one kernel hands over to a thread of another, by a flag and fences whose scope includes both,
/// orders all that the one kernel has done before with all that the other does from then on. Kernels that do not run
/// at the same time are ordered as a whole. Both may miss a race; neither invents one.
class StreamRaceChecker final : public Watcher, public MemoryEvents {
public:
    /// `always`: watch programs with one stream, too.
    StreamRaceChecker(Findings& findings, bool always) : findings_(findings), always_(always) {}

    std::unique_ptr<Observer> observer(const Grid& grid) override;
    /// Whether launches have to be watched: with one stream, and without pinned memory, there are no such races.
    bool is_needed() const { return always_ || !pinned_.empty() || (order_ && order_->may_overlap()); }

    void follows(OperationOrder& order) override { order_ = &order; }
    void operation_ends() override;
    void allocated(const Allocation& allocation, bool host_writes) override;
    void frees(const Allocation& allocation, const std::string& call) override;
    void freed(const Allocation& allocation) override;
    void written(std::uint64_t first, std::size_t bytes) override;
    void copied(std::uint64_t from, std::uint64_t to, std::size_t bytes) override;
    void read(std::uint64_t first, std::size_t bytes) override;

    // ---- what has used memory ----

    static constexpr std::uint64_t page_bytes = 4096;
    using Bits = std::array<std::uint64_t, page_bytes / 64>; ///< one for each byte of a page

    enum class Use : std::uint8_t { read, write, atomic };

    /// What accesses memory in an operation: an instruction of a kernel, or a copy as a whole.
    struct User {
        std::string operation{};    ///< "kernel fill(int*) in stream #2"
        std::string kernel{};       ///< its name; empty: it is none
        std::string where{}, ptx{}; ///< of the instruction
        Use use = Use::read;
        Scope scope = Scope::system; ///< of an atomic
    };

    /// A part of a stream's operations: the number of the operation, and in the lower half that of its phase.
    using Moment = std::uint64_t;
    /// For each stream: all up to this moment is known to have happened.
    using Moments = std::vector<Moment>;

    struct Acquire;
    /// A part of an operation. A kernel that runs at the same time as others has several: each begins after it has
    /// told others something, or learned something of them.
    struct Phase {
        std::uint32_t stream = 0;
        Moment moment = 0;
        int device = 0;
        Moments known{};                                  ///< what happens before it
        std::shared_ptr<const std::vector<Acquire>> read; ///< the flags that the operation reads
    };

    struct Record {
        std::shared_ptr<const Phase> phase{};
        std::shared_ptr<const User> user{};
        std::unique_ptr<Bits> bits{}; ///< null: the whole page
    };
    using Pages = std::unordered_map<std::uint64_t, std::vector<Record>>; ///< by number

    // ---- what hands over from kernel to kernel ----

    /// A fence, or an access that synchronizes.
    struct Sync {
        Scope scope = Scope::system;
        std::string where{};
    };
    /// A kernel stores a flag, after a fence or not.
    struct Release {
        std::shared_ptr<const Phase> phase{}; ///< it tells of all up to the end of this one
        Sync write{};
        bool has_fence = false; ///< or releases by itself
        Sync fence{};
    };
    /// Another operation reads it, before a fence or not.
    struct Acquire {
        std::shared_ptr<const Release> release{};
        Sync read{};
        bool has_fence = false; ///< or acquires by itself
        Sync fence{};
    };

    using Releases =
        std::unordered_map<std::uint64_t, std::vector<std::shared_ptr<const Release>>>; ///< by address

    /// An operation that has begun.
    struct Progress {
        std::shared_ptr<Phase> phase{}; ///< the present one
        std::shared_ptr<std::vector<Acquire>> acquired = std::make_shared<std::vector<Acquire>>();
        Pages used{};
        Releases releasing{}; ///< at its end
        bool tells_host = false;
    };
    /// That of the operation which runs now.
    Progress& progress();
    void tell_host();
    void publish(std::uint64_t address, std::shared_ptr<const Release> release);
    /// What operations have released at this address; null: nothing.
    const std::vector<std::shared_ptr<const Release>>* released_at(std::uint64_t address) const;
    bool has_released() const { return !released_.empty(); }

    const OperationOrder::Operation& current() const { return order_->current(); }
    std::string name_of_current() const;
    std::mutex& mutex() { return mutex_; } ///< for the host threads of a kernel

private:
    void use(std::uint64_t first, std::size_t bytes, Use use);
    /// All that operations with this clock know, of what their kernels have acquired too.
    Moments known_by(const OperationOrder::Clock& clock) const;
    /// Adds to the conflicts.
    void compare(std::uint64_t page, const std::vector<Record>& earlier, const Record& now);
    struct Conflict {
        Record earlier{}, now{};
        std::uint64_t address = ~std::uint64_t{0}; ///< the lowest
        std::size_t bytes = 0;
    };
    void report(const Conflict& conflict);
    std::string cause(const Record& earlier, const Record& now) const;
    void forget(const Allocation& allocation);

    Findings& findings_;
    const bool always_;
    OperationOrder* order_ = nullptr;
    std::map<std::uint64_t, std::string> allocations_; ///< their descriptions, by first address
    std::set<std::uint64_t> pinned_;                   ///< what the host can write to, by first address
    Pages used_;
    Releases released_;
    std::vector<std::map<std::uint32_t, Moments>>
        learned_;  ///< by stream and operation: what its kernel has acquired
    Moments told_; ///< what kernels that still run have told the host
    std::map<std::pair<std::uint32_t, std::uint32_t>, Progress> progress_; ///< by stream and number
    std::mutex mutex_;
    std::map<std::pair<const User*, const User*>, Conflict> conflicts_; ///< of the operation that ends
};

} // namespace emulator
