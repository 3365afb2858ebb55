#include "emulator/program/analyses.hpp"

#include <algorithm>
#include <iterator>

namespace emulator {

using ptx::Function, ptx::Modifier, ptx::Operand, ptx::Statement;

namespace {

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

} // namespace

bool writes_first_operand(const Statement& statement) {
    if (statement.operands.empty()) return false;
    if (statement.opcode == "call")
        return statement.operands[0].kind != Operand::Kind::reg; // else it is called
    return !is_one_of(statement.opcode, {"bar", "barrier", "bra", "brx", "nanosleep", "red", "st"});
}

namespace {

/// Processes the function's statements until no further register turns out to vary.
class Finder {
public:
    explicit Finder(const Function& function)
        : function_(function), divergent_(function.registers.size()), first_write_(divergent_.size(), none),
          last_write_(divergent_.size()) {
        for (std::size_t i = 0; i < function.statements.size(); ++i) {
            if (!writes_first_operand(function.statements[i])) continue;
            for_each_register(function.statements[i].operands[0], [&](std::uint32_t index) {
                if (first_write_[index] == none) first_write_[index] = i;
                last_write_[index] = i;
            });
        }
    }

    std::vector<bool> find() {
        do {
            changed_ = false;
            for (std::size_t i = 0; i < function_.statements.size(); ++i) visit(i);
        } while (changed_);
        return std::move(divergent_);
    }

private:
    static constexpr std::size_t none = SIZE_MAX;

    template <class Use> static void for_each_register(const Operand& operand, const Use& use) {
        if (operand.kind == Operand::Kind::reg) use(operand.index);
        for (const Operand& element : operand.elements) for_each_register(element, use);
    }

    bool is_divergent(const Operand& operand) const {
        if (operand.kind == Operand::Kind::special)
            return operand.name.starts_with("%tid") || operand.name.starts_with("%lane");
        if (operand.kind == Operand::Kind::reg) return divergent_[operand.index];
        return std::any_of(operand.elements.begin(), operand.elements.end(),
                           [&](const Operand& element) { return is_divergent(element); });
    }

    /// A kernel's parameter, not that of a call.
    bool is_of_kernel(const Operand& address) const {
        const auto& parameters = function_.parameters;
        return function_.is_kernel && !address.elements.empty() &&
               std::find(parameters.begin(), parameters.end(), address.elements[0].variable) !=
                   parameters.end();
    }

    bool has_divergent_guard(const Statement& statement) const {
        return statement.guarded && divergent_[statement.guard];
    }

    /// Whether the statement's result can differ between lanes.
    bool makes_divergent(const Statement& statement) const {
        const auto has = [&](std::string_view modifier) {
            return std::any_of(statement.modifiers.begin(), statement.modifiers.end(),
                               [&](const Modifier& m) { return m.text == modifier; });
        };
        if (has_divergent_guard(statement)) return true;
        if (is_one_of(statement.opcode, {"atom", "call", "match", "elect", "addc", "subc", "madc"}))
            return true;
        if (is_one_of(statement.opcode, {"vote", "redux", "activemask"})) return false;
        // A broadcast is the same in all lanes, whatever its source.
        if (statement.opcode == "shfl")
            return !has(".idx") || statement.operands.size() < 3 || is_divergent(statement.operands[2]);
        if (statement.opcode == "ld" && has(".local")) return true;
        if (statement.opcode == "ld" && has(".param") && !is_of_kernel(statement.operands.back()))
            return true;
        return std::any_of(statement.operands.begin() + 1, statement.operands.end(),
                           [&](const Operand& operand) { return is_divergent(operand); });
    }

    void visit(std::size_t i) {
        const Statement& statement = function_.statements[i];
        if (is_one_of(statement.opcode, {"bra", "brx"})) {
            if (has_divergent_guard(statement) && !statement.operands.empty()) split_at(i);
        } else if (writes_first_operand(statement) && makes_divergent(statement)) {
            for_each_register(statement.operands[0], [&](std::uint32_t index) { set_divergent(index); });
        }
    }

    /// A warp may split at this branch. A register written before and after it can hold either value. So can
    /// a register written before a loop and in it, at the loop's end.
    void split_at(std::size_t branch) {
        const Operand& target = function_.statements[branch].operands[0];
        const std::size_t first =
            target.kind == Operand::Kind::label ? std::min<std::size_t>(target.index, branch) : branch;
        for (std::uint32_t index = 0; index < divergent_.size(); ++index) {
            const bool before = first_write_[index] < first, later = last_write_[index] >= first;
            if (before && later) set_divergent(index);
        }
    }

    void set_divergent(std::uint32_t index) {
        changed_ = changed_ || !divergent_[index];
        divergent_[index] = true;
    }

    const Function& function_;
    std::vector<bool> divergent_;
    std::vector<std::size_t> first_write_, last_write_; // statements
    bool changed_ = false;
};

} // namespace

std::vector<bool> divergent_registers(const Function& function) { return Finder(function).find(); }

} // namespace emulator
