/// The functions of CUDA's driver that libcu++ and programs beside the runtime use. libcuda.so.1 of the emulator
/// is empty: it needs this library, which has them. Most are functions of the runtime under another name.

#include "emulator/device_count.hpp"
#include "emulator/runtime/api_call.hpp"
#include "emulator/runtime/transfers.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <cstring>
#include <dlfcn.h>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

using namespace emulator;
using namespace emulator::abi;

/// Defines a driver's function, and declares the runtime's that it is.
#define SAME(driver, runtime, parameters, arguments)                                                         \
    EMULATOR_ENTRY cudaError_t runtime parameters;                                                           \
    EMULATOR_ENTRY cudaError_t driver parameters {                                                           \
        return driver_call([&] { return runtime arguments; });                                               \
    }

EMULATOR_ENTRY cudaError_t cudaMemcpyAsync(void*, const void*, std::size_t, cudaMemcpyKind, void*);
EMULATOR_ENTRY cudaError_t cudaPointerGetAttributes(cudaPointerAttributes*, const void*);
EMULATOR_ENTRY cudaError_t cudaFuncGetAttributes(cudaFuncAttributes*, const void*);
EMULATOR_ENTRY cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t*, const void*, void**);
EMULATOR_ENTRY cudaError_t cudaLibraryLoadData(const void**, const void*, void*, void**, unsigned int, void*,
                                               void**, unsigned int);
EMULATOR_ENTRY cudaError_t cudaLibraryLoadFromFile(const void**, const char*, void*, void**, unsigned int,
                                                   void*, void**, unsigned int);

// ---- the devices, each with one context ----

SAME(cuDriverGetVersion, cudaDriverGetVersion, (int* version), (version))
SAME(cuDeviceGetCount, cudaGetDeviceCount, (int* count), (count))
SAME(cuDeviceGetAttribute, cudaDeviceGetAttribute, (int* value, int attribute, int device),
     (value, attribute, device))
SAME(cuDeviceCanAccessPeer, cudaDeviceCanAccessPeer, (int* can, int device, int peer), (can, device, peer))
SAME(cuCtxSynchronize, cudaDeviceSynchronize, (), ())
SAME(cuMemGetInfo_v2, cudaMemGetInfo, (std::size_t * available, std::size_t* total), (available, total))

namespace {

/// Runs a query of the driver.
cudaError_t ask(const std::function<void()>& body) {
    return driver_call([&] { return query_call([&](Device&) { body(); }); });
}

std::array<char, max_devices> primary_contexts; // the address of a device's is the handle
thread_local std::vector<int> devices_below;    ///< those that were current before cuCtxPushCurrent

void* primary_context(int device) { return &primary_contexts[static_cast<std::size_t>(device)]; }
void* current_context() { return primary_context(Runtime::current_device_number()); }

/// \throws ApiError if there is no such context.
int device_of_context(const void* context) {
    for (int device = 0; device < static_cast<int>(Runtime::instance().devices.size()); ++device)
        if (context == primary_context(device)) return device;
    throw ApiError(cudaErrorDeviceUninitialized);
}

} // namespace

EMULATOR_ENTRY cudaError_t cuInit(unsigned int flags) {
    return ask([&] { require(flags == 0); });
}

EMULATOR_ENTRY cudaError_t cuDeviceGet(int* device, int ordinal) {
    return ask([&] {
        require(device);
        require_device(ordinal);
        *device = ordinal;
    });
}

EMULATOR_ENTRY cudaError_t cuDeviceGetName(char* name, int length, int device) {
    return ask([&] {
        require(name && length > 0);
        require_device(device);
        const cudaDeviceProp properties = device_properties(device);
        const std::size_t fits = std::min(std::strlen(properties.name), static_cast<std::size_t>(length) - 1);
        std::memcpy(name, properties.name, fits);
        name[fits] = '\0';
    });
}

EMULATOR_ENTRY cudaError_t cuDeviceGetUuid_v2(cudaUUID_t* uuid, int device) {
    return ask([&] {
        require(uuid);
        require_device(device);
        *uuid = device_properties(device).uuid;
    });
}

EMULATOR_ENTRY cudaError_t cuDeviceTotalMem_v2(std::size_t* bytes, int device) {
    return ask([&] {
        require(bytes);
        *bytes = device_at(device).memory.total_bytes();
    });
}

EMULATOR_ENTRY cudaError_t cuDevicePrimaryCtxRetain(void** context, int device) {
    return ask([&] {
        require(context);
        require_device(device);
        *context = primary_context(device);
    });
}

EMULATOR_ENTRY cudaError_t cuDevicePrimaryCtxRelease_v2(int device) {
    return ask([&] { require_device(device); });
}

EMULATOR_ENTRY cudaError_t cuDevicePrimaryCtxGetState(int device, unsigned int* flags, int* is_active) {
    return ask([&] {
        require(flags && is_active);
        require_device(device);
        *flags = 0;
        *is_active = 1;
    });
}

EMULATOR_ENTRY cudaError_t cuCtxGetCurrent(void** context) {
    return ask([&] {
        require(context);
        *context = current_context();
    });
}

EMULATOR_ENTRY cudaError_t cuCtxPushCurrent_v2(void* context) {
    return ask([&] {
        const int device = device_of_context(context);
        devices_below.push_back(std::exchange(Runtime::current_device_number(), device));
    });
}

EMULATOR_ENTRY cudaError_t cuCtxPopCurrent_v2(void** context) {
    return ask([&] {
        require(!devices_below.empty(), cudaErrorDeviceUninitialized);
        if (context) *context = current_context();
        Runtime::current_device_number() = devices_below.back();
        devices_below.pop_back();
    });
}

EMULATOR_ENTRY cudaError_t cuCtxSetCurrent(void* context) {
    return ask([&] {
        if (context) Runtime::current_device_number() = device_of_context(context);
    });
}

EMULATOR_ENTRY cudaError_t cuCtxGetDevice(int* device) {
    return ask([&] {
        require(device);
        *device = Runtime::current_device_number();
    });
}

/// Another context would be another address space: there is one.
EMULATOR_ENTRY cudaError_t cuCtxCreate_v2(void** context, unsigned int, int device) {
    const cudaError_t error = cuDevicePrimaryCtxRetain(context, device);
    return error == cudaSuccess ? cuCtxPushCurrent_v2(*context) : error;
}

EMULATOR_ENTRY cudaError_t cuCtxCreate_v3(void** context, void*, int, unsigned int flags, int device) {
    return cuCtxCreate_v2(context, flags, device);
}

EMULATOR_ENTRY cudaError_t cuCtxCreate_v4(void** context, void*, unsigned int flags, int device) {
    return cuCtxCreate_v2(context, flags, device);
}

EMULATOR_ENTRY cudaError_t cuCtxDestroy_v2(void* context) {
    return ask([&] {
        device_of_context(context);
        if (devices_below.empty()) return;
        Runtime::current_device_number() = devices_below.back();
        devices_below.pop_back();
    });
}

EMULATOR_ENTRY cudaError_t cuGetErrorString(cudaError_t error, const char** text) {
    return ask([&] {
        require(text);
        *text = error_text(error);
    });
}

/// "CUDA_ERROR_INVALID_VALUE" for cudaErrorInvalidValue.
EMULATOR_ENTRY cudaError_t cuGetErrorName(cudaError_t error, const char** name) {
    return ask([&] {
        require(name);
        std::string words = "CUDA";
        for (const char* letter = error_name(error) + std::strlen("cuda"); *letter; ++letter) {
            if (std::isupper(static_cast<unsigned char>(*letter))) words += '_';
            words += static_cast<char>(std::toupper(static_cast<unsigned char>(*letter)));
        }
        if (error == cudaErrorMemoryAllocation) words = "CUDA_ERROR_OUT_OF_MEMORY";
        if (error == cudaErrorInvalidResourceHandle) words = "CUDA_ERROR_INVALID_HANDLE";
        if (error == cudaErrorSymbolNotFound) words = "CUDA_ERROR_NOT_FOUND";
        static auto& names = *new std::set<std::string>;
        *name = names.insert(words).first->c_str();
    });
}

// ---- memory ----

SAME(cuMemAlloc_v2, cudaMalloc, (void** pointer, std::size_t bytes), (pointer, bytes))
SAME(cuMemAllocManaged, cudaMallocManaged, (void** pointer, std::size_t bytes, unsigned int flags),
     (pointer, bytes, flags))
SAME(cuMemAllocHost_v2, cudaMallocHost, (void** pointer, std::size_t bytes), (pointer, bytes))
SAME(cuMemHostAlloc, cudaHostAlloc, (void** pointer, std::size_t bytes, unsigned int flags),
     (pointer, bytes, flags))
SAME(cuMemFree_v2, cudaFree, (void* pointer), (pointer))
SAME(cuMemFreeHost, cudaFreeHost, (void* pointer), (pointer))
SAME(cuMemAllocAsync, cudaMallocAsync, (void** pointer, std::size_t bytes, void* stream),
     (pointer, bytes, stream))
SAME(cuMemAllocFromPoolAsync, cudaMallocFromPoolAsync,
     (void** pointer, std::size_t bytes, void* pool, void* stream), (pointer, bytes, pool, stream))
SAME(cuMemFreeAsync, cudaFreeAsync, (void* pointer, void* stream), (pointer, stream))
SAME(cuMemPoolCreate, cudaMemPoolCreate, (void** pool, const cudaMemPoolProps* properties),
     (pool, properties))
SAME(cuMemPoolDestroy, cudaMemPoolDestroy, (void* pool), (pool))
SAME(cuMemPoolTrimTo, cudaMemPoolTrimTo, (void* pool, std::size_t bytes), (pool, bytes))
SAME(cuMemPoolSetAttribute, cudaMemPoolSetAttribute, (void* pool, cudaMemPoolAttr attribute, void* value),
     (pool, attribute, value))
SAME(cuMemPoolGetAttribute, cudaMemPoolGetAttribute, (void* pool, cudaMemPoolAttr attribute, void* value),
     (pool, attribute, value))
SAME(cuMemPoolSetAccess, cudaMemPoolSetAccess, (void* pool, const cudaMemAccessDesc* list, std::size_t count),
     (pool, list, count))
SAME(cuMemPoolGetAccess, cudaMemPoolGetAccess, (int* flags, void* pool, const cudaMemLocation* location),
     (flags, pool, location))
SAME(cuDeviceGetDefaultMemPool, cudaDeviceGetDefaultMemPool, (void** pool, int device), (pool, device))
SAME(cuMemGetDefaultMemPool, cudaMemGetDefaultMemPool,
     (void** pool, const cudaMemLocation* location, int type), (pool, location, type))

#define COPY(name, kind)                                                                                     \
    EMULATOR_ENTRY cudaError_t name(void* to, const void* from, std::size_t bytes) {                         \
        return driver_call([&] { return cudaMemcpyAsync(to, from, bytes, kind, nullptr); });                 \
    }
#define COPY_ASYNC(name, kind)                                                                               \
    EMULATOR_ENTRY cudaError_t name(void* to, const void* from, std::size_t bytes, void* stream) {           \
        return driver_call([&] { return cudaMemcpyAsync(to, from, bytes, kind, stream); });                  \
    }
COPY(cuMemcpy, cudaMemcpyDefault)
COPY(cuMemcpyHtoD_v2, cudaMemcpyHostToDevice)
COPY(cuMemcpyDtoH_v2, cudaMemcpyDeviceToHost)
COPY(cuMemcpyDtoD_v2, cudaMemcpyDeviceToDevice)
COPY_ASYNC(cuMemcpyAsync, cudaMemcpyDefault)
COPY_ASYNC(cuMemcpyHtoDAsync_v2, cudaMemcpyHostToDevice)
COPY_ASYNC(cuMemcpyDtoHAsync_v2, cudaMemcpyDeviceToHost)
COPY_ASYNC(cuMemcpyDtoDAsync_v2, cudaMemcpyDeviceToDevice)

/// The attributes are hints about where the copies' ends lie, and when their sources are read.
EMULATOR_ENTRY cudaError_t cuMemcpyBatchAsync(void** to, void** from, std::size_t* bytes, std::size_t count,
                                              void*, std::size_t*, std::size_t, std::size_t* failed,
                                              void* stream) {
    if (failed) *failed = SIZE_MAX; // none
    if (count != 0 && (!to || !from || !bytes)) return cudaErrorInvalidValue;
    for (std::size_t k = 0; k < count; ++k) {
        const cudaError_t error = cuMemcpyAsync(to[k], from[k], bytes[k], stream);
        if (error == cudaSuccess) continue;
        if (failed) *failed = k;
        return error;
    }
    return cudaSuccess;
}

EMULATOR_ENTRY cudaError_t cuMemcpyBatchAsync_v2(void** to, void** from, std::size_t* bytes,
                                                 std::size_t count, void* attributes, std::size_t* indices,
                                                 std::size_t attribute_count, void* stream) {
    return cuMemcpyBatchAsync(to, from, bytes, count, attributes, indices, attribute_count, nullptr, stream);
}

namespace {

template <class Word> cudaError_t set_words(void* to, Word value, std::size_t count, void* stream) {
    return driver_call([&] {
        const auto work = [=](Device& device) {
            fill(device, to, single_row(count * sizeof value), value, sizeof value);
        };
        return stream_call(stream, {.type = cudaGraphNodeTypeMemset, .work = work, .host = nullptr});
    });
}

} // namespace

#define SET(name, Word)                                                                                      \
    EMULATOR_ENTRY cudaError_t name##Async(void* to, Word value, std::size_t count, void* stream) {          \
        return set_words(to, value, count, stream);                                                          \
    }                                                                                                        \
    EMULATOR_ENTRY cudaError_t name##_v2(void* to, Word value, std::size_t count) {                          \
        return set_words(to, value, count, nullptr);                                                         \
    }
SET(cuMemsetD8, unsigned char)
SET(cuMemsetD16, unsigned short)
SET(cuMemsetD32, unsigned int)

namespace {

enum PointerAttribute : int {
    of_context = 1,
    of_memory_type = 2,
    of_device_pointer = 3,
    of_host_pointer = 4,
    of_is_managed = 8,
    of_device_ordinal = 9,
    of_range_start = 11,
    of_range_bytes = 12,
    of_is_mapped = 13,
    of_pool = 17,
    attributes_end = 22, // the others up to here exist
};

template <class T> void write(void* to, T value) { std::memcpy(to, &value, sizeof value); }

/// `has_memory`: else the attributes of a pointer that CUDA does not know.
void write_attribute(void* to, int attribute, const void* pointer, const cudaPointerAttributes& about,
                     bool has_memory) {
    enum MemoryType : int { unknown = 0, host = 1, on_device = 2 };
    const bool is_host = about.type == cudaMemoryTypeHost;
    switch (attribute) {
    case of_context: return write<void*>(to, has_memory ? primary_context(about.device) : nullptr);
    case of_memory_type: return write<int>(to, !has_memory ? unknown : is_host ? host : on_device);
    case of_device_pointer: return write<void*>(to, about.devicePointer);
    case of_host_pointer: return write<void*>(to, has_memory ? about.hostPointer : nullptr);
    case of_is_managed: return write<int>(to, about.type == cudaMemoryTypeManaged);
    case of_device_ordinal: return write<int>(to, about.device);
    case of_is_mapped: return write<int>(to, has_memory);
    }
    Device& device = Runtime::instance().current_device();
    const Allocation* const allocation = device.memory.find(pointer);
    const std::uint64_t first = allocation ? allocation->address : 0;
    switch (attribute) {
    case of_range_start: return write(to, first);
    case of_range_bytes: return write<std::size_t>(to, allocation ? allocation->bytes : 0);
    case of_pool: return write<void*>(to, device.pool_of(reinterpret_cast<const void*>(first)));
    }
    require(attribute > 0 && attribute < attributes_end);
    if (!has_memory) return write<int>(to, 0);
    throw ApiError(cudaErrorNotSupported, "cuPointerGetAttribute: attribute " + std::to_string(attribute) +
                                              " is not supported by the emulator");
}

} // namespace

EMULATOR_ENTRY cudaError_t cuPointerGetAttributes(unsigned int count, const int* attributes, void** values,
                                                  const void* pointer) {
    return driver_call([&] {
        cudaPointerAttributes about{};
        const cudaError_t error = cudaPointerGetAttributes(&about, pointer);
        if (error != cudaSuccess) return error;
        return query_call([&](Device&) {
            require(count > 0 && attributes && values &&
                    std::all_of(values, values + count, std::identity()));
            const bool has_memory = about.type != cudaMemoryTypeUnregistered;
            for (unsigned int k = 0; k < count; ++k)
                write_attribute(values[k], attributes[k], pointer, about, has_memory);
        });
    });
}

EMULATOR_ENTRY cudaError_t cuPointerGetAttribute(void* value, int attribute, const void* pointer) {
    int type = 0;
    const int asked = of_memory_type;
    void* to = &type;
    const cudaError_t error = cuPointerGetAttributes(1, &asked, &to, pointer);
    if (error != cudaSuccess || !value || type == 0)
        return error != cudaSuccess ? error : cudaErrorInvalidValue;
    return cuPointerGetAttributes(1, &attribute, &value, pointer);
}

// ---- streams, events ----

SAME(cuStreamCreate, cudaStreamCreateWithFlags, (void** stream, unsigned int flags), (stream, flags))
SAME(cuStreamCreateWithPriority, cudaStreamCreateWithPriority,
     (void** stream, unsigned int flags, int priority), (stream, flags, priority))
SAME(cuStreamDestroy_v2, cudaStreamDestroy, (void* stream), (stream))
SAME(cuStreamSynchronize, cudaStreamSynchronize, (void* stream), (stream))
SAME(cuStreamQuery, cudaStreamQuery, (void* stream), (stream))
SAME(cuStreamWaitEvent, cudaStreamWaitEvent, (void* stream, void* event, unsigned int flags),
     (stream, event, flags))
SAME(cuStreamGetPriority, cudaStreamGetPriority, (void* stream, int* priority), (stream, priority))
SAME(cuStreamGetFlags, cudaStreamGetFlags, (void* stream, unsigned int* flags), (stream, flags))
SAME(cuStreamGetId, cudaStreamGetId, (void* stream, unsigned long long* id), (stream, id))
SAME(cuStreamGetDevice, cudaStreamGetDevice, (void* stream, int* device), (stream, device))
SAME(cuStreamIsCapturing, cudaStreamIsCapturing, (void* stream, cudaStreamCaptureStatus* status),
     (stream, status))
SAME(cuLaunchHostFunc, cudaLaunchHostFunc, (void* stream, void (*function)(void*), void* data),
     (stream, function, data))
SAME(cuStreamAddCallback, cudaStreamAddCallback,
     (void* stream, void (*function)(void*, cudaError_t, void*), void* data, unsigned int flags),
     (stream, function, data, flags))
SAME(cuEventCreate, cudaEventCreateWithFlags, (void** event, unsigned int flags), (event, flags))
SAME(cuEventDestroy_v2, cudaEventDestroy, (void* event), (event))
SAME(cuEventRecord, cudaEventRecord, (void* event, void* stream), (event, stream))
SAME(cuEventSynchronize, cudaEventSynchronize, (void* event), (event))
SAME(cuEventQuery, cudaEventQuery, (void* event), (event))
SAME(cuEventElapsedTime, cudaEventElapsedTime, (float* milliseconds, void* start, void* end),
     (milliseconds, start, end))

EMULATOR_ENTRY cudaError_t cuEventElapsedTime_v2(float* milliseconds, void* start, void* end) {
    return cuEventElapsedTime(milliseconds, start, end);
}

EMULATOR_ENTRY cudaError_t cuStreamGetCtx(void* stream, void** context) {
    return ask([&] {
        require(context);
        const Device& current = Runtime::instance().current_device();
        require_stream(current, stream);
        *context = primary_context(device_of_stream(current, stream));
    });
}

/// With a third argument, for a green context: there are none.
EMULATOR_ENTRY cudaError_t cuStreamGetCtx_v2(void* stream, void** context, void** green) {
    if (green) *green = nullptr;
    return cuStreamGetCtx(stream, context);
}

// ---- libraries and modules, which are libraries here; kernels ----

SAME(cuLibraryUnload, cudaLibraryUnload, (const void* library), (library))
SAME(cuLibraryGetKernel, cudaLibraryGetKernel, (const void** kernel, const void* library, const char* name),
     (kernel, library, name))
SAME(cuLibraryGetGlobal, cudaLibraryGetGlobal,
     (void** pointer, std::size_t* bytes, const void* library, const char* name),
     (pointer, bytes, library, name))
SAME(cuLibraryGetManaged, cudaLibraryGetManaged,
     (void** pointer, std::size_t* bytes, const void* library, const char* name),
     (pointer, bytes, library, name))
SAME(cuKernelGetFunction, cudaGetKernel, (const void** function, const void* kernel), (function, kernel))
SAME(cuKernelGetName, cudaFuncGetName, (const char** name, const void* kernel), (name, kernel))
SAME(cuFuncSetAttribute, cudaFuncSetAttribute, (const void* kernel, cudaFuncAttribute attribute, int value),
     (kernel, attribute, value))
SAME(cuOccupancyMaxActiveBlocksPerMultiprocessor, cudaOccupancyMaxActiveBlocksPerMultiprocessor,
     (int* blocks, const void* kernel, int threads, std::size_t bytes), (blocks, kernel, threads, bytes))

EMULATOR_ENTRY cudaError_t cuLibraryLoadData(const void** library, const void* code, void*, void**,
                                             unsigned int, void*, void**, unsigned int) {
    return driver_call(
        [&] { return cudaLibraryLoadData(library, code, nullptr, nullptr, 0, nullptr, nullptr, 0); });
}

EMULATOR_ENTRY cudaError_t cuModuleLoadData(const void** module, const void* code) {
    return cuLibraryLoadData(module, code, nullptr, nullptr, 0, nullptr, nullptr, 0);
}

EMULATOR_ENTRY cudaError_t cuModuleLoadDataEx(const void** module, const void* code, unsigned int, void*,
                                              void**) {
    return cuModuleLoadData(module, code);
}

EMULATOR_ENTRY cudaError_t cuModuleLoadFatBinary(const void** module, const void* code) {
    return cuModuleLoadData(module, code);
}

EMULATOR_ENTRY cudaError_t cuModuleLoad(const void** module, const char* path) {
    return driver_call(
        [&] { return cudaLibraryLoadFromFile(module, path, nullptr, nullptr, 0, nullptr, nullptr, 0); });
}

EMULATOR_ENTRY cudaError_t cuModuleUnload(const void* module) { return cuLibraryUnload(module); }

EMULATOR_ENTRY cudaError_t cuModuleGetFunction(const void** function, const void* module, const char* name) {
    return cuLibraryGetKernel(function, module, name);
}

EMULATOR_ENTRY cudaError_t cuModuleGetGlobal_v2(void** pointer, std::size_t* bytes, const void* module,
                                                const char* name) {
    return cuLibraryGetGlobal(pointer, bytes, module, name);
}

EMULATOR_ENTRY cudaError_t cuKernelGetLibrary(const void** library, const void* kernel) {
    return ask([&] {
        require(library);
        *library = registered_kernel(kernel).binary;
    });
}

EMULATOR_ENTRY cudaError_t cuFuncGetAttribute(int* value, int attribute, const void* kernel) {
    return driver_call([&] {
        cudaFuncAttributes all{};
        const cudaError_t error = cudaFuncGetAttributes(&all, kernel);
        if (error != cudaSuccess) return error;
        const int values[] = {all.maxThreadsPerBlock,
                              static_cast<int>(all.sharedSizeBytes),
                              static_cast<int>(all.constSizeBytes),
                              static_cast<int>(all.localSizeBytes),
                              all.numRegs,
                              all.ptxVersion,
                              all.binaryVersion,
                              all.cacheModeCA,
                              all.maxDynamicSharedSizeBytes,
                              all.preferredShmemCarveout,
                              all.clusterDimMustBeSet,
                              all.requiredClusterWidth,
                              all.requiredClusterHeight,
                              all.requiredClusterDepth,
                              all.nonPortableClusterSizeAllowed,
                              all.clusterSchedulingPolicyPreference};
        if (!value || attribute < 0 || attribute >= static_cast<int>(std::size(values)))
            return cudaErrorInvalidValue;
        *value = values[attribute];
        return cudaSuccess;
    });
}

EMULATOR_ENTRY cudaError_t cuKernelGetAttribute(int* value, int attribute, const void* kernel, int) {
    return cuFuncGetAttribute(value, attribute, kernel);
}

EMULATOR_ENTRY cudaError_t cuFuncLoad(const void* kernel) {
    return ask([&] { registered_kernel(kernel); });
}

/// A launch's configuration as the driver has it.
struct CUlaunchConfig {
    dim3 grid, block;
    unsigned int shared_bytes;
    void* stream;
    cudaLaunchAttribute* attributes;
    unsigned int attribute_count;
};

EMULATOR_ENTRY cudaError_t cuLaunchKernelEx(const CUlaunchConfig* config, const void* kernel,
                                            void** arguments, void** extra) {
    return driver_call([&] {
        if (!config) return cudaErrorInvalidValue;
        if (extra)
            return api_call([](Device&) {
                throw UnsupportedCall("cuLaunchKernel",
                                      "arguments in `extra` are not supported by the emulator; "
                                      "pass an array of pointers");
            });
        const cudaLaunchConfig_t same{config->grid,   config->block,      config->shared_bytes,
                                      config->stream, config->attributes, config->attribute_count};
        return cudaLaunchKernelExC(&same, kernel, arguments);
    });
}

EMULATOR_ENTRY cudaError_t cuLaunchKernel(const void* kernel, unsigned int grid_x, unsigned int grid_y,
                                          unsigned int grid_z, unsigned int block_x, unsigned int block_y,
                                          unsigned int block_z, unsigned int shared_bytes, void* stream,
                                          void** arguments, void** extra) {
    const CUlaunchConfig config{
        {grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared_bytes, stream, nullptr, 0};
    return cuLaunchKernelEx(&config, kernel, arguments, extra);
}

// ---- functions by name ----

namespace {

/// Functions whose arguments differ before a version, or that are new in it. The oldest change comes first.
struct ChangedFunction {
    const char* name;
    int since;
    const char* suffix_before; ///< null: there is none
};
constexpr ChangedFunction changed_functions[] = {
    {"cuMemcpyBatchAsync", 12080, nullptr},
    {"cuMemcpyBatchAsync", 13000, ""},
    {"cuMemGetDefaultMemPool", 13000, nullptr},
    {"cuCtxCreate", 11040, "_v2"},
    {"cuCtxCreate", 12050, "_v3"},
    {"cuStreamGetCtx", 12050, ""},
    {"cuGetProcAddress", 12000, ""},
};

/// This library's function of that name in the driver's API of that version, or null. A name stands for the newest
/// function of its sort, _v2 and so on.
void* driver_function(const std::string& name, int version, bool& is_too_new) {
    static void* const self = [] {
        Dl_info here{};
        dladdr(&primary_contexts, &here);
        return dlopen(here.dli_fname, RTLD_NOW | RTLD_NOLOAD);
    }();
    if (!name.starts_with("cu") || name.starts_with("cuda")) return nullptr;
    for (const auto& [changed, since, before] : changed_functions) {
        if (name != changed || version >= since) continue;
        is_too_new = !before;
        return before ? dlsym(self, (name + before).c_str()) : nullptr;
    }
    for (const char* const suffix : {"_v4", "_v2", ""})
        if (void* const found = dlsym(self, (name + suffix).c_str())) return found;
    constexpr std::size_t most_told = 3; // a static CUDA runtime, such as cuBLAS brings, asks for hundreds
    static auto& told = *new std::set<std::string>;
    if (told.size() < most_told && told.insert(name).second)
        report(name + ": the emulator does not have this function of the CUDA driver" +
               (told.size() == most_told ? "; it does not name further ones" : ""));
    return nullptr;
}

enum QueryResult : int { found = 0, not_found = 1, version_not_sufficient = 2 };

void find_driver_function(const char* name, void** function, int version, QueryResult* result) {
    bool is_too_new = false;
    *function = driver_function(name, version, is_too_new);
    if (result) *result = *function ? found : is_too_new ? version_not_sufficient : not_found;
}

} // namespace

EMULATOR_ENTRY cudaError_t cuGetProcAddress_v2(const char* name, void** function, int version, std::uint64_t,
                                               QueryResult* result) {
    return driver_call([&] {
        const cudaError_t error = query_call([&](Device&) {
            require(name && function);
            find_driver_function(name, function, version, result);
        });
        if (error != cudaSuccess) return error;
        return *function ? cudaSuccess : cudaErrorSymbolNotFound;
    });
}

EMULATOR_ENTRY cudaError_t cuGetProcAddress(const char* name, void** function, int version,
                                            std::uint64_t flags) {
    return cuGetProcAddress_v2(name, function, version, flags, nullptr);
}

/// Not an error if there is no such function, and `result` says so.
EMULATOR_ENTRY cudaError_t cudaGetDriverEntryPointByVersion(const char* name, void** function,
                                                            unsigned int version, unsigned long long,
                                                            QueryResult* result) {
    return query_call([&](Device&) {
        require(name && *name && function);
        find_driver_function(name, function, static_cast<int>(version), result);
        require(*function || result, cudaErrorSymbolNotFound);
    });
}
EMULATOR_PER_THREAD_TWIN(cudaGetDriverEntryPointByVersion, cudaGetDriverEntryPointByVersion_ptsz);

EMULATOR_ENTRY cudaError_t cudaGetDriverEntryPoint(const char* name, void** function,
                                                   unsigned long long flags, QueryResult* result) {
    return cudaGetDriverEntryPointByVersion(name, function, EMULATOR_CUDA_VERSION, flags, result);
}
EMULATOR_PER_THREAD_TWIN(cudaGetDriverEntryPoint, cudaGetDriverEntryPoint_ptsz);
