/// \file
/// A parsed function to the flat array of instructions that the machine executes.
#pragma once

#include "emulator/machine/code.hpp"
#include "emulator/ptx/module.hpp"

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace emulator::ptx {

/// Where the names that a function uses lie: the same for all functions that one kernel reaches.
struct Linkage {
    const Module* module{}; // Doxygen 1.9.8 would take `module =` for a module of C++20
    /// Module variables by name: addresses of global and constant ones, offsets of shared ones.
    std::unordered_map<std::string_view, std::uint64_t> addresses;
    /// Offsets of shared variables, those of functions too: there may be several of one name.
    std::unordered_map<const Variable*, std::uint64_t> shared;
    /// Functions with a body by name; filled before any of them is decoded.
    std::unordered_map<std::string_view, Code*> functions;
    /// Those of them that a call through a register may reach; outlives the decoded code.
    const FunctionsByAddress* callees = nullptr;
};

/// Decodes `function` into `code`.
/// \throws Error unsupported or invalid_ptx, with the PTX line, a caret and the function's name.
void decode(const Function& function, const Linkage& linkage, Code& code);

/// Offsets of a kernel's parameters in its parameter buffer, and the buffer's size, as the CUDA ABI lays them
/// out.
std::vector<std::uint32_t> parameter_offsets(const Function& kernel, std::uint32_t& total_bytes);

/// Where cooperative groups ask for the shared memory that CUDA keeps for itself.
inline constexpr std::string_view reserved_shared_register = "%reserved_smem_offset_1";

/// Generic addresses of shared, local and parameter memory start here: no address of the host's memory has
/// these top bytes.
inline constexpr std::uint64_t window_mask = 0xFF00'0000'0000'0000;
inline constexpr std::uint64_t shared_window = 0x0100'0000'0000'0000;
inline constexpr std::uint64_t local_window = 0x0200'0000'0000'0000;
inline constexpr std::uint64_t param_window = 0x0300'0000'0000'0000;

/// Addresses of functions: the number of the function in its module is added. They are no memory.
inline constexpr std::uint64_t function_window = 0x0400'0000'0000'0000;

/// The address of a function with a body; nothing if the module has no such function.
std::optional<std::uint64_t> function_address(const Module& module, std::string_view name);

/// Shared memory of the block of rank r in its cluster begins at r times this, as on a card of compute
/// capability 9.0: so a block's own address means the same to the other blocks.
inline constexpr int shared_rank_shift = 24;
inline constexpr std::uint64_t shared_rank_bytes = 1 << shared_rank_shift;

/// What a family of instructions sees of the statement that it decodes.
///
/// Each modifier and operand that a family understands is taken; what is left over makes the statement
/// unsupported, so that nothing is ever skipped.
class Decoding {
public:
    Decoding(const Function& function, const Linkage& linkage, Code& code, class FrameLayout& layout,
             const Statement& statement);

    const Statement& statement() const { return statement_; }
    const Function& function() const { return function_; }
    const Linkage& linkage() const { return linkage_; }

    // ---- modifiers ----

    bool take(std::string_view modifier);
    /// The first of `modifiers` that the statement has, or an empty view.
    std::string_view take_any(std::initializer_list<std::string_view> modifiers);
    std::optional<Type> take_optional_type();
    Type take_type();
    Space take_space();                                                        ///< generic when none is said
    Ordering take_ordering(std::initializer_list<std::string_view> modifiers); ///< weak when none is said

    // ---- operands ----

    std::size_t operand_count() const { return statement_.operands.size(); }
    const Operand& operand(std::size_t k) const { return statement_.operands[k]; }
    void expect_operands(std::size_t least, std::size_t most);

    /// The row that operand `k` names, read as a `type`. Constants get a row of their own.
    Row source(std::size_t k, Type type) { return source(operand(k), type); }
    Row source(const Operand& operand, Type type);
    /// Like `source`, of any width that holds at least `type`; `wide` says whether its cells have 8 bytes.
    Row loose_source(const Operand& operand, Type type, bool& wide);
    /// A predicate register or constant; `negated` says whether the statement negates it.
    Row predicate(const Operand& operand, bool& negated);

    Row destination(std::size_t k, Type type) { return destination(operand(k), type); }
    Row destination(const Operand& operand, Type type);
    Row loose_destination(const Operand& operand, Type type, bool& wide);

    /// Address operand: sets the instruction's first source and displacement. Returns true when the base has
    /// 8-byte cells.
    bool address(const Operand& operand, Space space);

    /// The value of an operand that must be a constant.
    std::uint64_t constant(const Operand& operand) const;
    bool is_constant(const Operand& operand) const;

    /// True when nothing in the function reads the register that `operand` names.
    bool never_read(const Operand& operand) const;

    /// Whether the operand can differ between the lanes of a warp (see varying_registers).
    bool varies(const Operand& operand) const;

    /// The row of a register of 128 bits: a cell has 16 bytes.
    Row register_of_128_bits(const Operand& operand) const;

    Row scratch_row(); ///< of 8-byte cells, for a result that nobody wants
    Row carry_row();   ///< of the condition code: a predicate
    Row constant_row(std::uint64_t value, bool wide);
    std::uint32_t
    local_offset(const Operand& variable) const; ///< of a `.local` or `.param` variable in the frame
    std::uint32_t
    parameter_offset(const Operand& parameter) const; ///< of a kernel's parameter in the parameter buffer
    Detail& detail();
    void make_room() { code_.makes_room = true; } ///< the function asks for local memory as it runs

    /// Gives the instruction a detail of a family's own kind.
    template <class T> T* own_detail(std::unique_ptr<T> detail) {
        T* const result = detail.get();
        keep_detail(std::move(detail));
        return result;
    }

    // ---- the result ----

    Instruction instruction;

    void execute_with(Handler handler) { instruction.execute = handler; }
    void control_with(Handler handler) {
        instruction.execute = handler;
        instruction.is_control = true;
    }

    [[noreturn]] void unsupported(std::uint32_t place, const std::string& what) const;
    [[noreturn]] void invalid(std::uint32_t place, const std::string& what) const;
    /// The instruction exists, but not for this type.
    [[noreturn]] void no_such_type(Type type) const;

    /// Stops unless every modifier has been taken.
    void check_all_taken() const;

private:
    void keep_detail(std::unique_ptr<Detail> detail);
    Row predicate_register(const Operand& operand) const;
    std::uint64_t symbol_value(const Operand& operand, Code::Base& base) const;
    std::uint64_t literal(const Operand& operand, Type type) const;

    const Function& function_;
    const Linkage& linkage_;
    Code& code_;
    FrameLayout& layout_;
    const Statement& statement_;
    std::vector<bool> taken_;
    Detail* detail_ = nullptr;
};

} // namespace emulator::ptx
