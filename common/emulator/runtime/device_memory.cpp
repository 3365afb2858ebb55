#include "emulator/runtime/device_memory.hpp"

#include "emulator/error.hpp"
#include "emulator/runtime/observation.hpp"

#include <algorithm>
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

DeviceMemory::DeviceMemory(int devices) : used_(static_cast<std::size_t>(devices)), operations_(devices) {
    for (int device = 0; device < devices; ++device) reach_.push_back(std::uint64_t{1} << device);
    Observation* const observation = Observation::instance();
    if (!observation) return;
    global_.place_from(observation->first_address());
    if (observation->only_estimates()) global_.allocate_untouched();
    listeners_ = observation->memory_listeners();
    if (listeners_.empty()) return;
    tell([&](MemoryEvents& listener) { listener.follows(operations_); });
    global_.remember_freed();
    arrays_.remember_freed();
}

template <class Event> void DeviceMemory::tell(Event event) const {
    if (listeners_.empty()) return;
    for (MemoryEvents* const listener : listeners_) event(*listener);
    Observation::instance()->write_findings();
}

std::size_t DeviceMemory::total_bytes() const { return GlobalMemory::total_bytes() / used_.size(); }

std::size_t DeviceMemory::available_bytes(int device) const {
    const std::size_t total = total_bytes(), used = used_[static_cast<std::size_t>(device)];
    return std::min(GlobalMemory::available_bytes(), total - std::min(total, used));
}

void DeviceMemory::require_room(int device, std::size_t bytes) const {
    const std::size_t available = used_.size() == 1 ? bytes : available_bytes(device);
    if (bytes <= available || global_.allocates_untouched()) return;
    throw Error(Failure::out_of_memory, "cannot allocate " + std::to_string(bytes) + " bytes: device " +
                                            std::to_string(device) + " has " + std::to_string(available) +
                                            " bytes of memory available");
}

std::string DeviceMemory::next_name(MemoryKind kind) {
    return std::string(call_behind(kind)) + " #" +
           std::to_string(++allocations_made_[static_cast<std::size_t>(kind)]);
}

std::string DeviceMemory::on_device(int device) const {
    return used_.size() == 1 ? "" : " on device " + std::to_string(device);
}

void* DeviceMemory::allocate(int device, std::size_t bytes, MemoryKind kind, unsigned int flags) {
    const bool is_zeroed = kind == MemoryKind::managed || kind == MemoryKind::host;
    const bool is_on_device = !host_writes(kind);
    if (is_on_device) require_room(device, bytes);
    if (is_zeroed && global_.allocates_untouched())
        GlobalMemory::require_available(bytes); // the host may fill it
    const Allocation& allocation =
        memory_of(kind).allocate(bytes, next_name(kind) + (is_on_device ? on_device(device) : ""));
    notes_.insert_or_assign(allocation.address, Note{kind, flags, device});
    if (is_on_device) {
        memory_of(kind).place(allocation.address, device, reach_[static_cast<std::size_t>(device)]);
        used_[static_cast<std::size_t>(device)] += bytes;
    }
    // Pages that the host can write to start as zeros, and programs may rely on it. Untouched ones are zeros.
    if (is_zeroed && !global_.allocates_untouched())
        std::memset(reinterpret_cast<void*>(allocation.address), 0, bytes);
    if (host_writes(kind)) ++host_allocations_;
    tell([&](MemoryEvents& listener) { listener.allocated(allocation, host_writes(kind)); });
    return reinterpret_cast<void*>(allocation.address);
}

void DeviceMemory::place(int device, void* first, std::size_t bytes) {
    require_room(device, bytes);
    const Allocation& allocation =
        global_.adopt(first, bytes, next_name(MemoryKind::device) + on_device(device));
    notes_.insert_or_assign(allocation.address, Note{MemoryKind::device, 0, device});
    global_.place(allocation.address, device, reach_[static_cast<std::size_t>(device)]);
    used_[static_cast<std::size_t>(device)] += bytes;
    if (!global_.allocates_untouched()) std::memset(first, GlobalMemory::poison, bytes);
    tell([&](MemoryEvents& listener) { listener.allocated(allocation, false); });
}

void DeviceMemory::adopt(int device, void* first, std::size_t bytes, unsigned int flags) {
    const Allocation& allocation = global_.adopt(first, bytes, next_name(MemoryKind::registered));
    notes_.insert_or_assign(allocation.address, Note{MemoryKind::registered, flags, device});
    ++host_allocations_;
}

void DeviceMemory::reset(int device) {
    for (auto note = notes_.begin(); note != notes_.end();) {
        const auto& [address, about] = *note++; // which ends
        if (about.device != device) continue;
        const Allocation& allocation = *memory_of(about.kind).find(address);
        tell([&](MemoryEvents& listener) { listener.lost(allocation); });
        end(address, "cudaDeviceReset");
    }
    global_.release_heap(device);
    for (int other = 0; other < static_cast<int>(reach_.size()); ++other) {
        if (other == device) continue;
        set_peer_access(device, other, false);
        set_peer_access(other, device, false);
    }
}

void DeviceMemory::end(std::uint64_t address, const std::string& by) {
    const auto note = notes_.find(address);
    const MemoryKind kind = note->second.kind;
    const Allocation& allocation = *memory_of(kind).find(address);
    if (host_writes(kind))
        --host_allocations_;
    else
        used_[static_cast<std::size_t>(allocation.device)] -= allocation.bytes;
    memory_of(kind).release(address, by);
    notes_.erase(note);
}

void DeviceMemory::set_peer_access(int device, int peer, bool has_access) {
    const auto set = [&](std::uint64_t reach) {
        const std::uint64_t bit = std::uint64_t{1} << device;
        return has_access ? reach | bit : reach & ~bit;
    };
    reach_[static_cast<std::size_t>(peer)] = set(reach_[static_cast<std::size_t>(peer)]);
    for (const Allocation* const one : global_.allocations()) {
        const auto note = notes_.find(one->address);
        if (one->device == peer && (note == notes_.end() || !note->second.is_pooled))
            global_.place(one->address, peer, set(one->reach));
    }
}

void DeviceMemory::set_pool_access(const void* pointer, std::uint64_t reach) {
    const auto address = reinterpret_cast<std::uint64_t>(pointer);
    notes_.at(address).is_pooled = true;
    global_.place(address, find(pointer)->device, reach);
}

void DeviceMemory::settle(int device, const Allocation& variable) {
    if (!managed_variables_.contains(variable.address))
        global_.place(variable.address, device, reach_[static_cast<std::size_t>(device)]);
}

bool DeviceMemory::release(const void* pointer, MemoryKind kind, const std::string& call) {
    const auto address = reinterpret_cast<std::uint64_t>(pointer);
    const auto note = notes_.find(address);
    if (note == notes_.end() || note->second.kind != kind) return false;
    const Allocation& allocation = *memory_of(kind).find(address);
    tell([&](MemoryEvents& listener) { listener.frees(allocation, call); });
    tell([&](MemoryEvents& listener) { listener.freed(allocation); });
    end(address, call + " #" + std::to_string(++frees_made_[call]));
    return true;
}

void DeviceMemory::operation_ends() {
    tell([](MemoryEvents& listener) { listener.operation_ends(); });
    operations_.end();
}

int DeviceMemory::device_at(std::uint64_t address) const {
    const Allocation* const found = global_.find(address);
    const Allocation* const allocation = found ? found : arrays_.find(address);
    return allocation ? allocation->device : Allocation::on_host;
}

void DeviceMemory::was_copied(const void* to, const void* from, std::size_t bytes) const {
    if (listeners_.empty()) return;
    const auto source = reinterpret_cast<std::uint64_t>(from), target = reinterpret_cast<std::uint64_t>(to);
    const bool from_device = holds(source), to_device = holds(target);
    const int from_number = device_at(source), to_number = device_at(target);
    if (from_number != to_number) {
        const bool are_peers =
            from_number >= 0 && to_number >= 0 &&
            (has_peer_access(from_number, to_number) || has_peer_access(to_number, from_number));
        const bool is_direct = are_peers || from_number < 0 || to_number < 0;
        tell([&](MemoryEvents& listener) { listener.moved(from_number, to_number, bytes, is_direct); });
    }
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

int DeviceMemory::device_of(const Allocation& allocation) const {
    const auto note = notes_.find(allocation.address);
    return note == notes_.end() ? std::max(allocation.device, 0) : note->second.device;
}

unsigned int DeviceMemory::flags_of(const Allocation& allocation) const {
    const auto note = notes_.find(allocation.address);
    return note == notes_.end() ? 0 : note->second.flags;
}

} // namespace emulator
