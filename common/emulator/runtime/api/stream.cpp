/// Streams and events. What has not ended when its call returns is in the OperationQueue. The work of a captured stream
/// becomes a graph (capture.cpp).

#include "emulator/runtime/api_call.hpp"

#include <algorithm>

using namespace emulator;
using namespace emulator::abi;

namespace {

constexpr int least_priority = 0, greatest_priority = -5;
constexpr unsigned long long first_own_id = 3; ///< 0, 1 and 2 are the default streams' handles

/// "stream #2 of device 1"
std::string name_of(const Device& device, const Stream& stream) {
    const std::string name = "stream #" + std::to_string(stream.id - first_own_id + 1);
    return Runtime::instance().devices.size() == 1 ? name
                                                   : name + " of device " + std::to_string(device.number);
}

cudaError_t create_stream(void** handle, unsigned int flags, int priority) {
    return call_without_waiting([&](Device& device) {
        require(handle && flags <= cudaStreamNonBlocking);
        static unsigned long long next_id = first_own_id;
        auto stream = std::make_unique<Stream>(
            Stream{device.number, flags, std::clamp(priority, greatest_priority, least_priority), next_id++});
        *handle = stream.get();
        device.memory.operations().created(*handle, device.number, (flags & cudaStreamNonBlocking) == 0,
                                           name_of(device, *stream));
        device.streams.emplace(*handle, std::move(stream));
    });
}

/// The state of a stream, including the default ones.
Stream stream_at(const Device& device, const void* handle) {
    require_stream(device, handle);
    const auto found = device.streams.find(handle);
    return found == device.streams.end()
               ? Stream{.device = device.number, .id = reinterpret_cast<std::uintptr_t>(handle)}
               : *found->second;
}

/// What the host asks for has not ended yet if it waits for others. \throws ApiError with cudaErrorNotReady.
void require_ended(const OperationOrder::Clock& clock) {
    require(Runtime::instance().queue.run_some_until(clock), cudaErrorNotReady);
}

/// For the calls in which the host waits for a stream, or asks whether it has ended.
cudaError_t check_stream(const void* stream, bool waits) {
    return call_without_waiting([&](Device& device) {
        require_stream(device, stream);
        reject_if_captured(device, stream);
        OperationOrder& order = device.memory.operations();
        const OperationOrder::Clock before = order.recorded(stream, device.number);
        if (!waits) require_ended(before);
        wait_for(device, before);
    });
}

/// A stream that waits for a captured event joins the capture.
void wait_in_capture(Device& device, const void* stream, const Event& event) {
    Capture* const capture = device.capture_of(stream);
    const auto of_event = std::find_if(device.captures.begin(), device.captures.end(),
                                       [&](const auto& one) { return one->id == event.capture; });
    if (of_event == device.captures.end()) {
        if (capture && event.recorded) {
            capture->is_invalid = true;
            throw ApiError(cudaErrorStreamCaptureIsolation);
        }
        return;
    }
    if (capture && capture != of_event->get()) {
        capture->is_invalid = (*of_event)->is_invalid = true;
        throw ApiError(cudaErrorStreamCaptureMerge);
    }
    (*of_event)->wait(stream, event.captured);
}

/// Calls the program's own function, now or when the captured graph is launched.
cudaError_t call_host(const void* stream, bool is_valid, const std::function<void()>& function) {
    bool is_captured = false;
    cudaError_t error = call_without_waiting([&](Device& device) {
        require(is_valid);
        require_stream(device, stream);
        is_captured = device.capture_of(stream) != nullptr;
    });
    if (error == cudaSuccess)
        error = stream_call(stream, {.type = cudaGraphNodeTypeHost, .work = nullptr, .host = function});
    if (error == cudaSuccess && !is_captured) {
        // It may tell the host that the stream has come so far.
        error = call_without_waiting([&](Device& device) {
            OperationOrder& order = device.memory.operations();
            const OperationOrder::Clock before = order.recorded(stream, device.number);
            Runtime::instance().queue.run_until(before);
            order.host_waits_for(before);
        });
        function();
    }
    return error;
}

} // namespace

EMULATOR_ENTRY cudaError_t cudaStreamCreate(void** stream) {
    return create_stream(stream, 0, least_priority);
}

EMULATOR_ENTRY cudaError_t cudaStreamCreateWithFlags(void** stream, unsigned int flags) {
    return create_stream(stream, flags, least_priority);
}

EMULATOR_ENTRY cudaError_t cudaStreamCreateWithPriority(void** stream, unsigned int flags, int priority) {
    return create_stream(stream, flags, priority);
}

EMULATOR_ENTRY cudaError_t cudaStreamDestroy(void* stream) {
    return call_without_waiting([&](Device& device) {
        require(device.streams.erase(stream) == 1, cudaErrorInvalidResourceHandle);
        device.memory.operations().destroyed(stream);
    });
}

EMULATOR_ENTRY cudaError_t cudaStreamSynchronize(void* stream) { return check_stream(stream, true); }
EMULATOR_PER_THREAD_TWIN(cudaStreamSynchronize, cudaStreamSynchronize_ptsz);

EMULATOR_ENTRY cudaError_t cudaStreamQuery(void* stream) { return check_stream(stream, false); }
EMULATOR_PER_THREAD_TWIN(cudaStreamQuery, cudaStreamQuery_ptsz);

EMULATOR_ENTRY cudaError_t cudaStreamWaitEvent(void* stream, void* event, unsigned int) {
    return call_without_waiting([&](Device& device) {
        require_stream(device, stream);
        const auto found = device.events.find(event);
        require(found != device.events.end(), cudaErrorInvalidResourceHandle);
        wait_in_capture(device, stream, *found->second);
        if (!device.capture_of(stream))
            device.memory.operations().stream_waits_for(stream, device.number,
                                                        found->second->happened_before);
    });
}
EMULATOR_PER_THREAD_TWIN(cudaStreamWaitEvent, cudaStreamWaitEvent_ptsz);

EMULATOR_ENTRY cudaError_t cudaStreamGetFlags(void* stream, unsigned int* flags) {
    return call_without_waiting([&](Device& device) {
        require(flags);
        *flags = stream_at(device, stream).flags;
    });
}
EMULATOR_PER_THREAD_TWIN(cudaStreamGetFlags, cudaStreamGetFlags_ptsz);

EMULATOR_ENTRY cudaError_t cudaStreamGetPriority(void* stream, int* priority) {
    return call_without_waiting([&](Device& device) {
        require(priority);
        *priority = stream_at(device, stream).priority;
    });
}
EMULATOR_PER_THREAD_TWIN(cudaStreamGetPriority, cudaStreamGetPriority_ptsz);

EMULATOR_ENTRY cudaError_t cudaStreamGetId(void* stream, unsigned long long* id) {
    return call_without_waiting([&](Device& device) {
        require(id);
        *id = stream_at(device, stream).id;
    });
}
EMULATOR_PER_THREAD_TWIN(cudaStreamGetId, cudaStreamGetId_ptsz);

EMULATOR_ENTRY cudaError_t cudaStreamGetDevice(void* stream, int* device_number) {
    return call_without_waiting([&](Device& device) {
        require(device_number);
        *device_number = stream_at(device, stream).device;
    });
}
EMULATOR_PER_THREAD_TWIN(cudaStreamGetDevice, cudaStreamGetDevice_ptsz);

EMULATOR_ENTRY cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
    return query_call([&](Device&) {
        if (least) *least = least_priority;
        if (greatest) *greatest = greatest_priority;
    });
}

// The program's function runs outside of api_call: it may take long, and must not block other calls.

EMULATOR_ENTRY cudaError_t cudaLaunchHostFunc(void* stream, void (*function)(void*), void* data) {
    return call_host(stream, function != nullptr, [=] { function(data); });
}
EMULATOR_PER_THREAD_TWIN(cudaLaunchHostFunc, cudaLaunchHostFunc_ptsz);

EMULATOR_ENTRY cudaError_t cudaStreamAddCallback(void* stream, void (*function)(void*, cudaError_t, void*),
                                                 void* data, unsigned int flags) {
    const cudaError_t error = api_call([&](Device& device) {
        require_stream(device, stream);
        reject_if_captured(device, stream);
    });
    if (error != cudaSuccess) return error;
    return call_host(stream, function && flags == 0, [=] { function(stream, cudaSuccess, data); });
}
EMULATOR_PER_THREAD_TWIN(cudaStreamAddCallback, cudaStreamAddCallback_ptsz);

// Attributes of a stream are hints, except its priority.

EMULATOR_ENTRY cudaError_t cudaStreamSetAttribute(void* stream, int attribute,
                                                  const cudaLaunchAttributeValue* value) {
    return api_call([&](Device& device) {
        require(value);
        require_stream(device, stream);
        const auto found = device.streams.find(stream);
        if (attribute == cudaLaunchAttributePriority && found != device.streams.end())
            found->second->priority = std::clamp(value->priority, greatest_priority, least_priority);
    });
}
EMULATOR_PER_THREAD_TWIN(cudaStreamSetAttribute, cudaStreamSetAttribute_ptsz);

EMULATOR_ENTRY cudaError_t cudaStreamGetAttribute(void* stream, int attribute,
                                                  cudaLaunchAttributeValue* value) {
    return api_call([&](Device& device) {
        require(value);
        *value = {};
        const Stream asked = stream_at(device, stream);
        if (attribute == cudaLaunchAttributePriority) value->priority = asked.priority;
    });
}
EMULATOR_PER_THREAD_TWIN(cudaStreamGetAttribute, cudaStreamGetAttribute_ptsz);

EMULATOR_ENTRY cudaError_t cudaStreamCopyAttributes(void* to, void* from) {
    return api_call([&](Device& device) {
        const Stream source = stream_at(device, from);
        require_stream(device, to);
        const auto found = device.streams.find(to);
        if (found != device.streams.end()) found->second->priority = source.priority;
    });
}
EMULATOR_PER_THREAD_TWIN(cudaStreamCopyAttributes, cudaStreamCopyAttributes_ptsz);

// ---- events: a recorded one is complete at once; elapsed times come from the host's clock ----

namespace {

Event& event_at(Device& device, const void* handle) {
    const auto found = device.events.find(handle);
    require(found != device.events.end(), cudaErrorInvalidResourceHandle);
    return *found->second;
}

constexpr unsigned int event_flags = 7;

/// An event recorded in a captured stream never happens there. If the host waits for it or queries it, the
/// capture is invalidated.
cudaError_t check_event(const void* event, bool waits) {
    return call_without_waiting([&](Device& device) {
        const Event& awaited = event_at(device, event);
        for (const auto& capture : device.captures)
            if (capture->id == awaited.capture) capture->is_invalid = true;
        require(awaited.capture == 0, cudaErrorCapturedEvent);
        if (!waits) require_ended(awaited.happened_before);
        const OperationOrder::Clock before = awaited.happened_before; // It may be recorded again meanwhile.
        wait_for(device, before);
    });
}

} // namespace

EMULATOR_ENTRY cudaError_t cudaEventCreateWithFlags(void** handle, unsigned int flags) {
    return call_without_waiting([&](Device& device) {
        const bool is_shared = flags & cudaEventInterprocess;
        require(handle && (flags & ~event_flags) == 0 && (!is_shared || flags & cudaEventDisableTiming));
        auto event = std::make_unique<Event>(Event{.device = device.number, .flags = flags});
        *handle = event.get();
        device.events.emplace(*handle, std::move(event));
    });
}

EMULATOR_ENTRY cudaError_t cudaEventCreate(void** handle) { return cudaEventCreateWithFlags(handle, 0); }

EMULATOR_ENTRY cudaError_t cudaEventDestroy(void* event) {
    return call_without_waiting(
        [&](Device& device) { require(device.events.erase(event) == 1, cudaErrorInvalidResourceHandle); });
}

EMULATOR_ENTRY cudaError_t cudaEventRecordWithFlags(void* event, void* stream, unsigned int flags) {
    return call_without_waiting([&](Device& device) {
        require(flags <= 1);
        require_stream(device, stream);
        Event& recorded = event_at(device, event);
        require(recorded.device == device_of_stream(device, stream), cudaErrorInvalidResourceHandle);
        if (Capture* const capture = device.capture_of(stream)) {
            require(!capture->is_invalid, cudaErrorStreamCaptureInvalidated);
            recorded.capture = capture->id;
            recorded.captured = capture->streams.at(stream);
            return;
        }
        recorded.capture = 0;
        recorded.happened_before = device.memory.operations().recorded(stream, device.number);
        recorded.recorded = std::chrono::steady_clock::now();
    });
}
EMULATOR_PER_THREAD_TWIN(cudaEventRecordWithFlags, cudaEventRecordWithFlags_ptsz);

EMULATOR_ENTRY cudaError_t cudaEventRecord(void* event, void* stream) {
    return cudaEventRecordWithFlags(event, stream, 0);
}
EMULATOR_PER_THREAD_TWIN(cudaEventRecord, cudaEventRecord_ptsz);

EMULATOR_ENTRY cudaError_t cudaEventSynchronize(void* event) { return check_event(event, true); }

EMULATOR_ENTRY cudaError_t cudaEventQuery(void* event) { return check_event(event, false); }

EMULATOR_ENTRY cudaError_t cudaEventElapsedTime(float* milliseconds, void* start, void* end) {
    return call_without_waiting([&](Device& device) {
        require(milliseconds);
        const Event &first = event_at(device, start), &last = event_at(device, end);
        // Seen on an H200: the capture goes on.
        require(first.capture == 0 && last.capture == 0, cudaErrorCapturedEvent);
        require(first.recorded && last.recorded, cudaErrorInvalidResourceHandle);
        require(first.device == last.device, cudaErrorInvalidResourceHandle);
        require(!((first.flags | last.flags) & cudaEventDisableTiming), cudaErrorInvalidResourceHandle);
        require_ended(first.happened_before);
        require_ended(last.happened_before);
        *milliseconds = std::chrono::duration<float, std::milli>(*last.recorded - *first.recorded).count();
    });
}
