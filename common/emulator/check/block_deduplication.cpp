#include "emulator/check/block_deduplication.hpp"

#include "emulator/machine/block.hpp"
#include "emulator/machine/cluster.hpp"
#include "emulator/machine/warp.hpp"

#include <array>
#include <cstring>
#include <unordered_map>
#include <utility>

namespace emulator {

namespace {

/// What a block does: an access by lanes of a warp, a barrier, or a fence.
struct Event {
    enum class Sort : std::uint8_t { access, block_barrier, warp_barrier, fence };

    Sort sort = Sort::access;
    AccessKind kind = AccessKind::load;
    ptx::Space space = ptx::Space::shared;
    bool is_scattered = false; ///< not evenly spaced: the trace keeps the addresses separately
    std::uint16_t barrier = 0; ///< which one, of the block
    std::uint16_t warp = 0;
    LaneMask lanes = 0;
    const Instruction* instruction = nullptr; ///< null for a block barrier
    std::uint64_t first = 0;                  ///< address
    std::int64_t stride = 0;                  ///< from one lane's address to the next

    friend bool operator==(const Event&, const Event&) = default;
};

/// The events of a whole block, in order.
struct ReferenceTrace {
    using Addresses = std::array<std::uint64_t, warp_size>;

    std::vector<Event> events;
    std::vector<Addresses> addresses; ///< of scattered accesses, one after the other
    bool was_matched = false;         ///< a block followed it to its end
    bool was_left = false;            ///< the last block that began to follow it diverged
};

/// How far a block has followed the trace.
struct Place {
    std::size_t event = 0, addresses = 0;
};

class DeduplicationObserver final : public Observer {
public:
    DeduplicationObserver(std::vector<std::unique_ptr<Observer>> checkers, bool records_traces)
        : checkers_(std::move(checkers)), records_traces_(records_traces) {
        for (const auto& checker : checkers_) {
            for (std::size_t k = 0; k < event_kinds; ++k)
                if (checker->wants(static_cast<EventKind>(k))) subscribers_[k].push_back(checker.get());
            if (checker->wants(EventKind::synchronizing_access) && !checker->wants(EventKind::global_access))
                subscribers_of_synchronizing_alone_.push_back(checker.get());
        }
    }

    bool wants(EventKind kind) const override { return !subscribers(kind).empty(); }

    void block_started(Block& block) override {
        current_ = {&block, &blocks_[&block]};
        BlockState& state = *current_.second;
        state = {.trace = trace_};
        if (trace_) return;
        start_checkers(block, state);
        if (!records_traces_ || unmatched_traces_ == max_unmatched_traces) return;
        ++unmatched_traces_;
        state.trace = std::make_shared<ReferenceTrace>();
        state.findings_or_reads = findings_or_reads();
    }

    void block_ended(Block& block) override {
        BlockState& state = state_of(block);
        if (!state.is_checked) {
            state.trace->was_matched = true;
            state.trace->was_left = false;
            unmatched_traces_ = 0;
            return;
        }
        for (const auto& checker : checkers_) checker->block_ended(block);
        if (state.trace && findings_or_reads() == state.findings_or_reads) trace_ = state.trace;
    }

    void accessed(const Warp& warp, const Instruction& instruction, const Access& access) override {
        const bool is_shared = access.space == ptx::Space::shared;
        if (!is_shared) {
            forward_access(subscribers(EventKind::global_access), warp, instruction, access);
            if (subscribers_of_synchronizing_alone_.empty() || !may_synchronize(instruction, access.kind))
                return;
        }
        BlockState& state = state_of(warp.block());
        if (access.is_copy) {
            check_from_here_on(warp.block(), state);
        } else {
            const bool is_scattered = !access.addresses.are_strided();
            const Event event{.kind = access.kind,
                              .space = access.space,
                              .is_scattered = is_scattered,
                              .warp = static_cast<std::uint16_t>(warp.index()),
                              .lanes = access.active,
                              .instruction = &instruction,
                              .first = is_scattered ? 0 : access.addresses.first(),
                              .stride = is_scattered ? 0 : access.addresses.stride()};
            if (matches_trace(warp.block(), state, event, is_scattered ? access.addresses.data() : nullptr))
                return;
        }
        forward_access(is_shared ? subscribers(EventKind::shared_access)
                                 : subscribers_of_synchronizing_alone_,
                       warp, instruction, access);
    }

    void barrier_arrive(const Warp& warp, const Instruction& instruction,
                        const BarrierArrival& arrival) override {
        if (arrival.expected == 0) return;
        check_from_here_on(warp.block(), state_of(warp.block()));
        for (Observer* const checker : subscribers(EventKind::barrier))
            checker->barrier_arrive(warp, instruction, arrival);
    }
    void barrier_complete(Block& block, const BarrierCompletion& completion) override {
        BlockState& state = state_of(block);
        const Event event{.sort = Event::Sort::block_barrier,
                          .barrier = static_cast<std::uint16_t>(completion.barrier)};
        if (matches_trace(block, state, event)) return;
        for (Observer* const checker : subscribers(EventKind::barrier))
            checker->barrier_complete(block, completion);
    }
    void warp_sync_complete(const Warp& warp, const Instruction& instruction, LaneMask lanes,
                            bool is_barrier) override {
        if (!is_barrier) return;
        BlockState& state = state_of(warp.block());
        if ((warp.live() & ~lanes) != 0)
            check_from_here_on(warp.block(), state);
        else if (matches_trace(warp.block(), state,
                               of_warp(Event::Sort::warp_barrier, warp, instruction, lanes)))
            return;
        for (Observer* const checker : subscribers(EventKind::warp_sync))
            checker->warp_sync_complete(warp, instruction, lanes, is_barrier);
    }
    void fenced(const Warp& warp, const Instruction& instruction, LaneMask lanes) override {
        if (matches_trace(warp.block(), state_of(warp.block()),
                          of_warp(Event::Sort::fence, warp, instruction, lanes)))
            return;
        for (const auto& checker : checkers_) checker->fenced(warp, instruction, lanes);
    }

    // ---- what stands in no trace ----

    void cluster_barrier_arrive(const Warp& warp, const Instruction& instruction,
                                const ClusterArrival& arrival) override {
        check_from_here_on(warp.block(), state_of(warp.block()));
        for (const auto& checker : checkers_) checker->cluster_barrier_arrive(warp, instruction, arrival);
    }
    void cluster_barrier_complete(const Cluster& cluster) override {
        for (const auto& block : cluster.blocks()) check_from_here_on(*block, state_of(*block));
        for (const auto& checker : checkers_) checker->cluster_barrier_complete(cluster);
    }
    void copy_started(const AsyncCopy& copy) override {
        check_from_here_on(copy.warp->block(), state_of(copy.warp->block()));
        for (const auto& checker : checkers_) checker->copy_started(copy);
    }
    void copy_ended(const AsyncCopy& copy) override {
        for (const auto& checker : checkers_) checker->copy_ended(copy);
    }
    void used_mbarrier(const Warp& warp, const Instruction& instruction, int lane, MbarrierUse use,
                       const Block& owner, std::uint64_t offset) override {
        check_from_here_on(warp.block(), state_of(warp.block()));
        for (const auto& checker : checkers_)
            checker->used_mbarrier(warp, instruction, lane, use, owner, offset);
    }
    void used_heap(const Warp& warp, const Instruction& instruction, int lane, HeapUse use,
                   std::uint64_t first, std::size_t bytes) override {
        for (const auto& checker : checkers_) checker->used_heap(warp, instruction, lane, use, first, bytes);
    }
    void launch_paused() override {
        for (const auto& checker : checkers_) checker->launch_paused();
    }
    bool absorbs_deadlock(Block& block) override {
        check_from_here_on(block, state_of(block));
        bool goes_on = false;
        for (const auto& checker : checkers_) goes_on = checker->absorbs_deadlock(block) || goes_on;
        return goes_on;
    }
    /// Not an event: it changes nothing for the block's other threads.
    void exited(const Warp& warp, LaneMask lanes) override {
        if (!state_of(warp.block()).is_checked) return;
        for (const auto& checker : checkers_) checker->exited(warp, lanes);
    }

private:
    static constexpr std::size_t max_events = 1 << 18; ///< of a trace
    static constexpr int max_unmatched_traces = 8;     ///< consecutive traces that no block follows

    struct BlockState {
        /// The trace it follows; if it is checked, the trace it records.
        std::shared_ptr<ReferenceTrace> trace{};
        Place place{};                       ///< in the trace it follows
        bool is_checked = false;             ///< the checkers get all its events
        std::uint64_t findings_or_reads = 0; ///< when it began
    };

    BlockState& state_of(const Block& block) {
        if (current_.first != &block) current_ = {&block, &blocks_.at(&block)};
        return *current_.second;
    }
    const std::vector<Observer*>& subscribers(EventKind kind) const {
        return subscribers_[static_cast<std::size_t>(kind)];
    }
    std::uint64_t findings_or_reads() const override {
        std::uint64_t sum = 0;
        for (const auto& checker : checkers_) sum += checker->findings_or_reads();
        return sum;
    }

    static Event of_warp(Event::Sort sort, const Warp& warp, const Instruction& instruction, LaneMask lanes) {
        return {.sort = sort,
                .warp = static_cast<std::uint16_t>(warp.index()),
                .lanes = lanes,
                .instruction = &instruction};
    }

    /// Whether the block follows a trace with the same event next. If not, notify the checkers.
    bool matches_trace(Block& block, BlockState& state, const Event& event,
                       const std::uint64_t* addresses = nullptr) {
        if (state.is_checked) {
            if (state.trace) write(state, event, addresses);
            return false;
        }
        const ReferenceTrace& trace = *state.trace;
        Place& place = state.place;
        const bool is_same = place.event != trace.events.size() && trace.events[place.event] == event &&
                             (!addresses || std::memcmp(trace.addresses[place.addresses].data(), addresses,
                                                        sizeof(ReferenceTrace::Addresses)) == 0);
        if (!is_same) {
            leave_trace(block, state);
            return false;
        }
        ++place.event;
        place.addresses += addresses ? 1 : 0;
        return true;
    }

    void write(BlockState& state, const Event& event, const std::uint64_t* addresses) {
        ReferenceTrace& trace = *state.trace;
        if (trace.events.size() == max_events) return state.trace.reset();
        trace.events.push_back(event);
        if (addresses) std::copy_n(addresses, warp_size, trace.addresses.emplace_back().begin());
    }

    void check_from_here_on(Block& block, BlockState& state) {
        if (!state.is_checked) leave_trace(block, state);
        state.trace.reset();
    }

    /// The checkers have not seen this block yet.
    [[gnu::noinline]] void leave_trace(Block& block, BlockState& state) {
        const std::shared_ptr<ReferenceTrace> trace = std::exchange(state.trace, nullptr);
        start_checkers(block, state);
        std::size_t scattered = 0;
        for (std::size_t k = 0; k < state.place.event; ++k) {
            const Event& event = trace->events[k];
            replay(block, event, event.is_scattered ? trace->addresses[scattered++].data() : nullptr);
        }
        // A single block may differ. If the next one differs too, record another trace.
        const bool is_good = trace->was_matched && !std::exchange(trace->was_left, true);
        if (!is_good && trace == trace_) trace_.reset();
    }

    void start_checkers(Block& block, BlockState& state) {
        state.is_checked = true;
        for (const auto& checker : checkers_) checker->block_started(block);
    }

    void replay(Block& block, const Event& event, const std::uint64_t* scattered) const {
        const Warp& warp = *block.warps()[event.warp];
        switch (event.sort) {
        case Event::Sort::access: {
            const Access access{.space = event.space,
                                .kind = event.kind,
                                .bytes = event.instruction->bytes,
                                .active = event.lanes,
                                .addresses = scattered
                                                 ? LaneAddresses(scattered)
                                                 : LaneAddresses(event.lanes, event.first, event.stride)};
            const bool is_shared = event.space == ptx::Space::shared;
            return forward_access(is_shared ? subscribers(EventKind::shared_access)
                                            : subscribers_of_synchronizing_alone_,
                                  warp, *event.instruction, access);
        }
        case Event::Sort::block_barrier:
            for (Observer* const checker : subscribers(EventKind::barrier))
                checker->barrier_complete(block, {.barrier = event.barrier});
            return;
        case Event::Sort::warp_barrier:
            for (Observer* const checker : subscribers(EventKind::warp_sync))
                checker->warp_sync_complete(warp, *event.instruction, event.lanes, true);
            return;
        case Event::Sort::fence:
            for (const auto& checker : checkers_) checker->fenced(warp, *event.instruction, event.lanes);
        }
    }

    static void forward_access(const std::vector<Observer*>& checkers, const Warp& warp,
                               const Instruction& instruction, const Access& access) {
        for (Observer* const checker : checkers) checker->accessed(warp, instruction, access);
    }

    std::vector<std::unique_ptr<Observer>> checkers_;
    std::array<std::vector<Observer*>, event_kinds> subscribers_;
    std::vector<Observer*> subscribers_of_synchronizing_alone_; ///< that skip other global accesses
    std::shared_ptr<ReferenceTrace> trace_;                     ///< for blocks that begin; may be null
    const bool records_traces_;
    int unmatched_traces_ = 0; ///< recorded since a block last followed one
    std::unordered_map<const Block*, BlockState> blocks_;
    std::pair<const Block*, BlockState*> current_{};
};

} // namespace

std::unique_ptr<Observer> BlockDeduplication::observer(const Grid& grid) {
    std::vector<std::unique_ptr<Observer>> checkers;
    for (Watcher* const checker : checkers_) checkers.push_back(checker->observer(grid));
    const bool may_repeat = !grid.has_clusters && grid.configuration.grid.count() > 1;
    return std::make_unique<DeduplicationObserver>(std::move(checkers), may_repeat);
}

} // namespace emulator
