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
/// orders the two kernels as a whole. This may miss a race; it never invents one.
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

    struct Record {
        std::uint32_t stream = 0, number = 0; ///< of the operation
        int device = 0;
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
        std::uint32_t stream = 0, number = 0;
        int device = 0;
        OperationOrder::Clock clock{}; ///< what it knows, and itself
        Sync write{};
        bool has_fence = false; ///< or releases by itself
        Sync fence{};
    };
    /// The operation in progress reads it, before a fence or not.
    struct Acquire {
        std::shared_ptr<const Release> release{};
        Sync read{};
        bool has_fence = false; ///< or acquires by itself
        Sync fence{};
    };

    /// What one host thread has seen of the kernel in progress.
    void add(Pages&& used, std::vector<Acquire>&& acquired,
             std::unordered_map<std::uint64_t, std::shared_ptr<const Release>>&& released);
    /// What earlier kernels have released at this address.
    const std::vector<std::shared_ptr<const Release>>* released_at(std::uint64_t address) const;
    bool has_released() const { return !released_.empty(); }

    const OperationOrder::Operation& current() const { return order_->current(); }
    std::string name_of_current() const;
    void tells_host() { tells_host_ = true; }

private:
    void use(std::uint64_t first, std::size_t bytes, Use use);
    /// What happens before the operation in progress; and what its threads have acquired.
    OperationOrder::Clock before_current() const;
    /// Adds to the conflicts.
    void compare(std::uint64_t page, const std::vector<Record>& earlier, const Record& now,
                 const OperationOrder::Clock& before);
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
    std::unordered_map<std::uint64_t, std::vector<std::shared_ptr<const Release>>> released_; ///< by address
    // Of the operation in progress.
    std::mutex mutex_;
    Pages now_;
    std::vector<Acquire> acquired_;
    std::unordered_map<std::uint64_t, std::vector<std::shared_ptr<const Release>>> releasing_;
    bool tells_host_ = false;
    std::map<std::pair<const User*, const User*>, Conflict> conflicts_;
};

} // namespace emulator
