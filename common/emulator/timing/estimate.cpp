#include "emulator/timing/estimate.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace emulator::timing {
namespace {

/// So many instructions are simulated: more take too long, and say nothing new.
constexpr double max_steps = 1'200'000;
/// So many blocks of a multiprocessor, if its blocks are short; those of the first wave run in step.
constexpr double max_blocks = 256, settled = 80, last_in_step = 16;

std::size_t sample_of(const Work& work, std::uint64_t block) {
    const auto next = std::upper_bound(work.runs.begin(), work.runs.end(), block,
                                       [](std::uint64_t b, const BlockRun& run) { return b < run.first; });
    return (next - 1)->sample;
}

/// How many blocks are like each sample.
std::vector<double> weights_of(const Work& work) {
    std::vector<double> weights(work.samples.size());
    for (std::size_t k = 0; k < work.runs.size(); ++k) {
        const std::uint64_t end = k + 1 < work.runs.size() ? work.runs[k + 1].first : work.blocks;
        weights[work.runs[k].sample] += static_cast<double>(end - work.runs[k].first);
    }
    return weights;
}

/// The last block that does as the others do.
std::uint64_t last_like_others(const Work& work) { return work.blocks - (work.last_goes_on ? 2 : 1); }

double busy_multiprocessors(const Work& work, const Card& card) {
    return std::min(card["multiprocessors"], static_cast<double>(work.blocks));
}

double steps_of(const BlockTrace& trace) {
    return std::accumulate(trace.begin(), trace.end(), 0.0, [](double sum, const WarpTrace& warp) {
        return sum + static_cast<double>(warp.size());
    });
}

/// What memory moves, in sectors that are loaded in order: for a sector that is stored, for a line of which little is loaded,
/// and for single sectors at random places.
struct Costs {
    const Card& card;
    double store, atom, scattered_load, scattered_store;

    Costs(const Card& of, double store_cost)
        : card(of), store((2 * card["bandwidth_loads"] / card["bandwidth_copy"] - 1) * store_cost),
          atom(card["memory_atom"] / 32),
          scattered_load(card["bandwidth_loads"] / card["scattered_loads"] / 32),
          scattered_store(card["bandwidth_loads"] / card["scattered_stores"] / 32) {}
};

/// Adds `weight` times what one step does.
void add(Totals& totals, const Instruction& instruction, const Step& step, double weight,
         const Costs& costs) {
    const double turns = instruction.unit == Unit::adu ? std::max<int>(step.same, 1) : 1;
    totals.issued[static_cast<std::size_t>(instruction.unit)] += weight * turns;
    if (instruction.effect == Effect::barrier) return;
    if (instruction.unit == Unit::shared) {
        const double passes = std::max<double>(step.passes, 1);
        totals.passes += static_cast<std::uint64_t>(passes * weight);
        totals.conflicts += static_cast<std::uint64_t>(
            (instruction.effect == Effect::shared_atomic ? passes - 1 : step.conflicts) * weight);
        totals.pipe_cycles +=
            weight *
            (passes + (instruction.effect == Effect::shared_atomic ? std::max<int>(step.same, 1) - 1 : 0));
    }
    if (instruction.unit != Unit::global) return;
    if (step.lanes == 0) totals.passes += static_cast<std::uint64_t>(weight);
    totals.pipe_cycles += weight * std::max<double>(step.passes, 1);
    const double new_share = 1 - step.reused / 255.0, fetched = (step.misses - step.in_l2) * new_share,
                 share = step.sectors > 0 ? fetched / step.sectors : 0;
    const double line = step.is_scattered ? costs.scattered_load : costs.atom;
    if (instruction.effect == Effect::load)
        totals.moved_sectors += weight * std::max(fetched, share * step.lines * line);
    if (instruction.effect == Effect::store) {
        const double stored =
            step.misses * new_share * (step.is_scattered ? costs.scattered_store : costs.store);
        const double read =
            std::min(fetched, step.partial * new_share) * (step.is_scattered ? costs.scattered_load : 1);
        totals.moved_sectors += weight * (stored + read);
        if (instruction.hot_sectors > 0 && step.partial > 0)
            totals.hot_stores_ns +=
                weight * step.sectors / costs.card.hot_store_rate(instruction.hot_sectors);
        else
            totals.partial_stores += weight * (step.partial + std::min(step.partial, step.lines));
    }
    if (instruction.effect == Effect::atomic) totals.atomics += weight * step.sectors;
}

/// A pass for each barrier of a block, unless no warp has accessed memory since the barrier before.
void add_barriers(Totals& totals, const Work& work, const BlockTrace& block, std::uint64_t weight) {
    struct Barrier {
        bool is_reached = false, has_accessed = false;
        std::uint32_t line = 0;
    };
    std::vector<Barrier> barriers(1);
    for (const WarpTrace& warp : block) {
        std::size_t next = 0;
        std::uint32_t line = 0;
        for (const Step& step : warp) {
            const Instruction& instruction = work.code[step.instruction];
            if (instruction.line != 0) line = instruction.line;
            if (is_access(instruction)) barriers[next].has_accessed = true;
            if (instruction.effect != Effect::barrier) continue;
            barriers[next].is_reached = true;
            barriers[next].line = line;
            if (++next == barriers.size()) barriers.emplace_back();
        }
    }
    for (const Barrier& barrier : barriers) {
        if (!barrier.is_reached || !barrier.has_accessed) continue;
        totals.passes += weight;
        totals.lines[barrier.line].passes += weight;
    }
}

/// What storing costs, against a copy in order: more in pieces. And what is stored last stays in the L2.
double store_cost(const Work& work, const Card& card) {
    const auto weights = weights_of(work);
    double bytes = 0;
    for (std::size_t k = 0; k < work.samples.size(); ++k)
        for (const WarpTrace& warp : work.samples[k])
            for (const Step& step : warp)
                if (work.code[step.instruction].effect == Effect::store)
                    bytes += weights[k] * step.misses * 32;
    const double kept = std::min(1.0, card["l2_dirty_bytes"] / std::max(bytes, 1.0));
    return (1 - kept) * card.piece_cost(work.stored_piece_bytes);
}

/// Cycles that a multiprocessor's blocks take, and what their warps wait for.
struct Simulated {
    double cycles = 0;
    double more_passes = 0, repeats = 0; ///< per block
    std::array<double, wait_count> waited{};
    double recorded_cycles = 0;
    std::vector<WarpRow> rows{};
};

Simulated simulate_share(const Work& work, const Card& card, double recorded_cycles) {
    const std::uint32_t resident = std::max(1U, resident_blocks(work, card));
    const double busy = busy_multiprocessors(work, card), share = static_cast<double>(work.blocks) / busy;
    const auto weights = weights_of(work);
    double steps = 0;
    for (std::size_t k = 0; k < weights.size(); ++k) steps += weights[k] * steps_of(work.samples[k]);
    steps /= static_cast<double>(work.blocks);
    const double waves = 2.0 * resident * steps > max_steps * 4 ? 1 : 2; // at least
    const double least = std::max(waves * resident, 2.0);
    const double most = std::max(least, std::min(max_blocks, max_steps / std::max(steps, 1.0)));
    const bool all = std::ceil(share) <= most;
    const auto count = static_cast<std::size_t>(all ? std::ceil(share) : most);
    std::vector<const BlockTrace*> blocks(count);
    for (std::size_t k = 0; k < count; ++k) {
        const double place = all ? static_cast<double>(k) * busy
                                 : (static_cast<double>(k) + 0.5) / static_cast<double>(count) *
                                       static_cast<double>(work.blocks);
        blocks[k] = &work.samples[sample_of(
            work, std::min(static_cast<std::uint64_t>(place), last_like_others(work)))];
    }
    ShiftTimes times = simulate({.code = work.code,
                                 .blocks = blocks,
                                 .resident = resident,
                                 .busy_multiprocessors = busy,
                                 .atomic_sectors = work.atomic_sectors,
                                 .adds_floats = work.adds_floats,
                                 .store_cost = store_cost(work, card),
                                 .recorded_cycles = recorded_cycles},
                                card);
    Simulated result{.cycles = times.cycles,
                     .more_passes = times.more_passes / static_cast<double>(count),
                     .repeats = times.repeats / static_cast<double>(count),
                     .waited = times.waited,
                     .recorded_cycles = std::min(recorded_cycles, times.cycles + 1),
                     .rows = std::move(times.rows)};
    if (all) return result;
    if (count < 2 * resident) { // One wave: the others take as long.
        result.cycles *= share / static_cast<double>(count);
        return result;
    }
    // Beyond the first waves, blocks end at an even rate.
    auto from = static_cast<std::size_t>(std::min(settled, static_cast<double>(count) / 2));
    auto to = count - static_cast<std::size_t>(std::min(last_in_step, static_cast<double>(count) / 8)) - 1;
    if (to - from < resident) { // Blocks of one wave end together: take a whole one. count >= 2 * resident
        to = count - 1;
        from = std::max<std::size_t>(to, resident) - resident;
    }
    const double per_block = (times.ends[to] - times.ends[from]) / static_cast<double>(to - from);
    result.cycles += per_block * (share - static_cast<double>(count));
    return result;
}

/// Cycles that the last block goes on for, alone on the card. It loads what the others have just stored: from the L2.
double last_cycles(const Work& work, const Card& card) {
    if (!work.last_goes_on) return 0;
    const auto alone = [&](std::uint64_t block) {
        BlockTrace trace = work.samples[sample_of(work, block)];
        for (WarpTrace& warp : trace)
            for (Step& step : warp) step.in_l2 = step.misses;
        const BlockTrace* const only = &trace;
        return simulate({.code = work.code,
                         .blocks = std::span(&only, 1),
                         .busy_multiprocessors = 1,
                         .atomic_sectors = work.atomic_sectors,
                         .adds_floats = work.adds_floats},
                        card)
            .cycles;
    };
    return std::max(0.0, alone(work.blocks - 1) - alone(last_like_others(work)));
}

} // namespace

Totals totals_of(const Work& work, const Card& card) {
    Totals totals;
    const Costs costs(card, store_cost(work, card));
    const auto weights = weights_of(work);
    std::uint32_t lines = 0;
    for (const Instruction& instruction : work.code) lines = std::max(lines, instruction.line);
    totals.lines.resize(lines + 1);
    for (std::size_t k = 0; k < work.samples.size(); ++k) {
        const auto weight = static_cast<std::uint64_t>(weights[k]);
        for (const WarpTrace& warp : work.samples[k]) {
            totals.instructions += weight * warp.size();
            std::uint32_t line = 0;
            for (const Step& step : warp) {
                const Instruction& instruction = work.code[step.instruction];
                if (instruction.line != 0) line = instruction.line;
                const std::uint64_t before = totals.passes;
                add(totals, instruction, step, weights[k], costs);
                totals.lines[line].instructions += weight;
                totals.lines[line].passes += totals.passes - before;
            }
        }
        add_barriers(totals, work, work.samples[k], weight);
    }
    return totals;
}

std::uint32_t resident_blocks(const Work& work, const Card& card) {
    const auto rounded = [](double value, double unit) { return std::ceil(value / unit) * unit; };
    const double warps = std::ceil(work.threads / 32.0),
                 registers = rounded(work.registers * 32.0, card["register_granularity"]);
    const double by_threads = card["threads"] / (warps * 32);
    const double by_registers =
        registers > 0 ? std::floor(card["registers"] / registers / 4) * 4 / warps : card["blocks"];
    const double by_shared = card["shared_bytes"] /
                             rounded(work.shared_bytes + card["shared_reserved"], card["shared_granularity"]);
    return static_cast<std::uint32_t>(std::min({card["blocks"], by_threads, by_registers, by_shared}));
}

std::vector<std::pair<std::string, double>> floors_us(const Work& work, const Card& card) {
    const Totals totals = totals_of(work, card);
    const double cycles_per_us = busy_multiprocessors(work, card) * card["clock"] * 1e3;
    const auto issued = [&](Unit unit) { return totals.issued[static_cast<std::size_t>(unit)]; };
    // Of the two halves of the pipe one has the integers; the rest may go to either.
    const double heavy =
        issued(Unit::fma_heavy) * card["issue_fma_heavy"] + issued(Unit::fma_wide) * card["issue_fma_wide"];
    const double fma = std::max(heavy, heavy / 2 + issued(Unit::fma) * card["issue_fma"]);
    return {{"memory", totals.moved_sectors * 32 / card["bandwidth_loads"] / 1e3},
            {"instructions", static_cast<double>(totals.instructions) / 4 / cycles_per_us},
            {"data_pipe", totals.pipe_cycles / cycles_per_us},
            {"barriers", issued(Unit::adu) * card["adu_warp"] / cycles_per_us},
            {"alu", issued(Unit::alu) * card["issue_alu"] / 4 / cycles_per_us},
            {"fma", fma / 4 / cycles_per_us},
            {"xu", issued(Unit::xu) * card["issue_xu"] / 4 / cycles_per_us},
            {"block_starts", static_cast<double>(work.blocks) / card["block_starts"] / 1e3},
            {"stores", (totals.partial_stores * 4 / 5 / card["partial_stores"] + totals.hot_stores_ns) / 1e3},
            {"atomics", totals.atomics / card.atomic_rate(work.atomic_sectors, work.adds_floats) / 1e3}};
}

std::string kind_of(const Work& work) {
    std::array<double, 16> lanes{};
    const auto of = [&](Effect effect) -> double& { return lanes[static_cast<std::size_t>(effect)]; };
    for (const BlockTrace& block : work.samples)
        for (const WarpTrace& warp : block)
            for (const Step& step : warp)
                of(work.code[step.instruction].effect) += step.lanes * work.code[step.instruction].bytes;
    if (of(Effect::shared_atomic) > 0) return "kernels with shared atomics";
    if (of(Effect::atomic) > 0) return "kernels with global atomics";
    return 4 * of(Effect::store) < of(Effect::load) ? "reductions" : "kernels that store much";
}

Estimate estimate(const Work& work, const Card& card, double recorded_cycles) {
    Estimate result{.floors_us = floors_us(work, card), .waits = {}};
    const double last = last_cycles(work, card);
    Simulated simulated = simulate_share(work, card, recorded_cycles);
    result.time_us = card["launch"] + (simulated.cycles + last) / card["clock"] / 1e3;
    result.more_passes = simulated.more_passes * static_cast<double>(work.blocks);
    result.repeats = simulated.repeats * static_cast<double>(work.blocks);
    result.recorded_cycles = simulated.recorded_cycles;
    result.rows = std::move(simulated.rows);
    for (const auto& [name, floor] : result.floors_us) // Blocks beyond those simulated may end too early.
        result.time_us = std::max(result.time_us, floor);
    const double all = std::accumulate(simulated.waited.begin(), simulated.waited.end(), 0.0);
    for (std::size_t k = 0; k < wait_count && all > 0; ++k)
        result.waits.emplace_back(wait_name(static_cast<Wait>(k)), simulated.waited[k] / all);
    std::sort(result.waits.begin(), result.waits.end(),
              [](const auto& a, const auto& b) { return a.second > b.second; });
    return result;
}

} // namespace emulator::timing
