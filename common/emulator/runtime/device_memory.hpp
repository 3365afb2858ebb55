/// The device's memory as the host sees it: global memory, and the kind of call that made each allocation.
#pragma once

#include "emulator/memory/global_memory.hpp"
#include "emulator/memory/memory_events.hpp"

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
    DeviceMemory();
    ~DeviceMemory();

    /// \throws Error out_of_memory.
    void* allocate(std::size_t bytes, MemoryKind kind, unsigned int flags = 0);

    /// Makes `bytes` bytes of device memory of those at `first`, which the caller owns.
    void place(void* first, std::size_t bytes);

    /// Makes the program's own memory accessible to kernels.
    void adopt(void* first, std::size_t bytes, unsigned int flags);

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

    /// Whether the host may store where kernels load, without a call.
    bool host_can_store() const { return host_allocations_ != 0 || !managed_variables_.empty(); }

    GlobalMemory& global() { return global_; }

    // ---- what the host did, for the listeners ----

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

    struct Note {
        MemoryKind kind;
        unsigned int flags;
    };
    GlobalMemory global_;
    GlobalMemory arrays_;                           ///< apart from the rest, so that no kernel can access it
    std::unordered_map<std::uint64_t, Note> notes_; ///< by first address; a module's variables have none
    std::unordered_set<std::uint64_t> managed_variables_;
    std::size_t host_allocations_ = 0;               ///< those that the host can write to without a call
    std::array<unsigned int, 5> allocations_made_{}; ///< of each kind
    std::map<std::string, unsigned int> frees_made_; ///< by each function
    std::vector<MemoryEvents*> listeners_;           ///< usually none
};

} // namespace emulator
