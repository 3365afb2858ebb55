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
    if (handle == &device.default_pool) return device.default_pool;
    const auto found = device.pools.find(handle);
    require(found != device.pools.end());
    return *found->second;
}

void require_location(const cudaMemLocation* location, int type) {
    require(location && type == cudaMemAllocationTypePinned && location->type == cudaMemLocationTypeDevice);
    require_device(location->id);
}

void* allocate(Device& device, std::size_t bytes, MemoryPool& pool) {
    if (bytes == 0) return nullptr;
    require(pool.max_bytes == 0 || (pool.used <= pool.max_bytes && bytes <= pool.max_bytes - pool.used),
            cudaErrorMemoryAllocation);
    void* const pointer = device.memory.allocate(bytes, MemoryKind::device);
    pool.add(pointer, bytes);
    return pointer;
}

cudaError_t allocate_in_stream(void** pointer, std::size_t bytes, void* stream,
                               const std::function<MemoryPool&(Device&)>& pool) {
    GraphNode node;
    const cudaError_t error = api_call([&](Device& device) {
        require(pointer);
        require_stream(device, stream);
        MemoryPool& from = pool(device);
        if (device.capture_of(stream) && bytes != 0)
            node = allocation_node(bytes);
        else
            *pointer = allocate(device, bytes, from);
    });
    if (error != cudaSuccess || !node.memory) return error;
    *pointer = node.memory->address;
    return stream_call(stream, node);
}

bool is_of_graph(const Device& device, const void* pointer) {
    if (device.graph_memory.contains(pointer)) return true;
    const auto allocates = [&](const Graph& graph) {
        return std::any_of(graph.nodes.begin(), graph.nodes.end(), [&](const auto& node) {
            return node->memory && node->memory->address == pointer;
        });
    };
    return std::any_of(device.graphs.begin(), device.graphs.end(),
                       [&](const auto& entry) { return allocates(*entry.second); }) ||
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
    for (const MemoryKind kind : {MemoryKind::device, MemoryKind::managed})
        if (device.memory.release(pointer, kind, call)) return device.forget_in_pools(pointer);
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
        then.memory.place(memory->address, memory->bytes);
        then.graph_memory.emplace(memory->address, memory);
        then.graph_bytes += memory->bytes;
        then.peak_graph_bytes = std::max(then.peak_graph_bytes, then.graph_bytes);
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
    return allocate_in_stream(pointer, bytes, stream,
                              [](Device& device) -> MemoryPool& { return *device.current_pool; });
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
    const cudaError_t error = api_call([&](Device& device) {
        require(pointer);
        require_stream(device, stream);
        if (device.capture_of(stream))
            node = free_node(device, pointer);
        else
            free_on_device(device, pointer, "cudaFreeAsync");
    });
    return error == cudaSuccess && node.freed ? stream_call(stream, node) : error;
}
EMULATOR_PER_THREAD_TWIN(cudaFreeAsync, cudaFreeAsync_ptsz);

// ---- pools ----

EMULATOR_ENTRY cudaError_t cudaMemPoolCreate(void** pool, const cudaMemPoolProps* properties) {
    return api_call([&](Device& device) {
        require(pool && properties);
        require_location(&properties->location, properties->allocType);
        if (properties->handleTypes != 0)
            throw UnsupportedCall("cudaMemPoolCreate",
                                  "pools for other processes are not supported by the emulator");
        auto made = std::make_unique<MemoryPool>(MemoryPool{.max_bytes = properties->maxSize});
        *pool = made.get();
        device.pools.emplace(*pool, std::move(made));
    });
}

/// Allocations from it stay valid.
EMULATOR_ENTRY cudaError_t cudaMemPoolDestroy(void* pool) {
    return api_call([&](Device& device) {
        if (device.current_pool == pool) device.current_pool = &device.default_pool;
        require(device.pools.erase(pool) == 1);
    });
}

EMULATOR_ENTRY cudaError_t cudaMemPoolTrimTo(void* pool, std::size_t) {
    return api_call([&](Device& device) { pool_at(device, pool); });
}

EMULATOR_ENTRY cudaError_t cudaMemPoolSetAttribute(void* pool, cudaMemPoolAttr attribute, void* value) {
    return api_call([&](Device& device) {
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
    return api_call([&](Device& device) {
        require(value);
        const std::uint64_t number = value_of(pool_at(device, pool), attribute);
        std::memcpy(value, &number, bytes_of(attribute)); // little-endian: the lower bytes of an int
    });
}

/// The device can access its own pools, and there are no others.
EMULATOR_ENTRY cudaError_t cudaMemPoolSetAccess(void* pool, const cudaMemAccessDesc* list,
                                                std::size_t count) {
    return api_call([&](Device& device) {
        require(list || count == 0);
        pool_at(device, pool);
        for (std::size_t k = 0; k < count; ++k) {
            require_location(&list[k].location, cudaMemAllocationTypePinned);
            require(list[k].flags == cudaMemAccessFlagsProtReadWrite);
        }
    });
}

EMULATOR_ENTRY cudaError_t cudaMemPoolGetAccess(int* flags, void* pool, const cudaMemLocation* location) {
    return api_call([&](Device& device) {
        require(flags);
        pool_at(device, pool);
        require_location(location, cudaMemAllocationTypePinned);
        *flags = cudaMemAccessFlagsProtReadWrite;
    });
}

// ---- the device's pools ----

EMULATOR_ENTRY cudaError_t cudaDeviceGetDefaultMemPool(void** pool, int device_number) {
    return api_call([&](Device& device) {
        require(pool);
        require_device(device_number);
        *pool = &device.default_pool;
    });
}

EMULATOR_ENTRY cudaError_t cudaDeviceGetMemPool(void** pool, int device_number) {
    return api_call([&](Device& device) {
        require(pool);
        require_device(device_number);
        *pool = device.current_pool;
    });
}

EMULATOR_ENTRY cudaError_t cudaDeviceSetMemPool(int device_number, void* pool) {
    return api_call([&](Device& device) {
        require_device(device_number);
        device.current_pool = &pool_at(device, pool);
    });
}

EMULATOR_ENTRY cudaError_t cudaDeviceGetGraphMemAttribute(int device_number,
                                                          cudaGraphMemAttributeType attribute, void* value) {
    return api_call([&](Device& device) {
        require_device(device_number);
        require(value && attribute >= cudaGraphMemAttrUsedMemCurrent &&
                attribute <= cudaGraphMemAttrReservedMemHigh);
        const bool is_peak = attribute % 2 == 1;
        *static_cast<std::uint64_t*>(value) = is_peak ? device.peak_graph_bytes : device.graph_bytes;
    });
}

EMULATOR_ENTRY cudaError_t cudaDeviceSetGraphMemAttribute(int device_number,
                                                          cudaGraphMemAttributeType attribute, void* value) {
    return api_call([&](Device& device) {
        require_device(device_number);
        const bool is_peak =
            attribute == cudaGraphMemAttrUsedMemHigh || attribute == cudaGraphMemAttrReservedMemHigh;
        require(is_peak && value && *static_cast<std::uint64_t*>(value) == 0);
        device.peak_graph_bytes = device.graph_bytes;
    });
}

EMULATOR_ENTRY cudaError_t cudaDeviceGraphMemTrim(int device_number) {
    return api_call([&](Device&) { require_device(device_number); });
}

EMULATOR_ENTRY cudaError_t cudaMemGetDefaultMemPool(void** pool, const cudaMemLocation* location, int type) {
    return api_call([&](Device& device) {
        require(pool);
        require_location(location, type);
        *pool = &device.default_pool;
    });
}

EMULATOR_ENTRY cudaError_t cudaMemGetMemPool(void** pool, const cudaMemLocation* location, int type) {
    return api_call([&](Device& device) {
        require(pool);
        require_location(location, type);
        *pool = device.current_pool;
    });
}

EMULATOR_ENTRY cudaError_t cudaMemSetMemPool(const cudaMemLocation* location, int type, void* pool) {
    return api_call([&](Device& device) {
        require_location(location, type);
        device.current_pool = &pool_at(device, pool);
    });
}
