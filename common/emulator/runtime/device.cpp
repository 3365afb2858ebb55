#include "emulator/runtime/device.hpp"

#include "emulator/runtime/runtime.hpp"

#include <algorithm>
#include <thread>

namespace emulator {

using namespace abi;

void MemoryPool::add(const void* pointer, std::size_t bytes) {
    allocations[pointer] = bytes;
    used += bytes;
    peak_used = std::max(peak_used, used);
}

void MemoryPool::forget(const void* pointer) {
    const auto found = allocations.find(pointer);
    if (found == allocations.end()) return;
    used -= found->second;
    allocations.erase(found);
}

void SharedState::reset(int device, bool is_only) {
    const auto belongs = [=](const auto& entry) { return is_only || entry.second->device == device; };
    memory.operations().host_waits_for_device(device);
    std::erase_if(streams, [&](const auto& entry) {
        if (belongs(entry)) memory.operations().destroyed(entry.first);
        return belongs(entry);
    });
    std::erase_if(events, belongs);
    std::erase_if(pools, belongs);
    std::erase_if(arrays, [&](const auto& entry) {
        return memory.device_of(*memory.find_array(entry.first)) == device;
    });
    memory.reset(device);
    std::erase_if(graph_memory, [&](const auto& entry) {
        if (memory.find(entry.first)) return false;
        graph_bytes -= entry.second->bytes;
        return true;
    });
    if (!is_only) return;
    graphs.clear();
    graph_execs.clear();
    captures.clear();
    peak_graph_bytes = 0;
}

MemoryPool* Device::pool_of(const void* pointer) {
    for (const auto& device : Runtime::instance().devices)
        for (MemoryPool& pool : device->default_pools)
            if (pool.allocations.contains(pointer)) return &pool;
    for (const auto& [handle, pool] : pools)
        if (pool->allocations.contains(pointer)) return pool.get();
    return nullptr;
}

void Device::forget_in_pools(const void* pointer) {
    if (MemoryPool* const pool = pool_of(pointer)) {
        pool->forget(pointer);
        if (pool->is_destroyed && pool->allocations.empty()) pools.erase(pool);
    }
    const auto of_graph = graph_memory.find(pointer);
    if (of_graph == graph_memory.end()) return;
    shared.graph_bytes -= of_graph->second->bytes;
    graph_memory.erase(of_graph);
}

Capture* Device::capture_of(const void* stream) const {
    for (const auto& capture : captures)
        if (capture->streams.contains(stream)) return capture.get();
    return nullptr;
}

Capture* Device::blocking_capture() const {
    const auto is_blocking = [&](const void* stream) {
        const auto found = streams.find(stream);
        return found == streams.end() ||
               (found->second->device == number && (found->second->flags & cudaStreamNonBlocking) == 0);
    };
    for (const auto& capture : captures)
        for (const auto& [stream, last] : capture->streams)
            if (is_blocking(stream)) return capture.get();
    return nullptr;
}

void reject_while_capturing(const Device& device) {
    if (thread_capture_mode() == cudaStreamCaptureModeRelaxed) return;
    bool refused = false;
    for (const auto& capture : device.captures) {
        const bool is_own = capture->thread == std::this_thread::get_id();
        const bool counts_here = capture->mode == cudaStreamCaptureModeGlobal
                                     ? is_own || thread_capture_mode() == cudaStreamCaptureModeGlobal
                                     : is_own && capture->mode == cudaStreamCaptureModeThreadLocal;
        capture->is_invalid |= counts_here;
        refused |= counts_here;
    }
    require(!refused, cudaErrorStreamCaptureUnsupported);
}

void reject_if_captured(const Device& device, const void* stream) {
    if (Capture* const capture = device.capture_of(stream)) {
        capture->is_invalid = true;
        throw ApiError(cudaErrorStreamCaptureUnsupported);
    }
}

cudaStreamCaptureMode& thread_capture_mode() {
    thread_local cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
    return mode;
}

std::uint32_t dynamic_shared_limit(const Device& device, const void* host_stub, const Kernel& kernel) {
    const auto settings = device.kernel_settings.find(host_stub);
    if (settings != device.kernel_settings.end() && settings->second.dynamic_shared_limit)
        return *settings->second.dynamic_shared_limit;
    return DeviceLimits::default_shared_bytes_per_block -
           std::min(kernel.static_shared_bytes(), DeviceLimits::default_shared_bytes_per_block);
}

std::uint32_t cluster_limit(const Device& device, const void* host_stub) {
    const auto settings = device.kernel_settings.find(host_stub);
    const bool large = settings != device.kernel_settings.end() && settings->second.large_clusters;
    return large ? DeviceLimits::blocks_per_large_cluster : DeviceLimits::blocks_per_cluster;
}

Device& device_at(int number) {
    auto& devices = Runtime::instance().devices;
    require(number >= 0 && number < static_cast<int>(devices.size()), cudaErrorInvalidDevice);
    return *devices[static_cast<std::size_t>(number)];
}

int device_of_stream(const Device& current, const void* handle) {
    const auto found = current.streams.find(handle);
    return found == current.streams.end() ? current.number : found->second->device;
}

void require_stream(const Device& device, const void* handle) {
    // 0: default, 1: legacy default, 2: default of this thread.
    const auto number = reinterpret_cast<std::uintptr_t>(handle);
    require(number <= 2 || device.streams.contains(handle), cudaErrorInvalidResourceHandle);
}

} // namespace emulator
