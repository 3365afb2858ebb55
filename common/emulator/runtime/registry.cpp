#include "emulator/runtime/registry.hpp"

#include "emulator/runtime/api_error.hpp"

#include <utility>

namespace emulator {

RegisteredBinary* Registry::add_binary(const void* wrapper) { return add_library({.wrapper = wrapper}); }

RegisteredBinary* Registry::add_library(RegisteredBinary library) {
    auto binary = std::make_unique<RegisteredBinary>(std::move(library));
    auto* const handle = binary.get();
    binaries_.emplace(handle, std::move(binary));
    return handle;
}

RegisteredBinary& Registry::library(const void* handle) const {
    const auto found = binaries_.find(static_cast<const RegisteredBinary*>(handle));
    require(found != binaries_.end() && found->second->is_library, abi::cudaErrorInvalidResourceHandle);
    return *found->second;
}

const void* Registry::stub_of(RegisteredBinary& library, const std::string& kernel) {
    for (const auto& stub : library.stubs)
        if (kernels_.at(stub.get()).name == kernel) return stub.get();
    const void* const stub = library.stubs.emplace_back(std::make_unique<char>()).get();
    add_kernel(stub, {&library, kernel});
    return stub;
}

void Registry::add_kernel(const void* host_stub, RegisteredKernel kernel) {
    kernels_.insert_or_assign(host_stub, std::move(kernel));
}

void Registry::add_variable(const void* host_shadow, RegisteredVariable variable) {
    variables_.insert_or_assign(host_shadow, std::move(variable));
}

void Registry::remove_binary(const RegisteredBinary* binary) {
    std::erase_if(kernels_, [&](const auto& entry) { return entry.second.binary == binary; });
    std::erase_if(variables_, [&](const auto& entry) { return entry.second.binary == binary; });
    binaries_.erase(binary);
}

const RegisteredKernel* Registry::kernel(const void* host_stub) const {
    const auto found = kernels_.find(host_stub);
    return found == kernels_.end() ? nullptr : &found->second;
}

const RegisteredVariable* Registry::variable(const void* host_address) const {
    if (!host_address) return nullptr;
    if (const auto found = variables_.find(host_address); found != variables_.end()) return &found->second;
    for (const auto& [shadow, variable] : variables_)
        if (variable.managed_pointer && *variable.managed_pointer == host_address) return &variable;
    return nullptr;
}

} // namespace emulator
