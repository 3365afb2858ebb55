#include "emulator/runtime/runtime.hpp"

#include "emulator/runtime/observation.hpp"

#include <algorithm>
#include <cstdio>
#include <new>
#include <string>

namespace emulator {
namespace {

using namespace abi;

thread_local cudaError_t thread_error = cudaSuccess;

cudaError_t remember(cudaError_t error) {
    if (error != cudaSuccess) thread_error = error;
    return error;
}

/// Runs behind the program's own destructors, which may still call in.
[[gnu::destructor]] void program_ends() {
    Observation* const observation = Observation::instance();
    if (!observation) return;
    const std::unique_lock lock(Runtime::instance().mutex,
                                std::try_to_lock); // a thread may never end its call
    if (lock) observation->finish();
}

/// The error with which `body` ends.
cudaError_t outcome(const std::function<void(Device&)>& body, Device& device) {
    try {
        body(device);
        return cudaSuccess;
    } catch (const ApiError& error) {
        report(error.what());
        return error.code();
    } catch (const Error& error) {
        // Too little memory is for the program to handle: it may ask for less.
        if (error.failure() != Failure::out_of_memory) report(error.what());
        return error_code(error.failure());
    } catch (const std::bad_alloc&) {
        return cudaErrorMemoryAllocation;
    } catch (const std::exception& error) {
        report(error.what());
        return cudaErrorUnknown;
    }
}

} // namespace

Runtime& Runtime::instance() {
    static auto* const runtime = [] {
        Observation::instance(); // tells that this process uses CUDA
        return new Runtime;
    }();
    return *runtime;
}

cudaError_t api_call(const std::function<void(Device&)>& body) {
    Runtime& runtime = Runtime::instance();
    const std::lock_guard lock(runtime.mutex);
    const cudaError_t fault = runtime.device->fault;
    return remember(fault != cudaSuccess ? fault : outcome(body, *runtime.device));
}

cudaError_t query_call(const std::function<void(Device&)>& body) {
    Runtime& runtime = Runtime::instance();
    const std::lock_guard lock(runtime.mutex);
    return remember(outcome(body, *runtime.device));
}

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

void Device::forget_in_pools(const void* pointer) {
    default_pool.forget(pointer);
    for (const auto& [handle, pool] : pools) pool->forget(pointer);
}

Capture* Device::capture_of(const void* stream) const {
    for (const auto& capture : captures)
        if (capture->streams.contains(stream)) return capture.get();
    return nullptr;
}

Capture* Device::blocking_capture() const {
    const auto is_blocking = [&](const void* stream) {
        const auto found = streams.find(stream);
        return found == streams.end() || (found->second->flags & cudaStreamNonBlocking) == 0;
    };
    for (const auto& capture : captures)
        for (const auto& [stream, last] : capture->streams)
            if (is_blocking(stream)) return capture.get();
    return nullptr;
}

cudaError_t stream_call(const void* stream, const GraphNode& node) {
    return api_call([&](Device& device) {
        require_stream(device, stream);
        if (Capture* const capture = device.capture_of(stream)) {
            require(!capture->is_invalid, cudaErrorStreamCaptureInvalidated);
            return capture->add(stream, node);
        }
        const bool is_legacy = reinterpret_cast<std::uintptr_t>(stream) <= 1;
        if (Capture* const capture = is_legacy ? device.blocking_capture() : nullptr) {
            capture->is_invalid = true;
            throw ApiError(cudaErrorStreamCaptureImplicit);
        }
        if (node.work) node.work(device);
    });
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

const RegisteredKernel& registered_kernel(const void* host_stub) {
    const RegisteredKernel* kernel = Runtime::instance().registry.kernel(host_stub);
    require(kernel, cudaErrorInvalidResourceHandle);
    return *kernel;
}

const RegisteredVariable& registered_variable(const void* host_address) {
    const RegisteredVariable* variable = Runtime::instance().registry.variable(host_address);
    require(variable, cudaErrorInvalidSymbol);
    return *variable;
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

void require_stream(const Device& device, const void* handle) {
    const auto number =
        reinterpret_cast<std::uintptr_t>(handle); // 0: default, 1: legacy default, 2: default of this thread
    require(number <= 2 || device.streams.contains(handle), cudaErrorInvalidResourceHandle);
}

cudaError_t error_code(Failure failure) {
    switch (failure) {
    case Failure::invalid_ptx: return cudaErrorInvalidPtx;
    case Failure::unsupported: return cudaErrorNotSupported;
    case Failure::unknown_symbol: return cudaErrorInvalidDeviceFunction;
    case Failure::invalid_configuration: return cudaErrorInvalidConfiguration;
    case Failure::invalid_cluster: return cudaErrorInvalidClusterSize;
    case Failure::out_of_memory: return cudaErrorMemoryAllocation;
    case Failure::illegal_address: return cudaErrorIllegalAddress;
    case Failure::misaligned_address: return cudaErrorMisalignedAddress;
    case Failure::assertion: return cudaErrorAssert;
    case Failure::trapped: return cudaErrorLaunchFailure;
    case Failure::launch_failure: return cudaErrorLaunchFailure;
    }
    return cudaErrorUnknown;
}

void report(std::string_view message) {
    static auto& last = *new std::string;
    if (message.empty() || message == last) return;
    last = message;
    if (Observation* const observation = Observation::instance()) observation->write_error(message);
    std::string text;
    for (std::size_t start = 0; start <= message.size();) {
        const std::size_t end = std::min(message.find('\n', start), message.size());
        text.append("emulator: ").append(message.substr(start, end - start)).append("\n");
        start = end + 1;
    }
    std::fputs(text.c_str(), stderr);
}

cudaError_t last_error(bool clear) {
    Runtime& runtime = Runtime::instance();
    const std::lock_guard lock(runtime.mutex);
    const cudaError_t error = thread_error;
    if (clear && error != runtime.device->fault) thread_error = cudaSuccess;
    return error;
}

} // namespace emulator
