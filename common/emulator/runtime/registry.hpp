/// \file
/// What programs and their libraries registered before `main`: fat binaries, and the kernels and variables in
/// them. Nothing here is read or parsed before it is used (see modules.hpp); it outlives cudaDeviceReset.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <unordered_map>

namespace emulator {

/// One `__cudaRegisterFatBinary`; its address is the handle that the program keeps.
struct RegisteredBinary {
    const void* wrapper = nullptr;
};

struct RegisteredKernel {
    const RegisteredBinary* binary = nullptr;
    std::string name; ///< as in PTX: mangled
};

struct RegisteredVariable {
    const RegisteredBinary* binary = nullptr;
    std::string name;                 ///< as in PTX
    void** managed_pointer = nullptr; ///< the host's pointer to a `__managed__` variable, else null
};

/// Kernels and variables are known by their host addresses: a kernel by its host stub, a variable by its host
/// shadow.
class Registry {
public:
    RegisteredBinary* add_binary(const void* wrapper);
    void add_kernel(const void* host_stub, RegisteredKernel kernel);
    void add_variable(const void* host_shadow, RegisteredVariable variable);

    /// Forgets the binary and all that was registered with it.
    void remove_binary(const RegisteredBinary* binary);

    /// Null when nothing was registered under that address.
    const RegisteredKernel* kernel(const void* host_stub) const;

    /// A managed variable is also found by the address that its host pointer holds, since that is what
    /// `&variable` means in host code. Null when nothing was registered under that address.
    const RegisteredVariable* variable(const void* host_address) const;

    const std::unordered_map<const void*, RegisteredVariable>& variables() const { return variables_; }

private:
    std::unordered_map<const RegisteredBinary*, std::unique_ptr<RegisteredBinary>> binaries_;
    std::unordered_map<const void*, RegisteredKernel> kernels_;
    std::unordered_map<const void*, RegisteredVariable> variables_;
};

} // namespace emulator
