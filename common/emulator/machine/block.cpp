#include "emulator/machine/block.hpp"

#include "emulator/machine/cluster.hpp"
#include "emulator/machine/dim3.hpp"
#include "emulator/machine/fault.hpp"
#include "emulator/machine/mbarrier.hpp"
#include "emulator/machine/occupancy.hpp"
#include "emulator/machine/schedule.hpp"
#include "emulator/memory/global_memory.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

namespace emulator {

namespace {

constexpr std::uint64_t warp_turn = 100'000; // instructions, before the next warp of the block runs

} // namespace

Block::Block(const Grid& grid, std::span<Observer* const> observers, Cluster& cluster, std::uint32_t rank)
    : grid_(grid), observers_(observers), cluster_(cluster), rank_(rank),
      threads_(static_cast<std::uint32_t>(grid.configuration.block.count())),
      shared_bytes_(grid.kernel.reserved_shared_bytes() + grid.kernel.static_shared_bytes() +
                    grid.configuration.dynamic_shared_bytes),
      shared_(std::make_unique<std::byte[]>(shared_bytes_)) {
    for (std::size_t k = 0; k < event_kinds; ++k)
        std::copy_if(observers.begin(), observers.end(), std::back_inserter(subscribers_[k]),
                     [&](const Observer* observer) { return observer->wants(static_cast<EventKind>(k)); });
    for (std::uint32_t first = 0; first < threads_; first += warp_size)
        warps_.push_back(std::make_unique<Warp>(*this, first / warp_size));
}

void Block::start(Dim3 index) {
    index_ = index;
    live_threads_ = threads_;
    for_each_lane(begun_barriers_, [&](int which) { barriers_[static_cast<std::size_t>(which)] = {}; });
    begun_barriers_ = 0;
    async_copies_.clear();
    mbarrier_waits_.clear();
    std::memset(shared_.get(), GlobalMemory::poison, shared_bytes_);
    for (const auto& warp : warps_) {
        const std::uint32_t threads =
            std::min<std::uint32_t>(threads_ - warp->index() * warp_size, warp_size);
        warp->start(threads == warp_size ? all_lanes : (LaneMask{1} << threads) - 1);
    }
    for (Observer* const observer : observers_) observer->block_started(*this);
}

std::uint64_t Block::run(std::uint64_t budget) {
    if (grid_.takes_turns) likely_ = {}; // the host may have freed it
    std::uint64_t executed = 0;
    while (executed < budget && !is_finished()) {
        const std::uint64_t in_this_round = grid_.schedule ? run_shuffled_round() : run_round(budget);
        executed += in_this_round;
        // If all threads wait, and some spin on an mbarrier, only another block can end the wait.
        if (in_this_round == 0 || (!mbarrier_waits_.empty() && is_stuck())) break;
    }
    const TurnCounts in_this_turn = std::exchange(turn_counts_, {});
    for (Observer* const observer : subscribers(EventKind::turn)) observer->turn_ended(*this, in_this_turn);
    if (is_finished()) {
        if (!async_copies_.bulks().empty()) report_pending_copy(*this, async_copies_.bulks().front());
        for (Observer* const observer : observers_) observer->block_ended(*this);
    }
    return executed;
}

std::uint64_t Block::run_round(std::uint64_t budget) {
    std::uint64_t executed = 0;
    for (const auto& warp : warps_) executed += run_warp(*warp, std::min(budget, warp_turn));
    return executed;
}

std::uint64_t Block::run_shuffled_round() {
    std::vector<Warp*> order;
    for (const auto& warp : warps_) order.push_back(warp.get());
    grid_.schedule->shuffle(std::span(order));
    std::uint64_t executed = 0;
    for (Warp* const warp : order) executed += run_warp(*warp, grid_.schedule->turn());
    return executed;
}

std::uint64_t Block::run_warp(Warp& warp, std::uint64_t budget) {
    if (warp.finished()) return 0;
    try {
        return warp.run(budget);
    } catch (const Fault& fault) {
        report_fault(fault, warp);
    }
}

const Allocation* Block::find_allocation(std::uint64_t address, std::size_t bytes) {
    std::swap(likely_[0], likely_[1]);
    if (likely_[0] && likely_[0]->contains(address, bytes)) return likely_[0];
    const Allocation* const found = grid_.memory.find(address);
    if (!found || !found->contains(address, bytes) || !found->is_reached_by(grid_.configuration.device))
        return nullptr;
    return likely_[0] = found;
}

std::uint32_t Block::special(Special which, std::uint32_t warp, int lane) const {
    const Dim3 block = grid_.configuration.block, grid = grid_.configuration.grid, cluster = grid_.cluster;
    const auto in_cluster = [&] { return coordinates(rank_, cluster); };
    const auto thread = [&] {
        return coordinates(std::uint64_t{warp} * warp_size + static_cast<std::uint32_t>(lane), block);
    };
    const LaneMask lane_bit = LaneMask{1} << lane;
    switch (which) {
    case Special::tid_x: return thread().x;
    case Special::tid_y: return thread().y;
    case Special::tid_z: return thread().z;
    case Special::ntid_x: return block.x;
    case Special::ntid_y: return block.y;
    case Special::ntid_z: return block.z;
    case Special::ctaid_x: return index_.x;
    case Special::ctaid_y: return index_.y;
    case Special::ctaid_z: return index_.z;
    case Special::nctaid_x: return grid.x;
    case Special::nctaid_y: return grid.y;
    case Special::nctaid_z: return grid.z;
    case Special::laneid: return static_cast<std::uint32_t>(lane);
    case Special::warpid: return warp;
    case Special::nwarpid: return DeviceLimits::threads_per_multiprocessor / warp_size;
    case Special::smid:
        return static_cast<std::uint32_t>(
            (index_.x + std::uint64_t{grid.x} * (index_.y + std::uint64_t{grid.y} * index_.z)) %
            DeviceLimits::multiprocessors);
    case Special::nsmid: return DeviceLimits::multiprocessors;
    case Special::lanemask_eq: return lane_bit;
    case Special::lanemask_lt: return lane_bit - 1;
    case Special::lanemask_le: return lane_bit | (lane_bit - 1);
    case Special::lanemask_gt: return ~(lane_bit | (lane_bit - 1));
    case Special::lanemask_ge: return ~(lane_bit - 1);
    case Special::dynamic_smem_size: return grid_.configuration.dynamic_shared_bytes;
    case Special::total_smem_size:
        return (shared_bytes_ - grid_.kernel.reserved_shared_bytes() + shared_granularity - 1) /
               shared_granularity * shared_granularity;
    case Special::clusterid_x: return cluster_.index().x;
    case Special::clusterid_y: return cluster_.index().y;
    case Special::clusterid_z: return cluster_.index().z;
    case Special::nclusterid_x: return grid.x / cluster.x;
    case Special::nclusterid_y: return grid.y / cluster.y;
    case Special::nclusterid_z: return grid.z / cluster.z;
    case Special::cluster_ctaid_x: return in_cluster().x;
    case Special::cluster_ctaid_y: return in_cluster().y;
    case Special::cluster_ctaid_z: return in_cluster().z;
    case Special::cluster_nctaid_x: return cluster.x;
    case Special::cluster_nctaid_y: return cluster.y;
    case Special::cluster_nctaid_z: return cluster.z;
    case Special::cluster_ctarank: return rank_;
    case Special::cluster_nctarank: return static_cast<std::uint32_t>(cluster.count());
    case Special::workspace_low: return static_cast<std::uint32_t>(grid_.workspace);
    case Special::workspace_high: return static_cast<std::uint32_t>(grid_.workspace >> 32);
    case Special::reserved_shared: return static_cast<std::uint32_t>(shared_base());
    case Special::is_explicit_cluster: return grid_.has_clusters ? all_lanes : 0;
    case Special::zero: return 0;
    }
    return 0;
}

// ---- barriers ----

void Block::arrive(std::uint32_t which, const Warp& warp, LaneMask lanes, std::uint32_t expected,
                   std::uint32_t truths) {
    Barrier& barrier = barriers_[which];
    barrier.lanes[warp.index()] |= lanes;
    barrier.arrived += static_cast<std::uint32_t>(std::popcount(lanes));
    barrier.expected = expected;
    barrier.truths += truths;
    begun_barriers_ |= 1u << which;
    complete_if_all_arrived(which);
}

void Block::threads_exited(const Warp& warp, LaneMask lanes) {
    live_threads_ -= static_cast<std::uint32_t>(std::popcount(lanes));
    cluster_.threads_exited(warp, lanes);
    for_each_lane(begun_barriers_,
                  [&](int which) { complete_if_all_arrived(static_cast<std::uint32_t>(which)); });
}

void Block::complete_if_all_arrived(std::uint32_t which) {
    const Barrier& barrier = barriers_[which];
    std::uint32_t counted = barrier.arrived;
    // With a thread count, a warp counts as a whole once all its live threads have arrived.
    if (barrier.expected != 0)
        for (const auto& warp : warps_) {
            const LaneMask lanes = barrier.lanes[warp->index()];
            if (lanes != 0 && (warp->live() & ~lanes) == 0)
                counted += static_cast<std::uint32_t>(warp_size - std::popcount(lanes));
        }
    if (counted < (barrier.expected != 0 ? barrier.expected : live_threads_)) return;
    complete(which);
}

void Block::complete(std::uint32_t which) {
    const Barrier barrier = std::exchange(barriers_[which], {});
    begun_barriers_ &= ~(1u << which);
    const BarrierCompletion completion{which, barrier.expected,
                                       std::span(barrier.lanes).first(warps_.size())};
    for (Observer* const observer : subscribers(EventKind::barrier))
        observer->barrier_complete(*this, completion);
    for (const auto& warp : warps_) warp->release_block_barrier(which, barrier.truths, barrier.arrived);
}

/// Calls `visit(warp, converged)` for each group that has lanes.
template <class Visit> void Block::for_each_group(Visit visit) const {
    for (const auto& warp : warps_) {
        if (warp->running().lanes != 0) visit(*warp, warp->running());
        for (const ConvergenceGroup& converged : warp->others()) visit(*warp, converged);
    }
}

bool Block::is_stuck() {
    bool result = true;
    for_each_group([&](const Warp& warp, const ConvergenceGroup& converged) {
        result =
            result && (converged.wait != Wait::nothing || mbarrier_waits_.are_stuck(warp, converged.lanes));
    });
    return result;
}

std::vector<WaitingLanes> Block::waiting() const {
    std::vector<WaitingLanes> all;
    for_each_group([&](const Warp& warp, const ConvergenceGroup& converged) {
        const Code& code = *converged.frame->code;
        if (converged.wait != Wait::nothing)
            all.push_back({&warp, &converged, converged.lanes, &code, converged.pc, {}});
        else
            for (const MbarrierWaits::Group& group : mbarrier_waits_.of(warp, converged.lanes))
                all.push_back({&warp, &converged, group.lanes, &code, code.index_of(*group.wait.instruction),
                               group.wait});
    });
    return all;
}

void Block::break_deadlock() {
    bool goes_on = false;
    for (Observer* const observer : observers_) goes_on = observer->absorbs_deadlock(*this) || goes_on;
    if (!goes_on) report_deadlock(*this);
    for (const WaitingLanes& one : waiting())
        if (one.mbarrier) Mbarrier(*one.mbarrier->owner, one.mbarrier->offset).end_phase(one.mbarrier->phase);
    for_each_lane(begun_barriers_, [&](int which) { complete(static_cast<std::uint32_t>(which)); });
    for (const auto& warp : warps_) warp->ignore_warp_sync();
}

} // namespace emulator
