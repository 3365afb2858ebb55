#include "emulator/runtime/device_memory.hpp"

#include "emulator/runtime/observation.hpp"

#include <cstring>

namespace emulator {
namespace {

const char* call_behind(MemoryKind kind) {
    switch (kind) {
    case MemoryKind::device: return "cudaMalloc";
    case MemoryKind::managed: return "cudaMallocManaged";
    case MemoryKind::host: return "cudaMallocHost";
    case MemoryKind::registered: return "cudaHostRegister";
    case MemoryKind::array: return "cudaMallocArray";
    }
    return "";
}

} // namespace

DeviceMemory::DeviceMemory() {
    Observation* const observation = Observation::instance();
    if (!observation) return;
    global_.place_from(observation->first_address());
    if (observation->only_estimates()) global_.allocate_untouched();
    listeners_ = observation->memory_listeners();
    if (listeners_.empty()) return;
    global_.remember_freed();
    arrays_.remember_freed();
}

template <class Event> void DeviceMemory::tell(Event event) const {
    if (listeners_.empty()) return;
    for (MemoryEvents* const listener : listeners_) event(*listener);
    Observation::instance()->write_findings();
}

DeviceMemory::~DeviceMemory() {
    tell([](MemoryEvents& listener) { listener.device_reset(); });
}

std::string DeviceMemory::next_name(MemoryKind kind) {
    return std::string(call_behind(kind)) + " #" +
           std::to_string(++allocations_made_[static_cast<std::size_t>(kind)]);
}

void* DeviceMemory::allocate(std::size_t bytes, MemoryKind kind, unsigned int flags) {
    const bool is_zeroed = kind == MemoryKind::managed || kind == MemoryKind::host;
    if (is_zeroed && global_.allocates_untouched())
        GlobalMemory::require_available(bytes); // the host may fill it
    const Allocation& allocation = memory_of(kind).allocate(bytes, next_name(kind));
    notes_.insert_or_assign(allocation.address, Note{kind, flags});
    // Pages that the host can write to start as zeros, and programs may rely on it. Untouched ones are zeros.
    if (is_zeroed && !global_.allocates_untouched())
        std::memset(reinterpret_cast<void*>(allocation.address), 0, bytes);
    if (host_writes(kind)) ++host_allocations_;
    tell([&](MemoryEvents& listener) { listener.allocated(allocation, host_writes(kind)); });
    return reinterpret_cast<void*>(allocation.address);
}

void DeviceMemory::place(void* first, std::size_t bytes) {
    const Allocation& allocation = global_.adopt(first, bytes, next_name(MemoryKind::device));
    notes_.insert_or_assign(allocation.address, Note{MemoryKind::device, 0});
    if (!global_.allocates_untouched()) std::memset(first, GlobalMemory::poison, bytes);
    tell([&](MemoryEvents& listener) { listener.allocated(allocation, false); });
}

void DeviceMemory::adopt(void* first, std::size_t bytes, unsigned int flags) {
    const Allocation& allocation = global_.adopt(first, bytes, next_name(MemoryKind::registered));
    notes_.insert_or_assign(allocation.address, Note{MemoryKind::registered, flags});
    ++host_allocations_;
}

bool DeviceMemory::release(const void* pointer, MemoryKind kind, const std::string& call) {
    const auto address = reinterpret_cast<std::uint64_t>(pointer);
    const auto note = notes_.find(address);
    if (note == notes_.end() || note->second.kind != kind) return false;
    tell([&](MemoryEvents& listener) { listener.freed(*memory_of(kind).find(address)); });
    memory_of(kind).release(address, call + " #" + std::to_string(++frees_made_[call]));
    notes_.erase(note);
    if (host_writes(kind)) --host_allocations_;
    return true;
}

void DeviceMemory::was_copied(const void* to, const void* from, std::size_t bytes) const {
    if (listeners_.empty()) return;
    const auto source = reinterpret_cast<std::uint64_t>(from), target = reinterpret_cast<std::uint64_t>(to);
    const bool from_device = holds(source), to_device = holds(target);
    tell([&](MemoryEvents& listener) {
        if (from_device && to_device) listener.copied(source, target, bytes);
        if (from_device && !to_device) listener.read(source, bytes);
        if (!from_device && to_device) listener.written(target, bytes);
    });
}

void DeviceMemory::was_set(const void* to, std::size_t bytes) const {
    tell([&](MemoryEvents& listener) { listener.written(reinterpret_cast<std::uint64_t>(to), bytes); });
}

void DeviceMemory::was_rejected(const RejectedCall& call) const {
    const bool was_array = arrays_.around(call.address) || arrays_.freed(call.address);
    tell([&](MemoryEvents& listener) { listener.rejected(call, was_array ? arrays_ : global_); });
}

const Allocation* DeviceMemory::find_array(const void* handle) const {
    const auto address = reinterpret_cast<std::uint64_t>(handle);
    const Allocation* const found = arrays_.find(address);
    return found && found->address == address ? found : nullptr;
}

MemoryKind DeviceMemory::kind_of(const Allocation& allocation) const {
    if (const auto note = notes_.find(allocation.address); note != notes_.end()) return note->second.kind;
    return managed_variables_.contains(allocation.address) ? MemoryKind::managed : MemoryKind::device;
}

unsigned int DeviceMemory::flags_of(const Allocation& allocation) const {
    const auto note = notes_.find(allocation.address);
    return note == notes_.end() ? 0 : note->second.flags;
}

} // namespace emulator
