/// The single state of a process that the CUDA runtime API works on.
#pragma once

#include "emulator/machine/counters.hpp"
#include "emulator/runtime/device.hpp"
#include "emulator/runtime/operation_queue.hpp"
#include "emulator/runtime/registry.hpp"

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace emulator {

/// One per process. Created on first use, since programs register before this library's globals are
/// constructed. Never destroyed, since static destructors of the program may still call the API.
class Runtime {
public:
    static Runtime& instance();

    /// The one that cudaSetDevice has chosen for the calling thread.
    Device& current_device() { return *devices[static_cast<std::size_t>(current_device_number())]; }
    static int& current_device_number();

    /// cudaDeviceReset.
    void reset(int device);

    std::mutex mutex;             ///< one call at a time
    std::atomic<int> callers = 0; ///< that wait for it
    Registry registry;
    SharedState shared;
    OperationQueue queue;
    std::vector<std::unique_ptr<Device>> devices; ///< one or more
    struct LastLaunch {
        std::uint64_t number = 0;         ///< of the device's launches
        std::optional<Counters> counters; ///< once it has ended
    };
    std::map<int, LastLaunch> last_launches; ///< by device
    /// The error of the kernel that failed. Every later call returns it, until cudaDeviceReset.
    std::atomic<abi::cudaError_t> fault = abi::cudaSuccess;

private:
    explicit Runtime(int device_count);
};

/// The object registered under a host address. \throws ApiError with cudaErrorInvalidDeviceFunction or
/// cudaErrorInvalidSymbol if there is none.
const RegisteredKernel& registered_kernel(const void* host_stub);
const RegisteredVariable& registered_variable(const void* host_address);

} // namespace emulator
