#include "emulator/check/race/grid_order.hpp"

#include <algorithm>

namespace emulator {

bool GridOrder::View::any_knows(std::uint32_t block, Stamp stamp) const {
    return std::any_of(known_.begin(), known_.end(),
                       [&](const GridClock& known) { return known.knows(block, stamp); });
}

void GridOrder::start(View& view, std::uint32_t block, std::uint32_t cluster) const {
    if (view.has_known_ || view.has_fenced_) view = {};
    view.block_ = block;
    view.cluster_ = cluster;
    view.history_ = nullptr;
}

void GridOrder::forget() {
    released_.clear();
    released_in_cluster_.clear();
    history_.clear();
}

void GridOrder::forget(View& view) const {
    const std::uint32_t block = view.block_, cluster = view.cluster_;
    view = {};
    view.block_ = block;
    view.cluster_ = cluster;
}

GridClock GridOrder::knowledge(const View& view, std::uint32_t warp, const Clock& own) const {
    GridClock known = view.known_[warp];
    known.join(view.block_, own);
    return known;
}

void GridOrder::learn(View& view, std::uint32_t warp, const GridClock& clock) {
    if (clock.empty()) return;
    view.known_[warp].join(clock);
    view.has_known_ = true;
}

void GridOrder::fenced(View& view, std::uint32_t warp, Scope scope, const Clock& own) {
    const std::size_t reaches = reaches_of(scope);
    if (reaches == 0) return;
    view.has_fenced_ = true;
    for (std::size_t reach = 0; reach < reaches; ++reach) learn(view, warp, view.seen_[reach][warp]);
    const GridClock now = knowledge(view, warp, own);
    for (std::size_t reach = 0; reach < reaches; ++reach) view.fenced_[reach][warp] = now;
}

void GridOrder::read(View& view, std::uint32_t warp, std::uint64_t place, Scope scope, bool acquires) const {
    const auto read_from = [&](std::size_t reach, const GridClock& clock) {
        GridClock& to = acquires ? view.known_[warp] : view.seen_[reach][warp];
        to.join(clock);
        view.has_known_ = true;
    };
    const std::size_t reaches = reaches_of(scope);
    if (reaches >= 1 && !released_in_cluster_.empty()) {
        const auto found = released_in_cluster_.find({place, view.cluster_});
        if (found != released_in_cluster_.end()) read_from(0, found->second);
    }
    if (reaches < 2) return;
    const auto found = released_.find(place);
    if (found != released_.end()) read_from(1, found->second);
}

void GridOrder::release(View& view, std::uint32_t warp, std::uint64_t place, Scope scope, const Clock* own) {
    for (std::size_t reach = 0; reach < reaches_of(scope); ++reach) {
        const GridClock clock = own ? knowledge(view, warp, *own) : view.fenced_[reach][warp];
        if (clock.empty()) continue;
        (reach == 0 ? released_in_cluster_[{place, view.cluster_}] : released_[place]).join(clock);
    }
}

void GridOrder::met(View& view, std::uint32_t warps) {
    const auto join_all = [&](View::Clocks& clocks) {
        GridClock all;
        for_each_lane(warps, [&](int warp) { all.join(clocks[static_cast<std::size_t>(warp)]); });
        for_each_lane(warps, [&](int warp) { clocks[static_cast<std::size_t>(warp)] = all; });
    };
    if (view.has_known_) {
        join_all(view.known_);
        for (auto& seen : view.seen_) join_all(seen);
    }
    if (!view.has_fenced_) return;
    for (auto& fenced : view.fenced_) join_all(fenced);
}

bool GridOrder::remember(View& view, const SyncEvent& event) {
    constexpr std::size_t kept = 64;
    if (!view.history_) view.history_ = &history_[view.block_];
    std::vector<SyncEvent>& history = *view.history_;
    if (!history.empty() && history.back().id == event.id &&
        warp_of(history.back().stamp) == warp_of(event.stamp)) {
        SyncEvent& last = history.back();
        last.stamp = event.stamp;
        last.first_place = std::min(last.first_place, event.first_place);
        last.last_place = std::max(last.last_place, event.last_place);
        return false;
    }
    if (history.size() == kept) history.erase(history.begin(), history.begin() + kept / 2);
    history.push_back(event);
    return true;
}

const std::vector<SyncEvent>& GridOrder::history(std::uint32_t block) const {
    static const std::vector<SyncEvent> none;
    const auto found = history_.find(block);
    return found == history_.end() ? none : found->second;
}

} // namespace emulator
