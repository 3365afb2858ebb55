/// The emulated devices: their properties, and their state for the program: memory, modules, streams, events,
/// graphs, pools.
#pragma once

#include "emulator/machine/launch.hpp"
#include "emulator/runtime/api_error.hpp"
#include "emulator/runtime/cuda_abi.hpp"
#include "emulator/runtime/device_memory.hpp"
#include "emulator/runtime/graph.hpp"
#include "emulator/runtime/modules.hpp"
#include "emulator/runtime/registry.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace emulator {

// ---- device_properties.cpp: the same on every host, so grids sized by them are too ----

/// The result of cudaDeviceGetAttribute: a Hopper card's value (an H100's where cards differ), and 0 for what
/// the emulator lacks, such as textures.
int device_attribute(int attribute);

/// All of them in one structure, with the machine's name, and the memory and the place of device `number`.
abi::cudaDeviceProp device_properties(int number);

/// "0000:01:00.0" for device 1.
std::string pci_bus_id(int number);

// ---- their state ----

struct Stream {
    int device = 0;
    unsigned int flags = 0;
    int priority = 0;
    unsigned long long id = 0;
};

struct Event {
    int device = 0;
    unsigned int flags = 0;
    std::optional<std::chrono::steady_clock::time_point> recorded = {};
    OperationOrder::Clock happened_before = {};  ///< what those that wait for it know
    unsigned long long capture = 0;              ///< the capture that recorded it last; 0: none
    std::vector<const GraphNode*> captured = {}; ///< the nodes of the graph that it represents
};

/// The arguments of cudaMallocArray. The array's rows are contiguous.
struct Array {
    abi::cudaChannelFormatDesc format;
    abi::cudaExtent extent; ///< in elements; 0 if the array lacks the dimension
    unsigned int flags;

    std::size_t element_bytes() const {
        return static_cast<std::size_t>(format.x + format.y + format.z + format.w) / 8;
    }
    /// Bytes of a row, rows of a slice, slices.
    abi::cudaExtent storage() const {
        return {extent.width * element_bytes(), extent.height ? extent.height : 1,
                extent.depth ? extent.depth : 1};
    }
};

/// Memory that cudaMallocAsync takes from a pool is allocated and freed at once; the pool only keeps the
/// numbers.
struct MemoryPool {
    int device = 0;                       ///< on which it allocates
    std::uint64_t reach = 1;              ///< bit d: kernels of device d may access it
    MemoryKind kind = MemoryKind::device; ///< or managed, or host
    std::size_t max_bytes = 0;            ///< 0: no limit
    std::unordered_map<const void*, std::size_t> allocations = {}; ///< the live ones, and their bytes
    std::size_t used = 0, peak_used = 0;                           ///< bytes, now and at most
    std::map<abi::cudaMemPoolAttr, std::uint64_t> settings = {};   ///< those that were set

    int access_of_others = 0; ///< of devices to a pool of the host, of the host to one of a device

    bool is_destroyed = false; ///< and ends with its last allocation

    void add(const void* pointer, std::size_t bytes);
    void forget(const void* pointer); ///< if it is from this pool
};

/// What cudaFuncSetAttribute set.
struct KernelSettings {
    std::optional<std::uint32_t> dynamic_shared_limit; ///< bytes
    bool large_clusters = false;                       ///< cudaFuncAttributeNonPortableClusterSizeAllowed
    int carveout = -1; ///< percent of the L1 cache for shared memory; -1: no preference
};

/// What devices share: one address space, and handles that mean the same whichever device is current.
struct SharedState {
    explicit SharedState(int devices) : memory(devices) {}

    DeviceMemory memory;
    std::unordered_map<const void*, std::unique_ptr<Stream>> streams;
    std::unordered_map<const void*, std::unique_ptr<Event>> events;
    std::unordered_map<const void*, Array> arrays; ///< by where their storage begins
    std::unordered_map<const void*, std::unique_ptr<Graph>> graphs;
    std::unordered_map<const void*, std::unique_ptr<GraphExec>> graph_execs;
    std::vector<std::unique_ptr<Capture>> captures; ///< those in progress
    /// What graphs have allocated, and nobody has freed; their bytes, now and at most.
    std::unordered_map<const void*, std::shared_ptr<GraphMemory>> graph_memory;
    std::size_t graph_bytes = 0, peak_graph_bytes = 0;
    std::unordered_map<const void*, std::unique_ptr<MemoryPool>> pools;

    /// While a copy or a memset only checks its arguments: it does nothing, and tells whether it may run later,
    /// since the host's own code does not take part in it.
    bool rehearses = false, may_run_later = true;
    bool joins_devices = false; ///< in a default stream, it waits for all streams of two devices

    /// cudaDeviceReset ends what belongs to the device; `is_only`: everything.
    void reset(int device, bool is_only);
};

/// One device: everything that cudaDeviceReset ends. Through the references a call reaches what all of them share.
struct Device {
    Device(int device_number, const Registry& registry, SharedState& all)
        : number(device_number), shared(all), modules(registry, all.memory, device_number) {}

    const int number;
    SharedState& shared;
    DeviceMemory& memory = shared.memory;
    decltype(SharedState::streams)& streams = shared.streams;
    decltype(SharedState::events)& events = shared.events;
    decltype(SharedState::arrays)& arrays = shared.arrays;
    decltype(SharedState::graphs)& graphs = shared.graphs;
    decltype(SharedState::graph_execs)& graph_execs = shared.graph_execs;
    decltype(SharedState::captures)& captures = shared.captures;
    decltype(SharedState::graph_memory)& graph_memory = shared.graph_memory;
    decltype(SharedState::pools)& pools = shared.pools;

    Modules modules;
    std::unordered_map<const void*, KernelSettings> kernel_settings; ///< by host stub
    std::array<MemoryPool, 3> default_pools{own_pool(MemoryKind::device), own_pool(MemoryKind::managed),
                                            own_pool(MemoryKind::host)};
    std::array<MemoryPool*, 3> current_pools{&default_pools[0], &default_pools[1], &default_pools[2]};
    std::map<abi::cudaLimit, std::size_t> limits; ///< those that were set
    abi::cudaFuncCache cache_preference = abi::cudaFuncCachePreferNone;
    unsigned int flags = abi::cudaDeviceMapHost; ///< of cudaSetDeviceFlags

    /// The error of a launch that the emulator cannot run and a card could. From then on, every call that
    /// copies or waits returns it. Other kernels may still run.
    abi::cudaError_t refusal = abi::cudaSuccess;

    /// \throws ApiError with that error.
    void reject_after_refusal() const { require(refusal == abi::cudaSuccess, refusal); }

    MemoryPool& default_pool(MemoryKind kind) { return default_pools[static_cast<std::size_t>(kind)]; }
    MemoryPool*& current_pool(MemoryKind kind) { return current_pools[static_cast<std::size_t>(kind)]; }
    /// The pool of the allocation that begins there; null: it is of none.
    MemoryPool* pool_of(const void* pointer);

    /// An allocation, maybe from a pool or of a graph, has ended.
    void forget_in_pools(const void* pointer);

    /// The capture that the stream belongs to, or null.
    Capture* capture_of(const void* stream) const;
    /// A capture of a stream that the legacy default stream waits for, or null.
    Capture* blocking_capture() const;

private:
    MemoryPool own_pool(MemoryKind kind) const {
        return {.device = number, .reach = std::uint64_t{1} << number, .kind = kind};
    }
};

/// While a stream is captured in a mode that forbids calls which may have to wait: ends that capture and
/// \throws ApiError with cudaErrorStreamCaptureUnsupported.
void reject_while_capturing(const Device& device);

/// \throws as above when this stream is being captured.
void reject_if_captured(const Device& device, const void* stream);

/// The mode that cudaThreadExchangeStreamCaptureMode exchanges.
abi::cudaStreamCaptureMode& thread_capture_mode();

/// The most dynamic shared memory that a launch of the kernel may ask for, in bytes.
std::uint32_t dynamic_shared_limit(const Device& device, const void* host_stub, const Kernel& kernel);

/// The most blocks that a cluster of the kernel may have.
std::uint32_t cluster_limit(const Device& device, const void* host_stub);

/// The device with this number. \throws ApiError with cudaErrorInvalidDevice if there is none.
Device& device_at(int number);
inline void require_device(int number) { device_at(number); }

/// \throws ApiError with cudaErrorInvalidResourceHandle unless `handle` is a stream, or one of CUDA's three
/// default ones.
void require_stream(const Device& device, const void* handle);

/// The number of the device that it belongs to. Each device has its own default streams.
int device_of_stream(const Device& current, const void* handle);

} // namespace emulator
