/// Allocating, freeing and querying memory.

#include "emulator/runtime/api/parts.hpp"
#include "emulator/runtime/api_call.hpp"

#include <cstdint>

using namespace emulator;
using namespace emulator::abi;

namespace {

/// cudaMallocPitch gives rows that start at a multiple of this.
constexpr std::size_t pitch_alignment = 512;

/// CUDA returns a null pointer for a request of 0 bytes.
void* allocate(Device& device, std::size_t bytes, MemoryKind kind, unsigned int flags = 0) {
    reject_while_capturing(device);
    return bytes ? device.memory.allocate(device.number, bytes, kind, flags) : nullptr;
}

/// Frees for `call` the memory at `pointer`, which must be of this kind.
void release(Device& device, const void* pointer, MemoryKind kind, const char* call,
             cudaError_t error = cudaErrorInvalidValue) {
    reject_while_capturing(device);
    if (device.memory.release(pointer, kind, call)) return device.forget_in_pools(pointer);
    device.memory.was_rejected({call, reinterpret_cast<std::uint64_t>(pointer)});
    throw ApiError(error);
}

/// Before cudaFree: the host waits for the device, or for all if the memory is not on one.
void wait_for_users(Device& device, const void* pointer) {
    const Allocation* const allocation = device.memory.find(pointer);
    for (const auto& one : Runtime::instance().devices)
        if (allocation && (allocation->device == Allocation::on_host || allocation->device == one->number))
            device.memory.operations().host_waits_for_device(one->number);
}

/// Rows of `width` bytes, and their pitch.
void* allocate_rows(Device& device, std::size_t width, std::size_t height, std::size_t& pitch) {
    require(width <= SIZE_MAX - pitch_alignment);
    pitch = (width + pitch_alignment - 1) / pitch_alignment * pitch_alignment;
    require(height == 0 || pitch <= SIZE_MAX / height, cudaErrorMemoryAllocation);
    return allocate(device, pitch * height, MemoryKind::device);
}

/// The allocation that holds all `bytes` bytes at `pointer`.
const Allocation& require_inside_allocation(const Device& device, const void* pointer, std::size_t bytes) {
    const Allocation* found = device.memory.find(pointer);
    require(found && found->contains(reinterpret_cast<std::uint64_t>(pointer), bytes));
    return *found;
}

bool is_host_memory(MemoryKind kind) { return kind == MemoryKind::host || kind == MemoryKind::registered; }

cudaMemoryType memory_type(MemoryKind kind) {
    if (is_host_memory(kind)) return cudaMemoryTypeHost;
    return kind == MemoryKind::managed ? cudaMemoryTypeManaged : cudaMemoryTypeDevice;
}

} // namespace

EMULATOR_ENTRY cudaError_t cudaMalloc(void** pointer, std::size_t bytes) {
    return call_without_waiting([&](Device& device) {
        require(pointer);
        *pointer = allocate(device, bytes, MemoryKind::device);
    });
}

EMULATOR_ENTRY cudaError_t cudaMallocPitch(void** pointer, std::size_t* pitch, std::size_t width,
                                           std::size_t height) {
    return call_without_waiting([&](Device& device) {
        require(pointer && pitch);
        *pointer = allocate_rows(device, width, height, *pitch);
    });
}

EMULATOR_ENTRY cudaError_t cudaMalloc3D(cudaPitchedPtr* pitched, cudaExtent extent) {
    return call_without_waiting([&](Device& device) {
        require(pitched);
        const auto [width, height, depth] = extent;
        require(depth == 0 || height <= SIZE_MAX / depth, cudaErrorMemoryAllocation);
        std::size_t pitch = 0;
        void* const memory = allocate_rows(device, width, height * depth, pitch);
        *pitched = {memory, pitch, width, height};
    });
}

EMULATOR_ENTRY cudaError_t cudaMallocManaged(void** pointer, std::size_t bytes, unsigned int flags) {
    return call_without_waiting([&](Device& device) {
        require(pointer && (flags == cudaMemAttachGlobal || flags == cudaMemAttachHost));
        *pointer = allocate(device, bytes, MemoryKind::managed, flags);
    });
}

EMULATOR_ENTRY cudaError_t cudaHostAlloc(void** pointer, std::size_t bytes, unsigned int flags) {
    return call_without_waiting([&](Device& device) {
        require(pointer && (flags & ~cudaHostAllocMask) == 0);
        *pointer = allocate(device, bytes, MemoryKind::host, flags | cudaHostAllocMapped);
    });
}

EMULATOR_ENTRY cudaError_t cudaMallocHost(void** pointer, std::size_t bytes) {
    return cudaHostAlloc(pointer, bytes, 0);
}

EMULATOR_ENTRY cudaError_t cudaFree(void* pointer) {
    return api_call([&](Device& device) {
        if (!pointer) return;
        reject_while_capturing(device);
        wait_for_users(device, pointer);
        free_on_device(device, pointer, "cudaFree");
    });
}

EMULATOR_ENTRY cudaError_t cudaFreeHost(void* pointer) {
    return api_call([&](Device& device) {
        if (pointer) release(device, pointer, MemoryKind::host, "cudaFreeHost");
    });
}

EMULATOR_ENTRY cudaError_t cudaHostRegister(void* pointer, std::size_t bytes, unsigned int flags) {
    return call_without_waiting([&](Device& device) {
        require(pointer && bytes > 0 && (flags & ~cudaHostRegisterMask) == 0);
        const void* last = static_cast<const char*>(pointer) + bytes - 1;
        require(!device.memory.find(pointer) && !device.memory.find(last),
                cudaErrorHostMemoryAlreadyRegistered);
        device.memory.adopt(device.number, pointer, bytes, flags);
    });
}

EMULATOR_ENTRY cudaError_t cudaHostUnregister(void* pointer) {
    return api_call([&](Device& device) {
        require(pointer);
        release(device, pointer, MemoryKind::registered, "cudaHostUnregister",
                cudaErrorHostMemoryNotRegistered);
    });
}

/// Host and device share one address space, so the device's pointer to host memory equals the host's.
EMULATOR_ENTRY cudaError_t cudaHostGetDevicePointer(void** device_pointer, void* host_pointer,
                                                    unsigned int flags) {
    return call_without_waiting([&](Device& device) {
        require(device_pointer && host_pointer && flags == 0);
        const Allocation& allocation = require_inside_allocation(device, host_pointer, 1);
        require(is_host_memory(device.memory.kind_of(allocation)));
        *device_pointer = host_pointer;
    });
}

EMULATOR_ENTRY cudaError_t cudaHostGetFlags(unsigned int* flags, void* host_pointer) {
    return call_without_waiting([&](Device& device) {
        require(flags && host_pointer);
        const Allocation& allocation = require_inside_allocation(device, host_pointer, 1);
        require(device.memory.kind_of(allocation) == MemoryKind::host);
        *flags = device.memory.flags_of(allocation);
    });
}

EMULATOR_ENTRY cudaError_t cudaMemGetInfo(std::size_t* free_bytes, std::size_t* total_bytes) {
    return call_without_waiting([&](Device& device) {
        require(free_bytes && total_bytes);
        *free_bytes = device.memory.available_bytes(device.number);
        *total_bytes = device.memory.total_bytes();
    });
}

EMULATOR_ENTRY cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
    return call_without_waiting([&](Device& device) {
        require(attributes);
        *attributes = {};
        const Allocation* allocation = device.memory.find(pointer);
        if (!allocation) {
            attributes->type = cudaMemoryTypeUnregistered;
            attributes->device = -2;
            attributes->hostPointer = const_cast<void*>(pointer);
            return;
        }
        attributes->type = memory_type(device.memory.kind_of(*allocation));
        attributes->device = device.memory.device_of(*allocation);
        attributes->devicePointer =
            allocation->is_reached_by(device.number) ? const_cast<void*>(pointer) : nullptr;
        attributes->hostPointer =
            attributes->type == cudaMemoryTypeDevice ? nullptr : const_cast<void*>(pointer);
    });
}

// These hints about managed memory have no effect, since there is only one memory.

EMULATOR_ENTRY cudaError_t cudaMemPrefetchAsync(const void* pointer, std::size_t bytes, cudaMemLocation,
                                                unsigned int, void*) {
    return call_without_waiting([&](Device& device) { require_inside_allocation(device, pointer, bytes); });
}
EMULATOR_PER_THREAD_TWIN(cudaMemPrefetchAsync, cudaMemPrefetchAsync_ptsz);

EMULATOR_ENTRY cudaError_t cudaMemAdvise(const void* pointer, std::size_t bytes, int, cudaMemLocation) {
    return call_without_waiting([&](Device& device) { require_inside_allocation(device, pointer, bytes); });
}

EMULATOR_ENTRY cudaError_t cudaStreamAttachMemAsync(void* stream, void* pointer, std::size_t, unsigned int) {
    return call_without_waiting([&](Device& device) {
        require_stream(device, stream);
        require_inside_allocation(device, pointer, 1);
    });
}
EMULATOR_PER_THREAD_TWIN(cudaStreamAttachMemAsync, cudaStreamAttachMemAsync_ptsz);
