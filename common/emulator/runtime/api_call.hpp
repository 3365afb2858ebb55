/// The one way into the runtime: api_call. It turns exceptions into CUDA's error codes.
#pragma once

#include "emulator/error.hpp"
#include "emulator/runtime/runtime.hpp"

#include <functional>
#include <string>
#include <string_view>

/// Precedes each function that the library exports.
#define EMULATOR_ENTRY extern "C" __attribute__((visibility("default")))

/// Exports `function` a second time as `twin`: the name that nvcc --default-stream per-thread gives it. Since
/// every call is complete when it returns, streams do not matter and both are the same function.
#define EMULATOR_PER_THREAD_TWIN(function, twin) EMULATOR_ALIAS(function, twin)
#define EMULATOR_ALIAS(function, twin)                                                                       \
    EMULATOR_ENTRY __attribute__((alias(#function))) decltype(function) twin

// CUDA 12 has these functions under other names. There, the names of CUDA 13 take fewer arguments:
// api/cuda_12.cpp.
#ifdef EMULATED_CUDA_12
#define cudaGetDeviceProperties cudaGetDeviceProperties_v2
#define cudaGraphAddDependencies cudaGraphAddDependencies_v2
#define cudaGraphNodeGetDependencies cudaGraphNodeGetDependencies_v2
#define cudaGraphRemoveDependencies cudaGraphRemoveDependencies_v2
#define cudaStreamGetCaptureInfo cudaStreamGetCaptureInfo_v3
#define cudaStreamGetCaptureInfo_ptsz cudaStreamGetCaptureInfo_v3_ptsz
#endif

namespace emulator {

/// Runs `body` as one call of the API: under the lock, and with its exceptions turned into CUDA's error
/// codes. Error messages go to stderr. After a kernel has failed, returns its error instead.
abi::cudaError_t api_call(const std::function<void(Device&)>& body);

/// The same for calls that wait for no stream: operations may still wait for their turn.
abi::cudaError_t call_without_waiting(const std::function<void(Device&)>& body);

/// The same for calls that CUDA answers even after a kernel has failed: queries about the device or the
/// program.
abi::cudaError_t query_call(const std::function<void(Device&)>& body);

/// Runs a call of the driver's API, which does not change the error for cudaGetLastError.
abi::cudaError_t driver_call(const std::function<abi::cudaError_t()>& body);

/// Runs the node's work as one call of the API, or stores the node if the stream is being captured. \throws
/// never; returns CUDA's errors for what a capture does not allow, which ends it.
abi::cudaError_t stream_call(const void* stream, const GraphNode& node);

/// Runs work as an operation of the stream, after those that it comes after: see OperationOrder.
void run_operation(Device& device, const void* stream, abi::cudaGraphNodeType type,
                   const std::function<void(Device&)>& work);

/// The host waits until what the clock knows has ended, and calls of other threads that come meanwhile are not ordered
/// with this one. \throws ApiError for a kernel that fails.
void wait_for(Device& device, const OperationOrder::Clock& clock);

/// Runs the body of a call that has returned already: its error is that of the calling thread.
void remember_outcome(Device& device, const std::function<void(Device&)>& body);

/// From now on each call that copies or waits returns `error`: a card would have done the work, and the
/// emulator cannot. `function` is the unsupported call; empty: a kernel that it cannot run.
void note_refusal(Device& device, abi::cudaError_t error, const std::string& function = {});

/// The CUDA error for an Error of the emulator.
abi::cudaError_t error_code(Failure failure);

/// Prints the message on stderr, with `emulator: ` before each line; a message that repeats the last one is
/// not printed.
void report(std::string_view message);

/// The calling thread's error for cudaGetLastError; `clear` resets it, unless a kernel failed with it.
abi::cudaError_t last_error(bool clear);

} // namespace emulator
