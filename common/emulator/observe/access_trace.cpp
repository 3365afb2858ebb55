#include "emulator/observe/access_trace.hpp"

#include "emulator/machine/block.hpp"
#include "emulator/machine/counting.hpp"
#include "emulator/machine/memory_traffic.hpp"
#include "emulator/program/names.hpp"
#include "emulator/program/source_location.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <span>
#include <utility>

namespace emulator {

namespace {

TracedPlace place_of(const Code& code, std::uint32_t pc) {
    if (const SourceLocation source = source_location(code, pc))
        return {short_path(source.path), source.line, ptx_statement(code, pc)};
    const std::string_view before = std::string_view(code.module->text).substr(0, code.statements[pc]->place);
    const auto line = std::count(before.begin(), before.end(), '\n') + 1;
    return {"", static_cast<std::uint32_t>(line), ptx_statement(code, pc)};
}

/// "tile" of "_ZZ13setRowReadColPiE4tile", whose readable name is "setRowReadCol(int*)::tile".
std::string last_name(std::string_view mangled) {
    const std::string name = readable_name(std::string(mangled));
    const std::size_t colons = name.rfind("::");
    return colons == std::string::npos ? name : name.substr(colons + 2);
}

struct Cost {
    std::uint32_t count, ideal;
};

Cost cost_of(const Instruction& instruction, const Access& access) {
    if (access.space == ptx::Space::shared) {
        const Wavefronts passes = wavefronts(access);
        return {passes.count, passes.ideal};
    }
    Counters counters;
    count_access(counters, instruction, access);
    return {static_cast<std::uint32_t>(counters[global_sectors(access.kind)]), ideal_sectors(access)};
}

} // namespace

/// Records the requested block.
class TracingObserver final : public Observer {
public:
    TracingObserver(const TraceOptions& options, AccessTrace& trace) : options_(options), trace_(trace) {}
    /// Lanes still wait where the launch failed.
    ~TracingObserver() override { record_waiting(std::exchange(arrivals_, {}), trace_.steps.size()); }
    TracingObserver(const TracingObserver&) = delete;
    TracingObserver& operator=(const TracingObserver&) = delete;

    void block_started(Block& block) override;
    void block_ended(Block& block) override;
    void accessed(const Warp& warp, const Instruction& instruction, const Access& access) override;
    void warp_sync_complete(const Warp& warp, const Instruction& instruction, LaneMask lanes,
                            bool is_barrier) override;
    void barrier_arrive(const Warp& warp, const Instruction& instruction,
                        const BarrierArrival& arrival) override;
    void barrier_complete(Block& block, const BarrierCompletion& completion) override;

private:
    /// An instruction that accesses one kind of memory, or exchanges values between lanes.
    struct Site {
        TracedPlace place;
        std::size_t access = 0; ///< in the trace
        struct Turns {
            std::uint64_t all = 0;      ///< of the warp
            std::uint64_t of_phase = 0; ///< since the block's last barrier
            std::uint32_t barriers = 0; ///< when of_phase was last counted
        };
        std::vector<Turns> of_warp;
    };
    /// Identifies a step: between two barriers of the block, the k-th execution of an instruction by all
    /// warps.
    struct StepKey {
        const Site* site;
        std::uint32_t barriers;
        std::uint64_t turn;
        std::uint32_t pc;
        bool operator==(const StepKey&) const = default;
    };

    /// Lanes that have arrived at a barrier which has not completed.
    struct Arrival {
        std::uint32_t barrier;
        TracedWait wait;        ///< no lanes: they go on at once
        std::size_t first_step; ///< after the last one of the warp
    };

    Site& site_of(const Warp& warp, const Instruction& instruction, ptx::Space space);
    static TracedRequest request_of(const Site& site, const Warp& warp, const Access& access,
                                    const Cost& cost);
    void record_cost(Site& site, const Warp& warp, const Instruction& instruction, const Access& access);
    void record_allocations(const TracedRequest& request);
    /// Returns its index, unless it is left out.
    std::optional<std::size_t> record_step(Site& site, const Warp& warp, const Instruction& instruction,
                                           LaneMask lanes, std::string what, bool is_load);
    std::size_t place_for(const StepKey& key, std::size_t after) const;
    void record_waiting(const std::vector<Arrival>& arrivals, std::size_t end);
    void keep_written();

    const TraceOptions& options_;
    AccessTrace& trace_;
    const Block* block_ = nullptr; ///< the recorded one, while it runs
    const GlobalMemory* memory_ = nullptr;
    std::uint32_t barriers_ = 0;
    std::map<std::pair<const Instruction*, ptx::Space>, Site> sites_;
    std::vector<StepKey> keys_;            ///< of the trace's steps
    std::vector<std::size_t> latest_step_; ///< per warp: one more than its index, 0: none
    std::vector<Arrival> arrivals_;
    std::map<const Instruction*, std::uint32_t> barrier_lines_;
    std::size_t written_step_ = 0;       ///< whose words are about to be written
    std::vector<std::uint32_t> written_; ///< these words: read at the next event
};

void TracingObserver::block_started(Block& block) {
    const Dim3 grid = trace_.grid, index = block.index();
    if (index.x + std::uint64_t{grid.x} * (index.y + std::uint64_t{grid.y} * index.z) != options_.block)
        return;
    block_ = &block;
    memory_ = &block.grid().memory;
    trace_.ran = true;
    trace_.index = index;
    trace_.touched.assign((block.shared().size() + 3) / 4, false);
    latest_step_.assign(trace_.warps(), 0);
}

void TracingObserver::block_ended(Block& block) {
    if (&block != block_) return;
    keep_written();
    block_ = nullptr;
}

void TracingObserver::barrier_arrive(const Warp& warp, const Instruction& instruction,
                                     const BarrierArrival& arrival) {
    if (&warp.block() != block_) return;
    const auto [line, is_new] = barrier_lines_.try_emplace(&instruction);
    if (is_new) {
        const Code& code = *warp.running().frame->code;
        line->second = place_of(code, code.index_of(instruction)).line;
    }
    const LaneMask waiting = arrival.waits ? arrival.lanes : 0;
    arrivals_.push_back({arrival.barrier, {warp.index(), waiting, line->second}, latest_step_[warp.index()]});
}

void TracingObserver::barrier_complete(Block& block, const BarrierCompletion& completion) {
    if (&block != block_) return;
    const auto others =
        std::stable_partition(arrivals_.begin(), arrivals_.end(),
                              [&](const Arrival& arrival) { return arrival.barrier == completion.barrier; });
    const std::vector<Arrival> arrived(arrivals_.begin(), others);
    arrivals_.erase(arrivals_.begin(), others);
    std::size_t end = 0; // of the steps before the barrier
    for (const Arrival& arrival : arrived) end = std::max(end, arrival.first_step);
    if (completion.expected == 0 || completion.expected >= trace_.threads()) {
        end = trace_.steps.size();
        ++barriers_;
    }
    record_waiting(arrived, end);
}

/// They wait during the steps before `end`, and their next ones come after these.
void TracingObserver::record_waiting(const std::vector<Arrival>& arrivals, std::size_t end) {
    for (const Arrival& arrival : arrivals) {
        if (arrival.wait.lanes == 0) continue;
        for (std::size_t step = arrival.first_step; step < end; ++step)
            trace_.steps[step].waiting.push_back(arrival.wait);
        std::size_t& latest = latest_step_[arrival.wait.warp];
        latest = std::max(latest, end);
    }
}

void TracingObserver::accessed(const Warp& warp, const Instruction& instruction, const Access& access) {
    if (&warp.block() != block_) return;
    if (access.space != ptx::Space::shared && access.space != ptx::Space::global) return;
    keep_written();
    if (access.remote || access.is_copy) return; // its banks are another block's, or nothing counts it
    Site& site = site_of(warp, instruction, access.space);
    record_cost(site, warp, instruction, access);
    const bool is_load = access.kind == AccessKind::load;
    std::optional<std::size_t> step;
    if (!is_load || options_.line != 0)
        step = record_step(site, warp, instruction, access.active, access_name(access.space, access.kind),
                           is_load);
    if (options_.values && step)
        trace_.steps[*step].requests.push_back(request_of(site, warp, access, cost_of(instruction, access)));
    if (access.space != ptx::Space::shared) return;
    for_each_lane(access.active, [&](int lane) {
        const std::uint64_t first = access.addresses[lane] / 4,
                            last = (access.addresses[lane] + access.bytes - 1) / 4;
        for (std::uint64_t word = first; word <= last; ++word) {
            trace_.touched[word] = true;
            if (options_.values && step && !is_load) written_.push_back(static_cast<std::uint32_t>(word));
        }
    });
    written_step_ = step.value_or(0);
}

/// An access is reported before it writes, and an event later the words are there.
void TracingObserver::keep_written() {
    for (const std::uint32_t word : std::exchange(written_, {})) {
        TracedWrite write{.word = word};
        const std::span<const std::byte> bytes = block_->shared().subspan(4 * std::size_t{word});
        std::memcpy(&write.value, bytes.data(), std::min(bytes.size(), sizeof write.value));
        trace_.steps[written_step_].writes.push_back(write);
    }
}

void TracingObserver::warp_sync_complete(const Warp& warp, const Instruction& instruction, LaneMask lanes,
                                         bool is_barrier) {
    if (&warp.block() != block_ || is_barrier) return;
    keep_written();
    record_step(site_of(warp, instruction, ptx::Space::reg), warp, instruction, lanes, "exchange", false);
}

TracingObserver::Site& TracingObserver::site_of(const Warp& warp, const Instruction& instruction,
                                                ptx::Space space) {
    const auto [found, is_new] = sites_.try_emplace({&instruction, space});
    Site& site = found->second;
    if (is_new) {
        const Code& code = *warp.running().frame->code;
        site.place = place_of(code, code.index_of(instruction));
        site.access = trace_.accesses.size();
        site.of_warp.resize(trace_.warps());
        if (space != ptx::Space::reg) trace_.accesses.push_back({.place = site.place, .space = space});
    }
    Site::Turns& turns = site.of_warp[warp.index()];
    turns.of_phase = turns.all != 0 && turns.barriers == barriers_ ? turns.of_phase + 1 : 0;
    turns.barriers = barriers_;
    ++turns.all;
    return site;
}

TracedRequest TracingObserver::request_of(const Site& site, const Warp& warp, const Access& access,
                                          const Cost& cost) {
    TracedRequest request{.warp = warp.index(),
                          .turn = site.of_warp[warp.index()].all - 1,
                          .active = access.active,
                          .cost = cost.count,
                          .ideal = cost.ideal};
    std::copy_n(access.addresses.data(), warp_size, request.addresses.begin());
    return request;
}

void TracingObserver::record_cost(Site& site, const Warp& warp, const Instruction& instruction,
                                  const Access& access) {
    TracedAccess& traced = trace_.accesses[site.access];
    const Cost cost = cost_of(instruction, access);
    const bool is_first = traced.requests == 0;
    traced.kind = access.kind;
    traced.bytes = access.bytes;
    ++traced.requests;
    traced.cost += cost.count;
    traced.ideal += cost.ideal;
    const std::uint32_t over = cost.count - std::min(cost.ideal, cost.count),
                        worst_over = traced.worst.cost - std::min(traced.worst.ideal, traced.worst.cost);
    const bool is_worse = over > worst_over || (over == worst_over && warp.index() < traced.worst.warp);
    if (!is_first && !is_worse) return;
    traced.worst = request_of(site, warp, access, cost);
    if (access.space == ptx::Space::global) record_allocations(traced.worst);
}

void TracingObserver::record_allocations(const TracedRequest& request) {
    for (const std::uint64_t address : request.addresses) {
        const auto holds_it = [&](const TracedVariable& known) {
            return address >= known.address && address - known.address < known.bytes;
        };
        if (std::any_of(trace_.allocations.begin(), trace_.allocations.end(), holds_it)) continue;
        if (const Allocation* const allocation = memory_->find(address))
            trace_.allocations.push_back({allocation->origin, allocation->address, allocation->bytes});
    }
}

std::optional<std::size_t> TracingObserver::record_step(Site& site, const Warp& warp,
                                                        const Instruction& instruction, LaneMask lanes,
                                                        std::string what, bool is_load) {
    if (options_.line != 0 && site.place.line != options_.line) return std::nullopt;
    const Code& code = *warp.running().frame->code;
    const StepKey key{&site, barriers_, site.of_warp[warp.index()].of_phase, code.index_of(instruction)};
    std::size_t& latest = latest_step_[warp.index()];
    const auto known = std::find(keys_.begin(), keys_.end(), key);
    auto index = static_cast<std::size_t>(known - keys_.begin());
    if (known == keys_.end()) {
        if (keys_.size() == options_.max_steps) {
            ++trace_.steps_left_out;
            return std::nullopt;
        }
        index = place_for(key, latest);
        const auto here = static_cast<std::ptrdiff_t>(index);
        keys_.insert(keys_.begin() + here, key);
        trace_.steps.insert(trace_.steps.begin() + here, {.place = site.place,
                                                          .what = std::move(what),
                                                          .is_load = is_load,
                                                          .barriers = barriers_,
                                                          .active = std::vector<LaneMask>(trace_.warps())});
        for (std::size_t& other : latest_step_)
            if (other > index) ++other;
        for (Arrival& arrival : arrivals_)
            if (arrival.first_step > index) ++arrival.first_step;
    }
    trace_.steps[index].active[warp.index()] |= lanes;
    latest = index + 1;
    return index;
}

/// Where to insert a warp's new step among those that other warps have made: after the warp's own latest one,
/// with steps of the same turn in program order.
std::size_t TracingObserver::place_for(const StepKey& key, std::size_t after) const {
    std::size_t place = after;
    const auto runs_before = [&](const StepKey& other) {
        if (other.barriers != key.barriers) return other.barriers < key.barriers;
        return other.turn <= key.turn && other.pc < key.pc;
    };
    while (place < keys_.size() && runs_before(keys_[place])) ++place;
    return place;
}

AccessTracing::AccessTracing(TraceOptions options) : options_(options) {}
AccessTracing::~AccessTracing() = default;

std::unique_ptr<Observer> AccessTracing::observer(const Grid& grid) {
    if (trace_.kernel.empty()) {
        trace_.kernel = grid.kernel.readable_name();
        trace_.grid = grid.configuration.grid;
        trace_.block = grid.configuration.block;
        for (const SharedVariable& variable : grid.kernel.shared_variables()) {
            const bool is_dynamic = variable.bytes == 0;
            trace_.shared.push_back({last_name(variable.name), variable.offset,
                                     is_dynamic ? grid.configuration.dynamic_shared_bytes : variable.bytes});
        }
    }
    return std::make_unique<TracingObserver>(options_, trace_);
}

} // namespace emulator
