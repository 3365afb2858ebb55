/// \file
/// The one state of a process behind the CUDA runtime API.
#pragma once

#include "emulator/machine/counters.hpp"
#include "emulator/runtime/device.hpp"
#include "emulator/runtime/registry.hpp"

#include <memory>
#include <mutex>
#include <optional>

namespace emulator {

/// One per process. Created on first use, since programs register before this library's globals are
/// constructed. Never destroyed, since static destructors of the program may still call the API.
class Runtime {
public:
    static Runtime& instance();

    std::mutex mutex; ///< one call at a time
    Registry registry;
    std::unique_ptr<Device> device = std::make_unique<Device>(registry);
    std::optional<Counters> last_launch;
};

/// What a registered host address stands for.
/// \throws ApiError with cudaErrorInvalidDeviceFunction or cudaErrorInvalidSymbol when it stands for nothing.
const RegisteredKernel& registered_kernel(const void* host_stub);
const RegisteredVariable& registered_variable(const void* host_address);

} // namespace emulator
