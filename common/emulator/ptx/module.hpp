/// A PTX module, as parsed: the parser builds it and the decoder reads it.
#pragma once

#include "emulator/error.hpp"
#include "emulator/ptx/types.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace emulator::ptx {

/// An address in a variable's initial value.
struct Relocation {
    std::uint64_t offset = 0; ///< bytes from the variable's start
    std::string_view symbol;
    std::int64_t addend = 0;
    std::uint32_t place = 0; ///< in the text
};

struct Variable {
    std::string_view name;
    Space space = Space::global;
    Type type = Type::none;
    std::uint64_t bytes = 0; ///< 0: an array without a size, such as dynamic shared memory
    std::uint32_t alignment = 1;
    bool external = false;
    bool weak = false;    ///< another definition may replace it
    bool managed = false; ///< `.attribute(.managed)`: the host can access it too
    std::uint32_t place = 0;
    std::vector<std::byte> initial; ///< at most `bytes`; the rest is zero
    std::vector<Relocation> relocations;
};

struct Operand {
    enum class Kind : std::uint8_t {
        reg,              ///< `%r1`: index
        special,          ///< `%tid.x`: name
        integer,          ///< bits
        single_precision, ///< bits
        double_precision, ///< bits
        symbol,  ///< a variable (variable, or by name if it is the module's) or a function, plus offset
        label,   ///< index of the statement that follows it
        address, ///< `[elements[0] + offset]`
        list,    ///< `{a, b}` or `(a, b)`
        pair,    ///< `%r1|%p1`
        sink,    ///< `_`
    };
    Kind kind = Kind::sink;
    bool negated = false; ///< `!%p1`
    std::uint32_t index = 0;
    std::uint32_t place = 0; ///< in the text
    std::uint64_t bits = 0;
    std::int64_t offset = 0;
    const Variable* variable = nullptr;
    std::string_view name;
    std::vector<Operand> elements;
};

/// A `.loc`: the position in the CUDA source of the statements after it.
struct Location {
    std::uint32_t file = 0, line = 0, column = 0;
    const Location* inlined_at = nullptr; ///< the call of the inlined function
};

struct Modifier {
    std::string_view text; ///< with its dot: ".s32"
    std::uint32_t place = 0;
};

/// One instruction.
struct Statement {
    std::string_view opcode;
    std::uint32_t place = 0; ///< of the opcode in the text
    std::vector<Modifier> modifiers;
    std::vector<Operand> operands;
    bool guarded = false, guard_negated = false;
    std::uint32_t guard = 0; ///< index of the predicate register
    const Location* location = nullptr;
};

struct Register {
    std::string name;
    Type type = Type::none;
};

struct Unit;

struct Function {
    std::string name;
    bool is_kernel = false;
    bool has_body = false;
    std::string_view unread;    ///< a kernel's body that is yet to be read: see read_body
    std::shared_ptr<Unit> unit; ///< that body's
    std::uint32_t place = 0;
    std::vector<const Variable*> results, parameters;
    std::vector<Register> registers;
    std::vector<std::unique_ptr<Variable>> variables; ///< parameters first, then what the body declares
    std::vector<Statement> statements;
    /// `.branchtargets` lists of labels by name.
    std::map<std::string, std::vector<Operand>, std::less<>> branch_targets;
    std::vector<std::unique_ptr<Location>> locations;
    std::optional<std::array<std::uint32_t, 3>> cluster; ///< `.reqnctapercluster`
    bool needs_cluster = false;                          ///< `.explicitcluster`
    std::uint32_t max_cluster = 0;                       ///< `.maxclusterrank`; 0: none given
    /// Product of `.maxntid` or `.reqntid`; 0: none given.
    std::uint32_t max_threads = 0;
};

struct Module {
    std::string text;                ///< all views above refer to it, or to `renamed`
    std::deque<std::string> renamed; ///< new names of a unit's own variables that clash with another unit's
    std::string version, target;
    std::vector<std::unique_ptr<Variable>> variables;
    std::vector<std::unique_ptr<Function>> functions;
    std::map<std::uint32_t, std::string> files;              ///< `.file` number to path
    std::map<std::string, std::string, std::less<>> aliases; ///< `.alias`: another name of a function
    /// Of parse_around_kernels: names in directives that this emulator does not support, and the error.
    std::map<std::string, Error, std::less<>> unsupported;

    const Function* function(std::string_view name) const;
    const Variable* variable(std::string_view name) const;
};

} // namespace emulator::ptx
