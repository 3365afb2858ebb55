#include "emulator/memory/global_memory.hpp"

#include "emulator/error.hpp"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <limits>
#include <sys/mman.h>
#include <unistd.h>

namespace emulator {

namespace {

constexpr int poison = 0xCD;

std::size_t page_bytes() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

} // namespace

GlobalMemory::~GlobalMemory() {
    for (const auto& [address, entry] : entries_)
        if (entry.mapped_bytes != 0) munmap(reinterpret_cast<void*>(address), entry.mapped_bytes);
}

std::size_t GlobalMemory::available_bytes() {
    std::ifstream file("/proc/meminfo");
    for (std::string name; file >> name;) {
        std::size_t kibibytes = 0;
        if (name == "MemAvailable:" && file >> kibibytes) return kibibytes * 1024;
        file.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
    }
    return static_cast<std::size_t>(sysconf(_SC_AVPHYS_PAGES)) * page_bytes();
}

std::size_t GlobalMemory::total_bytes() {
    return static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * page_bytes();
}

const Allocation& GlobalMemory::allocate(std::size_t bytes, std::string origin, bool writable) {
    const std::size_t page = page_bytes();
    // Small requests always fit; for large ones the system would promise more than it has.
    const bool too_much = bytes > (std::size_t{1} << 20) && bytes > available_bytes();
    void* memory = MAP_FAILED;
    const std::size_t mapped = too_much ? 0 : (bytes + page - 1) / page * page + page;
    if (!too_much) memory = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        throw Error(Failure::out_of_memory,
                    "cannot allocate " + std::to_string(bytes) + " bytes: this machine has " +
                        std::to_string(available_bytes()) + " bytes of memory available");
    mprotect(static_cast<std::byte*>(memory) + mapped - page, page, PROT_NONE);
    std::memset(memory, poison, bytes);
    const auto address = reinterpret_cast<std::uint64_t>(memory);
    return entries_.emplace(address, Entry{{address, bytes, std::move(origin), writable}, mapped})
        .first->second.allocation;
}

const Allocation& GlobalMemory::adopt(void* first, std::size_t bytes, std::string origin) {
    const auto address = reinterpret_cast<std::uint64_t>(first);
    return entries_.insert_or_assign(address, Entry{{address, bytes, std::move(origin), true}, 0})
        .first->second.allocation;
}

bool GlobalMemory::release(std::uint64_t address) {
    const auto found = entries_.find(address);
    if (found == entries_.end()) return false;
    if (found->second.mapped_bytes != 0) munmap(reinterpret_cast<void*>(address), found->second.mapped_bytes);
    entries_.erase(found);
    return true;
}

const Allocation* GlobalMemory::find(std::uint64_t address) const {
    auto next = entries_.upper_bound(address);
    if (next == entries_.begin()) return nullptr;
    const Allocation& candidate = std::prev(next)->second.allocation;
    return candidate.contains(address, 1) ? &candidate : nullptr;
}

const Allocation* GlobalMemory::nearest(std::uint64_t address) const {
    const auto next = entries_.upper_bound(address);
    const Allocation* const above = next == entries_.end() ? nullptr : &next->second.allocation;
    const Allocation* const below = next == entries_.begin() ? nullptr : &std::prev(next)->second.allocation;
    if (!above || !below) return above ? above : below;
    const std::uint64_t distance_below = address < below->end() ? 0 : address - below->end();
    return distance_below <= above->address - address ? below : above;
}

} // namespace emulator
