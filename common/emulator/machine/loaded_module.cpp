#include "emulator/machine/loaded_module.hpp"

#include "emulator/machine/launch.hpp"
#include "emulator/machine/occupancy.hpp"
#include "emulator/program/analyses.hpp"
#include "emulator/program/code.hpp"
#include "emulator/program/decoder.hpp"
#include "emulator/program/names.hpp"
#include "emulator/ptx/diagnostic.hpp"
#include "emulator/ptx/parser.hpp"

#include <algorithm>
#include <cstring>
#include <set>

namespace emulator {

namespace {

constexpr std::uint64_t align_up(std::uint64_t value, std::uint64_t alignment) {
    return (value + alignment - 1) / alignment * alignment;
}

bool calls_through_register(const ptx::Statement& statement) {
    return statement.opcode == "call" &&
           std::any_of(statement.operands.begin(), statement.operands.end(),
                       [](const auto& operand) { return operand.kind == ptx::Operand::Kind::reg; });
}

/// The functions that a kernel reaches, itself first, and the shared variables that they use. A call through
/// a register may reach any function whose address the module takes.
class Reach {
public:
    Reach(const ptx::Function& kernel, const ptx::Module& module) : module_(module) {
        visit(kernel);
        if (!calls_through_register_) return;
        for (const auto& variable : module.variables)
            for (const ptx::Relocation& relocation : variable->relocations) visit(relocation.symbol);
        for (const auto& function : module.functions)
            for (const ptx::Statement& statement : function->statements)
                if (statement.opcode != "call")
                    for (const ptx::Operand& operand : statement.operands) visit_function(operand);
    }

    const std::vector<const ptx::Function*>& functions() const { return functions_; }
    const std::vector<const ptx::Variable*>& shared() const { return shared_; }
    bool names(std::string_view name) const { return seen_.contains(name); }

private:
    void visit(const ptx::Function& function) {
        if (std::find(functions_.begin(), functions_.end(), &function) != functions_.end()) return;
        functions_.push_back(&function);
        for (const auto& variable : function.variables)
            if (variable->space == ptx::Space::shared) note(*variable);
        for (const ptx::Statement& statement : function.statements) {
            for (const ptx::Operand& operand : statement.operands) visit(operand);
            if (calls_through_register(statement)) calls_through_register_ = true;
        }
    }

    void visit(const ptx::Operand& operand) {
        for (const ptx::Operand& element : operand.elements) visit(element);
        if (operand.kind == ptx::Operand::Kind::special) seen_.insert(operand.name);
        if (operand.kind != ptx::Operand::Kind::symbol || operand.variable ||
            !seen_.insert(operand.name).second)
            return;
        visit(operand.name);
        const ptx::Variable* variable = module_.variable(operand.name);
        if (variable && variable->space == ptx::Space::shared) note(*variable);
    }

    void visit(std::string_view name) {
        const ptx::Function* const function = module_.function(name);
        if (function && function->has_body && !function->is_kernel) visit(*function);
    }

    void visit_function(const ptx::Operand& operand) {
        if (operand.kind == ptx::Operand::Kind::symbol && !operand.variable) visit(operand.name);
    }

    void note(const ptx::Variable& variable) { shared_.push_back(&variable); }

    const ptx::Module& module_;
    std::vector<const ptx::Function*> functions_;
    std::vector<const ptx::Variable*> shared_;
    std::set<std::string_view> seen_;
    bool calls_through_register_ = false;
};

} // namespace

/// The decoded functions of one kernel. Each kernel has its own copy, since its shared variables have their
/// own addresses.
struct KernelCode {
    std::vector<std::unique_ptr<Code>> functions; ///< the kernel itself first
    FunctionsByAddress by_address;                ///< without the kernel
};

Kernel::Kernel(const ptx::Function& function, const LoadedModule& module)
    : function_(function), module_(module), code_(std::make_unique<KernelCode>()) {
    const auto offsets = parameter_offsets(function, parameter_bytes_);
    for (std::size_t i = 0; i < offsets.size(); ++i)
        parameters_.push_back({offsets[i], static_cast<std::uint32_t>(function.parameters[i]->bytes)});

    const Reach reach(function, module.ptx());
    uses_heap_ = reach.names("malloc");
    Linkage linkage;
    linkage.module = &module.ptx();
    linkage.addresses = module.addresses();
    if (reach.names(reserved_shared_register)) reserved_shared_bytes_ = reserved_shared_bytes_per_block;
    std::uint64_t shared = reserved_shared_bytes_;
    const auto place = [&](const ptx::Variable* variable) {
        linkage.shared[variable] = shared;
        if (module.ptx().variable(variable->name) == variable) linkage.addresses[variable->name] = shared;
        shared_variables_.push_back({variable->name, static_cast<std::uint32_t>(shared),
                                     static_cast<std::uint32_t>(variable->bytes)});
    };
    for (const ptx::Variable* variable : reach.shared()) {
        if (variable->bytes == 0) continue; // dynamic shared memory comes after all static variables
        shared = align_up(shared, variable->alignment);
        place(variable);
        shared += variable->bytes;
    }
    std::uint64_t dynamic_alignment = 1;
    for (const ptx::Variable* variable : reach.shared())
        if (variable->bytes == 0)
            dynamic_alignment = std::max<std::uint64_t>(dynamic_alignment, variable->alignment);
    shared = align_up(shared, dynamic_alignment);
    for (const ptx::Variable* variable : reach.shared())
        if (variable->bytes == 0) place(variable);
    shared -= reserved_shared_bytes_;
    if (shared > DeviceLimits::default_shared_bytes_per_block)
        throw Error(Failure::invalid_configuration,
                    readable_name() + " has " + std::to_string(shared) +
                        " bytes of static shared memory; at most " +
                        std::to_string(DeviceLimits::default_shared_bytes_per_block) + " are allowed");
    static_shared_bytes_ = static_cast<std::uint32_t>(shared);

    for (const ptx::Function* reached : reach.functions()) {
        code_->functions.push_back(std::make_unique<Code>());
        linkage.functions[reached->name] = code_->functions.back().get();
        if (const auto address = function_address(module.ptx(), reached->name))
            code_->by_address[*address] = code_->functions.back().get();
    }
    linkage.callees = &code_->by_address;
    for (std::size_t i = 0; i < reach.functions().size(); ++i)
        decode(*reach.functions()[i], linkage, module.opcodes(), *code_->functions[i]);
}

Kernel::~Kernel() = default;

const std::string& Kernel::name() const { return function_.name; }

std::string Kernel::readable_name() const { return emulator::readable_name(function_.name); }

const Code& Kernel::code() const { return *code_->functions.front(); }

bool Kernel::may_wait_for_other_blocks() const {
    return std::any_of(code_->functions.begin(), code_->functions.end(),
                       [](const auto& code) { return may_spin(*code); });
}

bool Kernel::may_tell_host() const {
    const auto tells = [](const ptx::Statement* statement) {
        return statement && std::any_of(statement->modifiers.begin(), statement->modifiers.end(),
                                        [](const ptx::Modifier& modifier) {
                                            return modifier.text == ".sys" || modifier.text == ".volatile";
                                        });
    };
    return std::any_of(code_->functions.begin(), code_->functions.end(), [&](const auto& code) {
        return std::any_of(code->statements.begin(), code->statements.end(), tells);
    });
}

std::uint32_t Kernel::local_bytes(std::uint32_t call_stack_bytes) const {
    const bool grows = code_->functions.size() > 1 || code().allocates_stack;
    return code().local_bytes + (grows ? call_stack_bytes : 0);
}

std::uint32_t Kernel::max_threads_per_block() const {
    return function_.max_threads != 0 ? std::min(function_.max_threads, DeviceLimits::threads_per_block)
                                      : DeviceLimits::threads_per_block;
}

std::optional<Dim3> Kernel::cluster() const {
    if (!function_.cluster) return std::nullopt;
    const auto [x, y, z] = *function_.cluster;
    return Dim3{x, y, z};
}

bool Kernel::needs_cluster() const { return function_.needs_cluster || function_.cluster; }

std::uint32_t Kernel::max_blocks_per_cluster() const {
    return function_.max_cluster != 0 ? function_.max_cluster : DeviceLimits::blocks_per_large_cluster;
}

LoadedModule::LoadedModule(std::string text, GlobalMemory& memory, const OpcodeTable& opcodes,
                           std::shared_ptr<const LoadedModule> on_other_device)
    : memory_(memory), opcodes_(opcodes), on_other_device_(std::move(on_other_device)),
      module_(ptx::parse_around_kernels(std::move(text))) {
    const auto is_placed = [](const ptx::Variable& variable) {
        return variable.space != ptx::Space::shared && variable.bytes != 0 && !variable.external;
    };
    for (const auto& variable : module_->variables) {
        if (!is_placed(*variable)) continue;
        if (is_shared(*variable)) {
            variables_[std::string(variable->name)] = on_other_device_->variable(variable->name);
            continue;
        }
        const bool writable = variable->space != ptx::Space::constant;
        const Allocation& allocation = memory_.allocate(
            variable->bytes, "variable " + emulator::readable_name(std::string(variable->name)), writable);
        variables_[std::string(variable->name)] = &allocation;
    }
    for (const auto& variable : module_->variables) { // all have their addresses now
        if (is_placed(*variable) && !is_shared(*variable))
            write_initial_value(*variable,
                                reinterpret_cast<std::byte*>(this->variable(variable->name)->address));
    }
}

void LoadedModule::write_initial_value(const ptx::Variable& variable, std::byte* to) const {
    std::memset(to, 0, variable.bytes);
    std::copy(variable.initial.begin(), variable.initial.end(), to);
    for (const ptx::Relocation& relocation : variable.relocations) {
        const Allocation* const target = this->variable(relocation.symbol);
        const auto function = function_address(*module_, relocation.symbol);
        if (!target && !function)
            throw ptx::error_at(
                Failure::unsupported, module_->text, relocation.place,
                "only addresses of this module's variables and functions can be initial values");
        const std::uint64_t address =
            (target ? target->address : *function) + static_cast<std::uint64_t>(relocation.addend);
        std::memcpy(to + relocation.offset, &address, sizeof address);
    }
}

LoadedModule::~LoadedModule() {
    for (const auto& variable : module_->variables)
        if (const Allocation* const place = this->variable(variable->name); place && !is_shared(*variable))
            memory_.release(place->address, "the end of its module");
}

bool LoadedModule::is_shared(const ptx::Variable& variable) const {
    return variable.managed && on_other_device_ && on_other_device_->variable(variable.name);
}

const Allocation* LoadedModule::variable(std::string_view name) const {
    const auto found = variables_.find(std::string(name));
    return found == variables_.end() ? nullptr : found->second;
}

std::unordered_map<std::string_view, std::uint64_t> LoadedModule::addresses() const {
    std::unordered_map<std::string_view, std::uint64_t> result;
    for (const auto& [name, allocation] : variables_) result.emplace(name, allocation->address);
    return result;
}

void LoadedModule::read_bodies_for(const ptx::Function& kernel) {
    bool may_call_any = false;
    for (const auto& function : module_->functions) {
        if (function.get() == &kernel) read_body(*function);
        if (function.get() != &kernel && function->is_kernel) continue;
        may_call_any = may_call_any || std::any_of(function->statements.begin(), function->statements.end(),
                                                   calls_through_register);
    }
    if (!may_call_any) return;
    for (const auto& function : module_->functions) {
        try {
            read_body(*function); // another kernel may take a function's address
        } catch (const Error&) {  // its own launch will say so
        }
    }
}

void LoadedModule::read_body(ptx::Function& function) {
    try {
        ptx::read_body(*module_, function);
    } catch (const Error& error) {
        throw ptx::naming(error, emulator::readable_name(function.name));
    }
}

const Kernel& LoadedModule::kernel(std::string_view name) {
    const auto found = kernels_.find(name);
    if (found != kernels_.end()) return *found->second;
    const ptx::Function* const function = module_->function(name);
    if (const auto skipped = module_->unsupported.find(name); skipped != module_->unsupported.end())
        throw ptx::naming(skipped->second, emulator::readable_name(std::string(name)));
    if (!function || !function->is_kernel || !function->has_body)
        throw Error(Failure::unknown_symbol, "there is no kernel called " +
                                                 emulator::readable_name(std::string(name)) +
                                                 " in this module");
    read_bodies_for(*function);
    return *kernels_.emplace(std::string(name), std::make_unique<Kernel>(*function, *this)).first->second;
}

} // namespace emulator
