#include "emulator/machine_code/actions.hpp"

#include "emulator/machine_code/warp.hpp"

#include <algorithm>
#include <map>

namespace emulator::machine_code {
namespace {

using Kind = Operand::Kind;

/// SHFL.DOWN P0, R7, R4, 0x10, 0x1f: the last operand holds where a lane's segment ends, and its width.
Action shuffle(const Instruction& i) {
    if (i.operands.size() != 5 || i.modifiers.size() != 1) throw unknown(i);
    return [operands = i.operands, how = i.modifiers[0]](Warp& warp, LaneMask lanes) {
        const Lanes values = warp.value(operands[2]), by = warp.value(operands[3]),
                    clamps = warp.value(operands[4]);
        Lanes result;
        LaneMask inside = 0;
        for (int lane = 0; lane < warp_size; ++lane) {
            const int b = static_cast<int>(by[lane] & 31), clamp = static_cast<int>(clamps[lane] & 31);
            const int segment = static_cast<int>(clamps[lane] >> 8 & 31);
            const int first = lane & segment, last = first | (clamp & ~segment);
            const int from = how == "UP"     ? lane - b
                             : how == "DOWN" ? lane + b
                             : how == "BFLY" ? lane ^ b
                                             : first | (b & ~segment);
            const bool is_inside = how == "UP" ? from >= last : from <= last;
            result[lane] = values[is_inside ? from : lane];
            inside |= LaneMask{is_inside} << lane;
        }
        warp.write_predicate(operands[0], lanes, inside);
        warp.write(operands[1], lanes, result);
    };
}

/// VOTE.ANY R4, P0, P1 or VOTE.ANY P0, P1: the lanes with P1 as bits, and whether any or all have it.
Action vote(const Instruction& i) {
    return [operands = i.operands, all = i.has("ALL"), equal = i.has("EQ")](Warp& warp, LaneMask lanes) {
        const LaneMask set = warp.predicate(operands.back()) & lanes;
        const bool holds = equal ? set == 0 || set == lanes : all ? set == lanes : set != 0;
        for (std::size_t k = 0; k + 1 < operands.size(); ++k) {
            Lanes ballot;
            ballot.fill(set);
            if (operands[k].kind == Kind::reg || operands[k].kind == Kind::uniform)
                warp.write(operands[k], lanes, ballot);
            else
                warp.write_predicate(operands[k], lanes, holds ? all_lanes : 0);
        }
    };
}

/// MATCH.ANY R9, R0: the lanes with the same value, for one value after the other. MATCH.ALL P0, R8, R8: all of them, if all
/// have the same.
Action match(const Instruction& i) {
    const bool all = i.has("ALL"), wide = i.has("U64");
    if (i.operands.size() != (all ? 3U : 2U)) throw unknown(i);
    return [operands = i.operands, all, wide](Warp& warp, LaneMask lanes) {
        const Operand& source = operands.back();
        WideLanes values{};
        const Lanes narrow = wide ? Lanes{} : warp.value(source);
        if (wide) values = warp.wide(source);
        if (!wide) std::copy(narrow.begin(), narrow.end(), values.begin());
        Lanes masks;
        warp.step.same = 0;
        for (int lane = 0; lane < warp_size; ++lane) {
            masks[lane] = lanes & lanes_where([&](int other) { return values[other] == values[lane]; });
            const bool is_first =
                (lanes >> lane & 1) != 0 && first_lane(masks[lane]) == static_cast<std::size_t>(lane);
            warp.step.same += is_first ? 1 : 0;
        }
        if (!all) return warp.write(operands[0], lanes, masks);
        const bool are_equal = warp.step.same <= 1;
        warp.step.same = 1; // in one turn
        if (!are_equal) masks.fill(0);
        warp.write_predicate(operands[0], lanes, are_equal ? all_lanes : 0);
        warp.write(operands[1], lanes, masks);
    };
}

/// B2R.RESULT R0, P0: what the block's threads have made of their predicates at the latest BAR.RED.
Action barrier_result(const Instruction& i) {
    if (!i.has("RESULT") || i.operands.empty()) throw unknown(i);
    return [operands = i.operands](Warp& warp, LaneMask lanes) {
        Lanes values;
        values.fill(warp.block().reduced_at_barrier());
        warp.write(operands[0], lanes, values);
        if (operands.size() > 1) warp.write_predicate(operands[1], lanes, values[0] != 0 ? all_lanes : 0);
    };
}

/// ELECT P3, URZ, PT: one of the lanes.
Action elect(const Instruction& i) {
    return [operands = i.operands](Warp& warp, LaneMask lanes) {
        warp.write_predicate(operands[0], lanes, lanes & (0 - lanes));
    };
}

std::uint32_t reduced(std::string_view operation, bool is_signed, std::uint32_t a, std::uint32_t b) {
    const bool less = is_signed ? static_cast<std::int32_t>(a) < static_cast<std::int32_t>(b) : a < b;
    if (operation == "SUM") return a + b;
    if (operation == "OR") return a | b;
    if (operation == "XOR") return a ^ b;
    if (operation == "MIN") return less ? a : b;
    if (operation == "MAX") return less ? b : a;
    return a & b; // REDUX alone
}

Action redux(const Instruction& i) {
    std::string operation = "AND";
    for (const char* name : {"SUM", "OR", "XOR", "MIN", "MAX"})
        if (i.has(name)) operation = name;
    return [operands = i.operands, operation, is_signed = i.has("S32")](Warp& warp, LaneMask lanes) {
        const Lanes values = warp.value(operands[1]);
        std::uint32_t result = values[first_lane(lanes)];
        for_each_lane(lanes & (lanes - 1),
                      [&](int lane) { result = reduced(operation, is_signed, result, values[lane]); });
        Lanes all;
        all.fill(result);
        warp.write(operands[0], lanes, all);
    };
}

struct FlowOpcode {
    std::string_view base, modifiers;
    Flow flow;
};

constexpr FlowOpcode flow_opcodes[] = {
    {"BRA", " U ", Flow::branch},
    {"BRA", " DIV ", Flow::branch_unless_converged},
    {"BRX", " ", Flow::branch_by_register},
    {"CALL", " REL NOINC ", Flow::call},
    {"RET", " REL NODEC ", Flow::call_return},
    {"EXIT", " ", Flow::exit},
    {"BSSY", " ", Flow::set_barrier},
    {"BSYNC", " ", Flow::wait_barrier},
    {"BREAK", " ", Flow::leave_barrier},
    {"WARPSYNC", " ALL COLLECTIVE ", Flow::sync_warp},
    {"BAR", " SYNC RED POPC AND OR DEFER_BLOCKING ", Flow::sync_block},
    {"BMOV", " 32 CLEAR ", Flow::move_barrier},
};

bool accepts_modifiers(std::string_view known, const Instruction& instruction) {
    return std::all_of(instruction.modifiers.begin(), instruction.modifiers.end(),
                       [&](const std::string& modifier) {
                           return known.find(" " + modifier + " ") != std::string_view::npos;
                       });
}

const Opcode* find_opcode(std::string_view base) {
    static const auto all = [] {
        std::map<std::string_view, const Opcode*> by_base;
        for (const auto& family : {integer_opcodes(), floating_point_opcodes(), half_precision_opcodes(),
                                   memory_opcodes(), warp_opcodes()})
            for (const Opcode& opcode : family) by_base.emplace(opcode.base, &opcode);
        return by_base;
    }();
    const auto found = all.find(base);
    return found == all.end() ? nullptr : found->second;
}

/// The opcode, also of UIADD3, which does in the uniform datapath what IADD3 does per lane; VOTEU is VOTE there.
const Opcode* opcode_of(const Instruction& instruction) {
    std::string_view base = instruction.base;
    if (const Opcode* own = find_opcode(base)) return own;
    if (base == "VOTEU") return find_opcode("VOTE");
    return base.starts_with("U") ? find_opcode(base.substr(1)) : nullptr;
}

} // namespace

NotUnderstood unknown(const Instruction& instruction) {
    return NotUnderstood("the model does not know the instruction " + instruction.opcode());
}

Action no_effect(const Instruction&) {
    return [](Warp&, LaneMask) {};
}

std::span<const Opcode> warp_opcodes() {
    static constexpr Opcode opcodes[] = {
        {"SHFL", " UP DOWN BFLY IDX ", shuffle},
        {"VOTE", " ANY ALL EQ ", vote},
        {"ELECT", " ", elect},
        {"MATCH", " ANY ALL U64 ", match},
        {"B2R", " RESULT ", barrier_result},
        {"REDUX", " SUM OR XOR AND MIN MAX S32 ", redux},
        {"NOP", " ", no_effect},
        {"ENDCOLLECTIVE", " ", no_effect},
        {"YIELD", " ", no_effect},
        // Of launches that overlap: the next one may begin, and this one waits for the end of the one before. Here they run
        // one after the other.
        {"PREEXIT", " ", no_effect},
        {"ACQBULK", " ", no_effect},
    };
    return opcodes;
}

void decode(Instruction& instruction) {
    for (const FlowOpcode& opcode : flow_opcodes) {
        if (opcode.base != instruction.base || !accepts_modifiers(opcode.modifiers, instruction)) continue;
        instruction.flow = opcode.flow;
        return;
    }
    const Opcode* const opcode = opcode_of(instruction);
    if (opcode && accepts_modifiers(opcode->modifiers, instruction))
        instruction.action = opcode->action(instruction);
    else
        instruction.action = [reason = unknown(instruction)](Warp&, LaneMask) { throw reason; };
}

} // namespace emulator::machine_code
