/// Memory pools, stream-ordered allocation, and the memory of graphs. Memory is allocated and freed at once: a pool
/// keeps only statistics.

#include "emulator/runtime/api/parts.hpp"
#include "emulator/runtime/api_call.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <utility>

using namespace emulator;
using namespace emulator::abi;

namespace {

MemoryPool& pool_at(Device& device, void* handle) {
    for (const auto& one : Runtime::instance().devices)
        for (MemoryPool& pool : one->default_pools)
            if (handle == &pool) return pool;
    const auto found = device.pools.find(handle);
    require(found != device.pools.end() && !found->second->is_destroyed);
    return *found->second;
}

bool is_on_host(const cudaMemLocation& location) {
    return location.type >= cudaMemLocationTypeHost && location.type <= cudaMemLocationTypeHostNumaCurrent;
}

/// The device of a location; the current one if it is on the host.
Device& device_of(Device& current, const cudaMemLocation& location) {
    return location.type == cudaMemLocationTypeDevice ? device_at(location.id) : current;
}

/// What a pool there allocates. A managed pool's location is where its pages may lie best.
MemoryKind kind_at(const cudaMemLocation* location, int type) {
    require(location);
    const bool is_device = location->type == cudaMemLocationTypeDevice, is_host = is_on_host(*location);
    if (is_device) require_device(location->id);
    if (type == cudaMemAllocationTypeManaged) {
        require(is_device || is_host || location->type == cudaMemLocationTypeInvalid);
        return MemoryKind::managed;
    }
    require(type == cudaMemAllocationTypePinned && (is_device || is_host));
    return is_host ? MemoryKind::host : MemoryKind::device;
}

void* allocate(Device& device, std::size_t bytes, MemoryPool& pool) {
    if (bytes == 0) return nullptr;
    require(pool.max_bytes == 0 || (pool.used <= pool.max_bytes && bytes <= pool.max_bytes - pool.used),
            cudaErrorMemoryAllocation);
    void* const pointer = device.memory.allocate(pool.device, bytes, pool.kind);
    pool.add(pointer, bytes);
    if (pool.kind == MemoryKind::device) device.memory.set_pool_access(pointer, pool.reach);
    return pointer;
}

cudaError_t allocate_in_stream(void** pointer, std::size_t bytes, void* stream,
                               const std::function<MemoryPool&(Device&)>& pool) {
    GraphNode node;
    const cudaError_t error = call_without_waiting([&](Device& device) {
        require(pointer);
        require_stream(device, stream);
        MemoryPool& from = pool(device);
        if (device.capture_of(stream) && bytes != 0) {
            if (from.kind != MemoryKind::device)
                throw UnsupportedCall("cudaMallocFromPoolAsync",
                                      "a captured allocation from a pool of host or "
                                      "managed memory is not supported by the emulator");
            node = allocation_node(bytes);
        } else
            *pointer = allocate(device, bytes, from);
    });
    if (error != cudaSuccess || !node.memory) return error;
    *pointer = node.memory->address;
    return stream_call(stream, node);
}

bool is_of_graph(const Device& device, const void* pointer) {
    if (device.graph_memory.contains(pointer)) return true;
    const auto is_it = [&](const GraphNode& node) { return node.memory && node.memory->address == pointer; };
    const auto allocates = [&](const Graph& graph) {
        return std::any_of(graph.nodes.begin(), graph.nodes.end(),
                           [&](const auto& node) { return is_it(*node); });
    };
    const auto allocates_when_run = [&](const auto& entry) { // its graph may have been destroyed
        return std::any_of(entry.second->steps.begin(), entry.second->steps.end(),
                           [&](const GraphExec::Step& step) { return is_it(step.copy); });
    };
    return std::any_of(device.graphs.begin(), device.graphs.end(),
                       [&](const auto& entry) { return allocates(*entry.second); }) ||
           std::any_of(device.graph_execs.begin(), device.graph_execs.end(), allocates_when_run) ||
           std::any_of(device.captures.begin(), device.captures.end(),
                       [&](const auto& capture) { return allocates(*capture->graph); });
}

/// The attribute's value: an int or a cuuint64_t.
std::size_t bytes_of(cudaMemPoolAttr attribute) {
    require(attribute >= cudaMemPoolReuseFollowEventDependencies && attribute <= cudaMemPoolAttrUsedMemHigh);
    return attribute < cudaMemPoolAttrReleaseThreshold ? sizeof(int) : sizeof(std::uint64_t);
}

std::uint64_t value_of(const MemoryPool& pool, cudaMemPoolAttr attribute) {
    switch (attribute) {
    case cudaMemPoolAttrReservedMemCurrent:
    case cudaMemPoolAttrUsedMemCurrent: return pool.used;
    case cudaMemPoolAttrReservedMemHigh:
    case cudaMemPoolAttrUsedMemHigh: return pool.peak_used;
    default: break;
    }
    const auto set = pool.settings.find(attribute);
    if (set != pool.settings.end()) return set->second;
    return attribute == cudaMemPoolAttrReleaseThreshold ? 0 : 1; // what may be reused may be
}

} // namespace

void emulator::free_on_device(Device& device, void* pointer, const char* call) {
    for (const MemoryKind kind : {MemoryKind::device, MemoryKind::managed, MemoryKind::host})
        if ((kind != MemoryKind::host || device.pool_of(pointer)) &&
            device.memory.release(pointer, kind, call))
            return device.forget_in_pools(pointer);
    device.memory.was_rejected({call, reinterpret_cast<std::uint64_t>(pointer)});
    throw ApiError(cudaErrorInvalidValue);
}

GraphNode emulator::allocation_node(std::size_t bytes) {
    GraphNode node{.type = cudaGraphNodeTypeMemAlloc,
                   .work = nullptr,
                   .host = nullptr,
                   .memory = std::make_shared<GraphMemory>(bytes)};
    node.work = [memory = node.memory](Device& then) {
        require(!then.graph_memory.contains(memory->address)); // the last launch's is still there
        if (!memory->was_used) GlobalMemory::require_available(memory->bytes); // others may have taken it
        memory->was_used = true;
        then.memory.place(then.number, memory->address, memory->bytes);
        then.graph_memory.emplace(memory->address, memory);
        then.shared.graph_bytes += memory->bytes;
        then.shared.peak_graph_bytes = std::max(then.shared.peak_graph_bytes, then.shared.graph_bytes);
    };
    return node;
}

GraphNode emulator::free_node(Device& device, void* pointer) {
    require(is_of_graph(device, pointer));
    return {.type = cudaGraphNodeTypeMemFree,
            .work = [=](Device& then) { free_on_device(then, pointer, "the graph's free node"); },
            .host = nullptr,
            .freed = pointer};
}

EMULATOR_ENTRY cudaError_t cudaMallocAsync(void** pointer, std::size_t bytes, void* stream) {
    return allocate_in_stream(pointer, bytes, stream, [](Device& device) -> MemoryPool& {
        return *device.current_pool(MemoryKind::device);
    });
}
EMULATOR_PER_THREAD_TWIN(cudaMallocAsync, cudaMallocAsync_ptsz);

EMULATOR_ENTRY cudaError_t cudaMallocFromPoolAsync(void** pointer, std::size_t bytes, void* pool,
                                                   void* stream) {
    return allocate_in_stream(pointer, bytes, stream,
                              [&](Device& device) -> MemoryPool& { return pool_at(device, pool); });
}
EMULATOR_PER_THREAD_TWIN(cudaMallocFromPoolAsync, cudaMallocFromPoolAsync_ptsz);

EMULATOR_ENTRY cudaError_t cudaFreeAsync(void* pointer, void* stream) {
    GraphNode node;
    const cudaError_t error = call_without_waiting([&](Device& device) {
        require(pointer);
        require_stream(device, stream);
        if (device.capture_of(stream))
            node = free_node(device, pointer);
        else
            run_operation(device, stream, cudaGraphNodeTypeMemFree,
                          [&](Device&) { free_on_device(device, pointer, "cudaFreeAsync"); });
    });
    return error == cudaSuccess && node.freed ? stream_call(stream, node) : error;
}
EMULATOR_PER_THREAD_TWIN(cudaFreeAsync, cudaFreeAsync_ptsz);

// ---- pools ----

EMULATOR_ENTRY cudaError_t cudaMemPoolCreate(void** pool, const cudaMemPoolProps* properties) {
    return call_without_waiting([&](Device& device) {
        require(pool && properties);
        const MemoryKind kind = kind_at(&properties->location, properties->allocType);
        if (properties->handleTypes != 0)
            throw UnsupportedCall("cudaMemPoolCreate",
                                  "pools for other processes are not supported by the emulator");
        auto made = std::make_unique<MemoryPool>(MemoryPool{.kind = kind, .max_bytes = properties->maxSize});
        made->device = device_of(device, properties->location).number;
        made->reach = std::uint64_t{1} << made->device;
        *pool = made.get();
        device.pools.emplace(*pool, std::move(made));
    });
}

/// Allocations from it stay valid.
EMULATOR_ENTRY cudaError_t cudaMemPoolDestroy(void* pool) {
    return api_call([&](Device& device) {
        MemoryPool& ended = pool_at(device, pool);
        Device& home = device_at(ended.device);
        require(&ended != &home.default_pool(ended.kind));
        if (home.current_pool(ended.kind) == pool)
            home.current_pool(ended.kind) = &home.default_pool(ended.kind);
        if (ended.allocations.empty())
            device.pools.erase(pool);
        else
            ended.is_destroyed = true;
    });
}

EMULATOR_ENTRY cudaError_t cudaMemPoolTrimTo(void* pool, std::size_t) {
    return call_without_waiting([&](Device& device) { pool_at(device, pool); });
}

EMULATOR_ENTRY cudaError_t cudaMemPoolSetAttribute(void* pool, cudaMemPoolAttr attribute, void* value) {
    return call_without_waiting([&](Device& device) {
        require(value);
        MemoryPool& target = pool_at(device, pool);
        std::uint64_t number = 0;
        std::memcpy(&number, value, bytes_of(attribute));
        if (attribute <= cudaMemPoolAttrReleaseThreshold) {
            target.settings[attribute] = number;
            return;
        }
        const bool resets =
            attribute == cudaMemPoolAttrReservedMemHigh || attribute == cudaMemPoolAttrUsedMemHigh;
        require(resets && number == 0);
        target.peak_used = target.used;
    });
}

EMULATOR_ENTRY cudaError_t cudaMemPoolGetAttribute(void* pool, cudaMemPoolAttr attribute, void* value) {
    return call_without_waiting([&](Device& device) {
        require(value);
        const std::uint64_t number = value_of(pool_at(device, pool), attribute);
        std::memcpy(value, &number, bytes_of(attribute)); // little-endian: the lower bytes of an int
    });
}

namespace {

/// Where the pool's memory lies: it can always be accessed there.
bool is_home(const MemoryPool& pool, const cudaMemLocation* location) {
    require(location && (is_on_host(*location) || location->type == cudaMemLocationTypeDevice));
    if (!is_on_host(*location)) require_device(location->id);
    return pool.kind == MemoryKind::managed ||
           (is_on_host(*location) ? pool.kind == MemoryKind::host
                                  : pool.kind == MemoryKind::device && location->id == pool.device);
}

/// Of a device to a pool of another one.
void give_access(Device& device, MemoryPool& pool, int peer, bool has_access) {
    const std::uint64_t bit = std::uint64_t{1} << peer;
    pool.reach = has_access ? pool.reach | bit : pool.reach & ~bit;
    for (const auto& [pointer, bytes] : pool.allocations) device.memory.set_pool_access(pointer, pool.reach);
}

} // namespace

/// The emulator's kernels can access pools of the host without it.
EMULATOR_ENTRY cudaError_t cudaMemPoolSetAccess(void* pool, const cudaMemAccessDesc* list,
                                                std::size_t count) {
    return call_without_waiting([&](Device& device) {
        require(list || count == 0);
        MemoryPool& target = pool_at(device, pool);
        for (std::size_t k = 0; k < count; ++k) {
            const int flags = list[k].flags;
            const bool home = is_home(target, &list[k].location);
            require(flags == cudaMemAccessFlagsProtReadWrite || (!home && (flags == 0 || flags == 1)));
            if (home) continue;
            if (target.kind == MemoryKind::device && !is_on_host(list[k].location))
                give_access(device, target, list[k].location.id, flags != 0);
            else
                target.access_of_others = flags;
        }
    });
}

EMULATOR_ENTRY cudaError_t cudaMemPoolGetAccess(int* flags, void* pool, const cudaMemLocation* location) {
    return call_without_waiting([&](Device& device) {
        require(flags && location);
        const MemoryPool& asked = pool_at(device, pool);
        const bool is_peer = asked.kind == MemoryKind::device && !is_on_host(*location);
        *flags = is_home(asked, location) || (is_peer && (asked.reach >> location->id & 1) != 0)
                     ? cudaMemAccessFlagsProtReadWrite
                 : is_peer ? 0
                           : asked.access_of_others;
    });
}

// ---- the device's pools ----

EMULATOR_ENTRY cudaError_t cudaDeviceGetDefaultMemPool(void** pool, int device_number) {
    return call_without_waiting([&](Device&) {
        require(pool);
        *pool = &device_at(device_number).default_pool(MemoryKind::device);
    });
}

EMULATOR_ENTRY cudaError_t cudaDeviceGetMemPool(void** pool, int device_number) {
    return call_without_waiting([&](Device&) {
        require(pool);
        *pool = device_at(device_number).current_pool(MemoryKind::device);
    });
}

EMULATOR_ENTRY cudaError_t cudaDeviceSetMemPool(int device_number, void* pool) {
    return call_without_waiting([&](Device& device) {
        Device& target = device_at(device_number);
        MemoryPool& next = pool_at(device, pool);
        require(next.kind == MemoryKind::device && next.device == device_number);
        target.current_pool(next.kind) = &next;
    });
}

EMULATOR_ENTRY cudaError_t cudaDeviceGetGraphMemAttribute(int device_number,
                                                          cudaGraphMemAttributeType attribute, void* value) {
    return call_without_waiting([&](Device& device) {
        require_device(device_number);
        require(value && attribute >= cudaGraphMemAttrUsedMemCurrent &&
                attribute <= cudaGraphMemAttrReservedMemHigh);
        const bool is_peak = attribute % 2 == 1;
        *static_cast<std::uint64_t*>(value) =
            is_peak ? device.shared.peak_graph_bytes : device.shared.graph_bytes;
    });
}

EMULATOR_ENTRY cudaError_t cudaDeviceSetGraphMemAttribute(int device_number,
                                                          cudaGraphMemAttributeType attribute, void* value) {
    return call_without_waiting([&](Device& device) {
        require_device(device_number);
        const bool is_peak =
            attribute == cudaGraphMemAttrUsedMemHigh || attribute == cudaGraphMemAttrReservedMemHigh;
        require(is_peak && value && *static_cast<std::uint64_t*>(value) == 0);
        device.shared.peak_graph_bytes = device.shared.graph_bytes;
    });
}

EMULATOR_ENTRY cudaError_t cudaDeviceGraphMemTrim(int device_number) {
    return call_without_waiting([&](Device&) { require_device(device_number); });
}

EMULATOR_ENTRY cudaError_t cudaMemGetDefaultMemPool(void** pool, const cudaMemLocation* location, int type) {
    return call_without_waiting([&](Device& device) {
        require(pool);
        const MemoryKind kind = kind_at(location, type);
        *pool = &device_of(device, *location).default_pool(kind);
    });
}

EMULATOR_ENTRY cudaError_t cudaMemGetMemPool(void** pool, const cudaMemLocation* location, int type) {
    return call_without_waiting([&](Device& device) {
        require(pool);
        const MemoryKind kind = kind_at(location, type);
        *pool = device_of(device, *location).current_pool(kind);
    });
}

EMULATOR_ENTRY cudaError_t cudaMemSetMemPool(const cudaMemLocation* location, int type, void* pool) {
    return call_without_waiting([&](Device& device) {
        MemoryPool& next = pool_at(device, pool);
        require(next.kind == kind_at(location, type));
        device_of(device, *location).current_pool(next.kind) = &next;
    });
}
