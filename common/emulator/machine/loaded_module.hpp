/// A PTX module on the emulated device: its variables placed in memory, its kernels ready to run.
#pragma once

#include "emulator/machine/launch.hpp"
#include "emulator/memory/global_memory.hpp"
#include "emulator/program/decoder.hpp"
#include "emulator/ptx/module.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace emulator {

struct KernelCode;
class LoadedModule;

/// Where a kernel parameter lies in the parameter buffer.
struct Parameter {
    std::uint32_t offset = 0, bytes = 0;
};

/// A variable in a block's shared memory.
struct SharedVariable {
    std::string_view name;               ///< as in PTX; lives as long as the module
    std::uint32_t offset = 0, bytes = 0; ///< 0 bytes: an array whose size the launch sets
};

/// A kernel that can be launched with `run`.
class Kernel {
public:
    Kernel(const ptx::Function& function, const LoadedModule& module);
    ~Kernel();

    const std::string& name() const;   ///< as in PTX: mangled
    std::string readable_name() const; ///< demangled
    const std::vector<Parameter>& parameters() const { return parameters_; }
    std::uint32_t parameter_bytes() const { return parameter_bytes_; }
    std::uint32_t static_shared_bytes() const { return static_shared_bytes_; }
    /// The shared memory that CUDA reserves in front of it, for a kernel that uses its address.
    std::uint32_t reserved_shared_bytes() const { return reserved_shared_bytes_; }
    const std::vector<SharedVariable>& shared_variables() const { return shared_variables_; }
    /// Local memory per thread in bytes, with `call_stack_bytes` if the kernel may call functions.
    std::uint32_t local_bytes(std::uint32_t call_stack_bytes = DeviceLimits::default_call_stack_bytes) const;
    std::uint32_t max_threads_per_block() const; ///< `__launch_bounds__`, or the device's limit
    std::optional<Dim3> cluster() const;         ///< `__cluster_dims__`
    /// Whether it needs clusters, and its largest cluster.
    bool needs_cluster() const;
    std::uint32_t max_blocks_per_cluster() const;
    bool uses_heap() const { return uses_heap_; } ///< whether it can reach a call of malloc
    const Code& code() const;                     ///< decoded
    /// Whether a block may spin until another block acts.
    bool may_wait_for_other_blocks() const;
    /// Whether it has volatile accesses, or others of the system's scope, or such fences.
    bool may_tell_host() const;
    const LoadedModule& module() const { return module_; }

private:
    const ptx::Function& function_;
    const LoadedModule& module_;
    std::vector<Parameter> parameters_;
    std::uint32_t parameter_bytes_ = 0;
    std::uint32_t static_shared_bytes_ = 0;
    std::uint32_t reserved_shared_bytes_ = 0;
    bool uses_heap_ = false;
    std::vector<SharedVariable> shared_variables_; ///< by offset, those sized at launch last
    std::unique_ptr<KernelCode> code_;
};

/// Parses PTX text and places its `.global` and `.const` variables in `memory`, initialized. Decodes its
/// kernels with `opcodes`, which must outlive it.
class LoadedModule {
public:
    /// \param on_other_device the same module there: its managed variables are this one's; null: none
    /// \throws Error invalid_ptx with line and caret.
    LoadedModule(std::string text, GlobalMemory& memory, const OpcodeTable& opcodes,
                 std::shared_ptr<const LoadedModule> on_other_device = nullptr);
    ~LoadedModule(); ///< releases the variables
    LoadedModule(const LoadedModule&) = delete;
    LoadedModule& operator=(const LoadedModule&) = delete;

    /// The kernel called `name` (mangled), parsed and decoded on first use. \throws Error unknown_symbol, or
    /// invalid_ptx or unsupported with the PTX line and a caret.
    const Kernel& kernel(std::string_view name);

    /// The variable called `name`, or null.
    const Allocation* variable(std::string_view name) const;

    /// Writes the variable's bytes as they are when the module is loaded.
    void write_initial_value(const ptx::Variable& variable, std::byte* to) const;

    /// Addresses of all variables by name; the names are valid as long as the module.
    std::unordered_map<std::string_view, std::uint64_t> addresses() const;

    const ptx::Module& ptx() const { return *module_; }
    const OpcodeTable& opcodes() const { return opcodes_; }

private:
    /// The kernel's own, and those in which functions may stand that it calls through a register.
    void read_bodies_for(const ptx::Function& kernel);
    void read_body(ptx::Function& function);

    /// Whether the variable is the other device's.
    bool is_shared(const ptx::Variable& variable) const;

    GlobalMemory& memory_;
    const OpcodeTable& opcodes_;
    const std::shared_ptr<const LoadedModule> on_other_device_;
    std::unique_ptr<ptx::Module> module_;
    std::unordered_map<std::string, const Allocation*> variables_;
    std::map<std::string, std::unique_ptr<Kernel>, std::less<>> kernels_;
};

} // namespace emulator
