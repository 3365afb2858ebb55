/// The registered binaries that a program has used so far on a device, with their PTX loaded there.
#pragma once

#include "emulator/machine/loaded_module.hpp"
#include "emulator/runtime/device_memory.hpp"
#include "emulator/runtime/registry.hpp"

#include <memory>
#include <unordered_map>
#include <unordered_set>

namespace emulator {

/// A kernel, and the compute capability of its PTX.
struct FoundKernel {
    const Kernel& kernel;
    unsigned int target; ///< 90 for `.target sm_90`
};

/// Loads a binary when the first of its kernels or variables is used. With `emulate --ptx FILE` that file
/// replaces all binaries.
class Modules {
public:
    Modules(const Registry& registry, DeviceMemory& memory, int device)
        : registry_(registry), memory_(memory), device_(device) {}
    ~Modules();
    Modules(const Modules&) = delete;
    Modules& operator=(const Modules&) = delete;

    /// \throws ApiError for a damaged fat binary, or one without PTX; Error invalid_ptx, unsupported or
    /// unknown_symbol.
    FoundKernel kernel(const RegisteredKernel& kernel);

    /// \throws as above, ApiError with cudaErrorInvalidSymbol if the PTX has no such variable.
    const Allocation& variable(const RegisteredVariable& variable);

    /// Loads the binary now, so that the host's pointers to its managed variables are set. They are set even if it
    /// throws, as module_of does: the host may use the variables before it launches a kernel. Returns whether the
    /// binary is loaded; false: it has thrown before.
    bool prepare(const RegisteredBinary& binary);

    /// \throws as `kernel` does.
    const LoadedModule& loaded(const RegisteredBinary& binary) { return *module_of(binary); }

    void unload(const RegisteredBinary& binary);

private:
    const std::shared_ptr<LoadedModule>& module_of(const RegisteredBinary& binary);
    std::shared_ptr<LoadedModule> load(const RegisteredBinary& binary); ///< its translation units linked
    const std::shared_ptr<LoadedModule>& load_file(const std::string& path,
                                                   std::shared_ptr<const LoadedModule> on_other_device);
    /// The binary's module on another device that has loaded it, or null. Its managed variables serve all.
    std::shared_ptr<const LoadedModule> on_other_device(const RegisteredBinary& binary) const;
    void settle_variables(const RegisteredBinary& binary, const LoadedModule& module);

    const Registry& registry_;
    DeviceMemory& memory_;
    const int device_;
    std::unordered_map<const RegisteredBinary*, std::shared_ptr<LoadedModule>> binaries_;
    std::unordered_set<const RegisteredBinary*> cannot_load_; ///< as prepare() has found
    std::shared_ptr<LoadedModule> from_file_; ///< of `emulate --ptx`; null: not loaded, or there is none
};

} // namespace emulator
