#include "emulator/check/race/cluster_order.hpp"

#include "emulator/program/lanes.hpp"

#include <algorithm>

namespace emulator {

void ClusterOrder::add_block(std::uint32_t rank, std::uint32_t number) {
    numbers_[rank] = number;
    blocks_ = std::max<std::size_t>(blocks_, rank + 1);
}

void ClusterOrder::wait(std::uint32_t rank, std::uint32_t warp, bool ended) {
    if (ended)
        waited_[rank][warp] = phases_;
    else
        waiting_[rank] |= 1u << warp;
}

void ClusterOrder::phase_ended() {
    ended_[phases_++ % 2] = released_;
    for (std::size_t rank = 0; rank < blocks_; ++rank) {
        for_each_lane(waiting_[rank],
                      [&](int warp) { waited_[rank][static_cast<std::size_t>(warp)] = phases_; });
        waiting_[rank] = 0;
    }
}

void ClusterOrder::block_met(std::uint32_t rank) {
    auto& waited = waited_[rank];
    waited.fill(*std::max_element(waited.begin(), waited.end()));
}

void ClusterOrder::forget(std::uint32_t rank) {
    released_[rank] = {};
    for (Clocks& clocks : ended_) clocks[rank] = {};
}

bool ClusterOrder::is_before(std::uint32_t phases, std::uint32_t number, Stamp stamp) const {
    if (phases == 0) return false;
    const auto end = numbers_.begin() + static_cast<std::ptrdiff_t>(blocks_);
    const auto found = std::find(numbers_.begin(), end, number);
    if (found == end) return false;
    const auto rank = static_cast<std::size_t>(found - numbers_.begin());
    return stamp < ended_[(phases - 1) % 2][rank][warp_of(stamp)];
}

bool ClusterOrder::knows(std::uint32_t rank, std::uint32_t warp, std::uint32_t number, Stamp stamp) const {
    return is_before(waited_[rank][warp], number, stamp);
}

bool ClusterOrder::knows(std::uint32_t rank, std::uint32_t number, Stamp stamp) const {
    return is_before(*std::max_element(waited_[rank].begin(), waited_[rank].end()), number, stamp);
}

} // namespace emulator
