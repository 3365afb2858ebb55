#include "emulator/program/analyses.hpp"

#include "emulator/program/code.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>

namespace emulator {
namespace {

bool has(const ptx::Statement& statement, std::string_view modifier) {
    return std::any_of(statement.modifiers.begin(), statement.modifiers.end(),
                       [&](const ptx::Modifier& one) { return one.text == modifier; });
}

bool rereads_memory(const ptx::Statement& statement) {
    if (statement.opcode == "nanosleep") return true;
    if (has(statement, ".shared") || has(statement, ".local")) return false;
    if (statement.opcode == "atom") return true;
    return statement.opcode == "ld" &&
           (has(statement, ".volatile") || has(statement, ".relaxed") || has(statement, ".acquire"));
}

// ---- loops around mbarrier.test_wait and try_wait ----

/// They only change registers, and read only registers and what a kernel can't influence.
constexpr std::array<std::string_view, 28> pure_opcodes{
    "abs",  "add",       "and", "bfe", "cvt", "cvta", "div",  "lop3", "mad", "max",
    "min",  "mov",       "mul", "neg", "not", "or",   "prmt", "rem",  "sad", "selp",
    "setp", "nanosleep", "shf", "shl", "shr", "slct", "sub",  "xor"};

/// Registers that certainly hold 0 or 1, false or true.
using KnownTruths = std::map<std::uint32_t, bool>;

/// Follows a lane from a failed test.
class PathsFromTest {
public:
    PathsFromTest(const Code& code, std::uint32_t test) : code_(code), test_(test) {}

    bool all_lead_back() {
        const ptx::Statement& test = *code_.statements[test_];
        if (test.guarded || test.operands[0].kind != ptx::Operand::Kind::reg) return false;
        go(test_ + 1, {{test.operands[0].index, false}});
        while (!open_.empty()) {
            const std::uint32_t pc = *open_.begin();
            open_.erase(open_.begin());
            if (!follow(pc)) return false;
        }
        return !changes(test.operands[1]) && !changes(test.operands[2]);
    }

private:
    /// A lane may arrive at `pc` with this knowledge. Only what holds on every path is known there.
    void go(std::uint32_t pc, const KnownTruths& truths) {
        if (pc == test_) return;
        const auto [place, is_new] = before_.try_emplace(pc, truths);
        const std::size_t known = place->second.size();
        std::erase_if(place->second, [&](const auto& one) {
            const auto here = truths.find(one.first);
            return here == truths.end() || here->second != one.second;
        });
        if (is_new || place->second.size() != known) open_.insert(pc);
    }

    bool follow(std::uint32_t pc) {
        const ptx::Statement* const statement = code_.statements[pc];
        if (!statement) return false;
        KnownTruths truths = before_.at(pc);
        std::optional<bool> is_done = true; // not known: may be
        if (statement->guarded) {
            is_done = truth(truths, statement->guard);
            if (is_done) is_done = *is_done != statement->guard_negated;
        }
        if (is_done == false) {
            go(pc + 1, truths);
            return true;
        }
        if (statement->opcode == "bra") {
            if (!is_done) go(pc + 1, truths);
            go(statement->operands.front().index, truths);
            return statement->operands.front().kind == ptx::Operand::Kind::label;
        }
        if (std::find(pure_opcodes.begin(), pure_opcodes.end(), statement->opcode) == pure_opcodes.end())
            return false;
        if (statement->opcode != "nanosleep") {
            const std::optional<bool> result = is_done ? result_of(*statement, truths) : std::nullopt;
            forget(truths, statement->operands.front());
            if (result) truths[statement->operands.front().index] = *result;
        }
        go(pc + 1, truths);
        return true;
    }

    void forget(KnownTruths& truths, const ptx::Operand& destination) {
        for (const ptx::Operand& element : destination.elements) forget(truths, element);
        if (destination.kind != ptx::Operand::Kind::reg) return;
        truths.erase(destination.index);
        changed_.insert(destination.index);
    }

    bool changes(const ptx::Operand& operand) const {
        return (operand.kind == ptx::Operand::Kind::reg && changed_.contains(operand.index)) ||
               std::any_of(operand.elements.begin(), operand.elements.end(),
                           [&](const ptx::Operand& element) { return changes(element); });
    }

    static std::optional<bool> truth(const KnownTruths& truths, std::uint32_t index) {
        const auto found = truths.find(index);
        return found == truths.end() ? std::nullopt : std::optional(found->second);
    }
    static std::optional<bool> truth(const KnownTruths& truths, const ptx::Operand& operand) {
        if (operand.kind == ptx::Operand::Kind::integer && operand.bits <= 1) return operand.bits != 0;
        if (operand.kind != ptx::Operand::Kind::reg) return {};
        const std::optional<bool> value = truth(truths, operand.index);
        return value && operand.negated ? !*value : value;
    }

    /// How a compiler turns the answer into a branch condition.
    static std::optional<bool> result_of(const ptx::Statement& statement, const KnownTruths& truths) {
        const auto& operands = statement.operands;
        const auto source = [&](std::size_t k) { return truth(truths, operands[k]); };
        if (operands.front().kind != ptx::Operand::Kind::reg) return {};
        if (operands.size() == 2) {
            if (statement.opcode == "mov") return source(1);
            if (statement.opcode == "not" && has(statement, ".pred") && source(1)) return !*source(1);
        } else if (operands.size() == 3) {
            const std::optional<bool> a = source(1), b = source(2);
            if (statement.opcode == "and" && (a == false || b == false)) return false;
            if (!a || !b) return {};
            if (statement.opcode == "and") return *a && *b;
            if (statement.opcode == "or") return *a || *b;
            if (statement.opcode == "xor") return *a != *b;
            if (statement.opcode == "setp" && has(statement, ".eq")) return *a == *b;
            if (statement.opcode == "setp" && has(statement, ".ne")) return *a != *b;
        } else if (statement.opcode == "selp") {
            if (const std::optional<bool> chooses_first = source(3)) return source(*chooses_first ? 1 : 2);
        }
        return {};
    }

    const Code& code_;
    std::uint32_t test_;
    std::map<std::uint32_t, KnownTruths> before_; ///< the reached instructions
    std::set<std::uint32_t> open_, changed_;      ///< instructions to follow from; registers
};

// ---- loops around atomicCAS ----

bool is_register(const ptx::Operand& operand) { return operand.kind == ptx::Operand::Kind::reg; }

bool compares_and_swaps(const ptx::Statement& statement) {
    return statement.opcode == "atom" && statement.operands.size() > 2 && has(statement, ".cas");
}

} // namespace

bool spins_on_phase(const Code& code, std::uint32_t test) {
    return PathsFromTest(code, test).all_lead_back();
}

bool may_spin(const Code& code) {
    const auto& statements = code.function->statements;
    if (!code.function->is_kernel) return std::any_of(statements.begin(), statements.end(), rereads_memory);
    for (std::size_t end = 0; end < statements.size(); ++end) {
        if (statements[end].opcode != "bra") continue;
        const ptx::Operand& label = statements[end].operands.front();
        if (label.kind != ptx::Operand::Kind::label || label.index > end) continue;
        if (std::any_of(statements.begin() + label.index,
                        statements.begin() + static_cast<std::ptrdiff_t>(end), rereads_memory))
            return true;
    }
    return false;
}

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
