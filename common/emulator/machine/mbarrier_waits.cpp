#include "emulator/machine/mbarrier_waits.hpp"

#include "emulator/machine/block.hpp"
#include "emulator/machine/describe.hpp"
#include "emulator/machine/mbarrier.hpp"
#include "emulator/program/analyses.hpp"
#include "emulator/program/source_location.hpp"
#include "emulator/text.hpp"

#include <algorithm>
#include <cstdlib>

namespace emulator {

void MbarrierWaits::clear() {
    warps_.clear();
    notes_.clear();
}

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

bool MbarrierWaits::can_only_ask(const Wait& wait) {
    const auto [known, is_new] = spins_on_phase_.try_emplace(wait.instruction);
    if (is_new) known->second = spins_on_phase(*wait.code, wait.code->index_of(*wait.instruction));
    return known->second;
}

bool MbarrierWaits::is_stuck(const Wait& wait) {
    if (!can_only_ask(wait) || wait.owner->async_copies().may_arrive_at(wait.offset)) return false;
    const auto missing = Mbarrier(*wait.owner, wait.offset).missing();
    return missing && missing->phase == wait.phase;
}

/// Lanes that may have stopped asking are left out.
template <class Visit> void MbarrierWaits::for_each_waiting_lane(std::uint64_t offset, Visit visit) {
    for (LanesOfWarp& of_warp : warps_)
        for_each_lane(of_warp.asking, [&](int lane) {
            const Wait& wait = of_warp.waits[static_cast<std::size_t>(lane)];
            if (wait.offset == offset && can_only_ask(wait)) visit(of_warp, lane, wait);
        });
}

void MbarrierWaits::release_from(std::uint64_t offset, bool phase) {
    for_each_waiting_lane(offset, [&](LanesOfWarp& of_warp, int lane, const Wait& wait) {
        if (wait.phase == phase) return;
        of_warp.asking &= ~(LaneMask{1} << lane);
        of_warp.released |= LaneMask{1} << lane;
    });
}

bool MbarrierWaits::take_release(const Warp& warp, int lane, const Wait& wait) {
    if (warp.index() >= warps_.size()) return false;
    LanesOfWarp& of_warp = warps_[warp.index()];
    const LaneMask bit = LaneMask{1} << lane;
    const bool released =
        (of_warp.released & bit) != 0 && of_warp.waits[static_cast<std::size_t>(lane)] == wait;
    of_warp.released &= ~bit;
    return released;
}

void MbarrierWaits::note(std::uint64_t offset, bool was_valid, MbarrierUse use, const Code& code,
                         const Instruction& instruction) {
    const auto last = notes_.find(offset);
    bool is_in_use = was_valid && last != notes_.end() && last->second.use == MbarrierUse::initialize;
    for_each_waiting_lane(offset, [&](const LanesOfWarp&, int, const Wait&) { is_in_use = true; });
    notes_[offset] = {&code, &instruction, use, is_in_use};
}

std::string MbarrierWaits::last_note(std::uint64_t offset) const {
    const auto found = notes_.find(offset);
    if (found == notes_.end()) return "";
    const Note& note = found->second;
    const bool is_over = note.use == MbarrierUse::invalidate;
    if (!is_over && !note.was_in_use) return "";
    const std::uint32_t pc = note.code->index_of(*note.instruction);
    const std::string line = source_line(*note.code, pc);
    return std::string("; it was ") + (is_over ? "invalidated" : "initialized again while it was in use,") +
           " at " + (line.empty() ? ptx_statement(*note.code, pc) : line);
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
    return text + wait.owner->mbarrier_waits().last_note(wait.offset);
}

} // namespace emulator
