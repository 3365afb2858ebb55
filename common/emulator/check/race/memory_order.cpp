#include "emulator/check/race/memory_order.hpp"

#include "emulator/machine/block.hpp"

#include <algorithm>
#include <utility>

namespace emulator {

void MemoryOrder::join(Clock& clock, const Clock& other) {
    for (std::size_t i = 0; i < clock.size(); ++i) clock[i] = std::max(clock[i], other[i]);
}

void MemoryOrder::start() {
    epoch_ = pass_tick();
    barriers_ = {};
    mbarriers_.clear();
    if (fences_) fences_->released.clear();
}

void MemoryOrder::forget() {
    const Stamp old_epoch = epoch_;
    now_ = 0;
    epoch_ = pass_tick();
    clocks_ = {};
    for (Barrier& barrier : barriers_) barrier.clock = {}; // those that wait still do
    mbarriers_.clear();
    for (auto& clocks : lane_clocks_) clocks.reset();
    if (!fences_) return;
    auto fences = std::make_unique<Fences>();
    for (std::size_t warp = 0; warp < max_warps; ++warp)
        if (fences_->first[warp] >= old_epoch) fences->first[warp] = fences->last[warp] = epoch_;
    fences_ = std::move(fences);
}

LaneMask MemoryOrder::unordered(Stamp stamp, LaneMask earlier, std::uint32_t warp, LaneMask now) const {
    if (stamp < epoch_between(warp_of(stamp), warp)) return 0;
    if (warp_of(stamp) != warp) return earlier;
    const LaneMask others = earlier & ~now;
    if (others == 0 || !lane_clocks_[warp]) return others;
    LaneMask result = 0;
    for_each_lane(others, [&](int other) {
        for_each_lane(now, [&](int lane) {
            const Stamp known =
                (*lane_clocks_[warp])[static_cast<std::size_t>(lane)][static_cast<std::size_t>(other)];
            result |= LaneMask{stamp >= known} << other;
        });
    });
    return result;
}

bool MemoryOrder::fenced_before(Stamp stamp) const {
    if (!fences_) return false;
    const Stamp first = fences_->first[warp_of(stamp)];
    return first >= epoch_ && first <= stamp;
}

MemoryOrder::Clock MemoryOrder::release(std::uint32_t warp) {
    Clock released;
    for (std::uint32_t other = 0; other < max_warps; ++other) released[other] = epoch_between(other, warp);
    released[warp] = pass_tick();
    return released;
}

void MemoryOrder::barrier_arrive(std::uint32_t warp, const BarrierArrival& arrival) {
    if (arrival.expected == 0) return; // its completion orders all
    Barrier& barrier = barriers_[arrival.barrier];
    const Stamp next = pass_tick();
    join(barrier.clock, clocks_[warp]);
    barrier.clock[warp] = next;
    if (arrival.waits)
        barrier.waiting |= 1u << warp;
    else
        barrier.has_arrivals = true;
}

void MemoryOrder::barrier_complete(const Block& block, const BarrierCompletion& completion) {
    const Barrier barrier = std::exchange(barriers_[completion.barrier], {});
    const Stamp next = pass_tick();
    // Without a number of threads, the barrier has also waited for threads that have exited.
    const auto all_have_come = [&] {
        std::uint64_t arrived = 0;
        for (const LaneMask lanes : completion.arrived)
            arrived += static_cast<std::uint64_t>(std::popcount(lanes));
        return arrived == block.grid().configuration.block.count();
    };
    const bool all_wait = !barrier.has_arrivals && (completion.expected == 0 || all_have_come());
    if (all_wait) {
        epoch_ = next;
        if (fences_) fences_->released.clear();
        return;
    }
    for_each_lane(barrier.waiting,
                  [&](int warp) { join(clocks_[static_cast<std::size_t>(warp)], barrier.clock); });
}

void MemoryOrder::warp_barrier_arrive(const Warp& warp, LaneMask lanes) {
    const Stamp next = pass_tick();
    const std::uint32_t index = warp.index();
    if ((warp.live() & ~lanes) == 0) {
        clocks_[index][index] = next;
        return;
    }
    auto& clocks = lane_clocks_[index];
    if (!clocks) clocks = std::make_unique<LaneClocks>();
    Clock common{};
    for_each_lane(lanes, [&](int lane) { join(common, (*clocks)[static_cast<std::size_t>(lane)]); });
    for_each_lane(lanes, [&](int lane) { common[static_cast<std::size_t>(lane)] = next; });
    for_each_lane(lanes, [&](int lane) { (*clocks)[static_cast<std::size_t>(lane)] = common; });
}

void MemoryOrder::fenced(std::uint32_t warp) {
    if (!fences_) fences_ = std::make_unique<Fences>();
    join(clocks_[warp], fences_->seen[warp]);
    const Stamp next = pass_tick();
    if (fences_->first[warp] < epoch_) fences_->first[warp] = next;
    fences_->last[warp] = next;
    fences_->sent[warp] = clocks_[warp];
    fences_->sent[warp][warp] = next;
}

void MemoryOrder::acquire_from(std::uint32_t warp, std::uint64_t place, bool acquires) {
    if (!fences_) return;
    const auto clock = fences_->released.find(place);
    if (clock == fences_->released.end()) return;
    join(acquires ? clocks_[warp] : fences_->seen[warp], clock->second);
}

void MemoryOrder::release_to(std::uint32_t warp, std::uint64_t place) {
    if (can_release(warp)) join(fences_->released[place], fences_->sent[warp]);
}

void MemoryOrder::waited_at_mbarrier(std::uint32_t warp, std::uint64_t place) {
    const auto released = mbarriers_.find(place);
    if (released != mbarriers_.end()) join(clocks_[warp], released->second);
}

} // namespace emulator
