#include "emulator/runtime/api_call.hpp"

#include "emulator/runtime/observation.hpp"

#include <algorithm>
#include <cstdio>
#include <new>
#include <string>

namespace emulator {

using namespace abi;

namespace {

thread_local cudaError_t thread_error = cudaSuccess;

const char* name_of(cudaGraphNodeType type) {
    switch (type) {
    case cudaGraphNodeTypeKernel: return "kernel";
    case cudaGraphNodeTypeMemcpy: return "copy";
    case cudaGraphNodeTypeMemset: return "memset";
    case cudaGraphNodeTypeMemAlloc: return "allocation";
    case cudaGraphNodeTypeMemFree: return "free";
    default: return "operation";
    }
}

cudaError_t remember(cudaError_t error) {
    if (error != cudaSuccess && error != cudaErrorNotReady) thread_error = error; // that one is an answer
    return error;
}

/// The lock, for a call.
class Call {
public:
    explicit Call(Runtime& runtime) : mutex_(runtime.mutex) {
        ++runtime.callers;
        mutex_.lock();
        --runtime.callers;
    }
    ~Call() { mutex_.unlock(); }
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

private:
    std::mutex& mutex_;
};

/// The error with which `body` ends.
cudaError_t outcome(const std::function<void(Device&)>& body, Device& device) {
    try {
        body(device);
        return cudaSuccess;
    } catch (const UnsupportedCall& error) {
        report(error.what());
        note_refusal(device, error.code(), error.function());
        return error.code();
    } catch (const ApiError& error) {
        report(error.what());
        return error.code();
    } catch (const Error& error) {
        // Out of memory is for the program to handle: it may ask for less.
        if (error.failure() != Failure::out_of_memory) report(error.what());
        return error_code(error.failure());
    } catch (const std::bad_alloc&) {
        return cudaErrorMemoryAllocation;
    } catch (const std::exception& error) {
        report(error.what());
        return cudaErrorUnknown;
    }
}

/// Runs the work of the operation in progress, and ends it.
void run_current(Device& device, const std::function<void(Device&)>& work) {
    struct End { // also where the work throws
        DeviceMemory& memory;
        ~End() { memory.operation_ends(); }
    } const end{device.memory};
    work(device);
}

/// Whether the node's work may wait for its turn. \throws what the work does if its arguments are wrong.
bool may_run_later(Device& device, const GraphNode& node) {
    device.shared.joins_devices = false;
    if (node.runs_at_once) return false;
    if (node.type == cudaGraphNodeTypeKernel) return true; // its arguments have been checked
    if (node.type != cudaGraphNodeTypeMemcpy && node.type != cudaGraphNodeTypeMemset) return false;
    struct Rehearsal {
        explicit Rehearsal(SharedState& all) : shared(all) { shared.rehearses = shared.may_run_later = true; }
        ~Rehearsal() { shared.rehearses = false; }
        SharedState& shared;
    } const rehearsal(device.shared);
    node.work(device);
    return device.shared.may_run_later;
}

/// Now; or after what it has to wait for; or with a schedule when the host waits for it, or later.
void run_in_turn(Device& device, const void* stream, const GraphNode& node) {
    OperationQueue& queue = Runtime::instance().queue;
    const bool is_usual = !queue.has_schedule() && queue.is_empty();
    if (!node.begin && (is_usual || !may_run_later(device, node))) {
        if (device.shared.joins_devices && !device.streams.contains(stream)) queue.run_all();
        return run_operation(device, stream, node.type, node.work);
    }
    queue.add(device, device.memory.operations().place(stream, device.number, name_of(node.type)),
              {.work = node.work, .begin = node.begin});
    if (!queue.has_schedule() || node.runs_at_once) queue.run_some();
    if (device.memory.host_can_store()) queue.run_in_background();
}

} // namespace

cudaError_t api_call(const std::function<void(Device&)>& body) {
    return call_without_waiting([&](Device& device) {
        Runtime::instance().queue.run_all();
        const cudaError_t fault = Runtime::instance().fault;
        require(fault == cudaSuccess, fault);
        body(device);
    });
}

cudaError_t call_without_waiting(const std::function<void(Device&)>& body) {
    Runtime& runtime = Runtime::instance();
    const Call call(runtime);
    const cudaError_t fault = runtime.fault;
    return remember(fault != cudaSuccess ? fault : outcome(body, runtime.current_device()));
}

cudaError_t query_call(const std::function<void(Device&)>& body) {
    Runtime& runtime = Runtime::instance();
    const Call call(runtime);
    return remember(outcome(body, runtime.current_device()));
}

cudaError_t driver_call(const std::function<cudaError_t()>& body) {
    const cudaError_t before = thread_error;
    const cudaError_t error = body();
    thread_error = before;
    // The driver has fewer errors than the runtime for what an argument may be.
    constexpr int first_of_driver = 100, last_common = cudaErrorMemoryAllocation;
    return error > last_common && error < first_of_driver ? cudaErrorInvalidValue : error;
}

cudaError_t stream_call(const void* stream, const GraphNode& node) {
    return call_without_waiting([&](Device& device) {
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
        if (node.work) run_in_turn(device, stream, node);
    });
}

void run_operation(Device& device, const void* stream, cudaGraphNodeType type,
                   const std::function<void(Device&)>& work) {
    OperationOrder& order = device.memory.operations();
    OperationQueue& queue = Runtime::instance().queue;
    if (queue.is_empty()) {
        order.begin(stream, device.number, name_of(type));
    } else {
        OperationOrder::Operation operation = order.place(stream, device.number, name_of(type));
        queue.run_until(operation.before);
        const cudaError_t fault = Runtime::instance().fault;
        require(fault == cudaSuccess, fault);
        order.resume(std::move(operation));
    }
    run_current(device, work);
}

void wait_for(Device& device, const OperationOrder::Clock& clock) {
    Runtime& runtime = Runtime::instance();
    runtime.queue.run_until(clock);
    require(runtime.fault == cudaSuccess, runtime.fault);
    device.reject_after_refusal();
    device.memory.operations().host_waits_for(clock);
}

void remember_outcome(Device& device, const std::function<void(Device&)>& body) {
    remember(outcome(body, device));
}

void note_refusal(Device& device, cudaError_t error, const std::string& function) {
    device.refusal = error;
    if (Observation* const observation = Observation::instance()) observation->write_refusal(function);
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
    const cudaError_t error = thread_error;
    // Without the lock: a kernel may be waiting for the host.
    if (clear && error != Runtime::instance().fault) thread_error = cudaSuccess;
    return error;
}

} // namespace emulator
