/// \file
/// Memory pools and stream-ordered allocation. Memory is allocated and freed at once: a pool keeps only
/// statistics.

#include "emulator/runtime/api_call.hpp"

#include <cstdint>
#include <cstring>
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

/// What a captured stream would have to do at its graph's launch.
void refuse_in_capture(const Device& device, const void* stream, const char* call) {
    require_stream(device, stream);
    if (device.capture_of(stream))
        throw UnsupportedCall(call, "the emulator does not support it in a captured stream");
}

void* allocate(Device& device, std::size_t bytes, MemoryPool& pool) {
    if (bytes == 0) return nullptr;
    require(pool.max_bytes == 0 || (pool.used <= pool.max_bytes && bytes <= pool.max_bytes - pool.used),
            cudaErrorMemoryAllocation);
    void* const pointer = device.memory.allocate(bytes, MemoryKind::device);
    pool.add(pointer, bytes);
    return pointer;
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

EMULATOR_ENTRY cudaError_t cudaMallocAsync(void** pointer, std::size_t bytes, void* stream) {
    return api_call([&](Device& device) {
        require(pointer);
        refuse_in_capture(device, stream, "cudaMallocAsync");
        *pointer = allocate(device, bytes, *device.current_pool);
    });
}
EMULATOR_PER_THREAD_TWIN(cudaMallocAsync, cudaMallocAsync_ptsz);

EMULATOR_ENTRY cudaError_t cudaMallocFromPoolAsync(void** pointer, std::size_t bytes, void* pool,
                                                   void* stream) {
    return api_call([&](Device& device) {
        require(pointer);
        refuse_in_capture(device, stream, "cudaMallocFromPoolAsync");
        *pointer = allocate(device, bytes, pool_at(device, pool));
    });
}
EMULATOR_PER_THREAD_TWIN(cudaMallocFromPoolAsync, cudaMallocFromPoolAsync_ptsz);

EMULATOR_ENTRY cudaError_t cudaFreeAsync(void* pointer, void* stream) {
    return api_call([&](Device& device) {
        require(pointer);
        refuse_in_capture(device, stream, "cudaFreeAsync");
        for (const MemoryKind kind : {MemoryKind::device, MemoryKind::managed})
            if (device.memory.release(pointer, kind, "cudaFreeAsync")) return device.forget_in_pools(pointer);
        device.memory.was_rejected({"cudaFreeAsync", reinterpret_cast<std::uint64_t>(pointer)});
        throw ApiError(cudaErrorInvalidValue);
    });
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
