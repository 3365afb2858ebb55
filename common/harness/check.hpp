/// \file
/// Checked calls of the CUDA runtime.
#pragma once

#include <driver_types.h>

namespace harness {

/// \throws DeviceError with the call's text, its place, and the error's name and description, unless `error`
/// is cudaSuccess. Use it through HARNESS_CHECK.
void check(cudaError_t error, const char* call, const char* file, int line);

/// Checks that the launch just made was accepted, as a launch returns no error of its own.
/// \throws DeviceError
void check_launch(const char* kernel);

/// Waits for the device and checks that everything queued on it went well.
/// \throws DeviceError
void synchronize(const char* kernel);

} // namespace harness

/// Makes a runtime call and throws a DeviceError if it fails: `HARNESS_CHECK(cudaMemGetInfo(&free, &total));`
#define HARNESS_CHECK(call) ::harness::check((call), #call, __FILE__, __LINE__)
