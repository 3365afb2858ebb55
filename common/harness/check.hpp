/// Checked calls of the CUDA runtime.
#pragma once

#include <driver_types.h>

namespace harness {

/// Throws unless `error` is cudaSuccess. Use it through HARNESS_CHECK.
/// \throws DeviceError with the call's text, file and line, and the error's name and description
void check(cudaError_t error, const char* call, const char* file, int line);

/// Checks that the last launch was accepted: `<<<>>>` returns no error.
/// \throws DeviceError
void check_launch(const char* kernel);

/// Waits for the device and checks that all queued work succeeded.
/// \throws DeviceError
void synchronize(const char* kernel);

} // namespace harness

/// Makes a runtime call and throws a DeviceError if it fails: `HARNESS_CHECK(cudaMemGetInfo(&free, &total));`
#define HARNESS_CHECK(call) ::harness::check((call), #call, __FILE__, __LINE__)
