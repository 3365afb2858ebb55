#include "emulator/timing/multiprocessor.hpp"

#include "emulator/timing/memory_model.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <memory>
#include <utility>

namespace emulator::timing {
namespace {

/// Of a product of 64 bits whose result the next instruction needs.
constexpr int least_wide_stall = 4;
constexpr double never = std::numeric_limits<double>::infinity();

/// When each line of constant memory is there; 0: nothing has asked for it.
using ConstantLines = std::array<double, 256>;

struct ResidentBlock;

struct WarpState {
    const WarpTrace* trace = nullptr;
    std::size_t at = 0; ///< in the trace
    std::uint32_t age = 0;
    std::size_t scheduler = 0;
    ResidentBlock* block = nullptr;
    std::array<double, 8> released{}; ///< when each scoreboard is
    std::array<bool, 8> is_long{};    ///< whether it waits for memory
    double ready = 0;                 ///< when it can issue next
    double since = 0;                 ///< it has waited
    double throttled = 0;             ///< until then its unit, or a queue, has no room for it
    double stored = 0;                ///< when all that it stored is taken
    double issued = 0;                ///< when its latest instruction was
    double arrived = 0;               ///< when it arrived at its latest barrier
    double passed = 0;                ///< when that barrier passes
    double multiplied = 0;    ///< when the FMA pipe takes its next instruction behind a product of 64 bits
    bool has_arrived = false; ///< at a barrier that has not passed
    bool is_blocked = false;  ///< by that barrier
    bool goes_first = false;  ///< its latest instruction lets it
    Wait reason = Wait::wait;

    const Step& step() const { return (*trace)[at]; }
};

struct ResidentBlock {
    std::vector<WarpState> warps;
    std::size_t alive = 0;
    std::uint32_t place = 0, number = 0;
    std::vector<WarpState*> at_barrier;
    bool has_accessed = false; ///< memory, since the latest barrier
    bool has_stored = false;   ///< to global memory, since then
};

struct Later {
    bool operator()(const WarpState* a, const WarpState* b) const {
        return a->ready != b->ready ? a->ready > b->ready : a->age > b->age;
    }
};

struct Scheduler {
    std::vector<WarpState*> waiting; ///< a heap: the one that is ready first is in front
    std::vector<WarpState*> ready;   ///< the oldest first
    std::array<double, unit_count> free{};
    double light_free = 0;      ///< the half of the FMA pipe that has no integer multiplier
    double xu_begins = 0;       ///< when the XU begins with its next instruction
    std::uint32_t accesses = 0; ///< the latest: a bit for each, 1 if it is of global memory
    double dispatched = 0;      ///< when a product of 64 bits no longer keeps others from being dispatched
};

class Multiprocessor {
public:
    Multiprocessor(const Shift& shift, const Card& card)
        : shift_(shift), issue_access_(card["issue_access"]), memory_(card, shift) {
        intervals_ = {0,
                      card["issue_alu"],
                      card["issue_fma_heavy"],
                      card["issue_fma_heavy"],
                      card["issue_fma_wide"],
                      card["issue_fp64"],
                      card["issue_xu"],
                      card["issue_uniform"],
                      0,
                      card["issue_branch"],
                      issue_access_,
                      issue_access_};
        latencies_ = {card["latency_other"],    card["latency_special_register"],
                      card["latency_constant"], card["latency_xu"],
                      card["latency_shuffle"],  card["latency_shared_load"],
                      card["latency_redux"],    card["latency_match"]};
        const double clock = card["clock"];
        block_interval_ = shift.busy_multiprocessors / card["block_starts"] * clock;
        block_gap_ = card["block_gap"];
        warp_gap_ = card["warp_gap"];
        adu_warp_ = card["adu_warp"];
        adu_queue_.resize(card["adu_queue"]);
        barrier_ = card["barrier"];
        branch_ = card["branch_taken"];
        jump_ = card["jump"];
        meet_ = card["meet"];
        turn_ = card["latency_turn"];
        constant_miss_ = card["constant_miss"];
        fence_ = card["latency_fence"];
        to_l2_ = card["latency_l2_load"];
        wide_dispatch_ = card["fma_wide_dispatch"];
        wide_next_ = card["fma_wide_next"];
        operands_read_ = card["operands_read"];
        xu_taken_ = card["xu_taken"];
        wide_stall_ = card["fma_wide_stall"];
        entry_ = card["pipe_entry"];
    }

    ShiftTimes run() {
        for (std::uint32_t k = 0; k < shift_.resident && started_ < shift_.blocks.size(); ++k)
            start_block(0, k);
        std::size_t first = 0;
        for (double now = 0; now < never;) {
            double next = never;
            first = (first + 1) % scheduler_count; // Each in turn is the first to find room in a queue.
            for (std::size_t k = 0; k < scheduler_count; ++k)
                next = std::min(next, advance(schedulers_[(first + k) % scheduler_count], now));
            now = std::max(next, now + 1);
            if (next == never) break;
            times_.cycles = now;
        }
        times_.more_passes += memory_.end_passes();
        times_.repeats += memory_.repeats();
        if (!times_.ends.empty()) times_.cycles = std::max(times_.ends.back(), memory_.atomics_end());
        return std::move(times_);
    }

private:
    /// Issues at most one instruction. Returns when the scheduler may issue again.
    double advance(Scheduler& scheduler, double now) {
        wake(scheduler, now);
        double soonest = never;
        auto chosen = scheduler.ready.end();
        for (auto warp = scheduler.ready.begin(); warp != scheduler.ready.end(); ++warp) {
            settle(**warp, now); // those behind the chosen one, too: they may be throttled
            const double from = can_issue_from(scheduler, **warp, now);
            if (from <= now && (chosen == scheduler.ready.end() || goes_before(**warp, **chosen)))
                chosen = warp;
            soonest = std::min(soonest, from);
        }
        if (chosen != scheduler.ready.end()) {
            WarpState& warp = **chosen;
            scheduler.ready.erase(chosen);
            issue(scheduler, warp, now);
            soonest = now + 1;
        }
        return scheduler.waiting.empty()
                   ? soonest
                   : std::min(soonest, std::max(scheduler.waiting.front()->ready, now + 1));
    }

    /// Those go first whose latest instruction says so; of them, and of the others, those of the oldest block. Its warps take
    /// turns, from the youngest on.
    static bool goes_before(const WarpState& younger, const WarpState& older) {
        if (younger.goes_first != older.goes_first) return younger.goes_first;
        return younger.block == older.block && younger.issued <= older.issued;
    }

    void wake(Scheduler& scheduler, double now) {
        while (!scheduler.waiting.empty() && scheduler.waiting.front()->ready <= now) {
            WarpState* const warp = scheduler.waiting.front();
            std::pop_heap(scheduler.waiting.begin(), scheduler.waiting.end(), Later());
            scheduler.waiting.pop_back();
            charge(*warp, warp->reason, warp->ready);
            warp->reason = Wait::not_selected;
            warp->throttled = 0;
            const auto younger = std::find_if(scheduler.ready.begin(), scheduler.ready.end(),
                                              [&](const WarpState* other) { return other->age > warp->age; });
            scheduler.ready.insert(younger, warp);
        }
    }

    void charge(WarpState& warp, Wait reason, double until) {
        times_.waited[static_cast<std::size_t>(reason)] += std::max(0.0, until - warp.since);
        if (until > warp.since && warp.since < shift_.recorded_cycles) record(warp, reason, until);
        warp.since = std::max(warp.since, until);
    }

    void record(const WarpState& warp, Wait state, double until) {
        std::vector<WarpRun>& runs = times_.rows[warp.age].runs;
        if (runs.empty() || runs.back().state != state) runs.push_back({state, warp.since, 0});
        runs.back().to = std::min(until, shift_.recorded_cycles);
    }

    /// A warp that is ready has been throttled, and then not selected.
    void settle(WarpState& warp, double now) {
        charge(warp, warp.reason, std::min(warp.throttled, now));
        charge(warp, Wait::not_selected, now);
    }

    const Instruction& instruction_of(const WarpState& warp) const {
        return shift_.code[warp.step().instruction];
    }

    double can_issue_from(const Scheduler& scheduler, WarpState& warp, double now) const {
        const auto [unit, effect] = std::pair(instruction_of(warp).unit, instruction_of(warp).effect);
        double from = scheduler.free[static_cast<std::size_t>(unit)];
        if (unit == Unit::fma)
            from = needs_heavy(scheduler) ? scheduler.light_free
                                          : std::min(fma_heavy_free(scheduler), scheduler.light_free);
        if (unit == Unit::fma_heavy || unit == Unit::fma_wide) from = fma_heavy_free(scheduler);
        const bool accesses = is_access(instruction_of(warp));
        if (accesses) from = std::max(from, memory_.queue_free(warp.scheduler));
        if (unit == Unit::adu) from = std::max(from, adu_queue_.free());
        if (from > now) warp.reason = why_busy(unit, scheduler);
        if (scheduler.dispatched > now && scheduler.dispatched >= from) {
            from = scheduler.dispatched;
            warp.reason = Wait::dispatch_stall;
        }
        if (is_arithmetic(unit) && unit != Unit::alu && warp.multiplied > from) {
            from = warp.multiplied;
            if (from > now) warp.reason = Wait::dispatch_stall;
        }
        const double room = effect == Effect::atomic ? memory_.atomics_free() : 0;
        if (room > from) {
            from = room;
            if (from > now) warp.reason = Wait::lg_throttle;
        }
        return warp.throttled = from;
    }

    /// An access to global memory is throttled as such if eight of the ten that wait before it are such accesses.
    static Wait why_busy(Unit unit, const Scheduler& scheduler) {
        constexpr std::uint32_t of_queue = 0x3FF;
        if (unit == Unit::global && std::popcount(scheduler.accesses & of_queue) >= 8)
            return Wait::lg_throttle;
        const bool is_of_mio =
            unit == Unit::shared || unit == Unit::global || unit == Unit::xu || unit == Unit::adu;
        return is_of_mio ? Wait::mio_throttle : Wait::math_pipe_throttle;
    }

    /// Whether a warp that is ready has a product of integers.
    bool needs_heavy(const Scheduler& scheduler) const {
        return std::any_of(scheduler.ready.begin(), scheduler.ready.end(), [&](const WarpState* warp) {
            const Unit unit = instruction_of(*warp).unit;
            return unit == Unit::fma_heavy || unit == Unit::fma_wide;
        });
    }

    static double fma_heavy_free(const Scheduler& scheduler) {
        return scheduler.free[static_cast<std::size_t>(Unit::fma_heavy)];
    }

    void occupy(Scheduler& scheduler, const Instruction& instruction, double now) {
        const Unit unit = instruction.unit;
        const double interval = intervals_[static_cast<std::size_t>(unit)];
        double until = now + interval;
        if (unit == Unit::xu) { // It holds one more than it executes.
            const double begin = std::max(now, scheduler.xu_begins);
            scheduler.xu_begins = begin + interval;
            until = begin > now ? begin + xu_taken_ : now + issue_access_;
        }
        const bool is_heavy = unit == Unit::fma_heavy || unit == Unit::fma_wide ||
                              (unit == Unit::fma && scheduler.light_free > now);
        if (is_heavy)
            scheduler.free[static_cast<std::size_t>(Unit::fma_heavy)] = until;
        else if (unit == Unit::fma)
            scheduler.light_free = until;
        else
            scheduler.free[static_cast<std::size_t>(unit)] = until;
        if (unit != Unit::fma_wide) return;
        scheduler.dispatched = now + 1 + wide_dispatch_;
        for (WarpState* const other :
             scheduler.waiting) // Their stalls last for so many cycles in which it dispatches.
            if (other->reason == Wait::wait) other->ready += wide_dispatch_;
        std::make_heap(scheduler.waiting.begin(), scheduler.waiting.end(), Later());
    }

    void issue(Scheduler& scheduler, WarpState& warp, double now) {
        const Instruction& instruction = instruction_of(warp);
        const Step step = warp.step();
        charge(warp, Wait::selected, now + 1);
        occupy(scheduler, instruction, now);
        if (instruction.unit == Unit::fma_wide) warp.multiplied = now + wide_next_;
        ++warp.at;
        warp.goes_first = instruction.goes_first;
        warp.issued = now;
        warp.ready = now + stall_of(instruction);
        warp.reason = Wait::wait;
        execute(warp, instruction, step, now);
        if (instruction.effect == Effect::exit && step.taken) return end_warp(warp, now);
        if (instruction.effect == Effect::barrier) arrive(warp, now);
        go_on(warp);
    }

    /// Cycles until the warp's next instruction. One that needs a product of 64 bits waits for longer than it says.
    double stall_of(const Instruction& instruction) const {
        const bool needs_product =
            instruction.unit == Unit::fma_wide && instruction.stall >= least_wide_stall;
        return needs_product ? wide_stall_ : std::max<double>(instruction.stall, 1);
    }

    void execute(WarpState& warp, const Instruction& instruction, const Step& step, double now) {
        Access access{.result = now + latencies_[instruction.latency], .read = now + operands_read_};
        if (instruction.unit == Unit::xu) // It may be behind another one.
            access.result +=
                schedulers_[warp.scheduler].xu_begins - now - intervals_[static_cast<std::size_t>(Unit::xu)];
        if (is_access(instruction)) {
            std::uint32_t& accesses = schedulers_[warp.scheduler].accesses;
            accesses = accesses << 1 | (instruction.unit == Unit::global ? 1 : 0);
            access = memory_.access(instruction, step, now, latencies_[instruction.latency],
                                    warp.block->number, warp.scheduler);
            warp.block->has_accessed = true;
            if (instruction.unit == Unit::global && instruction.effect == Effect::store && step.lanes != 0)
                warp.block->has_stored = true;
        }
        if (instruction.effect == Effect::load && step.misses > 0 && now < shift_.recorded_cycles)
            times_.rows[warp.age].loads.push_back({now, access.result, step.misses * 32U});
        if (instruction.unit == Unit::adu && instruction.effect != Effect::barrier) {
            const double values = std::max<int>(step.same, 1); // that lanes differ in
            access.result += pass_adu(now, values) - now - adu_warp_ + (values - 1) * turn_;
        }
        if (instruction.unit == Unit::adu && instruction.constants != 0) // LDC, which has a scoreboard
            access.result =
                std::max(access.result, constants_end(loaded_constants_, instruction, access.result));
        if (instruction.effect == Effect::branch && step.taken)
            delay(warp, warp.ready + branch_, Wait::branch_resolving);
        if (instruction.effect == Effect::jump && step.taken)
            delay(warp, warp.ready + jump_, Wait::branch_resolving);
        if (instruction.effect == Effect::meet) delay(warp, warp.ready + meet_, Wait::branch_resolving);
        if (instruction.effect == Effect::store || instruction.effect == Effect::atomic)
            warp.stored = std::max(memory_.stores_end(), memory_.partial_stores_end());
        if (instruction.effect == Effect::fence) // after the L2 has answered the stores
            delay(warp, std::max(now, warp.stored > 0 ? warp.stored + to_l2_ : 0) + fence_, Wait::membar);
        release(warp, instruction.write_scoreboard, access.result, instruction.unit == Unit::global);
        release(warp, instruction.read_scoreboard, access.read, instruction.unit == Unit::global);
    }

    static void release(WarpState& warp, std::uint8_t scoreboard, double at, bool is_long) {
        if (scoreboard >= no_scoreboard || at <= warp.released[scoreboard]) return;
        warp.released[scoreboard] = at;
        warp.is_long[scoreboard] = is_long;
    }

    /// When the constants are there that an instruction needs. Their cache is empty when a launch begins.
    double constants_end(ConstantLines& lines, const Instruction& instruction, double now) const {
        double& there = lines[instruction.constants];
        if (there == 0) there = now + constant_miss_;
        return there;
    }

    void delay(WarpState& warp, double until, Wait reason) {
        if (until <= warp.ready) return;
        charge(warp, warp.reason, warp.ready);
        warp.ready = until;
        warp.reason = reason;
    }

    /// Waits for what its next instruction needs. That may be beyond a barrier: BAR.SYNC.DEFER_BLOCKING lets a warp that has
    /// arrived go on with arithmetic.
    void go_on(WarpState& warp) {
        if (warp.at < warp.trace->size() && !is_arithmetic(instruction_of(warp).unit)) {
            warp.is_blocked = warp.has_arrived;
            if (warp.is_blocked) return;
            if (warp.passed > warp.ready) { // It has waited for the barrier since that was on its way.
                charge(warp, warp.reason, std::min(warp.ready, warp.arrived + entry_));
                warp.reason = Wait::barrier;
            }
            delay(warp, warp.passed, Wait::barrier);
        }
        wait_for_next(warp);
        std::vector<WarpState*>& waiting = schedulers_[warp.scheduler].waiting;
        waiting.push_back(&warp);
        std::push_heap(waiting.begin(), waiting.end(), Later());
    }

    static bool is_arithmetic(Unit unit) {
        return unit == Unit::alu || unit == Unit::fma || unit == Unit::fma_heavy || unit == Unit::fma_wide;
    }

    /// For its next instruction: the scoreboards, and a line of constants that no warp has needed before.
    void wait_for_next(WarpState& warp) {
        if (warp.at >= warp.trace->size()) return;
        const Instruction& next = instruction_of(warp);
        for (std::size_t k = 0; k < 6; ++k)
            if (next.waits >> k & 1)
                delay(warp, warp.released[k],
                      warp.is_long[k] ? Wait::long_scoreboard : Wait::short_scoreboard);
        if (next.constants != 0 && next.unit != Unit::adu)
            delay(warp, constants_end(immediates_, next, warp.ready), Wait::imc_miss);
        if (next.effect == Effect::exit && warp.step().taken) delay(warp, warp.stored, Wait::drain);
    }

    /// When the address unit, which all schedulers share, has served a warp's first value.
    double pass_adu(double now, double values = 1) {
        const double begin = std::max(adu_free_, now);
        adu_free_ = begin + values * adu_warp_;
        adu_queue_.enter(adu_free_);
        return begin + adu_warp_;
    }

    void arrive(WarpState& warp, double now) {
        ResidentBlock& block = *warp.block;
        const double served = pass_adu(now);
        warp.arrived = now;
        block.at_barrier.push_back(&warp);
        warp.has_arrived = true;
        if (block.at_barrier.size() == block.alive) pass_barrier(block, served);
    }

    /// \param arrived when the last warp has
    void pass_barrier(ResidentBlock& block, double arrived) {
        memory_.pass_barrier(arrived, std::exchange(block.has_stored, false));
        times_.more_passes -= std::exchange(block.has_accessed, false) ? 1 : 0;
        for (WarpState* const warp : block.at_barrier) {
            warp->has_arrived = false;
            warp->passed = arrived + barrier_;
            if (std::exchange(warp->is_blocked, false)) go_on(*warp);
        }
        block.at_barrier.clear();
    }

    void end_warp(WarpState& warp, double now) {
        ResidentBlock& block = *warp.block;
        --block.alive;
        if (block.alive != 0) {
            if (block.at_barrier.size() == block.alive) pass_barrier(block, now);
            return;
        }
        times_.ends.push_back(now);
        if (started_ < shift_.blocks.size()) start_block(now + block_gap_, block.place);
    }

    void start_block(double at, std::uint32_t place) {
        const BlockTrace& trace = *shift_.blocks[started_++];
        at = std::max(at, next_start_);
        next_start_ = at + block_interval_;
        double first = std::max(at, warp_free_);
        blocks_.push_back(std::make_unique<ResidentBlock>());
        ResidentBlock& block = *blocks_.back();
        block.alive = trace.size();
        block.place = place;
        block.number = static_cast<std::uint32_t>(started_);
        block.warps.resize(trace.size());
        for (std::size_t k = 0; k < trace.size(); ++k, first += warp_gap_) {
            WarpState& warp = block.warps[k];
            warp.trace = &trace[k];
            warp.block = &block;
            warp.age = age_++;
            warp.scheduler = warp.age % scheduler_count;
            warp.ready = warp.since = first;
            if (first < shift_.recorded_cycles)
                times_.rows.push_back(
                    {static_cast<std::uint32_t>(started_ - 1), place, static_cast<std::uint32_t>(k)});
            go_on(warp);
        }
        warp_free_ = first;
    }

    const Shift& shift_;
    double issue_access_; ///< cycles from a scheduler's access, or its instruction of the XU, to the next
    std::array<double, unit_count> intervals_{};
    std::array<double, latency_count> latencies_{};
    double block_interval_, block_gap_, warp_gap_, adu_warp_, barrier_, branch_, jump_, meet_, turn_,
        operands_read_;
    double constant_miss_, fence_, to_l2_, wide_dispatch_, wide_next_;
    double xu_taken_, wide_stall_, entry_;
    ConstantLines immediates_{}, loaded_constants_{}; ///< each has a cache of its own
    MemoryModel memory_;
    std::array<Scheduler, scheduler_count> schedulers_;
    std::vector<std::unique_ptr<ResidentBlock>> blocks_;
    std::size_t started_ = 0;
    std::uint32_t age_ = 0;
    double next_start_ = 0, warp_free_ = 0, adu_free_ = 0;
    Queue adu_queue_; ///< warps in front of the address unit, and in it
    ShiftTimes times_;
};

} // namespace

std::string_view wait_name(Wait wait) {
    static constexpr std::string_view names[] = {
        "selected",     "not_selected", "wait",   "branch_resolving", "math_pipe_throttle",
        "mio_throttle", "lg_throttle",  "drain",  "short_scoreboard", "long_scoreboard",
        "barrier",      "imc_miss",     "membar", "dispatch_stall"};
    return names[static_cast<std::size_t>(wait)];
}

ShiftTimes simulate(const Shift& shift, const Card& card) { return Multiprocessor(shift, card).run(); }

} // namespace emulator::timing
