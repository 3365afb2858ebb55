#include "emulator/runtime/runtime.hpp"

#include "emulator/device_count.hpp"
#include "emulator/runtime/api_call.hpp"
#include "emulator/runtime/observation.hpp"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>

namespace emulator {

using namespace abi;

namespace {

/// A wrong value ends the program: it must not pass for a run with one device.
int device_count() {
    const char* const text = std::getenv(devices_variable);
    if (!text || !*text) return 1;
    if (const auto count = parse_device_count(text)) return *count;
    std::fprintf(stderr, "emulator: %s=%s: write a whole number from 1 to %d\n", devices_variable, text,
                 max_devices);
    std::_Exit(125);
}

/// Runs after the program's own destructors, which may still call the API.
[[gnu::destructor]] void program_ends() {
    Observation* const observation = Observation::instance();
    if (!observation) return;
    std::unique_lock lock(Runtime::instance().mutex, std::defer_lock);
    for (int tries = 0; tries < 100 && !lock.try_lock(); ++tries)  // a thread may never end its call
        std::this_thread::sleep_for(std::chrono::milliseconds(1)); // or it runs what waits
    if (!lock) return;
    Runtime::instance().queue.finish();
    observation->finish();
}

} // namespace

Runtime::Runtime(int device_count)
    : shared(device_count),
      queue(Observation::instance() ? Observation::instance()->schedule() : std::nullopt) {
    for (int number = 0; number < device_count; ++number)
        devices.push_back(std::make_unique<Device>(number, registry, shared));
}

Runtime& Runtime::instance() {
    static auto* const runtime = [] {
        Observation::instance(); // reports that this process uses CUDA
        return new Runtime(device_count());
    }();
    return *runtime;
}

int& Runtime::current_device_number() {
    thread_local int number = 0;
    return number;
}

void Runtime::reset(int device) {
    try {
        queue.run_all(); // what waits may belong to the device that ends
    } catch (const ApiError& error) {
        report(error.what());
    }
    auto& slot = devices[static_cast<std::size_t>(device)];
    slot.reset(); // first: otherwise both devices would place managed variables
    shared.reset(device, devices.size() == 1);
    slot = std::make_unique<Device>(device, registry, shared);
    fault = cudaSuccess;
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

} // namespace emulator
