#include "emulator/timing/memory_model.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace emulator::timing {
namespace {

constexpr double sector_bytes = 32, line_bytes = 128;
/// Cycles over which the card's load is averaged.
constexpr double recent = 4000;
/// Between the least and the largest of eight deviations, in the mean.
constexpr double spread_of_deviations = 4.77;
/// Lines spread as many times wider as they wait longer. It was measured up to twice: clock_loads.csv.
constexpr double widest = 2;

/// From 0 to 1, the same for lines that are alike on a card: of the eight in a KiB, 0, 1, 4 and 5, or the others.
double draw_of(std::uint32_t block, std::uint32_t line) {
    std::uint64_t bits = (std::uint64_t{block} << 32 | line / 8 * 2 | line / 2 % 2) * 0x9E3779B97F4A7C15;
    bits = (bits ^ bits >> 29) * 0xBF58476D1CE4E5B9;
    return static_cast<double>((bits ^ bits >> 32) >> 11) * 0x1p-53;
}

/// What the lanes of a warp store, if all do.
std::uint32_t lines_of(const Instruction& instruction) { return std::max(1, instruction.bytes / 4); }

} // namespace

MemoryModel::MemoryModel(const Card& card, const Shift& shift)
    : card_(card), entry_(card["pipe_entry"]), operands_read_(card["operands_read"]),
      l1_latency_(card["latency_l1_load"]), l2_latency_(card["latency_l2_load"]),
      atomic_latency_(card["latency_global_atomic"]), shared_atomic_latency_(card["latency_shared_atomic"]),
      shared_atomic_lane_(card["shared_atomic_lane"]), other_latency_(card["latency_other"]),
      barrier_pass_(card["barrier_pass"]), atom_(card["memory_atom"]),
      scattered_load_(card["bandwidth_loads"] / card["scattered_loads"]),
      scattered_store_(card["bandwidth_loads"] / card["scattered_stores"]),
      lines_behind_(card["lines_behind_atomic"] / shift.atomic_sectors),
      most_passed_(static_cast<std::size_t>(card["atomics_passed"])) {
    for (Queue& queue : unread_) queue.resize(card["access_queue"]);
    read_interval_ = card["issue_operand"];
    in_pipe_.resize(card["pipe_queue"]);
    leave_ = card["pipe_leave"];
    buffered_.resize(card["store_buffer"] / line_bytes);
    sector_interval_ = sector_bytes / card["store_port"];
    line_read_ = card["clock_read"] + entry_;
    idle_latency_ = card.line_latency(0, 0).latency - line_read_;
    const double clock = card["clock"], loads = card["bandwidth_loads"];
    // A copy reads as much as it writes.
    write_cost_ = (2 * loads / card["bandwidth_copy"] - 1) * shift.store_cost;
    gigabytes_ = shift.busy_multiprocessors * clock;
    bytes_per_cycle_ = loads / gigabytes_;
    l2_bytes_per_cycle_ = card["bandwidth_l2"] / gigabytes_;
    l2_line_interval_ = gigabytes_ / card["scattered_l2_loads"];
    taken_.resize(card["threads"] / 32); // one of each warp
    // It was measured with four sectors in a line. A line's request takes as long as a sector.
    partial_interval_ = gigabytes_ / card["partial_stores"] * 4 / 5;
    partial_ahead_ = card["partial_stores_ahead"] * partial_interval_;
    memory_ahead_ = card["l2_dirty_bytes"] / loads * clock;
    atomic_interval_ = gigabytes_ / card.atomic_rate(shift.atomic_sectors, shift.adds_floats);
    port_bytes_per_cycle_ = card["bandwidth_beside_atomics"] / gigabytes_;
    port_interval_ = gigabytes_ / card.atomic_rate(shift.atomic_sectors); // floats do not take longer there
}

double MemoryModel::pass_pipe(const Instruction& instruction, double now, double cycles, double room,
                              std::size_t scheduler) {
    const double read = std::max(now, reads_[scheduler]);
    reads_[scheduler] = read + instruction.operands * read_interval_;
    const double arrival = std::max({read + entry_, in_pipe_.free(), room});
    unread_[scheduler].enter(arrival);
    // An access takes every second cycle, and a second one those between.
    double& lane = *std::min_element(lanes_.begin(), lanes_.end());
    const double begin = std::max({arrival, lane, begin_ + 1});
    previous_ = std::exchange(begin_, begin);
    pipe_ = begin + 2 * (cycles - 1) + 1;
    lane = begin + 2 * cycles;
    in_pipe_.enter(pipe_ + leave_);
    return begin;
}

Access MemoryModel::access(const Instruction& instruction, const Step& step, double now, double latency,
                           std::uint32_t block, std::size_t scheduler) {
    double cycles = 1; // even if no lane executes it
    if (step.lanes != 0) cycles = std::max<double>(step.passes, 1);
    if (step.lanes != 0 && instruction.effect == Effect::shared_atomic) cycles += step.same - 1;
    const bool stores = instruction.effect == Effect::store && step.lanes != 0;
    const double begin = pass_pipe(instruction, now, cycles, stores ? store_room(instruction) : 0, scheduler);
    count_passes(kind_of(instruction, step));
    if (step.lanes == 0) // A load from shared memory takes as long as if lanes executed it, but for a cycle.
        return {.result = instruction.effect == Effect::shared ? begin - entry_ + latency - 1
                                                               : std::max(now + other_latency_, begin + 1),
                .read = begin + operands_read_};
    const double read = pipe_ - 1 + operands_read_;
    switch (instruction.effect) {
    case Effect::shared_atomic:
        return {.result = begin - entry_ + shared_atomic_latency_ + (step.same - 1) * shared_atomic_lane_,
                .read = read};
    case Effect::load: return {.result = load(step, begin, block), .read = read};
    case Effect::atomic: return {.result = atomic(step, begin), .read = read};
    case Effect::store: store(instruction, step, begin); return {.result = read, .read = read};
    default: return {.result = pipe_ - 1 - entry_ + latency, .read = read};
    }
}

double MemoryModel::store_room(const Instruction& instruction) const {
    return buffered_.oldest(lines_of(instruction));
}

MemoryModel::Kind MemoryModel::kind_of(const Instruction& instruction, const Step& step) {
    if (instruction.unit != Unit::shared || step.lanes == 0) return Kind::other;
    if (instruction.effect == Effect::shared_atomic) return Kind::exchange;
    if (instruction.effect == Effect::none) return Kind::index;
    return static_cast<Latency>(instruction.latency) == Latency::shuffle ? Kind::exchange : Kind::other;
}

void MemoryModel::count_passes(Kind kind) {
    count_barriers(begin_);
    has_accessed_ = true;
    const bool is_beside = begin_ - previous_ <= 1, both = kind != Kind::other && kind_ != Kind::other;
    const bool is_repeated = is_beside && both && kind != kind_;
    if (is_repeated) ++repeats_;
    kind_ = is_repeated ? Kind::other : kind; // once
}

void MemoryModel::count_barriers(double until) {
    for (; !barriers_.empty() && barriers_.top() < until; barriers_.pop())
        barrier_passes_ += std::exchange(has_accessed_, false) ? 1 : 0;
}

double MemoryModel::end_passes() {
    count_barriers(std::numeric_limits<double>::infinity());
    return barrier_passes_ + repeats_;
}

double MemoryModel::behind_atomics(const Step& step, double begin, double per_byte, std::uint32_t block) {
    loaded_lines_ += step.lines;
    if (atomics_ == 0) return 0; // There was none yet.
    port_ = std::max(port_, begin) + step.misses * sector_bytes * per_byte;
    const double passed = taken_.latest(most_passed_), share = lines_behind_ * added_sectors_ / loaded_lines_;
    for (std::uint32_t k = 0; k < step.lines; ++k)
        if (draw_of(block, step.first_line + k) < share) return std::max({passed, port_, atomics_});
    return passed;
}

double MemoryModel::load(const Step& step, double begin, std::uint32_t block) {
    if (step.misses == 0) return pipe_ - 1 - entry_ + l1_latency_;
    const bool is_reused = step.reused > 0 && random() * 255 < step.reused;
    const double fetched = is_reused ? 0 : step.misses - step.in_l2;
    // They are behind others on the way to the L2.
    const double ahead = std::max(
        partial_stores_,
        behind_atomics(step, begin, 1 / (fetched == 0 ? l2_bytes_per_cycle_ : port_bytes_per_cycle_), block));
    if (fetched == 0) {
        const double lines = step.lines * step.misses / std::max<double>(step.sectors, 1);
        l2_ = std::max(l2_, begin) +
              std::max(step.misses * sector_bytes / l2_bytes_per_cycle_, lines * l2_line_interval_);
        return std::max({pipe_ - 1, ahead, l2_}) - entry_ + l2_latency_;
    }
    const double missed_lines =
        std::ceil(static_cast<double>(step.lines) * fetched / std::max<double>(step.sectors, 1));
    const double bytes =
        std::max(fetched * sector_bytes, missed_lines * (step.is_scattered ? scattered_load_ : atom_));
    double latest = deviation();
    for (double line = 1; line < missed_lines; ++line) latest = std::max(latest, deviation());
    loaded_.add(bytes, begin);
    LineLatency of_line =
        card_.line_latency(loaded_.rate(begin) * gigabytes_, stored_.rate(begin) * gigabytes_);
    of_line.latency -= line_read_;
    l2_ = std::max(l2_, begin) + fetched * sector_bytes / l2_bytes_per_cycle_;
    // The mean wait among all that the card moves is within the latency; bursts of this multiprocessor may wait longer.
    const double mean =
        std::max(std::max(begin, ahead) + of_line.latency, std::max(move(bytes, begin), l2_) + idle_latency_);
    const double longer = std::clamp((mean - begin) / of_line.latency, 1.0, widest);
    return mean + latest * longer * of_line.spread / spread_of_deviations;
}

double MemoryModel::atomic(const Step& step, double begin) {
    begin = std::max(begin, port_);
    port_ = begin + step.lines * port_interval_; // It is free while they wait for those before.
    atomics_ = std::max(begin, atomics_) + step.sectors * atomic_interval_;
    added_sectors_ += step.sectors;
    taken_.enter(atomics_);
    return atomics_ + atomic_latency_;
}

void MemoryModel::store(const Instruction& instruction, const Step& step, double begin) {
    const double share = 1 - step.reused / 255.0; // that is not in the L2
    stored_.add(share * step.misses * sector_bytes, begin);
    double moved = share * step.misses * (step.is_scattered ? scattered_store_ : sector_bytes * write_cost_);
    if (step.partial > 0) {
        const double rest = share * std::min<int>(step.partial, step.misses - step.in_l2) *
                            (step.is_scattered ? scattered_load_ : sector_bytes); // that is read
        loaded_.add(rest, begin);
        moved += rest;
        const double taken = instruction.hot_sectors > 0
                                 ? step.sectors * gigabytes_ / card_.hot_store_rate(instruction.hot_sectors)
                                 : (step.partial + std::min(step.partial, step.lines)) * partial_interval_;
        partial_stores_ = std::max(partial_stores_, begin) + taken;
    }
    const double accepted =
        std::max(move(moved, begin) - memory_ahead_, step.partial > 0 ? partial_stores_ - partial_ahead_ : 0);
    // The request of a whole line takes no time of its own.
    const double requests = step.partial > 0 ? step.lines : 0;
    sent_ = std::max({sent_, begin, accepted}) + (step.sectors + requests) * sector_interval_;
    for (std::uint32_t k = 0; k < lines_of(instruction); ++k) buffered_.enter(sent_);
}

double MemoryModel::move(double bytes, double begin) {
    // Others may leave their share to a burst.
    memory_ = std::max(memory_, begin - recent) + bytes / bytes_per_cycle_;
    return memory_;
}

void RecentBytes::add(double bytes, double now) { per_cycle_ = rate(now) + bytes / recent; }

double RecentBytes::rate(double now) {
    if (now > at_) {
        per_cycle_ *= std::exp((at_ - now) / recent);
        at_ = now;
    }
    return per_cycle_;
}

double MemoryModel::random() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return static_cast<double>(state_ >> 11) * 0x1p-53;
}

double MemoryModel::deviation() { // The sum of three exponential draws, less its mean.
    return -std::log((1 - random()) * (1 - random()) * (1 - random())) - 3;
}

} // namespace emulator::timing
