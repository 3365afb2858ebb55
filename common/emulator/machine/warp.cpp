#include "emulator/machine/warp.hpp"

#include "emulator/machine/block.hpp"
#include "emulator/machine/fault.hpp"
#include "emulator/machine/schedule.hpp"

#include <algorithm>
#include <cstring>
#include <new>

namespace emulator {

namespace {

constexpr std::size_t row_alignment = 64; // a cache line, and the widest vector register
// Before spinning lanes take turns with those that they may wait for.
constexpr std::uint64_t instructions_before_turns = 10'000;

std::byte* aligned(std::byte* storage) {
    const auto address = reinterpret_cast<std::uintptr_t>(storage);
    return storage + (row_alignment - address % row_alignment) % row_alignment;
}

void allocate_rows(Frame& frame, const Code& code) {
    frame.code = &code;
    frame.storage = std::make_unique<std::byte[]>(code.frame_bytes + row_alignment); // zeros
    frame.rows = aligned(frame.storage.get());
}

template <class T> void fill(std::byte* row, T value) {
    std::fill_n(reinterpret_cast<T*>(row), warp_size, value);
}

/// Deeper call frames first, so that all lanes return before the caller goes on. Then the lowest program
/// counter.
bool runs_before(const ConvergenceGroup& a, const ConvergenceGroup& b) {
    if (a.frame->depth != b.frame->depth) return a.frame->depth > b.frame->depth;
    return a.pc < b.pc;
}

bool is_at_warp_barrier(const ConvergenceGroup& converged) {
    return converged.frame->code->instructions[converged.pc].sync == SyncKind::warp_barrier;
}

} // namespace

Warp::Warp(Block& block, std::uint32_t index)
    : block_(block), schedule_(block.grid().schedule), index_(index), local_bytes_(block.grid().stack_bytes),
      local_(new std::byte[std::size_t{warp_size} * block.grid().stack_bytes]) {
    allocate_rows(kernel_frame_, block.grid().kernel.code());
    fill_constants(kernel_frame_);
    fill_specials(kernel_frame_);
}

void Warp::start(LaneMask lanes) {
    fill_block_specials(kernel_frame_);
    live_ = lanes;
    kernel_frame_.lanes = lanes;
    kernel_frame_.room = 0;
    for (const auto& frame : call_frames_) frame->lanes = 0;
    others_.clear();
    running_ = {&kernel_frame_, 0, lanes, Wait::nothing, 0, 0, 0};
    rows_ = kernel_frame_.rows;
    slice_ = 0;
    in_turns_ = false;
    ignores_warp_sync_ = false;
}

void Warp::fill_constants(Frame& frame) const {
    for (const Code::Constant& constant : frame.code->constants) {
        std::uint64_t value = constant.value;
        if (constant.base == Code::Base::local) value += frame.local_base;
        if (constant.base == Code::Base::shared) value += block_.shared_base();
        if (constant.wide)
            fill(frame.rows + constant.row, value);
        else
            fill(frame.rows + constant.row, static_cast<std::uint32_t>(value));
    }
}

void Warp::fill_specials(Frame& frame) const {
    for (const Code::SpecialRow& special : frame.code->specials) {
        auto* const cells = reinterpret_cast<std::uint32_t*>(frame.rows + special.row);
        for (int lane = 0; lane < warp_size; ++lane)
            cells[lane] = block_.special(special.special, index_, lane);
    }
}

void Warp::fill_block_specials(Frame& frame) const {
    for (const Code::SpecialRow& special : frame.code->block_specials)
        fill(frame.rows + special.row, block_.special(special.special, index_, 0));
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

/// The first instruction after the running one at which other lanes of the same call frame are ready.
std::uint32_t Warp::reconvergence_point() const {
    std::uint32_t result = UINT32_MAX;
    for (const ConvergenceGroup& other : others_)
        if (other.wait == Wait::nothing && other.frame == running_.frame && other.pc > running_.pc)
            result = std::min(result, other.pc);
    return result;
}

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
        if (active != lanes && !instruction.is_branch) send(lanes & ~active, running_.pc + 1);
    }
    instruction.execute(*this, instruction, active);
}

void Warp::report_executed(std::uint32_t first, std::uint32_t count) const {
    for (Observer* const observer : block_.subscribers(EventKind::instructions))
        observer->instructions_executed(*this, *running_.frame->code, first, count, running_.lanes);
}

/// Runs while no other group exists, so no reconvergence point has to be found.
std::uint64_t Warp::run_alone(std::uint64_t budget) {
    const LaneMask lanes = running_.lanes;
    const bool has_subscribers = !block_.subscribers(EventKind::instructions).empty();
    std::uint64_t executed = 0, barriers = 0;
    interrupted_ = false;
    do {
        const Instruction* const instructions = running_.frame->code->instructions.data();
        const std::uint32_t begin = running_.pc, stop = instructions[begin].next_control;
        const Instruction& control = instructions[stop];
        execute(instructions + begin, &control, lanes);
        running_.pc = stop;
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
    const Instruction* const instructions = running_.frame->code->instructions.data();
    const LaneMask lanes = running_.lanes;
    const std::uint32_t begin = running_.pc;
    std::uint32_t merge = reconvergence_point();
    if (schedule_) merge = static_cast<std::uint32_t>(std::min<std::uint64_t>(begin + budget, merge));
    const std::uint32_t stop = std::min(instructions[begin].next_control, merge);
    const Instruction& last = instructions[stop];
    execute(instructions + begin, &last, lanes);
    running_.pc = stop;
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
    while (executed < budget && !yielded_) {
        if (!others_.empty()) reschedule();
        if (running_.lanes == 0 || running_.wait != Wait::nothing) break;
        if (schedule_) diverge_randomly();
        if (others_.empty() && !schedule_) {
            executed += run_alone(budget - executed);
            slice_ = 0;
            continue;
        }
        const std::uint64_t count = run_to_control(budget - executed);
        executed += count;
        slice_ = others_.empty() ? 0 : slice_ + count;
        if (slice_ < instructions_before_turns) continue;
        in_turns_ = !in_turns_;
        slice_ = 0;
    }
    return executed;
}

/// Sometimes makes some of the running lanes stay behind.
void Warp::diverge_randomly() {
    if (!schedule_->once_in(8)) return;
    const LaneMask behind = running_.lanes & static_cast<LaneMask>(schedule_->below(std::uint64_t{1} << 32));
    if (behind != running_.lanes && behind != 0) send(behind, running_.pc);
}

/// Chooses the group that runs next.
void Warp::reschedule() {
    if (running_.lanes != 0) others_.push_back(running_);
    running_.lanes = 0;
    if (!schedule_ || schedule_->once_in(4)) reconverge();

    ConvergenceGroup& chosen = schedule_ ? choose_at_random() : choose();
    running_ = chosen;
    running_.chosen = ++choices_;
    chosen = others_.back();
    others_.pop_back();
    rows_ = running_.frame->rows;
}

void Warp::reconverge() {
    for (std::size_t i = 0; i < others_.size(); ++i) {
        for (std::size_t j = others_.size() - 1; j > i; --j) {
            const ConvergenceGroup& a = others_[i];
            const ConvergenceGroup& b = others_[j];
            if (a.wait != Wait::nothing || b.wait != Wait::nothing || a.frame != b.frame || a.pc != b.pc)
                continue;
            others_[i].lanes |= b.lanes;
            others_.erase(others_.begin() + static_cast<std::ptrdiff_t>(j));
        }
    }
}

/// A ready one if there is any.
ConvergenceGroup& Warp::choose() {
    ConvergenceGroup* best = nullptr;
    for (ConvergenceGroup& candidate : others_) {
        if (candidate.wait != Wait::nothing) continue;
        if (!best || (in_turns_ ? candidate.chosen < best->chosen : runs_before(candidate, *best)))
            best = &candidate;
    }
    return best ? *best : others_.back();
}

ConvergenceGroup& Warp::choose_at_random() {
    ConvergenceGroup* chosen = &others_.back();
    std::uint64_t ready = 0;
    for (ConvergenceGroup& candidate : others_)
        if (candidate.wait == Wait::nothing && schedule_->once_in(++ready)) chosen = &candidate;
    return *chosen;
}

// ---- what control instructions do ----

void Warp::split(LaneMask taken, std::uint32_t target) {
    send(taken, target);
    advance();
}

void Warp::send(LaneMask group, std::uint32_t target) {
    ConvergenceGroup sent = running_;
    sent.lanes = group;
    sent.pc = target;
    running_.lanes &= ~group;
    others_.push_back(sent);
    interrupted_ = true;
}

void Warp::exit_running() {
    const LaneMask lanes = running_.lanes;
    for (Frame* frame = running_.frame; frame; frame = frame->caller) frame->lanes &= ~lanes;
    live_ &= ~lanes;
    running_.lanes = 0;
    interrupted_ = true;
    for (Observer* const observer : block_.observers()) observer->exited(*this, lanes);
    if (!others_.empty()) release_converged();
    block_.threads_exited(*this, lanes);
}

Frame* Warp::shared_frame(const Instruction& call, const Code& callee, std::uint32_t local_base) const {
    for (const auto& frame : call_frames_)
        if (frame->lanes != 0 && frame->caller == running_.frame && frame->call == &call &&
            frame->code == &callee && frame->local_base == local_base && frame->room == 0)
            return frame.get();
    return nullptr;
}

Frame& Warp::new_frame() {
    for (const auto& frame : call_frames_)
        if (frame->lanes == 0) return *frame;
    return *call_frames_.emplace_back(std::make_unique<Frame>());
}

void Warp::call(const Instruction& instruction, const Code& callee) {
    Frame& caller = *running_.frame;
    const auto& detail = instruction.detail_as<CallDetail>();
    const std::uint32_t local_base = caller.local_base + caller.code->local_bytes + caller.room;
    if (local_base + callee.local_bytes > local_bytes_) overflow(instruction);

    Frame* const joined = shared_frame(instruction, callee, local_base);
    Frame& frame = joined ? *joined : new_frame();
    frame.lanes |= running_.lanes;
    if (!joined) {
        allocate_rows(frame, callee);
        frame.caller = &caller;
        frame.call = &instruction;
        frame.depth = caller.depth + 1;
        frame.local_base = local_base;
        frame.room = 0;
        fill_constants(frame);
        fill_specials(frame);
        fill_block_specials(frame);
    }
    const std::size_t arguments = std::min(detail.argument_offsets.size(), callee.argument_offsets.size());
    for_each_lane(running_.lanes, [&](int lane) {
        for (std::size_t i = 0; i < arguments; ++i)
            std::memcpy(local(lane) + local_base + callee.argument_offsets[i],
                        local(lane) + caller.local_base + detail.argument_offsets[i],
                        detail.argument_sizes[i]);
    });
    running_.frame = &frame;
    running_.pc = 0;
    rows_ = frame.rows;
}

void Warp::overflow(const Instruction& instruction) const {
    throw Fault{Failure::launch_failure, std::countr_zero(running_.lanes), &instruction,
                "stack overflow: calls need more than the " + std::to_string(local_bytes_) +
                    " bytes of local memory per thread; if the recursion ends, "
                    "cudaDeviceSetLimit(cudaLimitStackSize, bytes) makes room for it"};
}

std::uint64_t Warp::allocate_stack(const Instruction& instruction, std::uint64_t bytes,
                                   std::uint64_t alignment) {
    Frame& frame = *running_.frame;
    const std::uint64_t base = frame.local_base + frame.code->local_bytes;
    const std::uint64_t place = (base + frame.room + alignment - 1) / alignment * alignment;
    if (bytes > local_bytes_ || place + bytes > local_bytes_) overflow(instruction);
    frame.room = static_cast<std::uint32_t>((place + bytes + 15) / 16 * 16 - base);
    return place;
}

void Warp::return_from_function() {
    Frame& frame = *running_.frame;
    if (!frame.caller) return exit_running();
    Frame& caller = *frame.caller;
    const auto& detail = frame.call->detail_as<CallDetail>();
    const std::size_t results = std::min(detail.result_offsets.size(), frame.code->result_offsets.size());
    for_each_lane(running_.lanes, [&](int lane) {
        for (std::size_t i = 0; i < results; ++i)
            std::memcpy(local(lane) + caller.local_base + detail.result_offsets[i],
                        local(lane) + frame.local_base + frame.code->result_offsets[i],
                        detail.result_sizes[i]);
    });
    frame.lanes &= ~running_.lanes;
    running_.frame = &caller;
    running_.pc = caller.code->index_of(*frame.call) + 1;
    rows_ = caller.rows;
}

// ---- waiting ----

void Warp::wait_at_block_barrier(std::uint32_t barrier) {
    running_.wait = Wait::block_barrier;
    running_.barrier = barrier;
    interrupted_ = true;
}

void Warp::release_block_barrier(std::uint32_t barrier, std::uint32_t truths, std::uint32_t threads) {
    const auto release = [&](ConvergenceGroup& converged) {
        if (converged.wait != Wait::block_barrier || converged.barrier != barrier) return;
        const Instruction& instruction = converged.frame->code->instructions[converged.pc];
        if (instruction.destination != no_row) {
            const BarrierReduction reduction = instruction.detail_as<BarrierDetail>().reduction;
            std::byte* const row = converged.frame->rows + instruction.destination;
            if (reduction == barrier_popc) {
                for_each_lane(converged.lanes,
                              [&](int lane) { reinterpret_cast<std::uint32_t*>(row)[lane] = truths; });
            } else {
                const bool result = reduction == barrier_and ? truths == threads : truths != 0;
                auto& predicate = *reinterpret_cast<LaneMask*>(row);
                predicate = (predicate & ~converged.lanes) | (result ? converged.lanes : 0);
            }
        }
        converged.wait = Wait::nothing;
        ++converged.pc;
    };
    release(running_);
    for (ConvergenceGroup& converged : others_) release(converged);
}

LaneMask Warp::release_cluster_barrier() {
    LaneMask released = 0;
    const auto release = [&](ConvergenceGroup& converged) {
        if (converged.wait != Wait::cluster_barrier) return;
        released |= converged.lanes;
        converged.wait = Wait::nothing;
        ++converged.pc;
    };
    release(running_);
    for (ConvergenceGroup& converged : others_) release(converged);
    return released;
}

void Warp::wait_for_warp_sync(LaneMask done, const std::uint32_t* members) {
    interrupted_ = true;
    if (done != 0) send(done, running_.pc + 1);
    while (running_.lanes != 0) {
        ConvergenceGroup waiting = running_;
        waiting.wait = Wait::warp_sync;
        waiting.members = members[std::countr_zero(running_.lanes)];
        waiting.lanes = 0;
        for_each_lane(running_.lanes,
                      [&](int lane) { waiting.lanes |= LaneMask{members[lane] == waiting.members} << lane; });
        running_.lanes &= ~waiting.lanes;
        others_.push_back(waiting);
    }
    release_converged();
}

/// Resumes the groups whose members have all arrived. Members of a warp barrier may arrive at different
/// places.
void Warp::release_converged() {
    // NOLINTNEXTLINE(modernize-loop-convert): the loop changes what it visits
    for (std::size_t i = 0; i < others_.size(); ++i) {
        const ConvergenceGroup one = others_[i];
        if (one.wait != Wait::warp_sync) continue;
        const bool barrier = is_at_warp_barrier(one);
        const auto together = [&](const ConvergenceGroup& other) {
            if (other.wait != Wait::warp_sync || other.members != one.members) return false;
            return (other.frame == one.frame && other.pc == one.pc) || (barrier && is_at_warp_barrier(other));
        };
        LaneMask present = 0;
        for (const ConvergenceGroup& other : others_)
            if (together(other)) present |= other.lanes;
        if ((one.members & live_ & ~present) != 0) continue;
        if (barrier) {
            const Instruction& instruction = one.frame->code->instructions[one.pc];
            for (Observer* const observer : block_.subscribers(EventKind::warp_sync))
                observer->warp_sync_complete(*this, instruction, present, true);
        }
        for (ConvergenceGroup& other : others_)
            if (together(other)) resume(other);
    }
}

void Warp::ignore_warp_sync() {
    ignores_warp_sync_ = true;
    for (ConvergenceGroup& other : others_)
        if (other.wait == Wait::warp_sync) resume(other);
    if (running_.lanes != 0 && running_.wait == Wait::warp_sync) resume(running_);
}

/// A group continues after a warp barrier, but executes an exchange again.
void Warp::resume(ConvergenceGroup& waiting) {
    waiting.wait = Wait::nothing;
    if (is_at_warp_barrier(waiting)) ++waiting.pc;
}

} // namespace emulator
