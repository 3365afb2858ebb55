/// The emulated device's global memory: every allocation that a kernel may touch.
#pragma once

#include "emulator/memory/device_heap.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace emulator {

/// A run of bytes that a kernel may access. A device address is the address of the same byte in this process,
/// so that host code (managed memory, copies) and kernels see one memory.
struct Allocation {
    std::uint64_t address = 0;
    std::size_t bytes = 0;
    std::string origin;   ///< its creator, for error messages: "cudaMalloc #3", "variable table"
    bool writable = true; ///< false for constant memory
    int device = on_host; ///< on which it lies
    std::uint64_t reach = ~std::uint64_t{0}; ///< bit d: kernels of device d may access it

    static constexpr int on_host = -1; ///< or managed: all devices may access it

    std::uint64_t end() const { return address + bytes; }
    bool contains(std::uint64_t first, std::size_t count) const {
        return first >= address && count <= bytes && first - address <= bytes - count;
    }
    bool is_reached_by(int kernels_device) const { return (reach >> kernels_device & 1) != 0; }
};

/// "cudaMalloc #3, 4,096 bytes"
std::string describe(const Allocation& allocation);

/// An allocation that has ended.
struct FreedAllocation {
    Allocation allocation;
    std::string by; ///< what ended it: "cudaFree #2"
};

/// Owns the allocations of all devices, which share one address space. Not synchronized: the runtime admits one API
/// call or launch at a time.
class GlobalMemory {
public:
    static constexpr int poison = 0xCD; ///< each byte of fresh memory, which may hold anything: so not zeros

    GlobalMemory() = default;
    ~GlobalMemory();
    GlobalMemory(const GlobalMemory&) = delete;
    GlobalMemory& operator=(const GlobalMemory&) = delete;

    /// Returns a new allocation of `bytes` > 0 bytes at a page boundary (the device promises 256 bytes),
    /// followed by an unused page. Its bytes are poisoned: fresh device memory is not zeroed. \throws Error
    /// out_of_memory when the machine does not have that much memory available.
    const Allocation& allocate(std::size_t bytes, std::string origin, bool writable = true);

    /// From now on, each allocation lies behind the one before, from `address` (a multiple of 64 KiB) on: so
    /// that another process may have the same memory at the same addresses. No address is used again. What
    /// lies there already is passed over; where it is large, the system chooses the place, as after
    /// place_from(0). In WebAssembly the caller must own this memory.
    void place_from(std::uint64_t address) { next_ = address; }

    /// From now on, an allocation takes addresses, and memory only where it is written: its bytes are 0, and
    /// there may be more of them than the machine has.
    void allocate_untouched() { untouched_ = true; }
    bool allocates_untouched() const { return untouched_; }

    /// Makes host memory that this object does not own (pinned host memory) accessible to kernels.
    const Allocation& adopt(void* first, std::size_t bytes, std::string origin);

    /// Moves the allocation that starts at `address` to a device; `reach` as in Allocation.
    void place(std::uint64_t address, int device, std::uint64_t reach);

    /// Ends the allocation that starts at `address`. Returns false when there is none. `by`: see
    /// FreedAllocation.
    bool release(std::uint64_t address, std::string by = {});
    /// How many have ended. While it stays the same, what was accessible is so still.
    std::uint64_t releases() const { return releases_; }

    /// From now on, remembers the most recently freed allocations and does not reuse their addresses, so that
    /// an access to one is not mistaken for an access to its successor.
    void remember_freed() { remembers_freed_ = true; }

    /// The freed allocation that last held `address`, or null if there is none or it is forgotten.
    const FreedAllocation* freed(std::uint64_t address) const;

    /// All, by address.
    std::vector<const Allocation*> allocations() const;

    /// The allocation that holds `address`, or null.
    const Allocation* find(std::uint64_t address) const;

    /// The allocation with `address` in it, in its last page or in the unused page after that; or null.
    const Allocation* around(std::uint64_t address) const;

    /// The allocation that ends or starts closest to `address`, or null when there is none: for error
    /// messages.
    const Allocation* nearest(std::uint64_t address) const;

    /// The heap of a device's code; null until a kernel that uses it has been launched there.
    DeviceHeap* heap(int device) const;
    void prepare_heap(int device);
    void release_heap(int device);

    /// Sets the heap's size. Returns false if the heap exists already.
    bool set_heap_bytes(int device, std::size_t bytes);

    /// Bytes that can still be allocated, and all of this machine's memory.
    static std::size_t available_bytes();
    static std::size_t total_bytes();
    /// \throws Error out_of_memory if the system would promise these bytes, and does not have them.
    static void require_available(std::size_t bytes);

private:
    struct Entry {
        Allocation allocation;
        std::size_t mapped_bytes = 0; ///< 0: adopted, not ours to unmap
    };
    struct FreedEntry {
        FreedAllocation freed;
        std::size_t mapped_bytes = 0;
    };

    void remember(const Entry& entry, std::string by);

    struct Heap {
        std::size_t bytes = DeviceHeap::default_bytes;
        std::uint64_t address = 0;
        std::unique_ptr<DeviceHeap> heap = nullptr;
    };
    std::map<int, Heap> heaps_; ///< by device
    std::map<std::uint64_t, Entry> entries_;
    std::uint64_t next_ = 0; ///< see place_from(); 0: anywhere
    std::uint64_t releases_ = 0;
    bool remembers_freed_ = false, untouched_ = false;
    std::map<std::uint64_t, FreedEntry> freed_;
    std::deque<std::uint64_t> freed_order_; // the first address of each in freed_, longest ago first
};

} // namespace emulator
