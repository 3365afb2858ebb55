#include "emulator/memory/device_heap.hpp"

#include <algorithm>
#include <iterator>

namespace emulator {

std::uint64_t DeviceHeap::allocate(std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    const std::size_t size = std::max(unit, (bytes + unit - 1) / unit * unit);
    if (size < bytes) return 0;
    const auto find_room = [&] {
        return std::find_if(free_.begin(), free_.end(),
                            [&](const auto& piece) { return piece.second >= size; });
    };
    auto found = find_room();
    if (found == free_.end() && !freed_.empty()) {
        for (const auto& [address, bytes_there] : freed_) give_back(address, bytes_there);
        freed_.clear();
        for (auto& units : is_freed_) units = 0;
        has_freed_ = false;
        found = find_room();
    }
    if (found == free_.end()) return 0;
    const auto [address, room] = *found;
    free_.erase(found);
    if (room > size) free_[address + size] = room - size;
    taken_[address] = size;
    return address;
}

std::size_t DeviceHeap::release(std::uint64_t address) {
    const std::lock_guard lock(mutex_);
    const auto found = taken_.find(address);
    if (found == taken_.end()) return 0;
    const std::size_t bytes = found->second;
    taken_.erase(found);
    if (units_ == 0) {
        give_back(address, bytes);
        return bytes;
    }
    freed_.emplace(address, bytes);
    for (std::size_t k = (address - first_) / unit; k < (address + bytes - first_) / unit; ++k)
        is_freed_[k / 64].fetch_or(std::uint64_t{1} << k % 64, std::memory_order_relaxed);
    has_freed_ = true;
    return bytes;
}

std::uint64_t DeviceHeap::freed(std::uint64_t address) const {
    const std::lock_guard lock(mutex_);
    const auto after = freed_.upper_bound(address);
    return after == freed_.begin() ? address : std::prev(after)->first;
}

void DeviceHeap::give_back(std::uint64_t address, std::size_t bytes) {
    auto piece = free_.emplace(address, bytes).first;
    const auto joins = [](auto first, auto second) { return first->first + first->second == second->first; };
    if (const auto next = std::next(piece); next != free_.end() && joins(piece, next)) {
        piece->second += next->second;
        free_.erase(next);
    }
    if (piece != free_.begin() && joins(std::prev(piece), piece)) {
        std::prev(piece)->second += piece->second;
        free_.erase(piece);
    }
}

} // namespace emulator
