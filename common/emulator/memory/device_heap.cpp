#include "emulator/memory/device_heap.hpp"

#include <algorithm>
#include <iterator>

namespace emulator {

std::uint64_t DeviceHeap::allocate(std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    constexpr std::size_t alignment = 16;
    const std::size_t size = std::max(alignment, (bytes + alignment - 1) / alignment * alignment);
    if (size < bytes) return 0;
    const auto found =
        std::find_if(free_.begin(), free_.end(), [&](const auto& piece) { return piece.second >= size; });
    if (found == free_.end()) return 0;
    const auto [address, room] = *found;
    free_.erase(found);
    if (room > size) free_[address + size] = room - size;
    taken_[address] = size;
    return address;
}

bool DeviceHeap::release(std::uint64_t address) {
    if (address == 0) return true;
    const std::lock_guard lock(mutex_);
    const auto found = taken_.find(address);
    if (found == taken_.end()) return false;
    auto piece = free_.emplace(address, found->second).first;
    taken_.erase(found);
    const auto joins = [](auto first, auto second) { return first->first + first->second == second->first; };
    if (const auto next = std::next(piece); next != free_.end() && joins(piece, next)) {
        piece->second += next->second;
        free_.erase(next);
    }
    if (piece != free_.begin() && joins(std::prev(piece), piece)) {
        std::prev(piece)->second += piece->second;
        free_.erase(piece);
    }
    return true;
}

} // namespace emulator
