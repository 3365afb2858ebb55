/// The events that the machine reports to observers. Observers never change a result. The exception is
/// WeakMemory, which is part of a schedule.
#pragma once

#include "emulator/program/code.hpp"
#include "emulator/program/lanes.hpp"
#include "emulator/ptx/types.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace emulator {

class Block;
class Cluster;
struct Fault;
struct Grid;
class Warp;

enum class AccessKind : std::uint8_t {
    load,
    store,
    atom, ///< an atomic whose old value is used
    red,  ///< an atomic whose old value is not used
};

/// One address per lane of a warp. Inactive lanes repeat the address of the first active lane, so that loops
/// over all lanes need no mask.
class LaneAddresses {
public:
    LaneAddresses() = default;
    /// Any 32 addresses, which must outlive this.
    LaneAddresses(const std::uint64_t* each) : each_(each) {} // NOLINT: the same, by another name
    /// Evenly spaced by `stride` bytes, as in nearly all accesses; `first` is that of the first active lane.
    LaneAddresses(LaneMask active, std::uint64_t first, std::int64_t stride)
        : active_(active), first_(first), stride_(stride) {}

    std::uint64_t operator[](int lane) const {
        if (each_) return each_[lane];
        return (active_ >> lane & 1) != 0 ? in_step(lane) : first_;
    }
    /// All 32.
    const std::uint64_t* data() const {
        if (each_) return each_;
        if (!is_spread_) spread();
        return spread_;
    }

    /// Whether they are known to be evenly spaced. The functions below require that.
    bool are_strided() const { return !each_; }
    std::uint64_t first() const { return first_; }
    std::uint64_t last() const { return in_step(warp_size - 1 - std::countl_zero(active_)); }
    std::uint64_t lowest() const { return stride_ < 0 ? last() : first_; }
    std::uint64_t highest() const { return stride_ < 0 ? first_ : last(); }
    std::int64_t stride() const { return stride_; }

private:
    void spread() const {
        const int from = std::countr_zero(active_);
        for (int lane = 0; lane < warp_size; ++lane) {
            const std::int64_t steps = (active_ >> lane & 1) != 0 ? lane - from : 0;
            spread_[lane] = first_ + static_cast<std::uint64_t>(steps) * static_cast<std::uint64_t>(stride_);
        }
        is_spread_ = true;
    }

    std::uint64_t in_step(int lane) const {
        const auto steps = static_cast<std::uint64_t>(lane - std::countr_zero(active_));
        return first_ + steps * static_cast<std::uint64_t>(stride_); // which may wrap
    }

    const std::uint64_t* each_ = nullptr; // null: evenly spaced
    LaneMask active_ = 1;
    std::uint64_t first_ = 0;
    std::int64_t stride_ = 0;
    mutable bool is_spread_ = false;
    // The evenly spaced ones, filled on the first request for all of them.
    mutable std::uint64_t spread_[warp_size];
};

/// Inactive lanes between the first and the last active one.
constexpr bool has_gaps(LaneMask active) {
    const LaneMask from_first = active >> std::countr_zero(active);
    return (from_first & (from_first + 1)) != 0;
}

/// One warp-level memory instruction: a request, in hardware terms.
struct Access {
    ptx::Space space = ptx::Space::global; ///< where the bytes are: never generic
    AccessKind kind = AccessKind::load;
    std::uint32_t bytes = 0; ///< of each lane's access: 1 to 16
    LaneMask active = 0;     ///< never 0
    /// Global addresses as the program sees them, otherwise offsets in the block's shared or the thread's
    /// local memory.
    LaneAddresses addresses{};
    /// The other block of the cluster that owns the shared memory; null for all other accesses.
    const Block* remote = nullptr;
    /// Made by an asynchronous copy, not by a load or store, and not counted as one.
    bool is_copy = false;
};

/// A copy to shared memory that runs while its thread goes on: cp.async and cp.async.bulk.
struct AsyncCopy {
    const Code* code = nullptr; ///< the issuing instruction …
    const Instruction* instruction = nullptr;
    const Warp* warp = nullptr;
    const Block* target = nullptr;            ///< the block whose shared memory is written
    std::uint32_t bytes = 0;                  ///< per lane: any number
    LaneMask lanes = 0;                       ///< never 0
    const std::uint64_t* addresses = nullptr; ///< as in Access
    /// Each lane's source in this process, and its number of bytes; zeros fill the rest. Null for a bulk
    /// copy, which one lane makes, and for a copy that ends.
    const std::byte* const* from = nullptr;
    const std::uint32_t* from_bytes = nullptr;
    /// The source of a bulk copy from global memory. Null for one from shared memory, and for a copy that
    /// ends.
    const std::byte* bulk_from = nullptr;
};

enum class MbarrierUse : std::uint8_t {
    initialize,
    invalidate,
    invalidate_none, ///< there is no mbarrier
    arrive,          ///< by a thread, or by a copy of a thread that has ended
    wait             ///< for a phase that has ended
};

enum class HeapUse : std::uint8_t { allocate, free };

/// How much the warps of a block have executed.
struct TurnCounts {
    std::uint64_t warp_instructions = 0, thread_instructions = 0;
    std::uint64_t thread_barriers = 0; ///< barriers of the block among them, once for each thread
};

/// Lanes that arrive at a warp barrier, shuffle, vote or the like.
struct WarpSyncArrival {
    LaneMask lanes = 0;
    const std::uint32_t* members = nullptr; ///< per lane: the mask of the lanes that it waits for
    /// For a shuffle: the lane whose value `lane` gets, or -1 if it keeps its own. Null for other
    /// instructions.
    int (*source)(const Warp&, const Instruction&, int lane) = nullptr;
};

/// Threads that arrive at a block barrier with one instruction.
struct BarrierArrival {
    std::uint32_t barrier = 0;  ///< which of the block's 16
    std::uint32_t expected = 0; ///< threads that it is for; 0: all of the block
    bool waits = true;          ///< false: `bar.arrive`, which goes on at once
    LaneMask lanes = 0;
};

/// A block barrier that completes.
struct BarrierCompletion {
    std::uint32_t barrier = 0;
    std::uint32_t expected = 0;          ///< as in its last arrival; 0: all of the block
    std::span<const LaneMask> arrived{}; ///< per warp: the lanes that have arrived
};

/// Threads that arrive at the barrier of their cluster, or wait there.
struct ClusterArrival {
    bool waits = false;  ///< for the end of the phase. False: they arrive, and go on at once
    bool orders = false; ///< memory accesses: `.release`, or `.acquire`
    LaneMask lanes = 0;
};

/// Kinds of events that many observers don't need.
enum class EventKind : std::uint8_t {
    instructions, ///< instructions_executed
    turn,         ///< turn_ended
    shared_access,
    global_access,
    /// A global access that may synchronize threads: atomic, volatile, or with an order.
    synchronizing_access,
    local_access,
    barrier,   ///< of the block: barrier_arrive, barrier_complete
    warp_sync, ///< warp_sync_arrive, warp_sync_complete
};
inline constexpr std::size_t event_kinds = 8;

inline bool may_synchronize(const Instruction& instruction, AccessKind kind) {
    return instruction.ordering != Ordering::weak || kind == AccessKind::atom || kind == AccessKind::red;
}
inline EventKind event_of(const Instruction& instruction, const Access& access) {
    if (access.space == ptx::Space::shared) return EventKind::shared_access;
    if (access.space != ptx::Space::global) return EventKind::local_access;
    return may_synchronize(instruction, access.kind) ? EventKind::synchronizing_access
                                                     : EventKind::global_access;
}
constexpr bool is_global_access(EventKind kind) {
    return kind == EventKind::global_access || kind == EventKind::synchronizing_access;
}
constexpr bool is_access(EventKind kind) {
    return kind == EventKind::shared_access || is_global_access(kind) || kind == EventKind::local_access;
}

/// Gets every event of the blocks that one host thread runs.
///
/// A host thread may have several blocks in progress and switch between them. State about a block is kept
/// under the block's address, from block_started to block_ended.
class Observer {
public:
    virtual ~Observer() = default;

    /// False: the observer does not subscribe to these events, which are the most frequent ones.
    virtual bool wants(EventKind) const { return true; }

    virtual void block_started(Block&) {}
    /// Every thread has exited.
    virtual void block_ended(Block&) {}

    /// The lanes in `active` executed `count` instructions from `first` on, one after the other.
    virtual void instructions_executed(const Warp&, const Code&, std::uint32_t /*first*/,
                                       std::uint32_t /*count*/, LaneMask /*active*/) {}

    /// The block's turn ends, after executing this.
    virtual void turn_ended(const Block&, const TurnCounts&) {}

    /// Before the memory is read or written.
    virtual void accessed(const Warp&, const Instruction&, const Access&) {}

    /// Some, but not all, of the lanes in `active` jumped: those in `taken`.
    virtual void diverged(const Warp&, const Instruction&, LaneMask /*active*/, LaneMask /*taken*/) {}

    /// Lanes arrive at an instruction that waits for the lanes that their masks name. They may have to wait
    /// and then arrive again.
    virtual void warp_sync_arrive(const Warp&, const Instruction&, const WarpSyncArrival&) {}

    /// All of `lanes` have arrived and go on. A warp barrier orders their memory accesses; an exchange, such
    /// as a shuffle or a vote, does not.
    virtual void warp_sync_complete(const Warp&, const Instruction&, LaneMask /*lanes*/,
                                    bool /*is_barrier*/) {}

    virtual void barrier_arrive(const Warp&, const Instruction&, const BarrierArrival&) {}
    virtual void barrier_complete(Block&, const BarrierCompletion&) {}

    virtual void cluster_barrier_arrive(const Warp&, const Instruction&, const ClusterArrival&) {}
    /// All threads of the cluster that have not exited have arrived. Reported before the waiting threads go
    /// on.
    virtual void cluster_barrier_complete(const Cluster&) {}

    /// membar and fence, and SyncKind::proxy_fence.
    virtual void fenced(const Warp&, const Instruction&, LaneMask /*active*/) {}

    /// Until the copy ends, nothing else may touch the bytes.
    virtual void copy_started(const AsyncCopy&) {}
    /// The bytes are there.
    virtual void copy_ended(const AsyncCopy&) {}

    /// The lane uses the mbarrier at an offset of the owner's shared memory.
    virtual void used_mbarrier(const Warp&, const Instruction&, int /*lane*/, MbarrierUse,
                               const Block& /*owner*/, std::uint64_t /*offset*/) {}

    /// The lane gets or frees a piece of the heap of device code, by a call of malloc or free.
    virtual void used_heap(const Warp&, const Instruction&, int /*lane*/, HeapUse, std::uint64_t /*first*/,
                           std::size_t /*bytes*/) {}

    virtual void exited(const Warp&, LaneMask /*lanes*/) {}

    /// Other launches and the host may use memory before the next event.
    virtual void launch_paused() {}

    /// `lanes` make an invalid access, or arrive at a block or cluster barrier in a wrong way. True: they
    /// skip the instruction (loads give 0). If no observer absorbs the fault, it ends the launch.
    virtual bool absorbs_fault(const Warp&, const Fault&, LaneMask /*lanes*/) { return false; }

    /// No thread of the block can go on: each waits for others that never arrive. True: let all of them pass.
    /// If no observer absorbs the deadlock, it ends the launch.
    virtual bool absorbs_deadlock(Block&) { return false; }

    /// For a watcher with judges_blocks(): how often it found something, or read what no event reports, such
    /// as values.
    virtual std::uint64_t findings_or_reads() const { return 0; }
};

/// Watches a launch: an observer for each host thread, and their combined findings.
class Watcher {
public:
    virtual ~Watcher() = default;

    /// Called once for each host thread, one after the other, before any block runs. The observers end before
    /// the launch does.
    virtual std::unique_ptr<Observer> observer(const Grid& grid) = 0;

    /// True: it checks blocks against each other, so one host thread has to run all of them.
    virtual bool wants_one_thread() const { return false; }

    /// True: its observers' findings depend on the events of one block alone, except global accesses. So they
    /// can skip a block that does the same as one without findings_or_reads: see BlockDeduplication.
    virtual bool judges_blocks() const { return false; }
};

} // namespace emulator
