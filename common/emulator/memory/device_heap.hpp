/// The heap of device code, for malloc and new.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

namespace emulator {

/// Pieces of one allocation, for all host threads.
class DeviceHeap {
public:
    /// As on the device, unless cudaDeviceSetLimit says so.
    static constexpr std::size_t default_bytes = 8 << 20;

    /// `remembers_freed`: gives the place of a freed piece again only when there is no other room.
    DeviceHeap(std::uint64_t address, std::size_t bytes, bool remembers_freed = false)
        : first_(address), units_(remembers_freed ? bytes / unit : 0), is_freed_(units_ / 64 + 1) {
        free_[address] = bytes;
    }

    /// The address of `bytes` bytes, at a multiple of 16; 0 if there is no room.
    std::uint64_t allocate(std::size_t bytes);

    /// Frees the piece that begins there. Returns its bytes; 0: there is none.
    std::size_t release(std::uint64_t address);

    /// Whether a freed and remembered piece holds `address`. Takes no lock: all accesses of kernels ask.
    bool is_freed(std::uint64_t address) const {
        const std::uint64_t place = (address - first_) / unit;
        return place < units_ &&
               (is_freed_[place / 64].load(std::memory_order_relaxed) >> place % 64 & 1) != 0;
    }
    /// Where that piece begins.
    std::uint64_t freed(std::uint64_t address) const;
    /// Whether one may lie between the two addresses.
    bool may_be_freed(std::uint64_t first, std::uint64_t last) const {
        return first < first_ + units_ * unit && last >= first_ && has_freed_.load(std::memory_order_relaxed);
    }

private:
    static constexpr std::size_t unit = 16; ///< pieces consist of these

    void give_back(std::uint64_t address, std::size_t bytes);

    const std::uint64_t first_, units_;                ///< no units: it remembers nothing
    std::vector<std::atomic<std::uint64_t>> is_freed_; ///< a bit for each unit
    std::atomic<bool> has_freed_ = false;              ///< and remembered
    mutable std::mutex mutex_;
    std::map<std::uint64_t, std::size_t> free_, taken_, freed_; ///< sizes by address
};

} // namespace emulator
