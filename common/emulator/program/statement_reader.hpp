/// The modifiers and operands of a statement, and what is wrong with them.
#pragma once

#include "emulator/program/code.hpp"
#include "emulator/ptx/module.hpp"

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace emulator {

struct Linkage;

/// A family of instructions takes each modifier and operand that it understands. Anything left over makes the
/// statement unsupported, so nothing is ever skipped.
class StatementReader {
public:
    StatementReader(const ptx::Function& function, const Linkage& linkage, const ptx::Statement& statement)
        : function_(function), linkage_(linkage), statement_(statement), taken_(statement.modifiers.size()) {}

    const ptx::Statement& statement() const { return statement_; }
    const ptx::Function& function() const { return function_; }
    const Linkage& linkage() const { return linkage_; }

    // ---- modifiers ----

    bool take(std::string_view modifier);
    /// The first of `modifiers` that the statement has, or an empty view.
    std::string_view take_any(std::initializer_list<std::string_view> modifiers);
    std::optional<ptx::Type> take_optional_type();
    ptx::Type take_type();
    ptx::Space take_space();                                                   ///< generic when none is said
    Ordering take_ordering(std::initializer_list<std::string_view> modifiers); ///< weak when none is said
    Scope take_scope(Scope by_default = Scope::system);

    // ---- operands ----

    std::size_t operand_count() const { return statement_.operands.size(); }
    const ptx::Operand& operand(std::size_t k) const { return statement_.operands[k]; }
    void expect_operands(std::size_t least, std::size_t most);

    /// The value of an operand that must be a constant.
    std::uint64_t constant(const ptx::Operand& operand) const;
    bool is_constant(const ptx::Operand& operand) const;

    // ---- errors ----

    /// `instead`: further lines.
    [[noreturn]] void unsupported(std::uint32_t place, const std::string& what,
                                  const std::string& instead = {}) const;
    [[noreturn]] void invalid(std::uint32_t place, const std::string& what) const;
    /// The instruction exists, but not for this type.
    [[noreturn]] void no_such_type(ptx::Type type) const;

    [[noreturn]] void no_dynamic_parallelism(std::uint32_t place, const std::string& what) const {
        unsupported(
            place, what + ": launches from kernels (dynamic parallelism) are not supported",
            "\nCall the CUDA runtime and launch kernels from the host, or call a __device__ function.");
    }

    /// Fails if the parser skipped what the symbol names.
    void expect_supported(const ptx::Operand& symbol) const;

    /// Fails unless every modifier has been taken.
    void check_all_taken() const;

protected:
    const ptx::Function& function_;
    const Linkage& linkage_;
    const ptx::Statement& statement_;

private:
    /// Of the outermost call, ", kernels.cu:12"; empty without -lineinfo.
    std::string source_line() const;

    std::vector<bool> taken_; // by modifier
};

} // namespace emulator
