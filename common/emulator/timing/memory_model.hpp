/// The data pipe of a multiprocessor, and its share of the card's memory.
#pragma once

#include "emulator/timing/card.hpp"
#include "emulator/timing/multiprocessor.hpp"
#include "emulator/timing/trace.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <queue>
#include <vector>

namespace emulator::timing {

/// When an access has its result, and when its operands are read.
struct Access {
    double result = 0, read = 0;
};

inline constexpr std::size_t scheduler_count = 4;

/// A queue with so much room: when each of the latest leaves it.
class Queue {
public:
    void resize(double room) { left_.resize(static_cast<std::size_t>(room)); }
    void enter(double until) {
        left_[next_] = until;
        next_ = (next_ + 1) % left_.size();
    }
    /// When there is room for another one.
    double free() const { return oldest(1); }
    /// When the n-th oldest of as many as it has room for leaves, so that there is room for n.
    double oldest(std::size_t n) const { return left_[(next_ + n - 1) % left_.size()]; }
    /// When the n-th latest leaves; n = 1 is the latest.
    double latest(std::size_t n) const { return left_[(next_ + left_.size() - n) % left_.size()]; }

private:
    std::vector<double> left_;
    std::size_t next_ = 0;
};

/// Bytes per cycle, lately.
class RecentBytes {
public:
    void add(double bytes, double now);
    double rate(double now);

private:
    double per_cycle_ = 0, at_ = 0;
};

class MemoryModel {
public:
    MemoryModel(const Card& card, const Shift& shift);

    /// \param block number of the one whose warp it is: another one's loads go to other addresses
    /// \param scheduler that issues it
    Access access(const Instruction& instruction, const Step& step, double now, double latency,
                  std::uint32_t block, std::size_t scheduler);

    /// The last warp of a block arrives at a barrier. It takes a pass if anything has accessed memory since the one before.
    /// \param has_stored to global memory: then the pass is taken when their words are read
    void pass_barrier(double at, bool has_stored) {
        barriers_.push(at + (has_stored ? operands_read_ : 0));
        lanes_.fill(*std::max_element(lanes_.begin(), lanes_.end()) + barrier_pass_); // behind all accesses
    }

    /// Of barriers, and of shuffles and atomics that have to be repeated, until all accesses and barriers are over.
    double end_passes();
    double repeats() const { return repeats_; }

    /// When a scheduler's queue has room for another access.
    double queue_free(std::size_t scheduler) const { return unread_[scheduler].free(); }

    /// When there is room for another atomic.
    double atomics_free() const { return taken_.free(); }

    /// When the words of the latest access are read; when the L2 has taken all parts of sectors so far; and all atomics.
    double stores_end() const { return pipe_ - 1 + operands_read_; }
    double partial_stores_end() const { return partial_stores_; }
    double atomics_end() const { return atomics_; }

private:
    /// The data pipe is occupied for so many cycles. Returns when that begins.
    /// \param room when the store buffer has room for what it stores
    double pass_pipe(const Instruction& instruction, double now, double cycles, double room,
                     std::size_t scheduler);
    /// When the store buffer has room for an access.
    double store_room(const Instruction& instruction) const;
    /// What an access is to others in the data pipe: a shuffle or an atomic right beside a thread's index is repeated.
    enum class Kind : std::uint8_t { other, index, exchange };
    static Kind kind_of(const Instruction& instruction, const Step& step);
    void count_passes(Kind kind);
    void count_barriers(double until);
    double load(const Step& step, double begin, std::uint32_t block);
    /// Until when loads are behind atomics. \param per_byte cycles
    double behind_atomics(const Step& step, double begin, double per_byte, std::uint32_t block);
    double atomic(const Step& step, double begin);
    void store(const Instruction& instruction, const Step& step, double begin);
    /// Moves bytes to or from memory. Returns when they have passed.
    double move(double bytes, double begin);
    double random();    ///< from 0 to 1, the same in each run
    double deviation(); ///< of a line's latency: never far below 0, sometimes far above

    const Card& card_;
    double entry_, operands_read_, l1_latency_, l2_latency_, atomic_latency_, shared_atomic_latency_,
        shared_atomic_lane_, other_latency_, barrier_pass_, write_cost_, atom_;
    double scattered_load_, scattered_store_; ///< as many bytes as are loaded in order in that time
    double idle_latency_;                     ///< of a load of a line
    double line_read_;                        ///< cycles that the card's latencies of lines have too many
    double gigabytes_;                        ///< per second and byte in a cycle of each multiprocessor
    double bytes_per_cycle_;                  ///< this multiprocessor's share
    double l2_bytes_per_cycle_;               ///< and that of what the L2 delivers
    double l2_line_interval_;                 ///< cycles of a line of which it delivers single sectors
    double partial_interval_; ///< cycles of a store to a part of a sector, and of a line's request
    double atomic_interval_;  ///< cycles of an atomic's sector
    double port_ = 0;         ///< to the L2, that atomics share with loads: when it is free
    double port_interval_;    ///< cycles of an atomic's line there
    double port_bytes_per_cycle_;
    double lines_behind_; ///< that wait there behind each atomic
    double added_sectors_ = 0, loaded_lines_ = 0;
    std::size_t most_passed_;                     ///< atomics that loads pass
    std::array<Queue, scheduler_count> unread_;   ///< accesses of a scheduler whose operands are not read yet
    std::array<double, scheduler_count> reads_{}; ///< when each scheduler can read the next one's
    double read_interval_;                        ///< cycles per operand
    Queue in_pipe_;                               ///< accesses that the data pipe is not done with
    double leave_;                        ///< cycles from an access's last pass until it has left that queue
    Queue buffered_;                      ///< lines of stores that are not on their way to the L2
    double sent_ = 0;                     ///< when all of those are
    double sector_interval_;              ///< cycles of a sector on that way
    double memory_ahead_, partial_ahead_; ///< how far stores may be ahead of memory and of the L2, in cycles
    Queue taken_;                         ///< atomics that the L2 has not taken yet
    std::array<double, 2> lanes_{};       ///< of the data pipe: when each is free for another access
    double begin_ = -1;                   ///< of the latest access
    double previous_ = -1;                ///< of the one before
    Kind kind_ = Kind::other;
    /// That later accesses may precede in the data pipe; the next one is on top.
    std::priority_queue<double, std::vector<double>, std::greater<>> barriers_;
    bool has_accessed_ = false; ///< since the latest barrier that is counted
    double barrier_passes_ = 0, repeats_ = 0;
    double pipe_ = 0, memory_ = 0, l2_ = 0, partial_stores_ = 0, atomics_ = 0;
    RecentBytes loaded_, stored_;
    std::uint64_t state_ = 0x9E3779B97F4A7C15;
};

} // namespace emulator::timing
