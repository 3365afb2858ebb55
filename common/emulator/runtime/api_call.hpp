/// \file
/// The one way into the runtime: api_call. It turns exceptions into CUDA's error codes.
#pragma once

#include "emulator/error.hpp"
#include "emulator/runtime/runtime.hpp"

#include <functional>
#include <string>
#include <string_view>

/// Goes before each function that the library exports.
#define EMULATOR_ENTRY extern "C" __attribute__((visibility("default")))

/// Exports `function` a second time as `twin`: the name that nvcc --default-stream per-thread gives it. Since
/// every call is complete when it returns, streams do not matter and both are the same function.
#define EMULATOR_PER_THREAD_TWIN(function, twin)                                                             \
    EMULATOR_ENTRY __attribute__((alias(#function))) decltype(function) twin

namespace emulator {

/// Runs `body` as one call of the API: alone, and with its exceptions turned into CUDA's error codes. The
/// messages of errors go to stderr. After a kernel has gone wrong, `body` is not run and its error is
/// returned.
abi::cudaError_t api_call(const std::function<void(Device&)>& body);

/// The same for calls that CUDA answers even after a kernel has gone wrong: they ask about the device or the
/// program.
abi::cudaError_t query_call(const std::function<void(Device&)>& body);

/// Runs the node's work as one call of the API, or keeps the node if the stream is being captured.
/// \throws never; returns CUDA's errors for what a capture does not allow, which ends it.
abi::cudaError_t stream_call(const void* stream, const GraphNode& node);

/// The device will answer each call that copies or waits with `error`: a card would have done what was asked,
/// and the emulator cannot. `function` is the call that it does not support; empty: it cannot run a kernel.
void note_refusal(Device& device, abi::cudaError_t error, const std::string& function = {});

/// The CUDA error that an Error of the emulator stands for.
abi::cudaError_t error_code(Failure failure);

/// Prints the message on stderr, each line after `emulator: `; the same message twice running only once.
void report(std::string_view message);

/// The calling thread's error for cudaGetLastError; `clear` forgets it, except for that of a kernel that went
/// wrong.
abi::cudaError_t last_error(bool clear);

} // namespace emulator
