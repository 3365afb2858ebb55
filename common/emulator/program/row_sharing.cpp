#include "emulator/program/row_sharing.hpp"

#include "emulator/program/analyses.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <queue>
#include <utility>

namespace emulator {

using ptx::Function, ptx::Operand, ptx::Statement;

namespace {

/// A set of registers, by index.
class RegisterSet {
public:
    explicit RegisterSet(std::size_t count) : words_((count + 63) / 64) {}

    void insert(std::uint32_t index) { words_[index / 64] |= bit(index); }
    bool contains(std::uint32_t index) const { return (words_[index / 64] & bit(index)) != 0; }

    /// Adds those of `other`; whether there were any new ones.
    bool add(const RegisterSet& other) {
        std::uint64_t added = 0;
        for (std::size_t i = 0; i < words_.size(); ++i)
            added |= other.words_[i] & ~std::exchange(words_[i], words_[i] | other.words_[i]);
        return added != 0;
    }
    /// Adds those of `all` that are not in `without`.
    void add_difference(const RegisterSet& all, const RegisterSet& without) {
        for (std::size_t i = 0; i < words_.size(); ++i) words_[i] |= all.words_[i] & ~without.words_[i];
    }

    template <class Visit> void for_each(Visit visit) const {
        for (std::size_t i = 0; i < words_.size(); ++i)
            for (std::uint64_t left = words_[i]; left != 0; left &= left - 1)
                visit(static_cast<std::uint32_t>(i * 64 + static_cast<std::size_t>(std::countr_zero(left))));
    }

private:
    static std::uint64_t bit(std::uint32_t index) { return std::uint64_t{1} << index % 64; }

    std::vector<std::uint64_t> words_;
};

/// Calls `read(index)` and `written(index)` for the registers of a statement.
template <class Read, class Written>
void for_each_register(const Operand& operand, bool is_destination, const Read& read,
                       const Written& written) {
    if (operand.kind == Operand::Kind::reg) is_destination ? written(operand.index) : read(operand.index);
    const bool elements_too = is_destination && operand.kind != Operand::Kind::address;
    for (const Operand& element : operand.elements) for_each_register(element, elements_too, read, written);
}

template <class Read, class Written>
void for_each_register(const Statement& statement, const Read& read, const Written& written) {
    const bool writes = writes_first_operand(statement);
    for (std::size_t k = 0; k < statement.operands.size(); ++k)
        for_each_register(statement.operands[k], writes && k == 0, read, written);
    if (statement.guarded) read(statement.guard);
}

bool ends_block(const Statement& statement) {
    static constexpr std::string_view opcodes[] = {"bra", "brx", "ret", "exit", "trap"};
    return std::find(std::begin(opcodes), std::end(opcodes), statement.opcode) != std::end(opcodes);
}

/// Straight-line statements.
struct BasicBlock {
    std::size_t begin = 0, end = 0;         ///< statements
    std::vector<std::size_t> next;          ///< blocks that may follow
    RegisterSet written, live_in, live_out; ///< written: in any case
};

template <class Visit>
void for_each_target(const Function& function, const Statement& statement, Visit visit) {
    const auto visit_label = [&](const Operand& operand) {
        if (operand.kind == Operand::Kind::label) visit(std::size_t{operand.index});
    };
    for (const Operand& operand : statement.operands) visit_label(operand);
    if (statement.opcode != "brx") return;
    for (const auto& [name, targets] : function.branch_targets)
        std::for_each(targets.begin(), targets.end(), visit_label);
}

/// With sets for that many registers, which are empty.
std::vector<BasicBlock> basic_blocks(const Function& function, std::size_t registers) {
    std::vector<BasicBlock> blocks;
    const auto& statements = function.statements;
    std::vector<bool> begins(statements.size() + 1);
    for (std::size_t i = 0; i < statements.size(); ++i) {
        if (!ends_block(statements[i])) continue;
        begins[i + 1] = true;
        for_each_target(function, statements[i], [&](std::size_t target) { begins[target] = true; });
    }
    std::vector<std::size_t> block_of(begins.size());
    const RegisterSet none(registers);
    for (std::size_t i = 0; i < statements.size(); ++i) {
        if (i == 0 || begins[i]) blocks.push_back({i, i, {}, none, none, none});
        blocks.back().end = i + 1;
        block_of[i] = blocks.size() - 1;
    }
    block_of.back() = blocks.size(); // the function's end: a label may stand there
    for (BasicBlock& block : blocks) {
        const Statement& last = statements[block.end - 1];
        const auto follow = [&](std::size_t statement) {
            if (block_of[statement] < blocks.size()) block.next.push_back(block_of[statement]);
        };
        if (!ends_block(last) || last.guarded) follow(block.end);
        if (ends_block(last)) for_each_target(function, last, follow);
    }
    return blocks;
}

/// The control-flow graph with the registers that are alive between its blocks.
class Liveness {
public:
    explicit Liveness(const Function& function)
        : function_(function), blocks_(basic_blocks(function, function.registers.size())) {
        for (BasicBlock& block : blocks_) note_registers(block);
        for (bool changed = true; changed;) {
            changed = false;
            for (std::size_t b = blocks_.size(); b-- > 0;) changed = update(blocks_[b]) || changed;
        }
    }
    const std::vector<BasicBlock>& blocks() const { return blocks_; }

private:
    /// What the block reads before it writes it is alive before it.
    void note_registers(BasicBlock& block) const {
        for (std::size_t i = block.begin; i < block.end; ++i) {
            const Statement& statement = function_.statements[i];
            for_each_register(
                statement,
                [&](std::uint32_t index) {
                    if (!block.written.contains(index)) block.live_in.insert(index);
                },
                [](std::uint32_t) {});
            if (statement.guarded) continue; // some lanes keep the old value
            for_each_register(
                statement, [](std::uint32_t) {}, [&](std::uint32_t index) { block.written.insert(index); });
        }
    }

    bool update(BasicBlock& block) {
        bool changed = false;
        for (const std::size_t next : block.next)
            changed = block.live_out.add(blocks_[next].live_in) || changed;
        if (changed) block.live_in.add_difference(block.live_out, block.written);
        return changed;
    }

    const Function& function_;
    std::vector<BasicBlock> blocks_;
};

/// That of a load or store that `resolve_strided` sees.
std::optional<std::uint32_t> address_register(const Statement& statement) {
    const bool is_load = statement.opcode == "ld";
    if ((!is_load && statement.opcode != "st") || statement.operands.size() < 2) return std::nullopt;
    const auto is_other = [](const ptx::Modifier& one) {
        return one.text == ".b128" || one.text == ".async";
    };
    if (std::any_of(statement.modifiers.begin(), statement.modifiers.end(), is_other)) return std::nullopt;
    const Operand& address = statement.operands[is_load ? 1 : 0];
    if (address.kind != Operand::Kind::address || address.elements[0].kind != Operand::Kind::reg)
        return std::nullopt;
    return address.elements[0].index;
}

/// All statements between the first and the last one at which a register is in use.
struct Interval {
    std::size_t first = SIZE_MAX, last = 0;

    void extend(std::size_t statement) {
        first = std::min(first, statement);
        last = std::max(last, statement);
    }
};

std::vector<Interval> intervals(const Function& function) {
    std::vector<Interval> result(function.registers.size());
    if (function.statements.empty()) return result;
    const Liveness liveness(function);
    for (const BasicBlock& block : liveness.blocks()) {
        block.live_in.for_each([&](std::uint32_t index) { result[index].extend(block.begin); });
        block.live_out.for_each([&](std::uint32_t index) { result[index].extend(block.end - 1); });
        for (std::size_t i = block.begin; i < block.end; ++i) {
            const auto use = [&](std::uint32_t index) { result[index].extend(i); };
            for_each_register(function.statements[i], use, use);
        }
    }
    // What is read without being written stays what it is: zero, or what the warp's last block left there.
    liveness.blocks().front().live_in.for_each(
        [&](std::uint32_t index) { result[index].extend(function.statements.size()); });
    return result;
}

} // namespace

std::vector<std::uint32_t> shared_rows(const Function& function) {
    const std::vector<Interval> used = intervals(function);
    std::vector<std::uint32_t> order, result(used.size());
    for (std::uint32_t index = 0; index < used.size(); ++index) {
        result[index] = index;
        const ptx::Type type = function.registers[index].type;
        if (type != ptx::Type::pred && type != ptx::Type::b128) order.push_back(index);
    }
    std::sort(order.begin(), order.end(),
              [&](std::uint32_t a, std::uint32_t b) { return used[a].first < used[b].first; });

    // Those whose value may still be needed, the one that ends first on top.
    using End = std::pair<std::size_t, std::uint32_t>;
    std::priority_queue<End, std::vector<End>, std::greater<>> alive;
    std::map<bool, std::vector<std::uint32_t>> free; // by whether a cell has 8 bytes: owners of rows
    const auto is_wide = [&](std::uint32_t index) { return size_of(function.registers[index].type) == 8; };
    for (const std::uint32_t index : order) {
        // An instruction's results never share a row with its operands: it may write one before it reads all.
        for (; !alive.empty() && alive.top().first < used[index].first; alive.pop())
            free[is_wide(alive.top().second)].push_back(result[alive.top().second]);
        std::vector<std::uint32_t>& rows = free[is_wide(index)];
        if (!rows.empty()) {
            result[index] = rows.back();
            rows.pop_back();
        }
        alive.emplace(used[index].last, index);
    }
    return result;
}

void share_addresses(const Function& function, std::vector<Instruction>& instructions) {
    std::uint8_t places = 0;
    for (const BasicBlock& block : basic_blocks(function, 0)) {
        std::map<std::uint32_t, Instruction*> first; // by register: the first access since it was written
        for (std::size_t i = block.begin; i < block.end; ++i) {
            const Statement& statement = function.statements[i];
            const auto base = address_register(statement);
            if (const auto found = base ? first.find(*base) : first.end(); found != first.end()) {
                Instruction& leader = *found->second;
                if (leader.address_place == 0) leader.address_place = places++ % (address_places - 1) + 1;
                instructions[i].address_place = leader.address_place;
                instructions[i].is_address_remembered = true;
            } else if (base && !statement.guarded) { // with a guard, no lane may execute it
                first[*base] = &instructions[i];
            }
            for_each_register(
                statement, [](std::uint32_t) {}, [&](std::uint32_t index) { first.erase(index); });
        }
    }
}

} // namespace emulator
