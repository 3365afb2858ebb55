#include "emulator/machine/describe.hpp"

#include "emulator/machine/block.hpp"
#include "emulator/machine/dim3.hpp"
#include "emulator/program/names.hpp"
#include "emulator/program/source_location.hpp"
#include "emulator/text.hpp"

#include <utility>

namespace emulator {

Party party(std::string role, const Warp& warp, const Instruction& instruction, int lane) {
    const Code& code = *warp.running().frame->code;
    const std::uint64_t thread = std::uint64_t{warp.index()} * warp_size + static_cast<std::uint32_t>(lane);
    return party(std::move(role), code, code.index_of(instruction), warp.block().index(),
                 coordinates(thread, warp.block().grid().configuration.block));
}

Party party(std::string role, const Code& code, std::uint32_t pc, Dim3 block, Dim3 thread) {
    return {std::move(role), triple(block), triple(thread), source_line(code, pc), ptx_statement(code, pc)};
}

std::optional<Party> running_thread(const std::string& role, const Block& block) {
    const auto at = [&](const Warp& warp, const ConvergenceGroup& converged) -> std::optional<Party> {
        if (converged.lanes == 0 || converged.wait != Wait::nothing) return std::nullopt;
        const auto lane = static_cast<std::uint32_t>(std::countr_zero(converged.lanes));
        return party(
            role, *converged.frame->code, converged.pc, block.index(),
            coordinates(std::uint64_t{warp.index()} * warp_size + lane, block.grid().configuration.block));
    };
    for (const auto& warp : block.warps()) {
        if (warp->finished()) continue;
        if (auto somebody = at(*warp, warp->running())) return somebody;
        for (const ConvergenceGroup& converged : warp->others())
            if (auto somebody = at(*warp, converged)) return somebody;
    }
    return std::nullopt;
}

const char* role_of(AccessKind kind) {
    switch (kind) {
    case AccessKind::load: return "load";
    case AccessKind::store: return "store";
    default: return "atomic";
    }
}

std::string shared_variable(const Grid& grid, std::uint64_t offset) {
    for (const SharedVariable& variable : grid.kernel.shared_variables()) {
        const bool sized_at_launch = variable.bytes == 0;
        const std::uint32_t bytes =
            sized_at_launch ? grid.configuration.dynamic_shared_bytes : variable.bytes;
        if (offset < variable.offset || offset - variable.offset >= bytes) continue;
        return variable_name(variable.name) + ", " + byte_count(bytes) +
               (sized_at_launch ? " of dynamic shared memory" : " of shared memory");
    }
    return "shared memory";
}

} // namespace emulator
