#include "emulator/machine_code/sampling.hpp"

#include "emulator/machine/memory_traffic.hpp"
#include "emulator/machine_code/actions.hpp"
#include "emulator/machine_code/spread.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <map>

namespace emulator::machine_code {
namespace {

using timing::Effect, timing::Latency, timing::Unit;

constexpr std::size_t max_steps = 12'000'000; ///< of the blocks that a multiprocessor holds at once
constexpr std::size_t enough_steps = 3'000'000, max_samples = 40; ///< of all blocks that are interpreted
constexpr double golden_section = 0.618;
/// Sectors are hot if there are no more of them, and if as many blocks store to each.
constexpr double most_hot_sectors = 1024, least_stores_to_hot = 16;

struct UnitOf {
    std::string_view bases; ///< with a blank before and after each
    Unit unit;
    Latency latency = Latency::other;
};

constexpr UnitOf units[] = {
    {" ISETP LOP3 SHF IADD3 LEA SEL MOV PRMT VOTE PLOP3 VIMNMX VIMNMX3 VIADDMNMX IABS FSETP FSET FSEL FMNMX "
     "P2R R2P CS2R I2FP F2FP SGXT VABSDIFF HSETP2 HSET2 HMNMX2 ",
     Unit::alu},
    {" FADD FMUL FFMA ", Unit::fma},
    {" IMAD VIADD IDP HADD2 HMUL2 HFMA2 ", Unit::fma_heavy}, // HFMA2.MMA: see below
    {" DADD DMUL DFMA DSETP ", Unit::fp64},
    {" I2F F2I F2F FRND MUFU POPC BREV FLO FCHK ", Unit::xu, Latency::xu},
    {" REDUX ", Unit::xu, Latency::redux},
    {" R2UR ELECT VOTEU ", Unit::uniform},
    {" S2R S2UR ", Unit::adu, Latency::special_register}, // S2R of SR_TID: see below
    {" LDC ", Unit::adu, Latency::constant},
    {" MATCH ", Unit::adu, Latency::match},
    {" B2R ", Unit::adu},
    {" BAR ", Unit::adu},
    {" BRA BSSY BSYNC BMOV EXIT WARPSYNC BREAK CALL RET BRX PREEXIT ACQBULK ", Unit::branch},
    {" SHFL ", Unit::shared, Latency::shuffle},
    {" LDS STS ATOMS ", Unit::shared, Latency::shared_load},
    {" MEMBAR CCTL ", Unit::shared}, // A fence has both, and takes two passes.
    {" LDG STG LD ST LDL STL RED REDG ATOMG ATOM ", Unit::global},
};

Effect effect_of(const Instruction& instruction) {
    static const std::map<std::string, Effect, std::less<>> effects{
        {"LDG", Effect::load},     {"LD", Effect::load},
        {"ST", Effect::store},     {"LDL", Effect::load},
        {"STL", Effect::store},    {"STG", Effect::store},
        {"RED", Effect::atomic},   {"REDG", Effect::atomic},
        {"ATOMG", Effect::atomic}, {"ATOM", Effect::atomic},
        {"LDS", Effect::shared},   {"STS", Effect::shared},
        {"SHFL", Effect::shared},  {"ATOMS", Effect::shared_atomic},
        {"BAR", Effect::barrier},  {"EXIT", Effect::exit},
        {"BRA", Effect::branch},   {"CALL", Effect::jump},
        {"BRX", Effect::jump},     {"RET", Effect::jump},
        {"BSYNC", Effect::meet}};
    if (instruction.base == "MEMBAR" && !instruction.has("CTA")) return Effect::fence;
    const auto found = effects.find(instruction.base);
    return found == effects.end() ? Effect::none : found->second;
}

/// What tells blocks apart: how much their warps execute, and what it costs.
using Signature = std::array<std::uint64_t, 5>;

Signature signature_of(const timing::BlockTrace& block) {
    Signature sums{};
    for (const timing::WarpTrace& warp : block)
        for (const timing::Step& step : warp) {
            ++sums[0];
            sums[1] += step.lanes;
            sums[2] += step.passes;
            sums[3] += step.sectors;
            sums[4] += step.same;
        }
    return sums;
}

/// What some load instructions load: their addresses overlap. Those that load most come first.
struct LoadedArray : LoadedRange {
    std::vector<std::uint32_t> instructions;
};

std::vector<LoadedArray> arrays_of(const LoadedRanges& ranges) {
    std::vector<LoadedArray> sorted, arrays;
    for (const auto& [instruction, range] : ranges) sorted.push_back({range, {instruction}});
    std::sort(sorted.begin(), sorted.end(),
              [](const LoadedArray& a, const LoadedArray& b) { return a.begin < b.begin; });
    for (const LoadedArray& next : sorted) {
        if (arrays.empty() || next.begin >= arrays.back().end) {
            arrays.push_back(next);
            continue;
        }
        LoadedArray& array = arrays.back();
        array.add(next);
        array.instructions.push_back(next.instructions.front());
    }
    for (LoadedArray& array : arrays)
        std::stable_sort(
            array.instructions.begin(), array.instructions.end(),
            [&](std::uint32_t a, std::uint32_t b) { return ranges.at(a).sectors > ranges.at(b).sectors; });
    return arrays;
}

struct L2 {
    double bytes = 0;
    double kept_bytes = 0;  ///< of an array that is read at random places: each half of the L2 keeps its own
    double dirty_bytes = 0; ///< that are stored and not yet written to memory
};

class Sampling {
public:
    Sampling(const Code& code, const LaunchView& launch, std::size_t steps_of_block, double blocks_at_once,
             const L2& l2, Deadline deadline)
        : code_(code), launch_(launch), steps_of_block_(steps_of_block), deadline_(deadline),
          blocks_at_once_(blocks_at_once), l2_(l2) {}

    /// Looks at both ends, and into wide gaps before narrow ones, so that it has looked everywhere when it has seen
    /// enough; into gaps between blocks that execute the same only after all others. Not at the middles: of a grid of
    /// 2^n blocks these are all alike modulo smaller powers of two.
    void run() {
        std::deque<std::pair<std::uint64_t, std::uint64_t>> gaps{{0, launch_.grid.count() - 1}}, later;
        while (!gaps.empty() || !later.empty()) {
            auto& next = gaps.empty() ? later : gaps;
            const auto [first, last] = next.front();
            next.pop_front();
            const std::size_t a = sample_block(first), b = sample_block(last);
            if (last - first < 2) continue;
            if (seen_.size() >= max_samples || steps_ >= enough_steps) return;
            const std::uint64_t within =
                first + static_cast<std::uint64_t>(static_cast<double>(last - first) * golden_section);
            if (sample_block(within) == a && a == b) continue;
            for (const auto& gap : {std::pair(first, within), std::pair(within, last)})
                (execute_the_same(gap.first, gap.second) ? later : gaps).push_back(gap);
        }
    }

    /// Where blocks count, one of them finds that all others have added, and goes on with what they left.
    void look_at_last() {
        const std::uint64_t last = launch_.grid.count() - 1;
        if (counters_.empty() || last == 0) return;
        expect_time_left(deadline_);
        InterpretedBlock interpreted =
            interpret(code_, launch_, last, steps_of_block_, &counters_, deadline_);
        if (signature_of(interpreted.trace) == signature_of(samples_[seen_[last]])) return;
        goes_on_ = true;
        seen_[last] = samples_.size();
        samples_.push_back(std::move(interpreted.trace));
    }

    void take_into(timing::Work& work) {
        work.stored_piece_bytes = stored_pieces();
        for (const auto& [block, sample] : seen_)
            if (work.runs.empty() || work.runs.back().sample != sample) work.runs.push_back({block, sample});
        work.samples = std::move(samples_);
        work.last_goes_on = goes_on_;
        take_from_l2(work);
        work.atomic_sectors = atomic_sectors();
        work.adds_floats = adds_floats(work);
    }

private:
    /// Looks at the second block, too.
    double stored_pieces() const {
        if (stored_by_first_.empty() || launch_.grid.count() == 1) return 0;
        return stored_piece_bytes(
            stored_by_first_,
            in_order(interpret(code_, launch_, 1, steps_of_block_, nullptr, deadline_).places));
    }

    /// Of places, those that are stored to, and not at random.
    std::vector<Place> in_order(std::vector<Place> places) const {
        std::erase_if(places, [&](const Place& place) {
            return effect_of(code_.instructions[place.instruction]) != Effect::store ||
                   is_scattered(place.instruction);
        });
        return places;
    }

    bool adds_floats(const timing::Work& work) const {
        for (const timing::BlockTrace& block : work.samples)
            for (const timing::WarpTrace& warp : block)
                for (const timing::Step& step : warp) {
                    const Instruction& instruction = code_.instructions[step.instruction];
                    const bool is_atomic = work.code[step.instruction].effect == Effect::atomic;
                    if (is_atomic && (instruction.has("F32") || instruction.has("F64"))) return true;
                }
        return false;
    }

    /// Those of the whole launch: if no two blocks that were looked at share one, each block has its own.
    double atomic_sectors() const {
        const double each = static_cast<double>(sum_of_atomic_sectors_) / static_cast<double>(seen_.size());
        const bool shares = sum_of_atomic_sectors_ > atomic_sectors_.size();
        return shares ? static_cast<double>(atomic_sectors_.size())
                      : each * static_cast<double>(launch_.grid.count());
    }

    /// How many blocks each one that was looked at stands for.
    double blocks_of_each() const {
        return static_cast<double>(launch_.grid.count()) / static_cast<double>(seen_.size());
    }

    /// If all blocks together load more bytes than there are between the addresses of an array, some load again what others
    /// have loaded. That is in the L2 if all of the array fits there; or if all fits there that the blocks use that run at
    /// once, and each uses a narrow part of the array, so that those who share are neighbors. Of an array that is too large,
    /// scattered loads find what the L2 keeps of it.
    void take_from_l2(timing::Work& work) const {
        std::vector<std::uint8_t> reused(work.code.size()); // of 255, by instruction
        const double used_at_once = static_cast<double>(sum_of_used_sectors_ * sector_bytes) /
                                    static_cast<double>(seen_.size()) * blocks_at_once_;
        for (const LoadedArray& array : arrays_of(loaded_)) {
            const auto bytes = static_cast<double>(array.end - array.begin + sector_bytes);
            const double all = static_cast<double>(array.sectors * sector_bytes) * blocks_of_each();
            const double needed = std::min(bytes, std::max(used_at_once, static_cast<double>(array.widest)));
            const bool is_shared = bytes < all && needed <= l2_.bytes;
            double first_touched =
                bytes; // by those of the instructions that load most, the rest is there already
            for (const std::uint32_t instruction : array.instructions) {
                const double own =
                    static_cast<double>(loaded_.at(instruction).sectors * sector_bytes) * blocks_of_each();
                const double share = is_scattered(instruction) ? found_again(bytes, all, l2_.kept_bytes)
                                     : is_shared && own > 0    ? 1 - std::min(own, first_touched) / own
                                                               : 0;
                first_touched -= std::min(own, first_touched);
                reused[instruction] = static_cast<std::uint8_t>(255 * share);
            }
        }
        for (const auto& [instruction, range] : stored_)
            if (is_scattered(instruction))
                reused[instruction] = static_cast<std::uint8_t>(
                    255 * found_again(static_cast<double>(range.end - range.begin),
                                      static_cast<double>(range.sectors * sector_bytes) * blocks_of_each(),
                                      l2_.dirty_bytes));
        for (const auto& [instruction, range] : stored_) {
            const double sectors = std::ceil(static_cast<double>(range.end - range.begin) / sector_bytes);
            const double all = static_cast<double>(range.sectors) * blocks_of_each();
            const bool is_counted =
                !counters_.empty(); // An atomic tells blocks where to store: it is not known for others.
            if (!is_counted && sectors <= most_hot_sectors && all >= least_stores_to_hot * sectors)
                work.code[instruction].hot_sectors = static_cast<std::uint32_t>(sectors);
        }
        for (timing::BlockTrace& block : work.samples)
            for (timing::WarpTrace& warp : block)
                for (timing::Step& step : warp) {
                    step.reused = reused[step.instruction];
                    step.is_scattered = is_scattered(step.instruction);
                }
    }

    bool is_scattered(std::uint32_t instruction) const {
        const auto spread = spreads_.find(instruction);
        return spread != spreads_.end() && spread->second.is_scattered();
    }

    /// Of so many bytes at random places of an array, the share that is in the L2: what has been there before and still is.
    /// \param kept of an array that is too large for it
    double found_again(double array, double all, double kept) const {
        const double different = array * (1 - std::exp(-all / array));
        return (1 - different / all) * (array <= l2_.kept_bytes ? 1 : kept / array);
    }

    /// Of blocks that were looked at. They may still differ in what their accesses cost.
    bool execute_the_same(std::uint64_t a, std::uint64_t b) const {
        const Signature &one = signatures_[seen_.at(a)], &other = signatures_[seen_.at(b)];
        return one[0] == other[0] && one[1] == other[1];
    }

    /// The sample that the block is like.
    std::size_t sample_block(std::uint64_t block) {
        if (const auto found = seen_.find(block); found != seen_.end()) return found->second;
        expect_time_left(deadline_);
        InterpretedBlock interpreted = interpret(code_, launch_, block, steps_of_block_, nullptr, deadline_);
        const Signature signature = signature_of(interpreted.trace);
        sum_of_atomic_sectors_ += interpreted.atomic_sectors.size();
        atomic_sectors_.merge(interpreted.atomic_sectors);
        sum_of_used_sectors_ += interpreted.used_sectors;
        add_spread(spreads_, interpreted.places);
        if (block == 0) stored_by_first_ = in_order(interpreted.places);
        for (const auto& [instruction, range] : interpreted.stored) stored_[instruction].add(range);
        for (auto& [instruction, range] : interpreted.loaded) {
            range.widest = range.end - range.begin;
            loaded_[instruction].add(range);
        }
        counters_ = std::move(interpreted.counters);
        steps_ += signature[0];
        const auto [place, is_new] = known_.try_emplace(signature, samples_.size());
        if (is_new) {
            samples_.push_back(std::move(interpreted.trace));
            signatures_.push_back(signature);
        }
        return seen_[block] = place->second;
    }

    const Code& code_;
    const LaunchView& launch_;
    std::size_t steps_of_block_, steps_ = 0;
    Deadline deadline_;
    std::map<std::uint64_t, std::size_t> seen_; ///< samples by block
    std::map<Signature, std::size_t> known_;
    std::vector<timing::BlockTrace> samples_;
    std::vector<Signature> signatures_; ///< of those
    std::unordered_set<std::uint64_t> atomic_sectors_;
    std::size_t sum_of_atomic_sectors_ = 0;
    LoadedRanges loaded_; ///< by all blocks that were looked at
    LoadedRanges stored_; ///< the same of what they store
    Spreads spreads_;     ///< of all of them
    std::vector<Place> stored_by_first_;
    std::size_t sum_of_used_sectors_ = 0;
    double blocks_at_once_;
    L2 l2_;
    Counters counters_; ///< of the latest block
    bool goes_on_ = false;
};

/// How many blocks a multiprocessor really holds.
double held_blocks(const timing::Work& work, const timing::Card& card) {
    const double share = std::ceil(static_cast<double>(work.blocks) / card["multiprocessors"]);
    return std::clamp<double>(timing::resident_blocks(work, card), 1, share);
}

/// What is left of the L1 cache for a block, beside its multiprocessor's shared memory.
std::uint64_t cache_bytes(const timing::Work& work, const timing::Card& card) {
    const double resident = std::max(1U, timing::resident_blocks(work, card));
    const double shared = resident * (work.shared_bytes + card["shared_reserved"]);
    return static_cast<std::uint64_t>(std::max(0.0, card["l1_bytes"] - shared) / resident);
}

/// Registers of 32 bits that an access reads: an address of 64 bits in global memory, and what is stored or added.
std::uint8_t operands_of(const Instruction& instruction, Unit unit) {
    const Effect effect = effect_of(instruction);
    const bool is_given = effect == Effect::store || effect == Effect::atomic ||
                          effect == Effect::shared_atomic || instruction.base == "STS";
    const std::uint32_t words = is_given ? (bytes_of(instruction) + 3) / 4 : 0;
    return static_cast<std::uint8_t>((unit == Unit::global ? 2 : 1) + words);
}

} // namespace

timing::Instruction timing_of(const Instruction& instruction) {
    timing::Instruction result{.effect = effect_of(instruction),
                               .stall = instruction.control.stall,
                               .write_scoreboard = instruction.control.write_scoreboard,
                               .read_scoreboard = instruction.control.read_scoreboard,
                               .waits = instruction.control.waits,
                               .bytes = static_cast<std::uint8_t>(bytes_of(instruction)),
                               .goes_first = !instruction.control.yields,
                               .line = instruction.line};
    for (const Operand& operand : instruction.operands)
        if (operand.kind == Operand::Kind::constant)
            result.constants = static_cast<std::uint8_t>(1 + operand.bits / 64 % 255);
    const auto names = [&](const UnitOf& unit, std::string_view base) {
        return unit.bases.find(" " + std::string(base) + " ") != std::string_view::npos;
    };
    for (const UnitOf& unit : units) {
        if (!names(unit, instruction.base)) continue;
        result.unit = unit.unit;
        result.latency = static_cast<std::uint8_t>(unit.latency);
        // The data pipe delivers a thread's index and its lane.
        const auto is_of = [&](const char* name) { return instruction.text.find(name) != std::string::npos; };
        if (instruction.base == "S2R" && (is_of("SR_TID") || is_of("SR_LANEID"))) result.unit = Unit::shared;
        result.operands = operands_of(instruction, unit.unit);
        if (unit.unit == Unit::fma_heavy && (instruction.has("WIDE") || instruction.has("HI")))
            result.unit = Unit::fma_wide;
        if (instruction.has("MMA")) result.unit = Unit::fma; // beside the half that multiplies integers
        return result;
    }
    const bool is_nothing = instruction.base == "NOP" || instruction.base == "YIELD";
    if (instruction.base.starts_with("U") && !is_nothing) result.unit = Unit::uniform;
    return result;
}

void expect_time_left(Deadline deadline) {
    if (std::chrono::steady_clock::now() >= deadline)
        throw NotUnderstood("that takes longer than is spent unasked; ask with --time");
}

timing::Work sample(const Code& code, LaunchView launch, const timing::Card& card, Deadline deadline) {
    timing::Work facts;
    for (const Instruction& instruction : code.instructions) facts.code.push_back(timing_of(instruction));
    facts.blocks = launch.grid.count();
    facts.threads = static_cast<std::uint32_t>(launch.block.count());
    facts.registers = code.registers;
    facts.shared_bytes = launch.shared_bytes;
    launch.cache_bytes = cache_bytes(facts, card);
    const double held = held_blocks(facts, card);
    const double at_once =
        std::min<double>(static_cast<double>(facts.blocks), held * card["multiprocessors"]);
    Sampling sampling(code, launch, static_cast<std::size_t>(max_steps / held), at_once,
                      {.bytes = card["l2_bytes"],
                       .kept_bytes = card["l2_kept_bytes"],
                       .dirty_bytes = card["l2_dirty_bytes"]},
                      deadline);
    sampling.run();
    sampling.look_at_last();
    sampling.take_into(facts);
    return facts;
}

std::string out_of_scope(const Code& code, const timing::Work& work) {
    std::vector<bool> executed(code.instructions.size());
    for (const timing::BlockTrace& block : work.samples)
        for (const timing::WarpTrace& warp : block)
            for (const timing::Step& step : warp)
                if (step.lanes > 0) executed[step.instruction] = true;
    for (std::size_t k = 0; k < executed.size(); ++k) {
        const Instruction& instruction = code.instructions[k];
        const Effect effect = effect_of(instruction);
        if (executed[k] && (instruction.base == "PREEXIT" || instruction.base == "ACQBULK"))
            return "launches that overlap are not modeled";
        if (!executed[k] || (effect != Effect::atomic && effect != Effect::shared_atomic)) continue;
        if (instruction.has("CAS") || instruction.has("CAST"))
            return "how often a compare-and-swap fails is not modeled";
    }
    return "";
}

} // namespace emulator::machine_code
