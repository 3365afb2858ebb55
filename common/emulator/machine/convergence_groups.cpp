#include "emulator/machine/convergence_groups.hpp"

#include "emulator/machine/schedule.hpp"

#include <algorithm>
#include <cstddef>

namespace emulator {

namespace {

// Before spinning lanes take turns with those that they may wait for.
constexpr std::uint64_t instructions_before_turns = 10'000;

/// Deeper call frames first, so that all lanes return before the caller goes on. Then the lowest program
/// counter.
bool runs_before(const ConvergenceGroup& a, const ConvergenceGroup& b) {
    if (a.frame->depth != b.frame->depth) return a.frame->depth > b.frame->depth;
    return a.pc < b.pc;
}

} // namespace

void ConvergenceGroups::start(Frame& frame, LaneMask lanes) {
    others_.clear();
    running_ = {&frame, 0, lanes, Wait::nothing, 0, 0, 0};
    slice_ = 0;
    in_turns_ = false;
}

void ConvergenceGroups::send(LaneMask lanes, std::uint32_t target) {
    ConvergenceGroup sent = running_;
    sent.lanes = lanes;
    sent.pc = target;
    running_.lanes &= ~lanes;
    others_.push_back(sent);
}

void ConvergenceGroups::diverge_randomly() {
    if (!schedule_->diverges() || !schedule_->once_in(8)) return;
    const LaneMask behind = running_.lanes & static_cast<LaneMask>(schedule_->below(std::uint64_t{1} << 32));
    if (behind != running_.lanes && behind != 0) send(behind, running_.pc);
}

void ConvergenceGroups::reschedule() {
    if (running_.lanes != 0) others_.push_back(running_);
    running_.lanes = 0;
    if (!schedule_ || !schedule_->diverges() || schedule_->once_in(4)) reconverge();

    ConvergenceGroup& chosen = schedule_ ? choose_at_random() : choose();
    running_ = chosen;
    running_.chosen = ++choices_;
    chosen = others_.back();
    others_.pop_back();
}

void ConvergenceGroups::reconverge() {
    for (std::size_t i = 0; i < others_.size(); ++i) {
        for (std::size_t j = others_.size() - 1; j > i; --j) {
            const ConvergenceGroup& a = others_[i];
            const ConvergenceGroup& b = others_[j];
            if (a.wait != Wait::nothing || b.wait != Wait::nothing || a.frame != b.frame || a.pc != b.pc)
                continue;
            others_[i].lanes |= b.lanes;
            others_.erase(others_.begin() + static_cast<std::ptrdiff_t>(j));
        }
    }
}

ConvergenceGroup& ConvergenceGroups::choose() {
    ConvergenceGroup* best = nullptr;
    for (ConvergenceGroup& candidate : others_) {
        if (candidate.wait != Wait::nothing) continue;
        if (!best || (in_turns_ ? candidate.chosen < best->chosen : runs_before(candidate, *best)))
            best = &candidate;
    }
    return best ? *best : others_.back();
}

ConvergenceGroup& ConvergenceGroups::choose_at_random() {
    ConvergenceGroup* chosen = &others_.back();
    std::uint64_t ready = 0;
    for (ConvergenceGroup& candidate : others_)
        if (candidate.wait == Wait::nothing && schedule_->once_in(++ready)) chosen = &candidate;
    return *chosen;
}

std::uint32_t ConvergenceGroups::reconvergence_point() const {
    std::uint32_t result = UINT32_MAX;
    for (const ConvergenceGroup& other : others_)
        if (other.wait == Wait::nothing && other.frame == running_.frame && other.pc > running_.pc)
            result = std::min(result, other.pc);
    return result;
}

void ConvergenceGroups::executed(std::uint64_t count) {
    slice_ = others_.empty() ? 0 : slice_ + count;
    if (slice_ < instructions_before_turns) return;
    in_turns_ = !in_turns_;
    slice_ = 0;
}

void ConvergenceGroups::release_block_barrier(std::uint32_t barrier, std::uint32_t truths,
                                              std::uint32_t threads) {
    const auto release = [&](ConvergenceGroup& converged) {
        if (converged.wait != Wait::block_barrier || converged.barrier != barrier) return;
        const Instruction& instruction = converged.frame->code->instructions[converged.pc];
        if (instruction.destination != no_row) {
            const BarrierReduction reduction = instruction.detail_as<BarrierDetail>().reduction;
            std::byte* const row = converged.frame->rows + instruction.destination;
            if (reduction == barrier_popc) {
                for_each_lane(converged.lanes,
                              [&](int lane) { reinterpret_cast<std::uint32_t*>(row)[lane] = truths; });
            } else {
                const bool result = reduction == barrier_and ? truths == threads : truths != 0;
                auto& predicate = *reinterpret_cast<LaneMask*>(row);
                predicate = (predicate & ~converged.lanes) | (result ? converged.lanes : 0);
            }
        }
        converged.wait = Wait::nothing;
        ++converged.pc;
    };
    for_each(release);
}

LaneMask ConvergenceGroups::release_cluster_barrier() {
    LaneMask released = 0;
    const auto release = [&](ConvergenceGroup& converged) {
        if (converged.wait != Wait::cluster_barrier) return;
        released |= converged.lanes;
        converged.wait = Wait::nothing;
        ++converged.pc;
    };
    for_each(release);
    return released;
}

} // namespace emulator
