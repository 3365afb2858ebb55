#include "emulator/machine/mbarrier_waits.hpp"

#include "emulator/machine/block.hpp"
#include "emulator/machine/describe.hpp"
#include "emulator/machine/mbarrier.hpp"
#include "emulator/program/spin_loops.hpp"
#include "emulator/text.hpp"

#include <algorithm>
#include <cstdlib>

namespace emulator {

void MbarrierWaits::asked_in_vain(const Warp& warp, const Instruction& instruction, int lane, Block& owner,
                                  std::uint64_t offset, bool phase) {
    if (warps_.size() <= warp.index()) warps_.resize(warp.index() + 1);
    LanesOfWarp& of_warp = warps_[warp.index()];
    of_warp.asking |= LaneMask{1} << lane;
    of_warp.waits[static_cast<std::size_t>(lane)] = {warp.running().frame->code, &instruction, &owner, offset,
                                                     phase};
}

void MbarrierWaits::phase_is_over(const Warp& warp, int lane) {
    if (warp.index() < warps_.size()) warps_[warp.index()].asking &= ~(LaneMask{1} << lane);
}

bool MbarrierWaits::are_stuck(const Warp& warp, LaneMask lanes) {
    if (warp.index() >= warps_.size() || (lanes & ~warps_[warp.index()].asking) != 0) return false;
    const std::vector<Group> groups = of(warp, lanes);
    return std::all_of(groups.begin(), groups.end(),
                       [&](const Group& group) { return is_stuck(group.wait); });
}

bool MbarrierWaits::is_stuck(const Wait& wait) {
    const auto [known, is_new] = spins_on_phase_.try_emplace(wait.instruction);
    if (is_new) known->second = spins_on_phase(*wait.code, wait.code->index_of(*wait.instruction));
    if (!known->second || wait.owner->async_copies().may_arrive_at(wait.offset)) return false;
    const auto missing = Mbarrier(*wait.owner, wait.offset).missing();
    return missing && missing->phase == wait.phase;
}

std::vector<MbarrierWaits::Group> MbarrierWaits::of(const Warp& warp, LaneMask lanes) const {
    std::vector<Group> groups;
    if (warp.index() >= warps_.size()) return groups;
    const LanesOfWarp& of_warp = warps_[warp.index()];
    for_each_lane(lanes & of_warp.asking, [&](int lane) {
        const Wait& wait = of_warp.waits[static_cast<std::size_t>(lane)];
        const auto same = std::find_if(groups.begin(), groups.end(),
                                       [&](const Group& group) { return group.wait == wait; });
        if (same == groups.end())
            groups.push_back({wait, LaneMask{1} << lane});
        else
            same->lanes |= LaneMask{1} << lane;
    });
    return groups;
}

std::string in_words(const MbarrierWaits::Wait& wait) {
    std::string text = "at the mbarrier at " + hexadecimal(wait.offset) + " (" +
                       shared_variable(wait.owner->grid(), wait.offset) + ")";
    const auto missing = Mbarrier(*wait.owner, wait.offset).missing();
    if (!missing) return text;
    text += ", which lacks " + thousands(missing->arrivals) + " of " + thousands(missing->of) +
            (missing->of == 1 ? " arrival" : " arrivals");
    const std::uint64_t bytes = static_cast<std::uint64_t>(std::abs(missing->bytes));
    if (missing->bytes > 0) text += " and " + byte_count(bytes) + " of copies";
    if (missing->bytes < 0) text += ", and got " + byte_count(bytes) + " more of copies than are expected";
    return text;
}

} // namespace emulator
