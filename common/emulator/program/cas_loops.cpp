#include "emulator/program/cas_loops.hpp"

#include "emulator/program/code.hpp"
#include "emulator/ptx/module.hpp"

#include <algorithm>
#include <set>

namespace emulator {
namespace {

bool is_register(const ptx::Operand& operand) { return operand.kind == ptx::Operand::Kind::reg; }

bool compares_and_swaps(const ptx::Statement& statement) {
    return statement.opcode == "atom" && statement.operands.size() > 2 &&
           std::any_of(statement.modifiers.begin(), statement.modifiers.end(),
                       [](const ptx::Modifier& modifier) { return modifier.text == ".cas"; });
}

} // namespace

bool is_cas_loop_load(const Code& code, std::uint32_t pc) {
    const ptx::Statement* const load = code.statements[pc];
    if (!load || load->operands.empty()) return false;
    const ptx::Operand& loaded = load->operands.front();
    if (!is_register(loaded)) return false;
    std::set<std::uint32_t> holders{loaded.index}; // of the value, or of a copy of it
    for (std::size_t before = 0; before != holders.size();) {
        before = holders.size();
        for (const ptx::Statement* const statement : code.statements) {
            if (!statement) continue;
            const auto& operands = statement->operands;
            const auto holds = [&](std::size_t k) {
                return is_register(operands[k]) && holders.contains(operands[k].index);
            };
            if (compares_and_swaps(*statement) && holds(2)) return true;
            if (statement->opcode == "mov" && operands.size() == 2 && is_register(operands[0]) && holds(1))
                holders.insert(operands[0].index);
        }
    }
    return false;
}

} // namespace emulator
