/// The memory of all devices as the host sees it: global memory, and the kind of call that made each allocation.
#pragma once

#include "emulator/memory/global_memory.hpp"
#include "emulator/memory/memory_events.hpp"
#include "emulator/memory/operation_order.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace emulator {

/// Who may access an allocation, and which call frees it.
enum class MemoryKind {
    device,     ///< cudaMalloc, and `__device__` and `__constant__` variables: the host may only copy
    managed,    ///< cudaMallocManaged, and `__managed__` variables
    host,       ///< cudaMallocHost, cudaHostAlloc
    registered, ///< cudaHostRegister: the program's own memory
    array,      ///< cudaMallocArray: no pointer reaches it, only copies do
};

class DeviceMemory {
public:
    explicit DeviceMemory(int devices);

    /// Allocates while `device` is current. \throws Error out_of_memory.
    void* allocate(int device, std::size_t bytes, MemoryKind kind, unsigned int flags = 0);

    /// Makes `bytes` bytes of device memory of those at `first`, which the caller owns.
    void place(int device, void* first, std::size_t bytes);

    /// Makes the program's own memory accessible to kernels.
    void adopt(int device, void* first, std::size_t bytes, unsigned int flags);

    /// Ends all that was allocated while `device` was current.
    void reset(int device);

    // ---- devices that access each other's memory ----

    /// Whether kernels of `device` may access what cudaMalloc allocates on `peer`.
    bool has_peer_access(int device, int peer) const {
        return (reach_[static_cast<std::size_t>(peer)] >> device & 1) != 0;
    }
    void set_peer_access(int device, int peer, bool has_access);

    /// Of an allocation from a pool, and for that one alone; bit d: kernels of device d may access it.
    void set_pool_access(const void* pointer, std::uint64_t reach);

    /// A module of `device` has placed a variable there.
    void settle(int device, const Allocation& variable);

    /// Frees, for the API function `call`, the allocation that starts at `pointer`. Returns false if there is
    /// none, or it is of another kind.
    bool release(const void* pointer, MemoryKind kind, const std::string& call);

    /// Marks the variable at `address`, which a module placed, as managed; or removes the mark.
    void mark_managed(std::uint64_t address) { managed_variables_.insert(address); }
    void unmark_managed(std::uint64_t address) { managed_variables_.erase(address); }

    /// The allocation that holds `pointer`, or null. Does not find arrays, since no pointer may point into
    /// them.
    const Allocation* find(const void* pointer) const {
        return global_.find(reinterpret_cast<std::uint64_t>(pointer));
    }

    /// Whether `pointer` points into freed memory, as far as that is known.
    bool was_freed(const void* pointer) const {
        return global_.freed(reinterpret_cast<std::uint64_t>(pointer)) != nullptr;
    }

    /// The storage of the array that begins there, or null.
    const Allocation* find_array(const void* handle) const;

    MemoryKind kind_of(const Allocation& allocation) const;
    unsigned int flags_of(const Allocation& allocation) const; ///< those of cudaHostAlloc or cudaHostRegister
    int device_of(const Allocation& allocation) const;         ///< that was current when it was allocated

    /// Of one device: those that it has, and those that can still be allocated there.
    std::size_t total_bytes() const;
    std::size_t available_bytes(int device) const;

    /// Whether the host may store where kernels load, without a call.
    bool host_can_store() const { return host_allocations_ != 0 || !managed_variables_.empty(); }

    GlobalMemory& global() { return global_; }

    // ---- what the host did, for the listeners ----

    /// The order of operations, which listeners follow.
    OperationOrder& operations() { return operations_; }
    const OperationOrder& operations() const { return operations_; }
    /// The operation in progress ends.
    void operation_ends();

    void was_copied(const void* to, const void* from, std::size_t bytes) const;
    void was_set(const void* to, std::size_t bytes) const;
    void was_rejected(const RejectedCall& call) const;

private:
    template <class Event> void tell(Event event) const;

    GlobalMemory& memory_of(MemoryKind kind) { return kind == MemoryKind::array ? arrays_ : global_; }
    bool holds(std::uint64_t address) const { return global_.find(address) || arrays_.find(address); }

    static bool host_writes(MemoryKind kind) {
        return kind != MemoryKind::device && kind != MemoryKind::array;
    }

    /// "cudaMalloc #3" for the third cudaMalloc.
    std::string next_name(MemoryKind kind);
    /// " on device 1"; empty if there is only one.
    std::string on_device(int device) const;

    /// Where the memory at `address` lies: Allocation::device.
    int device_at(std::uint64_t address) const;

    /// Ends an allocation that has a note.
    void end(std::uint64_t address, const std::string& by);

    /// \throws Error out_of_memory if the device does not have them.
    void require_room(int device, std::size_t bytes) const;

    struct Note {
        MemoryKind kind;
        unsigned int flags;
        int device; ///< that was current
        bool is_pooled = false;
    };
    GlobalMemory global_;
    GlobalMemory arrays_;                 ///< apart from the rest, so that no kernel can access it
    std::map<std::uint64_t, Note> notes_; ///< by first address; a module's variables have none
    std::vector<std::uint64_t> reach_;    ///< of what cudaMalloc allocates on each device
    std::vector<std::size_t> used_;       ///< bytes of each device
    std::unordered_set<std::uint64_t> managed_variables_;
    OperationOrder operations_;
    std::size_t host_allocations_ = 0;               ///< those that the host can write to without a call
    std::array<unsigned int, 5> allocations_made_{}; ///< of each kind
    std::map<std::string, unsigned int> frees_made_; ///< by each function
    std::vector<MemoryEvents*> listeners_;           ///< usually none
};

} // namespace emulator
