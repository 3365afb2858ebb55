/// Copies in flight to a block's shared memory: cp.async and cp.async.bulk.
#pragma once

#include "emulator/program/code.hpp"
#include "emulator/program/lanes.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace emulator {

class Block;
class Warp;

/// Observers see a copy when it starts and when it ends.
///
/// The bytes of a copy are written as late as the program allows: when a thread waits for its own copies, or
/// when any thread tests the copy's mbarrier. Earlier reads find the old bytes.
class AsyncCopies {
public:
    /// One warp's cp.async.
    struct Request {
        const Code* code = nullptr; ///< of the instruction
        const Instruction* instruction = nullptr;
        LaneMask lanes = 0;                                ///< those whose bytes have not been written yet
        std::uint32_t bytes = 0;                           ///< that each lane writes
        std::array<std::uint64_t, warp_size> to{};         ///< offsets in the block's shared memory
        std::array<const std::byte*, warp_size> from{};    ///< in this process
        std::array<std::uint32_t, warp_size> from_bytes{}; ///< zeros fill the rest
        std::array<std::uint32_t, warp_size> group{};      ///< groups that the lane had committed before
        std::uint64_t number = 0;                          ///< they count up
    };

    /// One thread's bulk copy to this block's shared memory, which an mbarrier waits for.
    struct Bulk {
        const Code* code = nullptr;
        const Instruction* instruction = nullptr;
        Warp* warp = nullptr; ///< the issuing block; may be another one of the cluster
        int lane = 0;
        std::uint64_t to = 0;
        const std::byte* from = nullptr;
        std::uint32_t bytes = 0;
        std::uint64_t mbarrier = 0; ///< its offset
    };

    void clear();
    bool empty() const { return requests_.empty() && bulks_.empty() && arrivals_.empty(); }

    // ---- cp.async ----

    void start(const Warp& warp, Request request);
    void commit(const Warp& warp, LaneMask lanes);
    /// Ends the copies of `lanes` except those in their latest `groups` groups and those not committed yet.
    void finish(const Warp& warp, LaneMask lanes, std::uint32_t groups);
    /// Ends all copies of `lanes`.
    void finish_all(const Warp& warp, LaneMask lanes);

    // ---- what an mbarrier waits for ----

    void start(const Bulk& bulk) { bulks_.push_back(bulk); }
    const std::vector<Bulk>& bulks() const { return bulks_; } ///< in flight
    /// The lane arrives at the mbarrier when its copies so far have ended.
    void arrive_after_copies(Warp& warp, const Instruction& instruction, int lane, std::uint64_t mbarrier);
    /// Whether a copy or an arrival in flight belongs to the mbarrier.
    bool may_arrive_at(std::uint64_t mbarrier) const;
    /// Ends all copies that the mbarrier waits for.
    void settle(Block& block, std::uint64_t mbarrier);

private:
    struct Arrival {
        Warp* warp = nullptr;
        const Instruction* instruction = nullptr;
        int lane = 0;
        std::uint64_t mbarrier = 0;
        std::uint64_t number = 0; ///< copies with lower ones have to end
    };

    std::vector<Request>& of(const Warp& warp);
    template <class Selects> void finish_those(const Warp& warp, Selects selects);

    std::vector<std::vector<Request>> requests_;                  ///< by warp
    std::vector<std::array<std::uint32_t, warp_size>> committed_; ///< groups, by warp
    std::vector<Bulk> bulks_;
    std::vector<Arrival> arrivals_;
    std::uint64_t next_number_ = 1;
};

} // namespace emulator
