#include "emulator/runtime/modules.hpp"

#include "emulator/error.hpp"
#include "emulator/runtime/fat_binary.hpp"
#include "emulator/runtime/refused.hpp"

#include <set>

namespace emulator {
namespace {

/// What to tell of a program whose fat binaries hold no PTX.
std::string no_ptx(const void* wrapper) {
    std::set<unsigned> targets;
    for (const auto fat_binary : fat_binaries(wrapper))
        for (const unsigned target : machine_code_targets(fat_binary)) targets.insert(target);
    std::string list;
    for (const unsigned target : targets) list += (list.empty() ? "sm_" : ", sm_") + std::to_string(target);
    return "this program holds machine code only (" + list +
           "), and the emulator runs PTX.\n"
           "Compile it with PTX as well: add -gencode arch=compute_90,code=compute_90 for nvcc,\n"
           "or 90-virtual to CMAKE_CUDA_ARCHITECTURES.";
}

struct Text {
    unsigned target;
    std::string ptx;
};

/// The PTX to run of each fat binary behind the wrapper; nothing for a fat binary that has none.
std::vector<Text> texts_of(const void* wrapper) {
    std::vector<Text> texts;
    try {
        for (const auto fat_binary : fat_binaries(wrapper)) {
            const auto entries = ptx_entries(fat_binary);
            if (const PtxEntry* entry = best_entry(entries))
                texts.push_back({entry->target, ptx_text(*entry)});
        }
    } catch (const Error& error) {
        throw Refused(abi::cudaErrorInvalidKernelImage, error.what());
    }
    return texts;
}

/// The variable called `name` in any of the modules, or null.
template <typename ModuleList>
const Allocation* find_variable(const ModuleList& modules, const std::string& name) {
    for (const auto& module : modules)
        if (const Allocation* found = module.loaded->variable(name)) return found;
    return nullptr;
}

} // namespace

Modules::~Modules() {
    for (const auto& [binary, modules] : binaries_) forget_managed_variables(*binary);
}

FoundKernel Modules::kernel(const RegisteredKernel& kernel) {
    for (auto& module : modules_of(*kernel.binary)) {
        const auto* function = module.loaded->ptx().function(kernel.name);
        if (function && function->is_kernel) return {module.loaded->kernel(kernel.name), module.target};
    }
    throw Error(Failure::unknown_symbol, "the program's PTX has no kernel called '" + kernel.name + "'");
}

const Allocation& Modules::variable(const RegisteredVariable& variable) {
    if (const Allocation* found = find_variable(modules_of(*variable.binary), variable.name)) return *found;
    throw Refused(abi::cudaErrorInvalidSymbol,
                  "the program's PTX has no variable called '" + variable.name + "'");
}

void Modules::unload(const RegisteredBinary& binary) {
    if (!binaries_.contains(&binary)) return;
    forget_managed_variables(binary);
    binaries_.erase(&binary);
}

Modules::ModuleList& Modules::modules_of(const RegisteredBinary& binary) {
    if (const auto found = binaries_.find(&binary); found != binaries_.end()) return found->second;
    ModuleList modules = load_all(binary);
    place_managed_variables(binary, modules);
    return binaries_.emplace(&binary, std::move(modules)).first->second;
}

Modules::ModuleList Modules::load_all(const RegisteredBinary& binary) {
    ModuleList modules;
    for (auto& text : texts_of(binary.wrapper))
        modules.push_back(
            {text.target, std::make_unique<LoadedModule>(std::move(text.ptx), memory_.global())});
    if (modules.empty()) throw Refused(abi::cudaErrorNoKernelImageForDevice, no_ptx(binary.wrapper));
    return modules;
}

void Modules::place_managed_variables(const RegisteredBinary& binary, const ModuleList& modules) {
    for (const auto& [shadow, variable] : registry_.variables()) {
        if (variable.binary != &binary || !variable.managed_pointer) continue;
        const Allocation* place = find_variable(modules, variable.name);
        if (!place) continue;
        *variable.managed_pointer = reinterpret_cast<void*>(place->address);
        memory_.mark_managed(place->address);
    }
}

void Modules::forget_managed_variables(const RegisteredBinary& binary) {
    for (const auto& [shadow, variable] : registry_.variables()) {
        if (variable.binary != &binary || !variable.managed_pointer) continue;
        memory_.unmark_managed(reinterpret_cast<std::uint64_t>(*variable.managed_pointer));
        *variable.managed_pointer = nullptr;
    }
}

} // namespace emulator
