#include "emulator/program/decoder.hpp"

#include "emulator/memory/address_space.hpp"
#include "emulator/program/analyses.hpp"
#include "emulator/program/names.hpp"
#include "emulator/program/row_sharing.hpp"
#include "emulator/ptx/diagnostic.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <tuple>
#include <utility>

namespace emulator {

using ptx::error_at, ptx::quoted, ptx::Function, ptx::Module, ptx::Operand, ptx::Space, ptx::Statement,
    ptx::Type, ptx::Variable;

namespace {

constexpr std::uint64_t max_local_bytes = 512 * 1024; // of a thread, on the device

constexpr std::uint32_t align_up(std::uint32_t value, std::uint32_t alignment) {
    return (value + alignment - 1) / alignment * alignment;
}

bool is_wide(Type type) { return size_of(type) == 8; }

std::uint32_t row_bytes(Type type) {
    if (type == Type::pred) return sizeof(LaneMask);
    if (type == Type::b128) return warp_size * 16;
    return warp_size * (is_wide(type) ? 8 : 4);
}

std::string bits_of(Type type) {
    if (type == Type::pred) return "a predicate";
    return std::to_string(size_of(type) * 8) + " bits";
}

const std::unordered_map<std::string_view, Special>& special_registers() {
    static const std::unordered_map<std::string_view, Special> table = {
        {"%tid.x", Special::tid_x},
        {"%tid.y", Special::tid_y},
        {"%tid.z", Special::tid_z},
        {"%ntid.x", Special::ntid_x},
        {"%ntid.y", Special::ntid_y},
        {"%ntid.z", Special::ntid_z},
        {"%ctaid.x", Special::ctaid_x},
        {"%ctaid.y", Special::ctaid_y},
        {"%ctaid.z", Special::ctaid_z},
        {"%nctaid.x", Special::nctaid_x},
        {"%nctaid.y", Special::nctaid_y},
        {"%nctaid.z", Special::nctaid_z},
        {"%laneid", Special::laneid},
        {"%warpid", Special::warpid},
        {"%nwarpid", Special::nwarpid},
        {"%smid", Special::smid},
        {"%nsmid", Special::nsmid},
        {"%lanemask_eq", Special::lanemask_eq},
        {"%lanemask_le", Special::lanemask_le},
        {"%lanemask_lt", Special::lanemask_lt},
        {"%lanemask_ge", Special::lanemask_ge},
        {"%lanemask_gt", Special::lanemask_gt},
        {"%dynamic_smem_size", Special::dynamic_smem_size},
        {"%total_smem_size", Special::total_smem_size},
        {"%clusterid.x", Special::clusterid_x},
        {"%clusterid.y", Special::clusterid_y},
        {"%clusterid.z", Special::clusterid_z},
        {"%nclusterid.x", Special::nclusterid_x},
        {"%nclusterid.y", Special::nclusterid_y},
        {"%nclusterid.z", Special::nclusterid_z},
        {"%cluster_ctaid.x", Special::cluster_ctaid_x},
        {"%cluster_ctaid.y", Special::cluster_ctaid_y},
        {"%cluster_ctaid.z", Special::cluster_ctaid_z},
        {"%cluster_nctaid.x", Special::cluster_nctaid_x},
        {"%cluster_nctaid.y", Special::cluster_nctaid_y},
        {"%cluster_nctaid.z", Special::cluster_nctaid_z},
        {"%cluster_ctarank", Special::cluster_ctarank},
        {"%cluster_nctarank", Special::cluster_nctarank},
        {"%envreg1", Special::workspace_high}, // as cooperative groups read them
        {"%envreg2", Special::workspace_low},
        {reserved_shared_register, Special::reserved_shared},
        {"%gridid", Special::zero}};
    return table;
}

} // namespace

/// Gives every register, constant and special register of a function a row, and every `.local` and `.param`
/// variable an offset in local memory.
class FrameLayout {
public:
    FrameLayout(const Function& function, Code& code)
        : code_(code), divergent_(divergent_registers(function)) {
        place_registers(function);
        for (const auto& variable : function.variables) {
            if (variable->space == Space::shared) continue;
            if (function.is_kernel && std::find(function.parameters.begin(), function.parameters.end(),
                                                variable.get()) != function.parameters.end())
                continue;
            code_.local_bytes = align_up(code_.local_bytes, variable->alignment);
            locals_[variable.get()] = code_.local_bytes;
            if (variable->bytes >
                max_local_bytes - std::min<std::uint64_t>(code_.local_bytes, max_local_bytes))
                throw error_at(Failure::unsupported, code_.module->text, variable->place,
                               readable_name(function.name) + " needs more than the " +
                                   std::to_string(max_local_bytes) +
                                   " bytes of local memory that a thread may have");
            const auto bytes = static_cast<std::uint32_t>(variable->bytes);
            code_.local_variables.push_back({code_.local_bytes, bytes});
            code_.local_bytes += bytes;
        }
        code_.local_bytes = align_up(code_.local_bytes, 16);
        if (!function.is_kernel) {
            // A call without variables fills the stack too.
            code_.local_bytes = std::max(code_.local_bytes, 16u);
            for (const Variable* parameter : function.parameters)
                code_.argument_offsets.push_back(locals_.at(parameter));
            for (const Variable* result : function.results)
                code_.result_offsets.push_back(locals_.at(result));
        }
        if (function.is_kernel) {
            std::uint32_t total = 0;
            const auto offsets = parameter_offsets(function, total);
            for (std::size_t i = 0; i < offsets.size(); ++i) parameters_[function.parameters[i]] = offsets[i];
        }
        for (const Statement& statement : function.statements) {
            if (statement.guarded) read_.push_back(statement.guard);
            const bool writes = writes_first_operand(statement);
            for (std::size_t k = 0; k < statement.operands.size(); ++k)
                note_reads(statement.operands[k], writes && k == 0);
        }
        std::sort(read_.begin(), read_.end());
    }

    Row register_row(std::uint32_t index) const { return registers_[index]; }
    bool is_divergent(std::uint32_t index) const { return divergent_[index]; }

    Row constant(std::uint64_t value, bool wide, Code::Base base = Code::Base::none) {
        const auto [found, fresh] = constants_.try_emplace({value, wide, base}, next_row_);
        if (fresh) {
            code_.constants.push_back({next_row_, wide, base, value});
            next_row_ += warp_size * (wide ? 8 : 4);
        }
        return found->second;
    }

    Row special(Special which) {
        const auto [found, fresh] = specials_.try_emplace(which, next_row_);
        if (fresh) {
            (depends_on_block(which) ? code_.block_specials : code_.specials).push_back({next_row_, which});
            next_row_ += warp_size * 4;
        }
        return found->second;
    }

    Row carry() { return once(carry_, 64); } // rounded up: keeps what follows at cache lines
    Row scratch() { return once(scratch_, warp_size * 8); }

    std::optional<std::uint32_t> local(const Variable* variable) const { return find(locals_, variable); }
    std::optional<std::uint32_t> parameter(const Variable* variable) const {
        return find(parameters_, variable);
    }
    bool is_read(std::uint32_t reg) const { return std::binary_search(read_.begin(), read_.end(), reg); }
    std::uint32_t bytes() const { return next_row_; }

private:
    using Places = std::unordered_map<const Variable*, std::uint32_t>;

    Row once(Row& row, std::uint32_t bytes) {
        if (row == no_row) row = std::exchange(next_row_, next_row_ + bytes);
        return row;
    }

    static std::optional<std::uint32_t> find(const Places& places, const Variable* variable) {
        const auto found = places.find(variable);
        return found == places.end() ? std::nullopt : std::optional(found->second);
    }

    /// Rows of cells first, so that each starts at a cache line; then the predicates.
    void place_registers(const Function& function) {
        const std::vector<std::uint32_t> owners = shared_rows(function);
        registers_.resize(owners.size());
        for (const bool predicates : {false, true})
            for (std::uint32_t i = 0; i < owners.size(); ++i) {
                if ((function.registers[i].type == Type::pred) != predicates || owners[i] != i) continue;
                registers_[i] = next_row_;
                next_row_ += row_bytes(function.registers[i].type);
            }
        for (std::size_t i = 0; i < owners.size(); ++i) registers_[i] = registers_[owners[i]];
        next_row_ = align_up(next_row_, 64);
    }

    /// The first operand is what an instruction writes, unless it holds an address.
    void note_reads(const Operand& operand, bool destination) {
        if (operand.kind == Operand::Kind::reg && !destination) read_.push_back(operand.index);
        const bool address = operand.kind == Operand::Kind::address;
        for (const Operand& element : operand.elements) note_reads(element, destination && !address);
    }

    Code& code_;
    std::uint32_t next_row_ = 0;
    Row carry_ = no_row, scratch_ = no_row;
    const std::vector<bool> divergent_; // by register
    std::vector<Row> registers_;
    std::vector<std::uint32_t> read_;
    std::map<std::tuple<std::uint64_t, bool, Code::Base>, Row> constants_;
    std::map<Special, Row> specials_;
    Places locals_, parameters_;
};

// ---- one statement ----

Decoding::Decoding(const Function& function, const Linkage& linkage, Code& code, FrameLayout& layout,
                   const Statement& statement)
    : StatementReader(function, linkage, statement), code_(code), layout_(layout) {}

std::uint64_t Decoding::symbol_value(const Operand& operand, Code::Base& base) const {
    base = Code::Base::none;
    if (operand.variable) {
        if (const auto place = layout_.local(operand.variable)) {
            base = Code::Base::local;
            return *place + operand.offset;
        }
        if (const auto place = layout_.parameter(operand.variable)) return *place + operand.offset;
    }
    const Variable* const variable =
        operand.variable ? operand.variable : linkage_.module->variable(operand.name);
    if (const auto place = linkage_.shared.find(variable); place != linkage_.shared.end()) {
        base = Code::Base::shared;
        return place->second + operand.offset;
    }
    const auto found = linkage_.addresses.find(operand.name);
    const auto function = function_address(*linkage_.module, operand.name);
    if (found == linkage_.addresses.end() && function) return *function;
    if (found == linkage_.addresses.end()) expect_supported(operand);
    if (const Function* const kernel = linkage_.module->function(operand.name); kernel && kernel->is_kernel)
        no_dynamic_parallelism(operand.place, "a kernel launches " + readable_name(kernel->name));
    if (found == linkage_.addresses.end())
        invalid(operand.place,
                std::string("nothing called ") + quoted(operand.name) + " has an address here");
    return found->second + operand.offset;
}

std::uint64_t Decoding::literal(const Operand& operand, Type type) const {
    switch (operand.kind) {
    case Operand::Kind::integer:
        if (type == Type::f32)
            return std::bit_cast<std::uint32_t>(static_cast<float>(static_cast<std::int64_t>(operand.bits)));
        if (type == Type::f64)
            return std::bit_cast<std::uint64_t>(static_cast<double>(static_cast<std::int64_t>(operand.bits)));
        return operand.bits;
    case Operand::Kind::single_precision:
        if (type == Type::f64)
            return std::bit_cast<std::uint64_t>(
                double{std::bit_cast<float>(static_cast<std::uint32_t>(operand.bits))});
        return operand.bits;
    default: // double precision
        if (type == Type::f32)
            return std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(operand.bits)));
        return operand.bits;
    }
}

Row Decoding::source(const Operand& operand, Type type) {
    bool wide = false;
    const Row row = loose_source(operand, type, wide);
    if (wide != is_wide(type))
        invalid(operand.place,
                "this register does not have the " + bits_of(type) + " that the instruction needs");
    return row;
}

Row Decoding::loose_source(const Operand& operand, Type type, bool& wide) {
    wide = is_wide(type);
    switch (operand.kind) {
    case Operand::Kind::reg: {
        const Type declared = function_.registers[operand.index].type;
        if (declared == Type::pred)
            invalid(operand.place, "this is a predicate; a register of " + bits_of(type) + " is needed");
        if (declared == Type::b128) unsupported(operand.place, "128-bit registers are not supported here");
        if (size_of(declared) < size_of(type))
            invalid(operand.place,
                    "this register has " + bits_of(declared) + "; the instruction needs " + bits_of(type));
        wide = is_wide(declared);
        return layout_.register_row(operand.index);
    }
    case Operand::Kind::integer:
    case Operand::Kind::single_precision:
    case Operand::Kind::double_precision: return layout_.constant(literal(operand, type), wide);
    case Operand::Kind::special: {
        const auto found = special_registers().find(operand.name);
        if (found == special_registers().end())
            unsupported(operand.place, std::string("the special register ") + quoted(operand.name) +
                                           " is not supported here");
        wide = false;
        return layout_.special(found->second);
    }
    case Operand::Kind::symbol: {
        Code::Base base = Code::Base::none;
        const std::uint64_t value = symbol_value(operand, base);
        return layout_.constant(value, wide, base);
    }
    default: invalid(operand.place, "a register or a constant is needed here");
    }
}

Row Decoding::predicate(const Operand& operand, bool& negated) {
    negated = operand.negated;
    if (operand.kind == Operand::Kind::integer)
        return layout_.constant(operand.bits != 0 ? all_lanes : 0, false);
    if (operand.kind == Operand::Kind::special && operand.name == "%is_explicit_cluster")
        return layout_.special(Special::is_explicit_cluster);
    return predicate_register(operand);
}

void Decoding::take_predicate(std::size_t k, const Operand& operand) {
    bool negated = false;
    instruction.sources[k] = predicate(operand, negated);
    if (negated) instruction.negated |= static_cast<std::uint8_t>(1u << k);
}

Row Decoding::predicate_register(const Operand& operand) const {
    if (operand.kind != Operand::Kind::reg || function_.registers[operand.index].type != Type::pred)
        invalid(operand.place, "a predicate register is needed here");
    return layout_.register_row(operand.index);
}

Row Decoding::destination(const Operand& operand, Type type) {
    if (type == Type::pred) {
        if (operand.negated) invalid(operand.place, "an instruction's destination cannot be negated");
        return predicate_register(operand);
    }
    bool wide = false;
    const Row row = loose_destination(operand, type, wide);
    if (wide != is_wide(type))
        invalid(operand.place,
                "this register does not have the " + bits_of(type) + " that the instruction writes");
    return row;
}

Row Decoding::loose_destination(const Operand& operand, Type type, bool& wide) {
    if (operand.kind != Operand::Kind::reg) invalid(operand.place, "a register to write to is needed here");
    return loose_source(operand, type, wide);
}

bool Decoding::address(const Operand& operand, Space space) {
    if (operand.kind != Operand::Kind::address)
        invalid(operand.place, "an address in brackets is needed here");
    if (operand.elements.size() > 1)
        unsupported(operand.elements[1].place, "addresses of several parts (tensors) are not supported");
    const Operand& base = operand.elements.front();
    if (base.kind == Operand::Kind::reg) {
        bool wide = false;
        instruction.sources[0] = loose_source(base, Type::u32, wide);
        instruction.displacement = static_cast<std::uint64_t>(operand.offset);
        return wide;
    }
    Code::Base relative_to = Code::Base::none;
    std::uint64_t value = 0;
    if (base.kind == Operand::Kind::symbol) {
        value = symbol_value(base, relative_to);
        if (space == Space::generic && relative_to == Code::Base::shared) value += shared_window;
    } else if (base.kind == Operand::Kind::integer) {
        value = base.bits;
    } else {
        invalid(base.place, "an address is a register, a variable or a number");
    }
    instruction.sources[0] =
        layout_.constant(value + static_cast<std::uint64_t>(operand.offset), true, relative_to);
    instruction.displacement = 0;
    return true;
}

bool Decoding::never_read(const Operand& operand) const {
    return operand.kind == Operand::Kind::sink ||
           (operand.kind == Operand::Kind::reg && !layout_.is_read(operand.index));
}

bool Decoding::is_divergent(const Operand& operand) const {
    if (operand.kind == Operand::Kind::reg) return layout_.is_divergent(operand.index);
    if (operand.kind == Operand::Kind::address)
        return std::any_of(operand.elements.begin(), operand.elements.end(),
                           [&](const Operand& element) { return is_divergent(element); });
    return operand.kind == Operand::Kind::special;
}

Row Decoding::b128_register(const Operand& operand) const {
    if (operand.kind != Operand::Kind::reg || function_.registers[operand.index].type != Type::b128)
        invalid(operand.place, "a register of 128 bits is needed here");
    return layout_.register_row(operand.index);
}

Row Decoding::scratch_row() { return layout_.scratch(); }

Row Decoding::carry_row() { return layout_.carry(); }

Row Decoding::constant_row(std::uint64_t value, bool wide) { return layout_.constant(value, wide); }

std::uint32_t Decoding::local_offset(const Operand& variable) const {
    const auto place = variable.variable ? layout_.local(variable.variable) : std::nullopt;
    if (!place) invalid(variable.place, "a variable that the function declares is needed here");
    return *place;
}

std::uint32_t Decoding::parameter_offset(const Operand& parameter) const {
    const auto place = parameter.variable ? layout_.parameter(parameter.variable) : std::nullopt;
    if (!place) invalid(parameter.place, "a parameter of the kernel is needed here");
    return *place + static_cast<std::uint32_t>(parameter.offset);
}

void Decoding::keep_detail(std::unique_ptr<Detail> detail) {
    detail_ = detail.get();
    instruction.detail = detail_;
    code_.details.push_back(std::move(detail));
}

// ---- one function ----

std::vector<std::uint32_t> parameter_offsets(const Function& kernel, std::uint32_t& total_bytes) {
    std::vector<std::uint32_t> offsets;
    std::uint32_t next = 0;
    for (const Variable* parameter : kernel.parameters) {
        next = align_up(next, parameter->alignment);
        offsets.push_back(next);
        next += static_cast<std::uint32_t>(parameter->bytes);
    }
    total_bytes = next;
    return offsets;
}

std::optional<std::uint64_t> function_address(const Module& module, std::string_view name) {
    const Function* const function = module.function(name);
    if (!function || !function->has_body || function->is_kernel) return std::nullopt;
    const auto place = std::find_if(module.functions.begin(), module.functions.end(),
                                    [&](const auto& one) { return one.get() == function; });
    return function_window + static_cast<std::uint64_t>(place - module.functions.begin() + 1) * 8;
}

void decode(const Function& function, const Linkage& linkage, const OpcodeTable& opcodes, Code& code) {
    code.function = &function;
    code.module = linkage.module;
    if (const auto broken = linkage.module->unsupported.find(function.name);
        broken != linkage.module->unsupported.end())
        throw ptx::naming(broken->second, readable_name(function.name));
    FrameLayout layout(function, code);
    for (const Statement& statement : function.statements) {
        Decoding decoding(function, linkage, code, layout, statement);
        const auto opcode = opcodes.find(statement.opcode);
        if (opcode == opcodes.end())
            decoding.unsupported(statement.place,
                                 std::string("the instruction ") + quoted(statement.opcode) +
                                     " is not supported",
                                 ptx::what_instead(statement.opcode));
        if (statement.guarded) {
            decoding.instruction.guard = layout.register_row(statement.guard);
            decoding.instruction.guard_negated = statement.guard_negated;
        }
        opcode->second(decoding);
        decoding.check_all_taken();
        code.instructions.push_back(decoding.instruction);
        code.statements.push_back(&statement);
    }

    // A label may follow the last statement: running off the end returns, as in the language.
    Statement end;
    end.opcode = "ret";
    Decoding decoding(function, linkage, code, layout, end);
    opcodes.at("ret")(decoding);
    code.instructions.push_back(decoding.instruction);
    code.statements.push_back(nullptr);

    share_addresses(function, code.instructions);
    std::uint32_t next_control = 0;
    for (std::size_t i = code.instructions.size(); i-- > 0;) {
        if (code.instructions[i].is_control) next_control = static_cast<std::uint32_t>(i);
        code.instructions[i].next_control = next_control;
    }
    code.frame_bytes = layout.bytes();
}

} // namespace emulator
