#include "emulator/runtime/runtime.hpp"

#include "emulator/runtime/observation.hpp"

#include <mutex>

namespace emulator {

using namespace abi;

namespace {

/// Runs after the program's own destructors, which may still call the API.
[[gnu::destructor]] void program_ends() {
    Observation* const observation = Observation::instance();
    if (!observation) return;
    const std::unique_lock lock(Runtime::instance().mutex,
                                std::try_to_lock); // a thread may never end its call
    if (lock) observation->finish();
}

} // namespace

Runtime& Runtime::instance() {
    static auto* const runtime = [] {
        Observation::instance(); // reports that this process uses CUDA
        return new Runtime;
    }();
    return *runtime;
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
