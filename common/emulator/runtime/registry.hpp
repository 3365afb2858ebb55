/// What programs and their libraries registered before `main`: fat binaries, and the kernels and variables in
/// them. Nothing here is read or parsed before its first use (see modules.hpp). It survives cudaDeviceReset.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace emulator {

/// One `__cudaRegisterFatBinary` or cudaLibraryLoadData; its address is the handle that the program keeps.
struct RegisteredBinary {
    const void* wrapper = nullptr; ///< null: `image` it is
    std::string image = {};        ///< of a library: PTX, or a fat binary without wrapper
    bool is_library = false;
    std::vector<std::unique_ptr<char>> stubs = {}; ///< of a library's kernels: they stand for host stubs
};

struct RegisteredKernel {
    const RegisteredBinary* binary = nullptr;
    std::string name; ///< as in PTX: mangled
};

struct RegisteredVariable {
    const RegisteredBinary* binary = nullptr;
    std::string name;                 ///< as in PTX
    void** managed_pointer = nullptr; ///< the host's pointer to a `__managed__` variable, else null
    std::size_t bytes = 0;
};

/// Host addresses identify kernels and variables: a kernel's host stub, a variable's host shadow.
class Registry {
public:
    RegisteredBinary* add_binary(const void* wrapper);
    RegisteredBinary* add_library(RegisteredBinary library);
    void add_kernel(const void* host_stub, RegisteredKernel kernel);
    void add_variable(const void* host_shadow, RegisteredVariable variable);

    /// Forgets the binary and everything registered with it.
    void remove_binary(const RegisteredBinary* binary);

    /// \throws ApiError if it is not the handle of a library.
    RegisteredBinary& library(const void* handle) const;

    /// What stands for the host stub of a library's kernel.
    const void* stub_of(RegisteredBinary& library, const std::string& kernel);

    /// Null if nothing is registered under that address.
    const RegisteredKernel* kernel(const void* host_stub) const;

    /// A managed variable is also found by the value of its host pointer, since that is what `&variable`
    /// means in host code. Null if nothing is registered under that address.
    const RegisteredVariable* variable(const void* host_address) const;

    const std::unordered_map<const void*, RegisteredVariable>& variables() const { return variables_; }

private:
    std::unordered_map<const RegisteredBinary*, std::unique_ptr<RegisteredBinary>> binaries_;
    std::unordered_map<const void*, RegisteredKernel> kernels_;
    std::unordered_map<const void*, RegisteredVariable> variables_;
};

} // namespace emulator
