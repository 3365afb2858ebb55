/// Stream capture: calls on a capturing stream become a graph.

#include "emulator/runtime/api_call.hpp"

#include <algorithm>

using namespace emulator;
using namespace emulator::abi;

namespace {

bool is_legacy_stream(const void* stream) { return reinterpret_cast<std::uintptr_t>(stream) <= 1; }

/// The stream's current capture, or null. \throws ApiError for the legacy stream while another stream that it
/// would have to wait for is captured.
Capture* queried_capture(Device& device, const void* stream) {
    require_stream(device, stream);
    Capture* const capture = device.capture_of(stream);
    require(!is_legacy_stream(stream) || !device.blocking_capture(), cudaErrorStreamCaptureImplicit);
    return capture;
}

cudaStreamCaptureStatus status_of(const Capture* capture) {
    if (!capture) return cudaStreamCaptureStatusNone;
    return capture->is_invalid ? cudaStreamCaptureStatusInvalidated : cudaStreamCaptureStatusActive;
}

/// Ends the capture that began in `stream`, even for a thread that may not (seen on an H200).
std::unique_ptr<Capture> end_capture(Device& device, const void* stream) {
    const auto capture = std::find_if(device.captures.begin(), device.captures.end(),
                                      [&](const auto& one) { return one->origin == stream; });
    if (capture == device.captures.end()) {
        Capture* const other = device.capture_of(stream);
        require(other, cudaErrorIllegalState);
        other->is_invalid = true;
        throw ApiError(cudaErrorStreamCaptureUnmatched);
    }
    std::unique_ptr<Capture> ended = std::move(*capture);
    device.captures.erase(capture);
    const bool any_thread = ended->mode == cudaStreamCaptureModeRelaxed;
    require(any_thread || ended->thread == std::this_thread::get_id(), cudaErrorStreamCaptureWrongThread);
    return ended;
}

} // namespace

EMULATOR_ENTRY cudaError_t cudaStreamBeginCapture(void* stream, cudaStreamCaptureMode mode) {
    return call_without_waiting([&](Device& device) {
        require_stream(device, stream);
        require(mode >= cudaStreamCaptureModeGlobal && mode <= cudaStreamCaptureModeRelaxed);
        require(!is_legacy_stream(stream), cudaErrorStreamCaptureUnsupported);
        require(!device.capture_of(stream), cudaErrorIllegalState);
        static unsigned long long captures_begun = 0;
        auto capture = std::make_unique<Capture>(Capture{.id = ++captures_begun,
                                                         .origin = stream,
                                                         .mode = mode,
                                                         .thread = std::this_thread::get_id(),
                                                         .graph = std::make_unique<Graph>()});
        capture->streams[stream];
        device.captures.push_back(std::move(capture));
    });
}
EMULATOR_PER_THREAD_TWIN(cudaStreamBeginCapture, cudaStreamBeginCapture_ptsz);

EMULATOR_ENTRY cudaError_t cudaStreamEndCapture(void* stream, void** graph) {
    return call_without_waiting([&](Device& device) {
        require(graph);
        *graph = nullptr;
        require_stream(device, stream);
        const auto capture = end_capture(device, stream);
        require(!capture->is_invalid, cudaErrorStreamCaptureInvalidated);
        require(capture->is_joined(), cudaErrorStreamCaptureUnjoined);
        *graph = capture->graph.get();
        device.graphs.emplace(*graph, std::move(capture->graph));
    });
}
EMULATOR_PER_THREAD_TWIN(cudaStreamEndCapture, cudaStreamEndCapture_ptsz);

EMULATOR_ENTRY cudaError_t cudaStreamIsCapturing(void* stream, cudaStreamCaptureStatus* status) {
    return call_without_waiting([&](Device& device) {
        require(status);
        *status = status_of(queried_capture(device, stream));
    });
}
EMULATOR_PER_THREAD_TWIN(cudaStreamIsCapturing, cudaStreamIsCapturing_ptsz);

/// All edges are plain ones here, without data.
EMULATOR_ENTRY cudaError_t cudaStreamGetCaptureInfo(void* stream, cudaStreamCaptureStatus* status,
                                                    unsigned long long* id, void** graph,
                                                    const void* const** dependencies, const void** edges,
                                                    std::size_t* dependency_count) {
    return call_without_waiting([&](Device& device) {
        require(status);
        const Capture* const capture = queried_capture(device, stream);
        *status = status_of(capture);
        if (*status != cudaStreamCaptureStatusActive) return;
        const auto& last = capture->streams.at(stream);
        if (id) *id = capture->id;
        if (graph) *graph = capture->graph.get();
        if (dependencies) *dependencies = reinterpret_cast<const void* const*>(last.data());
        if (edges) *edges = nullptr;
        if (dependency_count) *dependency_count = last.size();
    });
}
EMULATOR_PER_THREAD_TWIN(cudaStreamGetCaptureInfo, cudaStreamGetCaptureInfo_ptsz);

EMULATOR_ENTRY cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
    return query_call([&](Device&) {
        require(mode && *mode >= cudaStreamCaptureModeGlobal && *mode <= cudaStreamCaptureModeRelaxed);
        std::swap(*mode, thread_capture_mode());
    });
}
