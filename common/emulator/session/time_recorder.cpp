#include "emulator/session/time_recorder.hpp"

#include "emulator/error.hpp"
#include "emulator/machine/dim3.hpp"
#include "emulator/machine/launch.hpp"
#include "emulator/machine/loaded_module.hpp"
#include "emulator/observe/line_counts.hpp"
#include "emulator/text.hpp"
#include "emulator/timing/estimate.hpp"

#include <cmath>
#include <cstdint>
#include <exception>
#include <string>
#include <utility>

namespace emulator {
namespace {

/// The launch's memory. Lanes that follow each other nearly always read from one allocation.
class LaunchMemory final : public machine_code::MemorySource {
public:
    explicit LaunchMemory(const GlobalMemory& memory) : memory_(memory) {}

    const std::byte* bytes(std::uint64_t address, std::size_t count) const override {
        if (!last_ || !last_->contains(address, count)) last_ = memory_.find(address);
        if (!last_ || !last_->contains(address, count)) return nullptr;
        return reinterpret_cast<const std::byte*>(address);
    }

    std::uint64_t allocation_of(std::uint64_t address) const override {
        if (!last_ || !last_->contains(address, 1)) last_ = memory_.find(address);
        return last_ ? last_->address : 0;
    }

private:
    const GlobalMemory& memory_;
    mutable const Allocation* last_ = nullptr;
};

/// As run() judges it.
bool can_run(const ObservedLaunch& launch) try {
    check_extents(launch.kernel, launch.configuration);
    check_cluster(launch.kernel, launch.configuration);
    return true;
} catch (const Error&) {
    return false;
}

/// Why the clock does not know such launches; empty: it does.
std::string out_of_scope(const ObservedLaunch& launch) {
    if (launch.configuration.cluster || launch.kernel.cluster() || launch.kernel.needs_cluster())
        return "blocks in clusters are not modeled";
    if (launch.configuration.cooperative) return "blocks that wait for each other are not modeled";
    return "";
}

/// Three quarters of the time that is left: a launch that takes too long leaves some for those after it.
machine_code::Deadline most_of_time_left(machine_code::Deadline deadline) {
    const auto now = std::chrono::steady_clock::now();
    return deadline == machine_code::Deadline::max() ? deadline : now + (deadline - now) * 3 / 4;
}

/// Calls `judge` with the kernel's code, the work that the launch would be, and the lines of its instructions.
template <class Judge>
void with_work(const ObservedLaunch& launch, const machine_code::Tools& tools, const timing::Card& card,
               machine_code::Deadline deadline, const Judge& judge) {
    machine_code::expect_time_left(deadline); // before ptxas and nvdisasm
    if (tools.ptxas.empty() || tools.nvdisasm.empty())
        throw machine_code::NotUnderstood("ptxas or nvdisasm is missing");
    const Kernel& kernel = launch.kernel;
    const std::string listing = machine_code::listing_of(kernel.module().ptx().text, kernel.name(), tools);
    machine_code::Code code = machine_code::read_listing(listing, kernel.name());
    const MachineLines lines(kernel.code(),
                             machine_code::unit_with(kernel.module().ptx().text, kernel.name()));
    for (machine_code::Instruction& instruction : code.instructions)
        instruction.line = lines.find(instruction.line);
    const LaunchMemory memory(launch.memory);
    const machine_code::LaunchView view{
        .grid = launch.configuration.grid,
        .block = launch.configuration.block,
        .parameters = launch.parameters,
        .shared_bytes = kernel.static_shared_bytes() + launch.configuration.dynamic_shared_bytes,
        .memory = memory,
        .address_of = [&](const std::string& variable) {
            const Allocation* const place = kernel.module().variable(variable);
            return place ? place->address : 0;
        }};
    judge(code, machine_code::sample(code, view, card, most_of_time_left(deadline)), lines);
}

Json object(const std::vector<std::pair<std::string, double>>& values) {
    Json json = Json::object();
    for (const auto& [name, value] : values) json[name] = value;
    return json;
}

/// What tells launches apart, but for the data that they find.
std::string key_of(const ObservedLaunch& launch) {
    const LaunchConfiguration& configuration = launch.configuration;
    std::string key =
        launch.kernel.name() + " " + triple(configuration.grid) + " " + triple(configuration.block);
    // The text, since another module may come to the place of one that was unloaded.
    key += " " + std::to_string(configuration.dynamic_shared_bytes) + " " +
           std::to_string(std::hash<std::string_view>()(launch.kernel.module().ptx().text)) +
           out_of_scope(launch) + " ";
    return key.append(reinterpret_cast<const char*>(launch.parameters.data()), launch.parameters.size());
}

/// The error found for the lessons' kernels of the kind and for those of no lesson, if some were looked at.
void add_error(Json& record, const std::string& kind, const timing::Card& card) {
    Json& error = record["error_found"] = Json{{"kernels", kind}};
    if (const timing::FoundError* const found = card.error_of(kind))
        error.update(Json{{"median_percent", found->median}, {"most_percent", found->most}});
    if (const timing::FoundError* const others = card.error_of("kernels of no lesson"))
        error["of_no_lesson"] = Json{{"median_percent", others->median}, {"most_percent", others->most}};
}

/// So many cycles are in a picture.
constexpr double drawn_cycles = 4000;

Json timeline_of(const timing::Estimate& estimate) {
    const auto rounded = [](double cycle) { return std::round(cycle * 10) / 10; };
    Json warps = Json::array();
    for (const timing::WarpRow& row : estimate.rows) {
        Json runs = Json::array();
        for (const timing::WarpRun& run : row.runs)
            runs.push_back({timing::wait_name(run.state), rounded(run.from), rounded(run.to)});
        Json loads = Json::array();
        for (const timing::WarpLoad& load : row.loads)
            loads.push_back({rounded(load.from), rounded(load.to), load.bytes});
        warps.push_back({{"block", row.block},
                         {"place", row.place},
                         {"warp", row.warp},
                         {"runs", std::move(runs)},
                         {"loads", std::move(loads)}});
    }
    return {{"cycles", rounded(estimate.recorded_cycles)}, {"warps", std::move(warps)}};
}

/// What the launch executes. \param lines null: without "lines_sm_90"
void add_counts(Json& record, const timing::Totals& totals, const std::vector<CodeLine>* lines) {
    record["instructions_sm_90"] = totals.instructions;
    record["data_pipe_passes"] = totals.passes;
    record["data_pipe_conflicts"] = totals.conflicts;
    if (!lines) return;
    Json& list = record["lines_sm_90"] = Json::array();
    const auto add = [&](const CodeLine& line, const timing::LineTotals& sums) {
        if (sums.instructions != 0)
            list.push_back({line.function, line.path, line.line, sums.instructions, sums.passes});
    };
    add(lines->at(1), totals.lines[0]); // a warp began with what has no line
    for (std::size_t k = 1; k < totals.lines.size(); ++k) add(lines->at(k), totals.lines[k]);
}

/// Of the machine code that the launch executes, for --lines: its counts, in all and by line, or why there are none.
Json machine_code_of(const ObservedLaunch& launch, const machine_code::Tools& tools, const timing::Card& card,
                     machine_code::Deadline deadline) {
    Json record{{"record", "machine code"}};
    try {
        with_work(launch, tools, card, deadline,
                  [&](const machine_code::Code&, const timing::Work& work, const MachineLines& lines) {
                      add_counts(record, timing::totals_of(work, card), &lines.lines());
                  });
    } catch (const std::exception& error) { // The program must not notice what fails here.
        record["no_sm_90"] = error.what();
    }
    return record;
}

/// The rest of the record: an estimate, or a reason why there is none; and the floors that are known.
Json time_of(const ObservedLaunch& launch, const machine_code::Tools& tools, const timing::Card& card,
             machine_code::Deadline deadline, bool by_line, bool draws) {
    Json record{{"record", "time"}, {"card", card.name()}};
    if (card.has("peak_bandwidth")) record["peak_bandwidth_gbs"] = card["peak_bandwidth"];
    // Known of all launches.
    const double blocks = static_cast<double>(launch.configuration.grid.count());
    record["floors_us"] = {{"block_starts", blocks / card["block_starts"] / 1e3}};
    std::string reason = out_of_scope(launch);
    try {
        with_work(launch, tools, card, deadline,
                  [&](const machine_code::Code& code, const timing::Work& work, const MachineLines& lines) {
                      const timing::Totals totals = timing::totals_of(work, card);
                      add_counts(record, totals, by_line ? &lines.lines() : nullptr);
                      record["floors_us"] = object(timing::floors_us(work, card));
                      if (reason.empty()) reason = machine_code::out_of_scope(code, work);
                      if (!reason.empty()) return;
                      machine_code::expect_time_left(deadline);
                      const timing::Estimate estimate =
                          timing::estimate(work, card, draws ? drawn_cycles : 0);
                      if (!std::isfinite(estimate.time_us))
                          throw machine_code::NotUnderstood("the model gives no number");
                      record["time_us_estimated"] = estimate.time_us;
                      record["data_pipe_passes_estimated"] =
                          std::llround(static_cast<double>(totals.passes) + estimate.more_passes);
                      record["data_pipe_conflicts_estimated"] =
                          std::llround(static_cast<double>(totals.conflicts) + estimate.repeats);
                      record["waits"] = object(estimate.waits);
                      add_error(record, timing::kind_of(work), card);
                      if (draws) record["timeline"] = timeline_of(estimate);
                  });
    } catch (const machine_code::NotUnderstood& error) {
        if (reason.empty()) reason = error.what();
    } catch (const std::exception& error) { // The program must not notice what fails here.
        reason = std::string("the estimate failed: ") + error.what();
    }
    if (!reason.empty()) record["no_estimate"] = reason;
    return record;
}

} // namespace

Watcher* TimeRecorder::begin(const ObservedLaunch& launch) {
    if (!launch.selected || !can_run(launch)) return nullptr;
    const bool draws = draws_ && drawn_.insert(launch.kernel.name()).second;
    const auto [time, is_new] = times_.try_emplace(key_of(launch));
    const timing::Card& card = timing::find_card(card_.empty() ? "h200" : card_); // without: for its caches
    if ((is_new || draws) && card_.empty())
        time->second = machine_code_of(launch, tools_, card, deadline_);
    else if (is_new || draws)
        time->second = time_of(launch, tools_, card, deadline_, by_line_, draws);
    pending_[launch.number] = &time->second;
    return nullptr;
}

std::vector<Json> TimeRecorder::end(const ObservedLaunch& launch) {
    const auto pending = pending_.extract(launch.number);
    if (!pending) return {};
    Json& time = *pending.mapped();
    std::vector<Json> records{time};
    time.erase("timeline"); // large, and for the first launch alone
    return records;
}

} // namespace emulator
