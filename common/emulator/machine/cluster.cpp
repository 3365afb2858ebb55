#include "emulator/machine/cluster.hpp"

#include "emulator/machine/dim3.hpp"
#include "emulator/machine/schedule.hpp"

#include <algorithm>
#include <bit>

namespace emulator {

Cluster::Cluster(const Grid& grid, std::span<Observer* const> observers) : grid_(grid) {
    for (std::uint32_t rank = 0; rank < grid.cluster.count(); ++rank)
        blocks_.push_back(std::make_unique<Block>(grid, observers, *this, rank));
    for (const auto& block : blocks_) order_.push_back(block.get());
    lanes_.resize(blocks_.size() * blocks_.front()->warps().size());
}

void Cluster::start(std::uint64_t index) {
    const Dim3 grid = grid_.configuration.grid, size = grid_.cluster;
    index_ = coordinates(index, {grid.x / size.x, grid.y / size.y, grid.z / size.z});
    std::fill(lanes_.begin(), lanes_.end(), BarrierLanes{});
    missing_ = blocks_.size() * grid_.configuration.block.count();
    has_arrivals_ = false;
    for (const auto& block : blocks_) {
        const Dim3 in_cluster = coordinates(block->rank(), size);
        block->start({index_.x * size.x + in_cluster.x, index_.y * size.y + in_cluster.y,
                      index_.z * size.z + in_cluster.z});
    }
}

bool Cluster::run(std::uint64_t budget) {
    Schedule* const schedule = blocks_.size() > 1 ? grid_.schedule : nullptr;
    const auto is_finished = [&] {
        return std::all_of(order_.begin(), order_.end(),
                           [](const Block* block) { return block->is_finished(); });
    };
    std::uint64_t executed = 0;
    while (executed < budget && !is_finished()) {
        std::uint64_t in_this_round = 0;
        if (schedule) schedule->shuffle(std::span(order_));
        for (Block* const block : order_)
            if (!block->is_finished()) in_this_round += block->run(schedule ? schedule->turn() : budget);
        if (!is_finished() && is_stuck()) break_deadlock();
        executed += in_this_round;
    }
    return is_finished();
}

/// If the threads of one block wait for each other, the other blocks can only be waiting for that block: at
/// the cluster barrier, or for an arrival at an mbarrier.
void Cluster::break_deadlock() {
    const auto break_where = [&](auto waits) {
        bool any = false;
        for (const auto& block : blocks_) {
            const std::vector<WaitingLanes> waiting = block->waiting();
            if (std::none_of(waiting.begin(), waiting.end(), waits)) continue;
            block->break_deadlock();
            any = true;
        }
        return any;
    };
    if (!break_where([](const WaitingLanes& one) {
            return one.converged->wait == Wait::block_barrier || one.converged->wait == Wait::warp_sync;
        }))
        break_where([](const WaitingLanes& one) { return one.mbarrier.has_value(); });
}

bool Cluster::is_stuck() const {
    return std::all_of(blocks_.begin(), blocks_.end(), [](const auto& block) { return block->is_stuck(); });
}

void Cluster::arrive(const Warp& warp, LaneMask lanes) {
    BarrierLanes& of_warp = lanes_[place(warp)];
    of_warp.arrived |= lanes;
    of_warp.not_waited |= lanes;
    missing_ -= static_cast<std::uint64_t>(std::popcount(lanes));
    has_arrivals_ = true;
    end_phase_if_all_arrived();
}

void Cluster::threads_exited(const Warp& warp, LaneMask lanes) {
    missing_ -= static_cast<std::uint64_t>(std::popcount(lanes & ~arrived(warp)));
    end_phase_if_all_arrived();
}

void Cluster::end_phase_if_all_arrived() {
    if (missing_ != 0 || !has_arrivals_) return;
    for (Observer* const observer : blocks_.front()->observers()) observer->cluster_barrier_complete(*this);
    has_arrivals_ = false;
    for (BarrierLanes& of_warp : lanes_) of_warp.arrived = 0;
    for (const auto& block : blocks_)
        for (const auto& warp : block->warps()) {
            missing_ += static_cast<std::uint64_t>(std::popcount(warp->live()));
            lanes_[place(*warp)].not_waited &= ~warp->release_cluster_barrier();
        }
}

} // namespace emulator
