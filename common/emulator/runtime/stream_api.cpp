/// \file
/// Streams. All work is done when the call that asks for it returns, so that a stream is never busy and never
/// waits.

#include "emulator/runtime/runtime.hpp"

#include <algorithm>

using namespace emulator;
using namespace emulator::abi;

namespace {

constexpr int least_priority = 0, greatest_priority = -5;
constexpr unsigned long long first_own_id = 3; ///< 0, 1 and 2 are the default streams' handles

cudaError_t create_stream(void** handle, unsigned flags, int priority) {
    return api_call([&](Device& device) {
        require(handle && flags <= cudaStreamNonBlocking);
        static unsigned long long next_id = first_own_id;
        auto stream = std::make_unique<Stream>(
            Stream{flags, std::clamp(priority, greatest_priority, least_priority), next_id++});
        *handle = stream.get();
        device.streams.emplace(*handle, std::move(stream));
    });
}

/// What is known about a stream, of the default ones too.
Stream stream_at(const Device& device, const void* handle) {
    require_stream(device, handle);
    const auto found = device.streams.find(handle);
    return found == device.streams.end() ? Stream{.id = reinterpret_cast<std::uintptr_t>(handle)}
                                         : *found->second;
}

cudaError_t check_stream(const void* stream) {
    return api_call([&](Device& device) { require_stream(device, stream); });
}

} // namespace

EMULATOR_ENTRY cudaError_t cudaStreamCreate(void** stream) {
    return create_stream(stream, 0, least_priority);
}

EMULATOR_ENTRY cudaError_t cudaStreamCreateWithFlags(void** stream, unsigned flags) {
    return create_stream(stream, flags, least_priority);
}

EMULATOR_ENTRY cudaError_t cudaStreamCreateWithPriority(void** stream, unsigned flags, int priority) {
    return create_stream(stream, flags, priority);
}

EMULATOR_ENTRY cudaError_t cudaStreamDestroy(void* stream) {
    return api_call(
        [&](Device& device) { require(device.streams.erase(stream) == 1, cudaErrorInvalidResourceHandle); });
}

EMULATOR_ENTRY cudaError_t cudaStreamSynchronize(void* stream) { return check_stream(stream); }
EMULATOR_PER_THREAD_TWIN(cudaStreamSynchronize, cudaStreamSynchronize_ptsz);

EMULATOR_ENTRY cudaError_t cudaStreamQuery(void* stream) { return check_stream(stream); }
EMULATOR_PER_THREAD_TWIN(cudaStreamQuery, cudaStreamQuery_ptsz);

EMULATOR_ENTRY cudaError_t cudaStreamWaitEvent(void* stream, void* event, unsigned) {
    return api_call([&](Device& device) {
        require_stream(device, stream);
        require(device.events.contains(event), cudaErrorInvalidResourceHandle);
    });
}
EMULATOR_PER_THREAD_TWIN(cudaStreamWaitEvent, cudaStreamWaitEvent_ptsz);

EMULATOR_ENTRY cudaError_t cudaStreamGetFlags(void* stream, unsigned* flags) {
    return api_call([&](Device& device) {
        require(flags);
        *flags = stream_at(device, stream).flags;
    });
}
EMULATOR_PER_THREAD_TWIN(cudaStreamGetFlags, cudaStreamGetFlags_ptsz);

EMULATOR_ENTRY cudaError_t cudaStreamGetPriority(void* stream, int* priority) {
    return api_call([&](Device& device) {
        require(priority);
        *priority = stream_at(device, stream).priority;
    });
}
EMULATOR_PER_THREAD_TWIN(cudaStreamGetPriority, cudaStreamGetPriority_ptsz);

EMULATOR_ENTRY cudaError_t cudaStreamGetId(void* stream, unsigned long long* id) {
    return api_call([&](Device& device) {
        require(id);
        *id = stream_at(device, stream).id;
    });
}
EMULATOR_PER_THREAD_TWIN(cudaStreamGetId, cudaStreamGetId_ptsz);

EMULATOR_ENTRY cudaError_t cudaStreamGetDevice(void* stream, int* device_number) {
    return api_call([&](Device& device) {
        require(device_number);
        require_stream(device, stream);
        *device_number = 0;
    });
}
EMULATOR_PER_THREAD_TWIN(cudaStreamGetDevice, cudaStreamGetDevice_ptsz);

/// Streams cannot be captured into graphs here.
EMULATOR_ENTRY cudaError_t cudaStreamIsCapturing(void* stream, cudaStreamCaptureStatus* status) {
    return api_call([&](Device& device) {
        require(status);
        require_stream(device, stream);
        *status = cudaStreamCaptureStatusNone;
    });
}
EMULATOR_PER_THREAD_TWIN(cudaStreamIsCapturing, cudaStreamIsCapturing_ptsz);

EMULATOR_ENTRY cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
    return query_call([&](Device&) {
        if (least) *least = least_priority;
        if (greatest) *greatest = greatest_priority;
    });
}

// The program's function runs outside of api_call: it may take its time, and nothing here waits for it
// meanwhile.

EMULATOR_ENTRY cudaError_t cudaLaunchHostFunc(void* stream, void (*function)(void*), void* data) {
    const cudaError_t error = api_call([&](Device& device) {
        require(function);
        require_stream(device, stream);
    });
    if (error == cudaSuccess) function(data);
    return error;
}
EMULATOR_PER_THREAD_TWIN(cudaLaunchHostFunc, cudaLaunchHostFunc_ptsz);

EMULATOR_ENTRY cudaError_t cudaStreamAddCallback(void* stream, void (*function)(void*, cudaError_t, void*),
                                                 void* data, unsigned flags) {
    const cudaError_t error = api_call([&](Device& device) {
        require(function && flags == 0);
        require_stream(device, stream);
    });
    if (error == cudaSuccess) function(stream, cudaSuccess, data);
    return error;
}
EMULATOR_PER_THREAD_TWIN(cudaStreamAddCallback, cudaStreamAddCallback_ptsz);
