/// The functions that nvcc's generated code calls before `main` and after it. The toolkit's
/// crt/host_runtime.h declares them and shows how they are used.

#include "emulator/runtime/api_call.hpp"

using namespace emulator;
using namespace emulator::abi;

EMULATOR_ENTRY void** __cudaRegisterFatBinary(void* wrapper) {
    Runtime& runtime = Runtime::instance();
    const std::lock_guard lock(runtime.mutex);
    return reinterpret_cast<void**>(runtime.registry.add_binary(wrapper));
}

EMULATOR_ENTRY void __cudaRegisterFatBinaryEnd(void**) {}

EMULATOR_ENTRY void __cudaUnregisterFatBinary(void** handle) {
    Runtime& runtime = Runtime::instance();
    const std::lock_guard lock(runtime.mutex);
    const auto* binary = reinterpret_cast<const RegisteredBinary*>(handle);
    runtime.queue.finish(); // its kernels may wait for their turn, and the program probably ends
    for (const auto& device : runtime.devices) device->modules.unload(*binary);
    runtime.registry.remove_binary(binary);
}

EMULATOR_ENTRY void __cudaRegisterFunction(void** handle, const char* host_stub, char*, const char* name, int,
                                           void*, void*, void*, void*, int*) {
    Runtime& runtime = Runtime::instance();
    const std::lock_guard lock(runtime.mutex);
    runtime.registry.add_kernel(host_stub, {reinterpret_cast<const RegisteredBinary*>(handle), name});
}

EMULATOR_ENTRY void __cudaRegisterVar(void** handle, char* host_shadow, char*, const char* name, int,
                                      std::size_t, int, int) {
    Runtime& runtime = Runtime::instance();
    const std::lock_guard lock(runtime.mutex);
    runtime.registry.add_variable(host_shadow,
                                  {reinterpret_cast<const RegisteredBinary*>(handle), name, nullptr});
}

EMULATOR_ENTRY void __cudaRegisterManagedVar(void** handle, void** host_pointer, char*, const char* name, int,
                                             std::size_t bytes, int, int) {
    Runtime& runtime = Runtime::instance();
    const std::lock_guard lock(runtime.mutex);
    runtime.registry.add_variable(
        reinterpret_cast<const void*>(host_pointer),
        {reinterpret_cast<const RegisteredBinary*>(handle), name, host_pointer, bytes});
}

/// Called each time that host code touches a managed variable, until it returns 1. While the module cannot be loaded
/// it returns 0, since a cudaDeviceReset ends the memory that the variable has instead.
EMULATOR_ENTRY char __cudaInitModule(void** handle) {
    const auto* binary = reinterpret_cast<const RegisteredBinary*>(handle);
    bool is_loaded = false;
    query_call([&](Device& device) { is_loaded = device.modules.prepare(*binary); });
    return is_loaded ? 1 : 0;
}
