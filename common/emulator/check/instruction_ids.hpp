/// Numbers for instructions.
#pragma once

#include "emulator/program/code.hpp"
#include "emulator/program/source_location.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

namespace emulator {

/// An instruction, as InstructionIds numbers it.
using InstructionId = std::uint32_t;

/// Numbers the instructions that an observer sees. The numbers are shorter than pointers, and every run
/// assigns them in the same order.
class InstructionIds {
public:
    InstructionId operator()(const Code& code, std::uint32_t pc) {
        std::size_t k = 0;
        while (k < codes_.size() && codes_[k] != &code) ++k;
        if (k == codes_.size()) codes_.push_back(&code);
        return static_cast<InstructionId>(k << pc_bits | pc);
    }
    InstructionId operator()(const Code& code, const Instruction& instruction) {
        return (*this)(code, code.index_of(instruction));
    }
    /// For code that already has numbers.
    InstructionId operator()(const Instruction& instruction) const {
        std::size_t k = 0;
        while (!codes_[k]->contains(instruction)) ++k;
        return static_cast<InstructionId>(k << pc_bits | codes_[k]->index_of(instruction));
    }

    const Code& code(InstructionId id) const { return *codes_[id >> pc_bits]; }
    static std::uint32_t pc(InstructionId id) { return id & ((InstructionId{1} << pc_bits) - 1); }
    const Instruction& instruction(InstructionId id) const { return code(id).instructions[pc(id)]; }

    /// One id per source line, since a loop may have been unrolled. An instruction without a line has its
    /// own.
    InstructionId of_line(InstructionId id) {
        const auto [known, is_new] = of_line_.try_emplace(id, id);
        if (!is_new) return known->second;
        const std::string line = source_line(code(id), pc(id));
        if (!line.empty()) known->second = first_of_line_.try_emplace(line, id).first->second;
        return known->second;
    }

private:
    static constexpr int pc_bits = 24;

    std::vector<const Code*> codes_; // the kernel and the functions that it has called: few
    std::unordered_map<InstructionId, InstructionId> of_line_;
    std::map<std::string, InstructionId> first_of_line_;
};

} // namespace emulator
