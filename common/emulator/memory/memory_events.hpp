/// The host's operations on device memory, for listeners that track it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace emulator {

struct Allocation;
class GlobalMemory;
class OperationOrder;

/// A host call that fails because of a device pointer in it.
struct RejectedCall {
    std::string name; ///< "cudaFree", "copy from device memory", "memset"
    std::uint64_t address = 0;
    std::size_t bytes = 0;   ///< 0: it frees; otherwise the bytes to copy or set
    bool wants_host = false; ///< the copy's direction declares that this is host memory
    /// The device variable whose name in host code was passed as a pointer; otherwise empty.
    std::string variable = {};
};

/// Gets events between launches, one at a time.
class MemoryEvents {
public:
    virtual ~MemoryEvents() = default;

    /// `host_writes`: the host can write to it without a call, as to managed and pinned memory.
    virtual void allocated(const Allocation&, bool /*host_writes*/) {}
    /// The host is about to free it, by this API function.
    virtual void frees(const Allocation&, const std::string& /*call*/) {}
    virtual void freed(const Allocation&) {}

    /// The `bytes` bytes at `first`, all in one allocation, were copied from the host, or set.
    virtual void written(std::uint64_t /*first*/, std::size_t /*bytes*/) {}
    /// … were copied from one place of device memory to another.
    virtual void copied(std::uint64_t /*from*/, std::uint64_t /*to*/, std::size_t /*bytes*/) {}
    /// … were copied to the host.
    virtual void read(std::uint64_t /*first*/, std::size_t /*bytes*/) {}

    /// Bytes were copied from the memory of one device to that of another or of the host, which is
    /// Allocation::on_host. `is_direct`: not through the host, since one of two devices has access to the other.
    virtual void moved(int /*from*/, int /*to*/, std::size_t /*bytes*/, bool /*is_direct*/) {}

    /// The operation in progress in this order, to which the events since its begin belong, is about to end.
    virtual void operation_ends() {}
    /// Before all other events: where operations are.
    virtual void follows(OperationOrder&) {}

    virtual void rejected(const RejectedCall&, const GlobalMemory&) {}

    /// cudaDeviceReset ends it: the program has not freed it.
    virtual void lost(const Allocation& allocation) { freed(allocation); }
    virtual void program_ends() {}
};

} // namespace emulator
