/// Control flow: bra, brx.idx, alloca, call, ret, exit, bar, barrier, trap, brkpt, nanosleep, pmevent.
#include "emulator/execute/families.hpp"
#include "emulator/execute/opcodes.hpp"
#include "emulator/machine/cluster.hpp"
#include "emulator/machine/fault.hpp"
#include "emulator/machine/warp.hpp"
#include "emulator/program/decoder.hpp"
#include "emulator/program/names.hpp"
#include "emulator/text.hpp"

#include <algorithm>

namespace emulator {

namespace {

using ptx::Operand, ptx::Type;
using std::uint32_t;

// ---- branches ----

void branch(Warp& warp, const Instruction& instruction, LaneMask active) {
    const LaneMask running = warp.running().lanes;
    const auto target = static_cast<uint32_t>(instruction.target);
    if (active == running) return warp.jump(target);
    for (Observer* const observer : warp.block().observers())
        observer->diverged(warp, instruction, running, active);
    warp.split(active, target);
}

uint32_t label(const Decoding& statement, const Operand& operand) {
    if (operand.kind != Operand::Kind::label)
        statement.invalid(operand.place, "there is no such label in this function");
    return operand.index;
}

void decode_bra(Decoding& statement) {
    statement.take(".uni");
    statement.expect_operands(1, 1);
    statement.instruction.target = label(statement, statement.operand(0));
    statement.control_with(&branch);
    statement.instruction.is_branch = true;
}

struct BranchTable : Detail {
    std::vector<uint32_t> targets;
};

/// Jumps to the target whose number is in the register.
void indexed_branch(Warp& warp, const Instruction& instruction, LaneMask active) {
    const auto& targets = instruction.detail_as<BranchTable>().targets;
    const uint32_t* const number = warp.cells<uint32_t>(instruction.sources[0]);
    for_each_lane(active, [&](int lane) {
        if (number[lane] >= targets.size())
            throw Fault{Failure::launch_failure, lane, &instruction,
                        "an indexed branch to target " + std::to_string(number[lane]) + " of " +
                            std::to_string(targets.size())};
    });
    const uint32_t first = number[std::countr_zero(active)];
    LaneMask others = 0;
    for_each_lane(active, [&](int lane) { others |= LaneMask{number[lane] != first} << lane; });
    if (others == 0) return warp.jump(targets[first]);
    for (Observer* const observer : warp.block().observers())
        observer->diverged(warp, instruction, active, active & ~others);
    while (others != 0) {
        const uint32_t next = number[std::countr_zero(others)];
        LaneMask group = 0;
        for_each_lane(others, [&](int lane) { group |= LaneMask{number[lane] == next} << lane; });
        warp.send(group, targets[next]);
        others &= ~group;
    }
    warp.jump(targets[first]);
}

void decode_brx(Decoding& statement) {
    if (!statement.take(".idx"))
        statement.unsupported(statement.statement().place, "only 'brx.idx' is supported");
    statement.take(".uni");
    statement.expect_operands(2, 2);
    const Operand& list = statement.operand(1);
    const auto found = statement.function().branch_targets.find(list.name);
    if (found == statement.function().branch_targets.end())
        statement.invalid(list.place, "there is no such list of branch targets");
    statement.instruction.sources[0] = statement.source(0, Type::u32);
    auto& targets = statement.detail<BranchTable>().targets;
    for (const Operand& target : found->second) targets.push_back(label(statement, target));
    statement.control_with(&indexed_branch);
}

// ---- calls ----

void call(Warp& warp, const Instruction& instruction, LaneMask) {
    warp.call(instruction, *instruction.detail_as<CallDetail>().callee);
}

bool agree(const std::vector<uint32_t>& sizes, const std::vector<const ptx::Variable*>& declared) {
    return std::equal(sizes.begin(), sizes.end(), declared.begin(), declared.end(),
                      [](uint32_t size, const ptx::Variable* variable) { return size == variable->bytes; });
}

/// Lanes that call different functions take turns.
void call_through_register(Warp& warp, const Instruction& instruction, LaneMask active) {
    const auto* const address = warp.cells<std::uint64_t>(instruction.sources[0]);
    const int lane = std::countr_zero(active);
    LaneMask others = 0;
    for_each_lane(active, [&](int other) { others |= LaneMask{address[other] != address[lane]} << other; });
    if (others != 0) warp.send(others, warp.running().pc);

    const auto& detail = instruction.detail_as<CallDetail>();
    const auto callee = detail.callees->find(address[lane]);
    if (callee == detail.callees->end())
        throw Fault{Failure::illegal_address, lane, &instruction,
                    "a call of a function at " + hexadecimal(address[lane]) +
                        ": no function whose address the program takes is there"};
    const ptx::Function& function = *callee->second->function;
    if (!agree(detail.argument_sizes, function.parameters) || !agree(detail.result_sizes, function.results))
        throw Fault{Failure::launch_failure, lane, &instruction,
                    "a call of " + readable_name(function.name) +
                        " through a pointer of another type: arguments or result have another size"};
    warp.call(instruction, *callee->second);
}

void return_or_exit(Warp& warp, const Instruction&, LaneMask) { warp.return_from_function(); }

void exit_lanes(Warp& warp, const Instruction&, LaneMask) { warp.exit_running(); }

void take_locals(Decoding& statement, const Operand& list, std::vector<uint32_t>& offsets,
                 std::vector<uint32_t>& sizes) {
    if (list.kind != Operand::Kind::list)
        statement.invalid(list.place, "a list in parentheses is needed here");
    for (const Operand& element : list.elements) {
        offsets.push_back(statement.local_offset(element));
        sizes.push_back(static_cast<uint32_t>(element.variable->bytes));
    }
}

/// A call copies its variables to those of the function, so they must agree.
void check_sizes(const Decoding& statement, const Operand& target, const std::vector<uint32_t>& sizes,
                 const std::vector<const ptx::Variable*>& declared, const std::string& what) {
    if (sizes.size() != declared.size())
        statement.invalid(target.place, "this function has " + std::to_string(declared.size()) + ' ' + what +
                                            (declared.size() == 1 ? "" : "s") + ", not " +
                                            std::to_string(sizes.size()));
    for (std::size_t i = 0; i < sizes.size(); ++i)
        if (sizes[i] != declared[i]->bytes)
            statement.invalid(target.place, what + ' ' + std::to_string(i) + " of this function has " +
                                                std::to_string(declared[i]->bytes) + " bytes, not " +
                                                std::to_string(sizes[i]));
}

/// Allocates past the frame. Every lane gets the same address, and as much as the lane that needs the most.
void allocate_stack(Warp& warp, const Instruction& instruction, LaneMask active) {
    std::uint64_t most = 0;
    for_each_lane(active, [&](int lane) {
        most = std::max(most, warp.cells<std::uint64_t>(instruction.sources[0])[lane]);
    });
    const std::uint64_t place = warp.allocate_stack(instruction, most, instruction.immediate);
    auto* const result = warp.cells<std::uint64_t>(instruction.destination);
    for_each_lane(active, [&](int lane) { result[lane] = place; });
}

/// alloca.u64 d, bytes, alignment
void decode_alloca(Decoding& statement) {
    const Type type = statement.take_type();
    if (type != Type::u64) statement.no_such_type(type);
    statement.expect_operands(2, 3);
    statement.instruction.destination = statement.destination(0, type);
    statement.instruction.sources[0] = statement.source(1, type);
    statement.instruction.immediate =
        statement.operand_count() == 3 ? statement.constant(statement.operand(2)) : 8;
    if (statement.instruction.immediate == 0 || statement.instruction.immediate > 16)
        statement.unsupported(statement.operand(2).place, "only alignments up to 16 are supported");
    statement.allocate_stack();
    statement.execute_with(&allocate_stack);
}

/// What nvcc generates for `<<< >>>` in a kernel, in all versions of CUDA.
bool is_of_device_runtime(std::string_view name) {
    return name.find("cudaCDP") != std::string_view::npos || name.starts_with("cudaLaunchDevice") ||
           name.starts_with("cudaGetParameterBuffer");
}

/// call [(result),] function [, (arguments)]
void decode_call(Decoding& statement) {
    statement.take(".uni");
    statement.expect_operands(1, 4); // the fourth is the prototype of a call through a register
    std::size_t next = 0;
    auto& detail = statement.detail<CallDetail>();
    if (statement.operand(0).kind == Operand::Kind::list)
        take_locals(statement, statement.operand(next++), detail.result_offsets, detail.result_sizes);
    if (next == statement.operand_count())
        statement.invalid(statement.statement().place, "the function's name is missing");
    const Operand& target = statement.operand(next++);
    const bool by_name = target.kind != Operand::Kind::reg; // otherwise the rest may be just a prototype
    if (next < statement.operand_count() && (by_name || statement.operand(next).kind == Operand::Kind::list))
        take_locals(statement, statement.operand(next++), detail.argument_offsets, detail.argument_sizes);
    if (!by_name) {
        if (next == statement.operand_count())
            statement.invalid(target.place,
                              "a call through a register needs a prototype or a list of targets");
        detail.callees = statement.linkage().callees;
        for (const auto& [address, callee] : *detail.callees) statement.calls(*callee);
        statement.instruction.sources[0] = statement.source(target, Type::u64);
        return statement.control_with(&call_through_register);
    }
    if (target.kind != Operand::Kind::symbol)
        statement.invalid(target.place, "a function's name or a register with its address is needed here");
    if (next < statement.operand_count())
        statement.invalid(statement.operand(next).place, "a call of a function by name has no prototype");

    const ptx::Function* const named = statement.linkage().module->function(target.name);
    const auto found = statement.linkage().functions.find(named ? named->name : target.name);
    if (found != statement.linkage().functions.end()) {
        const ptx::Function& function = *named;
        if (function.is_kernel) statement.invalid(target.place, "a kernel cannot be called");
        check_sizes(statement, target, detail.argument_sizes, function.parameters, "argument");
        check_sizes(statement, target, detail.result_sizes, function.results, "result");
        detail.callee = found->second;
        statement.calls(*detail.callee);
        statement.control_with(&call);
    } else if (const Handler handler = builtin(target.name)) {
        const std::size_t needed = builtin_arguments(target.name);
        if (detail.argument_offsets.size() != needed)
            statement.invalid(target.place, "this function takes " + std::to_string(needed) + " arguments");
        statement.control_with(handler);
    } else if (is_of_device_runtime(target.name)) {
        constexpr std::string_view prefix = "__cudaCDP2"; // the rest is the name in the source
        const bool is_renamed = target.name.starts_with(prefix);
        statement.no_dynamic_parallelism(
            target.place,
            "a kernel calls " + (is_renamed ? "cuda" + std::string(target.name.substr(prefix.size()))
                                            : std::string(target.name)));
    } else {
        statement.expect_supported(target);
        statement.unsupported(target.place,
                              "the function '" + std::string(target.name) +
                                  "' is not in this module, and the emulator does not provide it");
    }
}

void decode_ret(Decoding& statement) {
    statement.take(".uni");
    statement.expect_operands(0, 0);
    statement.control_with(&return_or_exit);
}

void decode_exit(Decoding& statement) {
    statement.expect_operands(0, 0);
    statement.control_with(&exit_lanes);
}

// ---- block barriers ----

/// Sources: number of the barrier, number of threads (or no row), predicate (or no row).
struct Arrival {
    uint32_t barrier = 0, expected = 0;
    LaneMask disagreeing = 0; ///< with the first lane
};

/// \throws Fault, unless an observer absorbs it. Not inline, to keep the hot path short.
[[gnu::noinline]] void reject(const Warp& warp, const Instruction& instruction, LaneMask active,
                              const Arrival& arrival) {
    Fault fault{Failure::launch_failure, std::countr_zero(active), &instruction, {}};
    if (arrival.disagreeing != 0) {
        fault.lane = std::countr_zero(arrival.disagreeing);
        fault.message = "threads of one warp execute one barrier instruction with different barrier numbers";
    } else if (arrival.barrier >= Block::barrier_count) {
        fault.message = "barrier " + std::to_string(arrival.barrier) + ": a block has barriers 0 to 15";
    } else if (arrival.expected == 0) {
        fault.message = "an arrival at a barrier for 0 threads: it must give the barrier's thread count";
    } else {
        fault.message = "a barrier for " + std::to_string(arrival.expected) +
                        " threads: the number must be a multiple of the warp size, 32";
    }
    if (!is_absorbed(warp, fault, active)) throw fault;
}

/// `number_known`: the barrier's number is valid and the same for all lanes.
template <bool waits, bool number_known>
void come_to_barrier(Warp& warp, const Instruction& instruction, LaneMask active) {
    const int first = std::countr_zero(active);
    Arrival here;
    const auto take = [&](Row row) {
        const uint32_t* const values = warp.cells<uint32_t>(row);
        here.disagreeing |= active & lanes_where([&](int lane) { return values[lane] != values[first]; });
        return values[first];
    };
    if constexpr (number_known)
        here.barrier = *warp.cells<uint32_t>(instruction.sources[0]);
    else
        here.barrier = take(instruction.sources[0]);
    if (instruction.sources[1] != no_row) here.expected = take(instruction.sources[1]);
    if (here.disagreeing != 0 || here.barrier >= Block::barrier_count || here.expected % warp_size != 0 ||
        (!waits && here.expected == 0)) {
        reject(warp, instruction, active, here);
        return warp.advance();
    }
    uint32_t truths = 0;
    if (instruction.sources[2] != no_row) {
        const LaneMask truth = instruction.as_read(2, warp.predicate(instruction.sources[2]));
        truths = static_cast<uint32_t>(std::popcount(truth & active));
    }
    for (Observer* const observer : warp.block().subscribers(EventKind::barrier))
        observer->barrier_arrive(warp, instruction, {here.barrier, here.expected, waits, active});
    if constexpr (waits)
        warp.wait_at_block_barrier(here.barrier);
    else
        warp.advance();
    warp.block().arrive(here.barrier, warp, active, here.expected, truths);
}

template <bool waits> Handler barrier_handler(const Operand& number) {
    const bool known = number.kind == Operand::Kind::integer && number.bits < Block::barrier_count;
    return known ? &come_to_barrier<waits, true> : &come_to_barrier<waits, false>;
}

// ---- the barrier of the cluster ----

void notify_cluster_arrival(const Warp& warp, const Instruction& instruction, const ClusterArrival& arrival) {
    for (Observer* const observer : warp.block().observers())
        observer->cluster_barrier_arrive(warp, instruction, arrival);
}

/// Those of `active` that are not `wrong`. \throws Fault for the others, unless an observer absorbs it.
LaneMask leave_out(Warp& warp, const Instruction& instruction, LaneMask active, LaneMask wrong,
                   const char* message) {
    if (wrong == 0) return active;
    const Fault fault{Failure::launch_failure, std::countr_zero(wrong), &instruction, message};
    if (!is_absorbed(warp, fault, wrong)) throw fault;
    return active & ~wrong;
}

/// The immediate: whether it orders memory accesses.
void cluster_arrive(Warp& warp, const Instruction& instruction, LaneMask active) {
    Cluster& cluster = warp.block().cluster();
    const LaneMask lanes =
        leave_out(warp, instruction, active, active & cluster.not_waited(warp),
                  "the thread has already arrived at the cluster barrier, and has not waited there since");
    warp.advance();
    if (lanes == 0) return;
    notify_cluster_arrival(warp, instruction, {false, instruction.immediate != 0, lanes});
    cluster.arrive(warp, lanes);
}

void cluster_wait(Warp& warp, const Instruction& instruction, LaneMask active) {
    Cluster& cluster = warp.block().cluster();
    const LaneMask lanes = leave_out(warp, instruction, active, active & ~cluster.not_waited(warp),
                                     "the thread waits at the cluster barrier without having arrived there");
    if (lanes != 0) notify_cluster_arrival(warp, instruction, {true, true, lanes});
    const LaneMask waiting = lanes & cluster.arrived(warp), passing = active & ~waiting;
    cluster.waited(warp, passing);
    if (waiting == 0) return warp.advance();
    if (passing != 0) warp.send(passing, warp.running().pc + 1);
    warp.wait_at_cluster_barrier();
}

/// barrier.cluster.arrive[.release|.relaxed][.aligned]; barrier.cluster.wait[.acquire][.aligned]
void decode_cluster_barrier(Decoding& statement) {
    const std::string_view action = statement.take_any({".arrive", ".wait"});
    if (action.empty())
        statement.invalid(statement.statement().place, "a cluster's barrier needs .arrive or .wait");
    const bool arrives = action == ".arrive";
    const std::string_view order =
        arrives ? statement.take_any({".release", ".relaxed"}) : statement.take_any({".acquire"});
    statement.take(".aligned");
    statement.expect_operands(0, 0);
    statement.instruction.immediate = order != ".relaxed";
    statement.instruction.sync = SyncKind::cluster_barrier;
    statement.control_with(arrives ? &cluster_arrive : &cluster_wait);
}

/// bar[.cta].sync a [, b]; .arrive a, b; .red.{popc.u32 | and.pred | or.pred} d, a [, b], [!]p; bar.warp.sync
/// mask
void decode_bar(Decoding& statement) {
    if (statement.take(".warp")) {
        statement.take(".sync");
        return decode_warp_barrier(statement);
    }
    if (statement.statement().opcode == "barrier" && statement.take(".cluster"))
        return decode_cluster_barrier(statement);
    statement.take(".cta");
    statement.instruction.sync = SyncKind::block_barrier;
    const std::string_view action = statement.take_any({".sync", ".arrive", ".red"});
    statement.take(".aligned");
    if (action == ".red") {
        const std::string_view operation = statement.take_any({".popc", ".and", ".or"});
        const Type type = statement.take_type();
        const bool count = operation == ".popc";
        if (operation.empty() || type != (count ? Type::u32 : Type::pred)) statement.no_such_type(type);
        statement.expect_operands(3, 4);
        const std::size_t last = statement.operand_count() - 1;
        statement.instruction.destination = statement.destination(0, type);
        statement.instruction.sources[0] = statement.source(1, Type::u32);
        if (last == 3) statement.instruction.sources[1] = statement.source(2, Type::u32);
        statement.take_predicate(2, statement.operand(last));
        statement.detail<BarrierDetail>().reduction = count                 ? barrier_popc
                                                      : operation == ".and" ? barrier_and
                                                                            : barrier_or;
        return statement.control_with(barrier_handler<true>(statement.operand(1)));
    }
    if (action.empty())
        statement.invalid(statement.statement().place, "a barrier needs .sync, .arrive or .red");
    statement.expect_operands(action == ".arrive" ? 2 : 1, 2);
    statement.instruction.sources[0] = statement.source(0, Type::u32);
    if (statement.operand_count() == 2) statement.instruction.sources[1] = statement.source(1, Type::u32);
    const Operand& number = statement.operand(0);
    statement.control_with(action == ".sync" ? barrier_handler<true>(number)
                                             : barrier_handler<false>(number));
}

// ---- the rest ----

void trap(Warp&, const Instruction& instruction, LaneMask active) {
    throw Fault{Failure::trapped, std::countr_zero(active), &instruction,
                "the kernel executed a trap instruction: from __trap(), or from the compiler in place of an "
                "error such as a read through a null pointer"};
}

void decode_trap(Decoding& statement) {
    statement.expect_operands(0, 0);
    statement.control_with(&trap);
}

void give_way(Warp& warp, const Instruction&, LaneMask) {
    warp.advance();
    warp.yield();
}

void decode_nanosleep(Decoding& statement) {
    const Type type = statement.take_type();
    if (type != Type::u32) statement.no_such_type(type);
    statement.expect_operands(1, 1);
    statement.instruction.sources[0] = statement.source(0, Type::u32);
    statement.control_with(&give_way);
}

void break_point(Warp&, const Instruction& instruction, LaneMask active) {
    throw Fault{Failure::launch_failure, std::countr_zero(active), &instruction,
                "the kernel executed a breakpoint, and there is no debugger"};
}

void decode_brkpt(Decoding& statement) {
    statement.expect_operands(0, 0);
    statement.control_with(&break_point);
}

void decode_pmevent(Decoding& statement) {
    statement.take(".mask");
    statement.expect_operands(1, 1);
    statement.execute_with(&no_effect);
}

} // namespace

std::span<const Opcode> control_opcodes() {
    static constexpr Opcode opcodes[] = {
        {"bra", decode_bra},
        {"brx", decode_brx},
        {"alloca", decode_alloca},
        {"call", decode_call},
        {"ret", decode_ret},
        {"exit", decode_exit},
        {"bar", decode_bar},
        {"barrier", decode_bar},
        {"trap", decode_trap},
        {"brkpt", decode_brkpt},
        {"nanosleep", decode_nanosleep},
        {"pmevent", decode_pmevent},
    };
    return opcodes;
}

} // namespace emulator
