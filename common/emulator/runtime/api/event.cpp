/// \file
/// Events. A recorded event is complete at once; elapsed times come from the host's clock.

#include "emulator/runtime/api_call.hpp"

using namespace emulator;
using namespace emulator::abi;

namespace {

Event& event_at(Device& device, const void* handle) {
    const auto found = device.events.find(handle);
    require(found != device.events.end(), cudaErrorInvalidResourceHandle);
    return *found->second;
}

constexpr unsigned int event_flags = 7;

/// An event recorded in a captured stream never happens there. If the host waits for it or queries it, the
/// capture is invalidated.
cudaError_t wait_for(const void* event) {
    return api_call([&](Device& device) {
        const Event& awaited = event_at(device, event);
        for (const auto& capture : device.captures)
            if (capture->id == awaited.capture) capture->is_invalid = true;
        require(awaited.capture == 0, cudaErrorCapturedEvent);
        device.reject_after_refusal();
    });
}

} // namespace

EMULATOR_ENTRY cudaError_t cudaEventCreateWithFlags(void** handle, unsigned int flags) {
    return api_call([&](Device& device) {
        const bool is_shared = flags & cudaEventInterprocess;
        require(handle && (flags & ~event_flags) == 0 && (!is_shared || flags & cudaEventDisableTiming));
        auto event = std::make_unique<Event>(Event{flags, std::nullopt});
        *handle = event.get();
        device.events.emplace(*handle, std::move(event));
    });
}

EMULATOR_ENTRY cudaError_t cudaEventCreate(void** handle) { return cudaEventCreateWithFlags(handle, 0); }

EMULATOR_ENTRY cudaError_t cudaEventDestroy(void* event) {
    return api_call(
        [&](Device& device) { require(device.events.erase(event) == 1, cudaErrorInvalidResourceHandle); });
}

EMULATOR_ENTRY cudaError_t cudaEventRecordWithFlags(void* event, void* stream, unsigned int flags) {
    return api_call([&](Device& device) {
        require(flags <= 1);
        require_stream(device, stream);
        Event& recorded = event_at(device, event);
        if (Capture* const capture = device.capture_of(stream)) {
            require(!capture->is_invalid, cudaErrorStreamCaptureInvalidated);
            recorded.capture = capture->id;
            recorded.captured = capture->streams.at(stream);
            return;
        }
        recorded.capture = 0;
        recorded.recorded = std::chrono::steady_clock::now();
    });
}
EMULATOR_PER_THREAD_TWIN(cudaEventRecordWithFlags, cudaEventRecordWithFlags_ptsz);

EMULATOR_ENTRY cudaError_t cudaEventRecord(void* event, void* stream) {
    return cudaEventRecordWithFlags(event, stream, 0);
}
EMULATOR_PER_THREAD_TWIN(cudaEventRecord, cudaEventRecord_ptsz);

EMULATOR_ENTRY cudaError_t cudaEventSynchronize(void* event) { return wait_for(event); }

EMULATOR_ENTRY cudaError_t cudaEventQuery(void* event) {
    return Runtime::instance().runs_in_background ? cudaErrorNotReady : wait_for(event);
}

EMULATOR_ENTRY cudaError_t cudaEventElapsedTime(float* milliseconds, void* start, void* end) {
    return api_call([&](Device& device) {
        require(milliseconds);
        const Event &first = event_at(device, start), &last = event_at(device, end);
        // Seen on an H200: the capture goes on.
        require(first.capture == 0 && last.capture == 0, cudaErrorCapturedEvent);
        require(first.recorded && last.recorded, cudaErrorInvalidResourceHandle);
        require(!((first.flags | last.flags) & cudaEventDisableTiming), cudaErrorInvalidResourceHandle);
        *milliseconds = std::chrono::duration<float, std::milli>(*last.recorded - *first.recorded).count();
    });
}
