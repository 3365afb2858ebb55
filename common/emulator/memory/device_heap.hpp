/// \file
/// The heap of device code, for malloc and new.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>

namespace emulator {

/// Pieces of one allocation, for all host threads.
class DeviceHeap {
public:
    /// As on the device, unless cudaDeviceSetLimit says so.
    static constexpr std::size_t default_bytes = 8 << 20;

    /// `remembers_freed`: gives the place of a freed piece again only when there is no other room.
    DeviceHeap(std::uint64_t address, std::size_t bytes, bool remembers_freed = false)
        : first_(address), end_(address + bytes), remembers_freed_(remembers_freed) {
        free_[address] = bytes;
    }

    /// The address of `bytes` bytes, at a multiple of 16; 0 if there is no room.
    std::uint64_t allocate(std::size_t bytes);

    /// False: no piece begins there. A null pointer is freed without effect.
    bool release(std::uint64_t address);

    /// Where the freed and remembered piece begins that holds `address`; 0: there is none.
    std::uint64_t freed(std::uint64_t address) const;
    /// Whether a remembered piece may lie between the two addresses.
    bool may_be_freed(std::uint64_t first, std::uint64_t last) const {
        return first < end_ && last >= first_ && has_freed_.load(std::memory_order_relaxed);
    }

private:
    void give_back(std::uint64_t address, std::size_t bytes);

    const std::uint64_t first_, end_;
    const bool remembers_freed_;
    std::atomic<bool> has_freed_ = false; ///< and remembered
    mutable std::mutex mutex_;
    std::map<std::uint64_t, std::size_t> free_, taken_, freed_; ///< sizes by address
};

} // namespace emulator
