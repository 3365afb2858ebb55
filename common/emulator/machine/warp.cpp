#include "emulator/machine/warp.hpp"

#include "emulator/machine/block.hpp"

#include <algorithm>
#include <cstring>

namespace emulator {

namespace {

bool is_at_warp_barrier(const ConvergenceGroup& converged) {
    return converged.frame->code->instructions[converged.pc].sync == SyncKind::warp_barrier;
}

} // namespace

Warp::Warp(Block& block, std::uint32_t index)
    : block_(block), index_(index), groups_(block.grid().schedule), stack_(block, index) {}

void Warp::start(LaneMask lanes) {
    Frame& frame = stack_.start(lanes);
    live_ = lanes;
    groups_.start(frame, lanes);
    rows_ = frame.rows;
    ignores_warp_sync_ = false;
}

// ---- registers ----

std::array<std::byte, 16> Warp::stored_value(const Instruction& instruction, int lane) const {
    std::array<std::byte, 16> value{};
    const bool is_b128 = instruction.bytes == 16 && !instruction.is_vector;
    const std::size_t cell = is_b128 ? 16 : instruction.has_wide_cells ? 8 : 4;
    const auto copy = [&](Row row, std::size_t offset, std::size_t bytes) {
        std::memcpy(value.data() + offset, cells<std::byte>(row) + static_cast<std::size_t>(lane) * cell,
                    bytes);
    };
    if (instruction.is_vector) {
        const auto& elements = instruction.detail_as<AccessDetail>().elements;
        const std::size_t bytes = instruction.bytes / elements.size();
        for (std::size_t k = 0; k < elements.size(); ++k) copy(elements[k], k * bytes, bytes);
    } else {
        copy(instruction.sources[1], 0, instruction.bytes);
    }
    return value;
}

// ---- running ----

/// Executes the straight-line instructions from `first` up to, but not including, `last`.
[[gnu::always_inline]] inline void Warp::execute(const Instruction* first, const Instruction* last,
                                                 LaneMask lanes) {
    for (const Instruction* instruction = first; instruction != last; ++instruction) {
        LaneMask active = lanes;
        if (instruction->guard != no_row) {
            active &= predicate(instruction->guard) ^ (instruction->guard_negated ? all_lanes : 0);
            if (active == 0) continue;
        }
        instruction->execute(*this, *instruction, active);
    }
}

/// Executes the control instruction at which the running lanes are.
[[gnu::always_inline]] inline void Warp::execute_control(const Instruction& instruction, LaneMask lanes) {
    LaneMask active = lanes;
    if (instruction.guard != no_row) {
        active &= predicate(instruction.guard) ^ (instruction.guard_negated ? all_lanes : 0);
        if (active == 0) return advance();
        if (active != lanes && !instruction.is_branch) send(lanes & ~active, groups_.running().pc + 1);
    }
    instruction.execute(*this, instruction, active);
}

void Warp::report_executed(std::uint32_t first, std::uint32_t count) const {
    for (Observer* const observer : block_.subscribers(EventKind::instructions))
        observer->instructions_executed(*this, *running().frame->code, first, count, running().lanes);
}

/// Runs while no other group exists, so no reconvergence point has to be found.
std::uint64_t Warp::run_alone(std::uint64_t budget) {
    ConvergenceGroup& running = groups_.running();
    const LaneMask lanes = running.lanes;
    const bool has_subscribers = !block_.subscribers(EventKind::instructions).empty();
    std::uint64_t executed = 0, barriers = 0;
    interrupted_ = false;
    do {
        const Instruction* const instructions = running.frame->code->instructions.data();
        const std::uint32_t begin = running.pc, stop = instructions[begin].next_control;
        const Instruction& control = instructions[stop];
        execute(instructions + begin, &control, lanes);
        running.pc = stop;
        executed += stop - begin + 1;
        barriers += control.sync == SyncKind::block_barrier ? 1 : 0;
        if (has_subscribers) report_executed(begin, stop - begin + 1);
        execute_control(control, lanes);
    } while (!interrupted_ && executed < budget);
    block_.count(executed, lanes, barriers);
    return executed;
}

/// Runs straight-line instructions up to the reconvergence point, or up to and including the next control
/// instruction. With a schedule, the turn may end earlier.
std::uint64_t Warp::run_to_control(std::uint64_t budget) {
    ConvergenceGroup& running = groups_.running();
    const Instruction* const instructions = running.frame->code->instructions.data();
    const LaneMask lanes = running.lanes;
    const std::uint32_t begin = running.pc;
    std::uint32_t merge = groups_.reconvergence_point();
    if (groups_.are_random())
        merge = static_cast<std::uint32_t>(std::min<std::uint64_t>(begin + budget, merge));
    const std::uint32_t stop = std::min(instructions[begin].next_control, merge);
    const Instruction& last = instructions[stop];
    execute(instructions + begin, &last, lanes);
    running.pc = stop;
    const bool at_control = stop != merge;
    const std::uint32_t count = stop - begin + (at_control ? 1 : 0);
    block_.count(count, lanes, at_control && last.sync == SyncKind::block_barrier ? 1 : 0);
    report_executed(begin, count);
    if (at_control) execute_control(last, lanes);
    return count;
}

std::uint64_t Warp::run(std::uint64_t budget) {
    std::uint64_t executed = 0;
    yielded_ = false;
    const ConvergenceGroup& running = groups_.running();
    while (executed < budget && !yielded_) {
        if (groups_.have_diverged()) {
            groups_.reschedule();
            rows_ = running.frame->rows;
        }
        if (running.lanes == 0 || running.wait != Wait::nothing) break;
        if (groups_.are_random()) groups_.diverge_randomly();
        if (!groups_.have_diverged() && !groups_.are_random()) {
            executed += run_alone(budget - executed);
            groups_.begin_slice();
            continue;
        }
        const std::uint64_t count = run_to_control(budget - executed);
        executed += count;
        groups_.executed(count);
    }
    return executed;
}

// ---- what control instructions do ----

void Warp::split(LaneMask taken, std::uint32_t target) {
    send(taken, target);
    advance();
}

void Warp::send(LaneMask group, std::uint32_t target) {
    groups_.send(group, target);
    interrupted_ = true;
}

void Warp::exit_running() {
    ConvergenceGroup& running = groups_.running();
    const LaneMask lanes = running.lanes;
    for (Frame* frame = running.frame; frame; frame = frame->caller) frame->lanes &= ~lanes;
    live_ &= ~lanes;
    running.lanes = 0;
    interrupted_ = true;
    for (Observer* const observer : block_.observers()) observer->exited(*this, lanes);
    if (groups_.have_diverged()) release_converged();
    block_.threads_exited(*this, lanes);
}

void Warp::call(const Instruction& instruction, const Code& callee) {
    ConvergenceGroup& running = groups_.running();
    running.frame = &stack_.call(*running.frame, running.lanes, instruction, callee);
    running.pc = 0;
    rows_ = running.frame->rows;
}

void Warp::return_from_function() {
    ConvergenceGroup& running = groups_.running();
    if (!running.frame->caller) return exit_running();
    const Instruction& call = *running.frame->call;
    running.frame = &stack_.leave(*running.frame, running.lanes);
    running.pc = running.frame->code->index_of(call) + 1;
    rows_ = running.frame->rows;
}

std::uint64_t Warp::allocate_stack(const Instruction& instruction, std::uint64_t bytes,
                                   std::uint64_t alignment) {
    return stack_.allocate(*running().frame, running().lanes, instruction, bytes, alignment);
}

// ---- waiting ----

void Warp::wait_at_block_barrier(std::uint32_t barrier) {
    ConvergenceGroup& running = groups_.running();
    running.wait = Wait::block_barrier;
    running.barrier = barrier;
    interrupted_ = true;
}

void Warp::wait_for_warp_sync(LaneMask done, const std::uint32_t* members) {
    ConvergenceGroup& running = groups_.running();
    interrupted_ = true;
    if (done != 0) send(done, running.pc + 1);
    while (running.lanes != 0) {
        ConvergenceGroup waiting = running;
        waiting.wait = Wait::warp_sync;
        waiting.members = members[std::countr_zero(running.lanes)];
        waiting.lanes = 0;
        for_each_lane(running.lanes,
                      [&](int lane) { waiting.lanes |= LaneMask{members[lane] == waiting.members} << lane; });
        running.lanes &= ~waiting.lanes;
        groups_.others().push_back(waiting);
    }
    release_converged();
}

/// Resumes the groups whose members have all arrived. Members of a warp barrier may arrive at different
/// places.
void Warp::release_converged() {
    std::vector<ConvergenceGroup>& others = groups_.others();
    // NOLINTNEXTLINE(modernize-loop-convert): the loop changes what it visits
    for (std::size_t i = 0; i < others.size(); ++i) {
        const ConvergenceGroup one = others[i];
        if (one.wait != Wait::warp_sync) continue;
        const bool barrier = is_at_warp_barrier(one);
        const auto together = [&](const ConvergenceGroup& other) {
            if (other.wait != Wait::warp_sync || other.members != one.members) return false;
            return (other.frame == one.frame && other.pc == one.pc) || (barrier && is_at_warp_barrier(other));
        };
        LaneMask present = 0;
        for (const ConvergenceGroup& other : others)
            if (together(other)) present |= other.lanes;
        if ((one.members & live_ & ~present) != 0) continue;
        if (barrier) {
            const Instruction& instruction = one.frame->code->instructions[one.pc];
            for (Observer* const observer : block_.subscribers(EventKind::warp_sync))
                observer->warp_sync_complete(*this, instruction, present, true);
        }
        for (ConvergenceGroup& other : others)
            if (together(other)) resume(other);
    }
}

void Warp::ignore_warp_sync() {
    ignores_warp_sync_ = true;
    for (ConvergenceGroup& other : groups_.others())
        if (other.wait == Wait::warp_sync) resume(other);
    ConvergenceGroup& running = groups_.running();
    if (running.lanes != 0 && running.wait == Wait::warp_sync) resume(running);
}

/// A group continues after a warp barrier, but executes an exchange again.
void Warp::resume(ConvergenceGroup& waiting) {
    waiting.wait = Wait::nothing;
    if (is_at_warp_barrier(waiting)) ++waiting.pc;
}

} // namespace emulator
