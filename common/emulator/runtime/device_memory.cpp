#include "emulator/runtime/device_memory.hpp"

namespace emulator {
namespace {

const char* call_behind(MemoryKind kind) {
    switch (kind) {
    case MemoryKind::device: return "cudaMalloc";
    case MemoryKind::managed: return "cudaMallocManaged";
    case MemoryKind::host: return "cudaMallocHost";
    case MemoryKind::registered: return "cudaHostRegister";
    }
    return "";
}

} // namespace

std::string DeviceMemory::next_name(MemoryKind kind) {
    return std::string(call_behind(kind)) + " #" +
           std::to_string(++allocations_made_[static_cast<std::size_t>(kind)]);
}

void* DeviceMemory::allocate(std::size_t bytes, MemoryKind kind, unsigned flags) {
    const Allocation& allocation = global_.allocate(bytes, next_name(kind));
    notes_.insert_or_assign(allocation.address, Note{kind, flags});
    return reinterpret_cast<void*>(allocation.address);
}

void DeviceMemory::adopt(void* first, std::size_t bytes, unsigned flags) {
    const Allocation& allocation = global_.adopt(first, bytes, next_name(MemoryKind::registered));
    notes_.insert_or_assign(allocation.address, Note{MemoryKind::registered, flags});
}

bool DeviceMemory::release(const void* pointer, MemoryKind kind) {
    const auto address = reinterpret_cast<std::uint64_t>(pointer);
    const auto note = notes_.find(address);
    if (note == notes_.end() || note->second.kind != kind || !global_.release(address)) return false;
    notes_.erase(note);
    return true;
}

MemoryKind DeviceMemory::kind_of(const Allocation& allocation) const {
    if (const auto note = notes_.find(allocation.address); note != notes_.end()) return note->second.kind;
    return managed_variables_.contains(allocation.address) ? MemoryKind::managed : MemoryKind::device;
}

unsigned DeviceMemory::flags_of(const Allocation& allocation) const {
    const auto note = notes_.find(allocation.address);
    return note == notes_.end() ? 0 : note->second.flags;
}

} // namespace emulator
