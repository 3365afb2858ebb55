/// \file
/// The heap of device code, for malloc and new.
#pragma once

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

    DeviceHeap(std::uint64_t address, std::size_t bytes) { free_[address] = bytes; }

    /// The address of `bytes` bytes, at a multiple of 16; 0 if there is no room.
    std::uint64_t allocate(std::size_t bytes);

    /// False: no piece begins there. A null pointer is freed without effect.
    bool release(std::uint64_t address);

private:
    std::mutex mutex_;
    std::map<std::uint64_t, std::size_t> free_, taken_; ///< sizes by address
};

} // namespace emulator
