#include "emulator/machine/mbarrier.hpp"

#include "emulator/machine/fault.hpp"
#include "emulator/machine/observer.hpp"
#include "emulator/memory/global_memory.hpp"
#include "emulator/text.hpp"

#include <cstring>
#include <string>

namespace emulator {

namespace {

constexpr std::uint64_t count_mask = Mbarrier::max_arrivals;
constexpr int expected_shift = 20, bytes_shift = 40, bytes_bits = 21, phase_shift = 61;
constexpr std::uint64_t bytes_mask = (std::uint64_t{1} << bytes_bits) - 1;
constexpr std::uint64_t valid = std::uint64_t{1} << 62, valid_mask = std::uint64_t{3} << 62;
constexpr std::int64_t max_bytes = (1 << 20) - 1;

[[noreturn]] void fail(const Instruction& instruction, int lane, const std::string& message) {
    throw Fault{Failure::launch_failure, lane, &instruction, message};
}

} // namespace

struct Mbarrier::State {
    std::uint32_t pending = 0;  ///< arrivals that this phase still needs
    std::uint32_t expected = 0; ///< arrivals that the next phase will need
    std::int64_t bytes = 0;     ///< bytes that copies still have to bring; below 0 if they were early
    bool phase = false;         ///< changes with each

    std::uint64_t word() const {
        return valid | std::uint64_t{phase} << phase_shift |
               (static_cast<std::uint64_t>(bytes) & bytes_mask) << bytes_shift |
               std::uint64_t{expected} << expected_shift | pending;
    }
    static State of(std::uint64_t word) {
        State state;
        state.pending = static_cast<std::uint32_t>(word & count_mask);
        state.expected = static_cast<std::uint32_t>(word >> expected_shift & count_mask);
        state.bytes =
            static_cast<std::int64_t>(word >> bytes_shift << (64 - bytes_bits)) >> (64 - bytes_bits);
        state.phase = (word >> phase_shift & 1) != 0;
        return state;
    }
    void end_phase_if_complete() {
        if (pending != 0 || bytes != 0) return;
        phase = !phase;
        pending = expected;
    }
};

std::optional<Mbarrier::State> Mbarrier::state() const {
    std::uint64_t word = 0;
    std::memcpy(&word, owner_.shared().data() + offset_, sizeof word);
    return (word & valid_mask) == valid ? std::optional(State::of(word)) : std::nullopt;
}

Mbarrier::State Mbarrier::load(const Instruction& instruction, int lane) const {
    const std::optional<State> found = state();
    if (!found)
        fail(instruction, lane,
             "there is no mbarrier at " + hexadecimal(offset_) +
                 " of shared memory: it has not been initialized, or it has been overwritten or invalidated" +
                 owner_.mbarrier_waits().last_note(offset_));
    return *found;
}

void Mbarrier::store(State state) {
    const std::uint64_t word = state.word();
    std::memcpy(owner_.shared().data() + offset_, &word, sizeof word);
}

void Mbarrier::tell(const Warp& warp, const Instruction& instruction, int lane, MbarrierUse use) const {
    for (Observer* const observer : warp.block().observers())
        observer->used_mbarrier(warp, instruction, lane, use, owner_, offset_);
}

void Mbarrier::end(const Warp& warp, const Instruction& instruction, MbarrierUse use) const {
    MbarrierWaits& waits = owner_.mbarrier_waits();
    const std::optional<State> now = state();
    if (now) waits.release_from(offset_, now->phase);
    waits.note(offset_, now.has_value(), use, *warp.running().frame->code, instruction);
}

void Mbarrier::initialize(const Warp& warp, const Instruction& instruction, int lane,
                          std::uint32_t arrivals) {
    if (arrivals == 0 || arrivals > max_arrivals)
        fail(instruction, lane,
             "an mbarrier for " + std::to_string(arrivals) + " arrivals: it can be for 1 to " +
                 std::to_string(max_arrivals));
    tell(warp, instruction, lane, MbarrierUse::initialize);
    end(warp, instruction, MbarrierUse::initialize);
    State state;
    state.pending = state.expected = arrivals;
    store(state);
}

void Mbarrier::invalidate(const Warp& warp, const Instruction& instruction, int lane) {
    if (!state()) return tell(warp, instruction, lane, MbarrierUse::invalidate_none);
    end(warp, instruction, MbarrierUse::invalidate);
    tell(warp, instruction, lane, MbarrierUse::invalidate);
    std::memset(owner_.shared().data() + offset_, GlobalMemory::poison, bytes);
}

std::uint64_t Mbarrier::arrive(const Warp& warp, const Instruction& instruction, int lane,
                               std::uint32_t arrivals, bool drops, bool may_complete) {
    State state = load(instruction, lane);
    const std::uint64_t before = state.word();
    if (arrivals == 0 || arrivals > state.pending)
        fail(instruction, lane,
             std::to_string(arrivals) + " arrivals at an mbarrier that needs " +
                 std::to_string(state.pending) +
                 " more in this phase: more come than it was initialized for" +
                 owner_.mbarrier_waits().last_note(offset_));
    if (drops && arrivals > state.expected)
        fail(instruction, lane, "more arrivals drop out than the mbarrier was initialized for");
    tell(warp, instruction, lane, MbarrierUse::arrive);
    state.pending -= arrivals;
    if (drops) state.expected -= arrivals;
    if (!may_complete && state.pending == 0)
        fail(instruction, lane, "an arrival with .noComplete would complete the phase of its mbarrier");
    state.end_phase_if_complete();
    store(state);
    return before;
}

void Mbarrier::expect_arrival(const Warp&, const Instruction& instruction, int lane) {
    State state = load(instruction, lane);
    if (state.pending == max_arrivals) fail(instruction, lane, "too many arrivals at an mbarrier");
    ++state.pending;
    store(state);
}

void Mbarrier::expect_bytes(const Warp&, const Instruction& instruction, int lane, std::uint32_t count) {
    State state = load(instruction, lane);
    state.bytes += count;
    if (count > max_bytes || state.bytes > max_bytes)
        fail(instruction, lane,
             "an mbarrier that expects more bytes than the " + std::to_string(max_bytes) + " it can count");
    store(state);
}

void Mbarrier::complete_bytes(const Warp& warp, const Instruction& instruction, int lane,
                              std::uint32_t count) {
    State state = load(instruction, lane);
    state.bytes -= count;
    if (state.bytes < -max_bytes) fail(instruction, lane, "more bytes have come than an mbarrier can count");
    tell(warp, instruction, lane, MbarrierUse::arrive);
    state.end_phase_if_complete();
    store(state);
}

bool Mbarrier::test(const Warp& warp, const Instruction& instruction, int lane, std::uint64_t state) {
    return test_parity(warp, instruction, lane, State::of(state).phase ? 1 : 0);
}

bool Mbarrier::test_parity(const Warp& warp, const Instruction& instruction, int lane, std::uint32_t parity) {
    const bool asked = (parity & 1) != 0;
    MbarrierWaits& waits = warp.block().mbarrier_waits();
    if (waits.take_release(warp, lane, {warp.running().frame->code, &instruction, &owner_, offset_, asked})) {
        tell(warp, instruction, lane, MbarrierUse::wait);
        return true;
    }
    try {
        owner_.async_copies().settle(owner_, offset_);
    } catch (Fault& fault) {
        // The copy of another thread or function failed: report the thread that waits.
        fault.instruction = &instruction;
        fault.lane = lane;
        throw;
    }
    const bool is_over = load(instruction, lane).phase != asked;
    if (is_over) {
        waits.phase_is_over(warp, lane);
        tell(warp, instruction, lane, MbarrierUse::wait);
    } else {
        waits.asked_in_vain(warp, instruction, lane, owner_, offset_, asked);
    }
    return is_over;
}

std::optional<Mbarrier::Missing> Mbarrier::missing() const {
    const std::optional<State> now = state();
    if (!now) return {};
    return Missing{now->pending, now->expected, now->bytes, now->phase};
}

void Mbarrier::end_phase(bool phase) {
    std::optional<State> now = state();
    if (!now || now->phase != phase) return;
    now->pending = 0;
    now->bytes = 0;
    now->end_phase_if_complete();
    store(*now);
}

std::uint32_t Mbarrier::pending_count(std::uint64_t state) { return State::of(state).pending; }

} // namespace emulator
