/// Turns a parsed function into the flat array of instructions that the machine executes.
#pragma once

#include "emulator/program/code.hpp"
#include "emulator/program/statement_reader.hpp"
#include "emulator/ptx/module.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace emulator {

/// The addresses of the names that a function uses: the same for all functions that a kernel reaches.
struct Linkage {
    const ptx::Module* module{}; // Doxygen 1.9.8 would take `module =` for a module of C++20
    /// Module variables by name: addresses of global and constant ones, offsets of shared ones.
    std::unordered_map<std::string_view, std::uint64_t> addresses;
    /// Offsets of shared variables, including those of functions: several may have one name.
    std::unordered_map<const ptx::Variable*, std::uint64_t> shared;
    /// Functions with a body by name; filled before any of them is decoded.
    std::unordered_map<std::string_view, Code*> functions;
    /// Functions that a call through a register may reach; must outlive the decoded code.
    const FunctionsByAddress* callees = nullptr;
};

class Decoding;

/// An opcode without its modifiers, and the function that turns a statement with it into an instruction.
struct Opcode {
    std::string_view name;
    void (*decode)(Decoding&);
};

/// Opcodes by name.
using OpcodeTable = std::unordered_map<std::string_view, void (*)(Decoding&)>;

/// Decodes `function` into `code`, with the instructions in `opcodes`, which includes `ret`. \throws Error
/// unsupported or invalid_ptx, with the PTX line, a caret and the function's name.
void decode(const ptx::Function& function, const Linkage& linkage, const OpcodeTable& opcodes, Code& code);

/// Offsets of a kernel's parameters in its parameter buffer, and the buffer's size, as the CUDA ABI lays them
/// out.
std::vector<std::uint32_t> parameter_offsets(const ptx::Function& kernel, std::uint32_t& total_bytes);

/// The register from which cooperative groups read the address of the reserved shared memory.
inline constexpr std::string_view reserved_shared_register = "%reserved_smem_offset_1";

/// The address of a function with a body; nothing if the module has no such function.
std::optional<std::uint64_t> function_address(const ptx::Module& module, std::string_view name);

/// A statement while a family of instructions decodes it: into the rows of its operands, and its instruction.
class Decoding : public StatementReader {
public:
    Decoding(const ptx::Function& function, const Linkage& linkage, Code& code, class FrameLayout& layout,
             const ptx::Statement& statement);

    // ---- operands ----

    /// The row that operand `k` names, read as a `type`. Constants get a row of their own.
    Row source(std::size_t k, ptx::Type type) { return source(operand(k), type); }
    Row source(const ptx::Operand& operand, ptx::Type type);
    /// Like `source`, of any width that holds at least `type`; `wide` says whether its cells have 8 bytes.
    Row loose_source(const ptx::Operand& operand, ptx::Type type, bool& wide);
    /// A predicate register or constant; `negated` says whether the statement negates it.
    Row predicate(const ptx::Operand& operand, bool& negated);
    /// The same for source `k` of the instruction.
    void take_predicate(std::size_t k, const ptx::Operand& operand);

    Row destination(std::size_t k, ptx::Type type) { return destination(operand(k), type); }
    Row destination(const ptx::Operand& operand, ptx::Type type);
    Row loose_destination(const ptx::Operand& operand, ptx::Type type, bool& wide);

    /// Address operand: sets the instruction's first source and displacement. Returns true when the base has
    /// 8-byte cells.
    bool address(const ptx::Operand& operand, ptx::Space space);

    /// True when nothing in the function reads the register that `operand` names.
    bool never_read(const ptx::Operand& operand) const;

    /// Whether the operand can differ between the lanes of a warp (see divergent_registers).
    bool is_divergent(const ptx::Operand& operand) const;

    /// The row of a register of 128 bits: a cell has 16 bytes.
    Row b128_register(const ptx::Operand& operand) const;

    Row scratch_row(); ///< of 8-byte cells, for an unused result
    Row carry_row();   ///< of the condition code: a predicate
    Row constant_row(std::uint64_t value, bool wide);
    /// Of a `.local` or `.param` variable in the frame.
    std::uint32_t local_offset(const ptx::Operand& variable) const;
    /// Of a kernel's parameter in the parameter buffer.
    std::uint32_t parameter_offset(const ptx::Operand& parameter) const;
    void allocate_stack() { code_.allocates_stack = true; } ///< the function calls `alloca`

    void calls(const Code& callee) { code_.callees.push_back(&callee); }

    /// The instruction's detail, of the one kind that its family uses.
    template <class Kind> Kind& detail() {
        if (!detail_) keep_detail(std::make_unique<Kind>());
        return static_cast<Kind&>(*detail_);
    }

    // ---- the result ----

    Instruction instruction;

    void execute_with(Handler handler) { instruction.execute = handler; }
    void control_with(Handler handler) {
        instruction.execute = handler;
        instruction.is_control = true;
    }

private:
    void keep_detail(std::unique_ptr<Detail> detail);
    Row predicate_register(const ptx::Operand& operand) const;
    std::uint64_t symbol_value(const ptx::Operand& operand, Code::Base& base) const;
    std::uint64_t literal(const ptx::Operand& operand, ptx::Type type) const;

    Code& code_;
    FrameLayout& layout_;
    Detail* detail_ = nullptr;
};

} // namespace emulator
