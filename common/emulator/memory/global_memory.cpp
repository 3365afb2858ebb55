#include "emulator/memory/global_memory.hpp"

#include "emulator/error.hpp"
#include "emulator/text.hpp"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <limits>
#include <sys/mman.h>
#include <unistd.h>

namespace emulator {

namespace {

constexpr std::size_t placed_page_bytes = 64 << 10; // the largest page of any system, and so the same on all
constexpr std::size_t max_gap = 64 << 20;           // for what lies in between, such as a program's heap
constexpr std::size_t max_remembered = 4096;        // freed allocations

std::size_t page_bytes() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

/// New memory, or MAP_FAILED. `address`: there and nowhere else; 0: anywhere.
void* map(std::uint64_t address, std::size_t mapped_bytes) {
    constexpr int access = PROT_READ | PROT_WRITE, kind = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    if (address == 0) return mmap(nullptr, mapped_bytes, access, kind, -1, 0);
    void* const place = reinterpret_cast<void*>(address);
#ifdef __EMSCRIPTEN__
    return place;
#else
    void* const memory = mmap(place, mapped_bytes, access, kind | MAP_FIXED_NOREPLACE, -1, 0);
    if (memory == place || memory == MAP_FAILED) return memory;
    munmap(memory, mapped_bytes); // a kernel before Linux 4.17 takes the address as a hint
    return MAP_FAILED;
#endif
}

void unmap(std::uint64_t address, std::size_t mapped_bytes) {
    if (mapped_bytes != 0) munmap(reinterpret_cast<void*>(address), mapped_bytes); // 0: adopted
}

Error out_of_memory(std::size_t bytes) {
    return {Failure::out_of_memory, "cannot allocate " + std::to_string(bytes) + " bytes: this machine has " +
                                        std::to_string(GlobalMemory::available_bytes()) +
                                        " bytes of memory available"};
}

/// The last of the entries that start at or before `address`, or the end.
template <class Entries> auto last_from(const Entries& entries, std::uint64_t address) {
    const auto next = entries.upper_bound(address);
    return next == entries.begin() ? entries.end() : std::prev(next);
}

} // namespace

std::string describe(const Allocation& allocation) {
    return allocation.origin + ", " + byte_count(allocation.bytes);
}

GlobalMemory::~GlobalMemory() {
    for (const auto& [address, entry] : entries_) unmap(address, entry.mapped_bytes);
    for (const auto& [address, entry] : freed_) unmap(address, entry.mapped_bytes);
}

std::size_t GlobalMemory::available_bytes() {
#ifdef __linux__
    std::ifstream file("/proc/meminfo");
    for (std::string name; file >> name;) {
        std::size_t kibibytes = 0;
        if (name == "MemAvailable:" && file >> kibibytes) return kibibytes * 1024;
        file.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
    }
#endif
    return static_cast<std::size_t>(sysconf(_SC_AVPHYS_PAGES)) * page_bytes();
}

std::size_t GlobalMemory::total_bytes() {
    return static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * page_bytes();
}

void GlobalMemory::require_available(std::size_t bytes) {
    if (bytes > (std::size_t{1} << 20) && bytes > available_bytes())
        throw out_of_memory(bytes); // small ones fit
}

const Allocation& GlobalMemory::allocate(std::size_t bytes, std::string origin, bool writable) {
    const std::size_t page = next_ != 0 ? placed_page_bytes : page_bytes();
    if (!untouched_) require_available(bytes);
    void* memory = MAP_FAILED;
    const std::size_t mapped = (bytes + page - 1) / page * page + page;
    const std::uint64_t farthest = next_ + max_gap;
    while (next_ != 0 && next_ <= farthest && memory == MAP_FAILED) {
        memory = map(next_, mapped);
        next_ += memory == MAP_FAILED ? placed_page_bytes : mapped;
    }
    if (memory == MAP_FAILED) memory = map(0, mapped);
    if (memory == MAP_FAILED) throw out_of_memory(bytes);
    mprotect(static_cast<std::byte*>(memory) + mapped - page, page, PROT_NONE);
    if (!untouched_) std::memset(memory, poison, bytes);
    const auto address = reinterpret_cast<std::uint64_t>(memory);
    return entries_.emplace(address, Entry{{address, bytes, std::move(origin), writable}, mapped})
        .first->second.allocation;
}

const Allocation& GlobalMemory::adopt(void* first, std::size_t bytes, std::string origin) {
    const auto address = reinterpret_cast<std::uint64_t>(first);
    return entries_.insert_or_assign(address, Entry{{address, bytes, std::move(origin), true}, 0})
        .first->second.allocation;
}

void GlobalMemory::place(std::uint64_t address, int device, std::uint64_t reach) {
    Allocation& allocation = entries_.at(address).allocation;
    allocation.device = device;
    allocation.reach = reach;
}

bool GlobalMemory::release(std::uint64_t address, std::string by) {
    ++releases_;
    const auto found = entries_.find(address);
    if (found == entries_.end()) return false;
    if (remembers_freed_)
        remember(found->second, std::move(by));
    else
        unmap(address, found->second.mapped_bytes);
    entries_.erase(found);
    return true;
}

void GlobalMemory::remember(const Entry& entry, std::string by) {
    const std::uint64_t address = entry.allocation.address;
    if (entry.mapped_bytes == 0) return; // the program still uses it
    // Keeps the addresses and returns the memory to the system. A failure is harmless: the memory just stays.
    void* const pages = reinterpret_cast<void*>(address);
    [[maybe_unused]] const void* const mapped = mmap(
        pages, entry.mapped_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    freed_.emplace(address, FreedEntry{{entry.allocation, std::move(by)}, entry.mapped_bytes});
    freed_order_.push_back(address);
    if (freed_order_.size() <= max_remembered) return;
    const auto oldest = freed_.find(freed_order_.front());
    unmap(oldest->first, oldest->second.mapped_bytes);
    freed_.erase(oldest);
    freed_order_.pop_front();
}

std::vector<const Allocation*> GlobalMemory::allocations() const {
    std::vector<const Allocation*> all;
    for (const auto& [address, entry] : entries_) all.push_back(&entry.allocation);
    return all;
}

const Allocation* GlobalMemory::find(std::uint64_t address) const {
    const auto entry = last_from(entries_, address);
    if (entry == entries_.end() || !entry->second.allocation.contains(address, 1)) return nullptr;
    return &entry->second.allocation;
}

const FreedAllocation* GlobalMemory::freed(std::uint64_t address) const {
    const auto entry = last_from(freed_, address);
    if (entry == freed_.end() || !entry->second.freed.allocation.contains(address, 1)) return nullptr;
    return &entry->second.freed;
}

const Allocation* GlobalMemory::around(std::uint64_t address) const {
    const auto entry = last_from(entries_, address);
    if (entry == entries_.end()) return nullptr;
    const Allocation& allocation = entry->second.allocation;
    return address - allocation.address < std::max(entry->second.mapped_bytes, allocation.bytes) ? &allocation
                                                                                                 : nullptr;
}

const Allocation* GlobalMemory::nearest(std::uint64_t address) const {
    const auto next = entries_.upper_bound(address);
    const Allocation* const above = next == entries_.end() ? nullptr : &next->second.allocation;
    const Allocation* const below = next == entries_.begin() ? nullptr : &std::prev(next)->second.allocation;
    if (!above || !below) return above ? above : below;
    const std::uint64_t distance_below = address < below->end() ? 0 : address - below->end();
    return distance_below <= above->address - address ? below : above;
}

DeviceHeap* GlobalMemory::heap(int device) const {
    const auto found = heaps_.find(device);
    return found == heaps_.end() ? nullptr : found->second.heap.get();
}

void GlobalMemory::prepare_heap(int device) {
    Heap& heap = heaps_[device];
    if (heap.heap) return;
    const Allocation& room = allocate(heap.bytes, "the heap of device code");
    place(room.address, device, std::uint64_t{1} << device);
    heap.address = room.address;
    heap.heap = std::make_unique<DeviceHeap>(room.address, room.bytes, remembers_freed_);
}

void GlobalMemory::release_heap(int device) {
    const auto found = heaps_.find(device);
    if (found == heaps_.end()) return;
    if (found->second.heap) release(found->second.address, "cudaDeviceReset");
    heaps_.erase(found);
}

bool GlobalMemory::set_heap_bytes(int device, std::size_t bytes) {
    Heap& heap = heaps_[device];
    if (heap.heap) return false;
    heap.bytes = std::max(bytes, std::size_t{1}); // no allocation is empty
    return true;
}

} // namespace emulator
