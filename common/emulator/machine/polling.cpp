#include "emulator/machine/polling.hpp"

#include "emulator/machine/code.hpp"

#include <algorithm>

namespace emulator {
namespace {

bool has(const ptx::Statement& statement, std::string_view modifier) {
    return std::any_of(statement.modifiers.begin(), statement.modifiers.end(),
                       [&](const ptx::Modifier& one) { return one.text == modifier; });
}

bool looks_anew(const ptx::Statement& statement) {
    if (statement.opcode == "nanosleep") return true;
    if (has(statement, ".shared") || has(statement, ".local")) return false;
    if (statement.opcode == "atom") return true;
    return statement.opcode == "ld" &&
           (has(statement, ".volatile") || has(statement, ".relaxed") || has(statement, ".acquire"));
}

} // namespace

bool may_poll(const Code& code) {
    const auto& statements = code.function->statements;
    if (!code.function->is_kernel) return std::any_of(statements.begin(), statements.end(), looks_anew);
    for (std::size_t end = 0; end < statements.size(); ++end) {
        if (statements[end].opcode != "bra") continue;
        const ptx::Operand& label = statements[end].operands.front();
        if (label.kind != ptx::Operand::Kind::label || label.index > end) continue;
        if (std::any_of(statements.begin() + label.index, statements.begin() + end, looks_anew)) return true;
    }
    return false;
}

} // namespace emulator
