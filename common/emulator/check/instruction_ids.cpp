#include "emulator/check/instruction_ids.hpp"

#include "emulator/program/source_location.hpp"

namespace emulator {

InstructionId InstructionIds::of_line(InstructionId id) {
    const auto [known, is_new] = of_line_.try_emplace(id, id);
    if (!is_new) return known->second;
    const std::string line = source_line(code(id), pc(id));
    if (!line.empty()) known->second = first_of_line_.try_emplace(line, id).first->second;
    return known->second;
}

} // namespace emulator
