#include "emulator/machine/spin_watch.hpp"

#include "emulator/machine/block.hpp"

#include <algorithm>
#include <cstring>

namespace emulator {

namespace {

/// Turns in a row that have to repeat themselves. Groups of a diverged warp take turns too, after up to 20,000
/// instructions of one; a turn has at least 500.
constexpr std::uint32_t enough_repeats = 3, enough_repeats_of_groups = 64;
constexpr std::uint32_t turns_to_diverge = 32;
/// Nothing that spins accesses more words, or has more states.
constexpr std::size_t most_accessed = 256, most_seen = 4096;

void mix(std::uint64_t& hash, std::uint64_t value) {
    hash = (hash ^ value) * 0x9E3779B97F4A7C15u;
    hash ^= hash >> 32;
}

void mix(std::uint64_t& hash, const ConvergenceGroup& group) {
    mix(hash, std::uint64_t{group.lanes} << 32 | group.pc);
    mix(hash,
        std::uint64_t{group.members} << 32 | group.barrier << 8 | static_cast<std::uint32_t>(group.wait));
    for (const Frame* frame = group.lanes != 0 ? group.frame : nullptr; frame; frame = frame->caller) {
        mix(hash, reinterpret_cast<std::uintptr_t>(frame->call));
        std::array<std::uint64_t, 4> parts{}, words{};
        const std::uint32_t bytes = frame->code->frame_bytes;
        const auto mix_words = [&](std::uint32_t first, std::size_t count) {
            std::memcpy(words.data(), frame->rows + first, count);
            for (std::size_t i = 0; i < words.size(); ++i) mix(parts[i], words[i]);
        };
        std::uint32_t first = 0;
        for (; first + sizeof words <= bytes; first += sizeof words) mix_words(first, sizeof words);
        if (first != bytes) mix_words(first, bytes - first);
        for (const std::uint64_t part : parts) mix(hash, part);
    }
}

const std::byte* place_of(const Warp& warp, const Access& access, int lane) {
    const std::uint64_t address = access.addresses[lane];
    if (access.space == ptx::Space::global) return reinterpret_cast<const std::byte*>(address);
    if (access.space != ptx::Space::shared) return warp.local(lane) + address;
    const Block& owner = access.remote ? *access.remote : warp.block();
    return owner.shared().data() + address;
}

} // namespace

bool SpinWatch::Value::is_still_at(const std::byte* place) const {
    return std::memcmp(place, value.data(), bytes) == 0;
}

/// Memory that has ended can't be looked at: the block would notice.
bool SpinWatch::has_changed(const BlockState& state) const {
    return state.releases != memory_.releases() ||
           std::any_of(state.accessed.begin(), state.accessed.end(),
                       [](const auto& one) { return !one.second.is_still_at(one.first); });
}

bool SpinWatch::spins(const Block& block) {
    const auto found = blocks_.find(&block);
    if (found == blocks_.end() || !found->second.spins) return false;
    if (!has_changed(found->second)) return true;
    blocks_.erase(found);
    return false;
}

bool SpinWatch::may_spin(const Block& block) const {
    const auto found = blocks_.find(&block);
    return found != blocks_.end() && found->second.turns > turns_to_diverge;
}

void SpinWatch::accessed(const Warp& warp, const Instruction&, const Access& access) {
    if (changed_) return;
    const std::byte* last = nullptr;
    for_each_lane(access.active, [&](int lane) {
        const std::byte* const place = place_of(warp, access, lane);
        if (place == last) return;
        last = place;
        Value& value = accessed_[place];
        if (value.bytes >= access.bytes) return;
        value.bytes = access.bytes;
        std::memcpy(value.value.data(), place, access.bytes);
    });
    changed_ = accessed_.size() > most_accessed;
}

void SpinWatch::turn_ended(const Block& block, const TurnCounts&) {
    if (block.is_finished()) return;
    BlockState& state = blocks_[&block];
    if (state.accessed.empty()) state.releases = memory_.releases();
    for (const auto& [place, value] : accessed_) {
        Value& known = state.accessed[place];
        if (known.bytes < value.bytes) known = value;
    }
    if (changed_ || state.accessed.size() > most_accessed || has_changed(state)) state = {};
    ++state.turns;
    accessed_.clear();
    changed_ = false;
    state.warps.resize(block.warps().size());
    state.spins = true;
    for (const auto& warp : block.warps())
        if (!warp->finished() && !repeats(*warp, state.warps[warp->index()])) state.spins = false;
}

bool SpinWatch::repeats(const Warp& warp, WarpState& state) const {
    const auto is_ready = [](const ConvergenceGroup& group) {
        return group.lanes != 0 && group.wait == Wait::nothing;
    };
    const bool others_are_ready = std::any_of(warp.others().begin(), warp.others().end(), is_ready);
    if (!is_ready(warp.running()) && !others_are_ready) return true; // the whole warp waits at barriers
    std::uint64_t hash = warp.live();
    mix(hash, warp.running());
    for (const ConvergenceGroup& other : warp.others()) mix(hash, other);
    if (state.seen.size() >= most_seen) state.seen.clear();
    state.repeats = state.seen.insert(hash).second ? 0 : state.repeats + 1;
    return state.repeats >= (is_random_ || others_are_ready ? enough_repeats_of_groups : enough_repeats);
}

} // namespace emulator
