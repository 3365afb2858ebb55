#include "emulator/runtime/modules.hpp"

#include "emulator/error.hpp"
#include "emulator/execute/opcodes.hpp"
#include "emulator/program/names.hpp"
#include "emulator/ptx/parser.hpp"
#include "emulator/runtime/api_error.hpp"
#include "emulator/runtime/fat_binary.hpp"
#include "emulator/runtime/observation.hpp"
#include "emulator/runtime/runtime.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <set>
#include <span>

namespace emulator {
namespace {

/// None in a library that is PTX.
std::vector<std::span<const std::byte>> fat_binaries_of(const RegisteredBinary& binary) {
    if (binary.wrapper) return fat_binaries(binary.wrapper);
    if (image_kind(binary.image.c_str()) != ImageKind::fat_binary) return {};
    return {std::as_bytes(std::span<const char>(binary.image))};
}

/// The message for a program whose fat binaries hold no PTX.
std::string no_ptx(const RegisteredBinary& binary) {
    std::set<unsigned int> targets;
    for (const auto fat_binary : fat_binaries_of(binary))
        for (const unsigned int target : machine_code_targets(fat_binary)) targets.insert(target);
    std::string list;
    for (const unsigned int target : targets)
        list += (list.empty() ? "sm_" : ", sm_") + std::to_string(target);
    return "this program holds machine code only (" + list +
           "), and the emulator runs PTX.\n"
           "Compile it with PTX as well: add -gencode arch=compute_90,code=compute_90 for nvcc,\n"
           "or 90-virtual to CMAKE_CUDA_ARCHITECTURES.";
}

/// Whether it is the unit that nvcc -rdc=true links to every program: CUDA's own, for launches from within
/// kernels. The emulator doesn't support those, and skips the unit, so an error names the missing function
/// that is called.
bool is_device_runtime(const std::string& ptx) {
    return ptx.find("_22_cuda_device_runtime_cu_") != std::string::npos;
}

/// The PTX to run of each of the fat binaries; nothing for a fat binary without PTX.
std::vector<std::string> texts_of(const RegisteredBinary& binary) {
    std::vector<std::string> texts;
    try {
        const auto all = fat_binaries_of(binary);
        if (all.empty()) texts.push_back(binary.image);
        for (const auto fat_binary : all) {
            const auto entries = ptx_entries(fat_binary);
            if (const PtxEntry* entry = best_entry(entries)) texts.push_back(ptx_text(*entry));
        }
    } catch (const Error& error) {
        throw ApiError(abi::cudaErrorInvalidKernelImage, error.what());
    }
    return texts;
}

/// The file whose kernels replace the program's; empty: none.
std::string replacing_file() {
    const Observation* const observation = Observation::instance();
    return observation ? observation->replacing_ptx() : "";
}

/// The message for a kernel that the replacing file lacks.
std::string not_in_file(const std::string& kernel, const ptx::Module& module) {
    std::string message = replacing_file() + ": has no kernel " + readable_name(kernel) + " (" + kernel + ")";
    std::string others;
    for (const auto& function : module.functions)
        if (function->is_kernel) others += "\n    " + readable_name(function->name);
    return message + (others.empty() ? ", and no other" : "; it has" + others);
}

/// 90 for `.target sm_90a`.
unsigned int target_of(const ptx::Module& module) {
    unsigned int target = 0;
    const std::size_t digits = std::min(module.target.find_first_of("0123456789"), module.target.size());
    std::from_chars(module.target.data() + digits, module.target.data() + module.target.size(), target);
    return target;
}

/// The program calls the kernel with its own arguments, so the parameters must match.
void expect_same_parameters(const ptx::Function& own, const ptx::Function& replacing) {
    const auto sizes = [](const ptx::Function& function) {
        std::string list;
        for (const ptx::Variable* parameter : function.parameters)
            list += (list.empty() ? "" : ", ") + std::to_string(parameter->bytes);
        return "(" + list + ")";
    };
    if (sizes(own) == sizes(replacing)) return;
    throw Error(Failure::unknown_symbol, replacing_file() + ": " + readable_name(own.name) +
                                             " takes parameters of other sizes, in bytes " +
                                             sizes(replacing) + ", than the program gives it, " + sizes(own));
}

/// `body()`, with the replacing file's name in its errors if they are about that file.
template <typename Body> auto naming_file(bool is_replaced, Body body) {
    try {
        return body();
    } catch (const Error& error) {
        if (!is_replaced) throw;
        throw Error(error.failure(), replacing_file() + ": " + error.what());
    }
}

} // namespace

Modules::~Modules() {
    for (const auto& [shadow, variable] :
         registry_.variables()) // those of binaries that cannot be loaded too
        if (variable.managed_pointer && !on_other_device(*variable.binary))
            *variable.managed_pointer = nullptr;
}

FoundKernel Modules::kernel(const RegisteredKernel& kernel) {
    LoadedModule& module = *module_of(*kernel.binary);
    const auto* const function = module.ptx().function(kernel.name);
    if (!function || !function->is_kernel)
        throw Error(Failure::unknown_symbol,
                    from_file_ ? not_in_file(kernel.name, from_file_->ptx())
                               : "the program's PTX has no kernel called '" + kernel.name + "'");
    return naming_file(from_file_ != nullptr, [&] {
        return FoundKernel{module.kernel(kernel.name), target_of(module.ptx())};
    });
}

const Allocation& Modules::variable(const RegisteredVariable& variable) {
    if (const Allocation* found = module_of(*variable.binary)->variable(variable.name)) return *found;
    throw ApiError(abi::cudaErrorInvalidSymbol, (from_file_ ? replacing_file() : "the program's PTX") +
                                                    " has no variable called '" + variable.name + "'");
}

bool Modules::prepare(const RegisteredBinary& binary) {
    if (cannot_load_.contains(&binary)) return false;
    try {
        module_of(binary);
        return true;
    } catch (...) {
        cannot_load_.insert(&binary);
        for (const auto& [shadow, variable] : registry_.variables())
            if (variable.binary == &binary && variable.managed_pointer && !*variable.managed_pointer)
                *variable.managed_pointer = memory_.allocate(device_, variable.bytes, MemoryKind::managed);
        throw;
    }
}

void Modules::unload(const RegisteredBinary& binary) {
    cannot_load_.erase(&binary);
    const auto loaded = binaries_.find(&binary);
    if (loaded == binaries_.end()) return;
    if (!on_other_device(binary))
        for (const auto& [shadow, variable] : registry_.variables())
            if (variable.binary == &binary && variable.managed_pointer) *variable.managed_pointer = nullptr;
    if (loaded->second != from_file_ && !on_other_device(binary))
        for (const auto& variable : loaded->second->ptx().variables)
            if (const Allocation* const place = loaded->second->variable(variable->name))
                memory_.unmark_managed(place->address);
    binaries_.erase(loaded);
}

const std::shared_ptr<LoadedModule>& Modules::module_of(const RegisteredBinary& binary) {
    if (const auto found = binaries_.find(&binary); found != binaries_.end()) return found->second;
    auto module = load(binary);
    settle_variables(binary, *module);
    return binaries_.emplace(&binary, std::move(module)).first->second;
}

std::shared_ptr<LoadedModule> Modules::load(const RegisteredBinary& binary) {
    auto elsewhere = on_other_device(binary);
    if (const std::string file = replacing_file(); !file.empty()) {
        const auto& loaded = load_file(file, std::move(elsewhere));
        for (const std::string& text : texts_of(binary)) {
            const auto own = ptx::parse_around_kernels(text);
            for (const auto& function : own->functions) {
                const ptx::Function* const replacing = loaded->ptx().function(function->name);
                if (function->is_kernel && replacing) expect_same_parameters(*function, *replacing);
            }
        }
        return loaded;
    }
    const auto texts = texts_of(binary);
    if (texts.empty()) throw ApiError(abi::cudaErrorNoKernelImageForDevice, no_ptx(binary));
    std::string linked;
    for (const std::string& text : texts)
        if (!is_device_runtime(text)) linked += text.substr(0, text.find('\0')) + '\n';
    return std::make_shared<LoadedModule>(std::move(linked), memory_.global(), all_opcodes(),
                                          std::move(elsewhere));
}

/// One module serves all binaries: their variables are its variables.
const std::shared_ptr<LoadedModule>& Modules::load_file(const std::string& path,
                                                        std::shared_ptr<const LoadedModule> on_other_device) {
    if (from_file_) return from_file_;
    std::ifstream file(path, std::ios::binary);
    std::string text(std::istreambuf_iterator<char>(file), {});
    if (!file) throw Error(Failure::invalid_ptx, path + ": cannot be read");
    return from_file_ = naming_file(true, [&] {
               return std::make_shared<LoadedModule>(std::move(text), memory_.global(), all_opcodes(),
                                                     std::move(on_other_device));
           });
}

std::shared_ptr<const LoadedModule> Modules::on_other_device(const RegisteredBinary& binary) const {
    for (const auto& device : Runtime::instance().devices) {
        if (!device || &device->modules == this) continue;
        const auto found = device->modules.binaries_.find(&binary);
        if (found != device->modules.binaries_.end()) return found->second;
    }
    return nullptr;
}

void Modules::settle_variables(const RegisteredBinary& binary, const LoadedModule& module) {
    for (const auto& variable : module.ptx().variables)
        if (const Allocation* const place = variable->managed ? module.variable(variable->name) : nullptr)
            memory_.mark_managed(place->address);
    for (const auto& variable : module.ptx().variables)
        if (const Allocation* const place = module.variable(variable->name)) memory_.settle(device_, *place);
    for (const auto& [shadow, variable] : registry_.variables()) {
        if (variable.binary != &binary || !variable.managed_pointer) continue;
        const Allocation* place = module.variable(variable.name);
        if (!place) continue;
        *variable.managed_pointer = reinterpret_cast<void*>(place->address);
        memory_.mark_managed(place->address);
    }
}

} // namespace emulator
