/// Observes this process's launches for `emulate`, and appends the results to its report file: JSON Lines,
/// one record per line (see records.hpp). Each is written as soon as it is known, so that a crash of the
/// program loses none.
///
/// To observe something new: write a Watcher (check/ or observe/), wrap it in a Recorder, and add the
/// recorder to make_recorders(). Checkers report to its Findings; they need no records of their own.
#include "emulator/runtime/observation.hpp"

#include "emulator/check/block_deduplication.hpp"
#include "emulator/check/init_checker.hpp"
#include "emulator/check/memory_checker.hpp"
#include "emulator/check/race/race_checker.hpp"
#include "emulator/check/race/stream_races.hpp"
#include "emulator/check/race/weak_memory.hpp"
#include "emulator/check/sync_checker.hpp"
#include "emulator/device_count.hpp"
#include "emulator/error.hpp"
#include "emulator/machine/loaded_module.hpp"
#include "emulator/program/names.hpp"
#include "emulator/ptx/grading.hpp"
#include "emulator/session/launch_progress.hpp"
#include "emulator/session/recorder.hpp"
#include "emulator/session/recorders.hpp"
#include "emulator/session/records.hpp"
#include "emulator/session/replay_recorder.hpp"
#include "emulator/session/request.hpp"
#include "emulator/session/time_recorder.hpp"

#include <nlohmann/json.hpp>

#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <unistd.h>
#include <utility>

namespace emulator {

namespace {

/// Opens the file each time: the program might close an open descriptor and reuse its number.
bool append(const std::string& path, std::string_view text) {
    const int file = open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
    if (file < 0) return false;
    ssize_t written = 0;
    while (!text.empty() && (written = ::write(file, text.data(), text.size())) >= 0)
        text.remove_prefix(static_cast<std::size_t>(written));
    close(file);
    return text.empty();
}

/// For the program that asks for it. A reason may quote a path, in any encoding.
std::string estimate_of(Json record) {
    record.erase("record");
    record.erase("timeline");
    record.erase("lines_sm_90");
    return record.dump(-1, ' ', false, Json::error_handler_t::replace);
}

bool has_several_devices() {
    const char* const text = std::getenv(devices_variable);
    return text && parse_device_count(text).value_or(1) > 1;
}

/// Appends records to a report file.
class ReportingObservation final : public Observation {
public:
    ReportingObservation(Request request, std::string path);

    std::string replacing_ptx() const override { return request_.ptx; }
    std::uint64_t first_address() const override { return request_.replay ? replay_first_address : 0; }
    bool only_estimates() const override { return request_.time_only; }
    std::optional<std::uint64_t> schedule() const override { return request_.schedule; }
    const std::string& last_estimate() const override { return last_estimate_; }
    std::unique_ptr<RunningLaunch> begin_launch(const Kernel& kernel,
                                                const LaunchConfiguration& configuration,
                                                std::span<const std::byte> parameters, GlobalMemory& memory,
                                                bool takes_turns) override;
    std::vector<MemoryEvents*> memory_listeners() const override;
    void write_findings() override { write_findings(nullptr); }
    void write_rejected_launch() override;
    void write_refusal(const std::string& function) override;
    void write_error(std::string_view text) override;
    void finish() override;

private:
    class ReportedLaunch;

    std::vector<std::unique_ptr<Recorder>> make_recorders();
    void write_findings(const ObservedLaunch* launch);
    void write(Json record);
    void notice_fork();

    const Request request_;
    const std::string path_; ///< of the report
    const std::function<bool(const std::string&)> is_wanted_;
    /// The checkers' findings. Those during a launch belong to it, and are written when it ends, if it is
    /// selected.
    Findings findings_;
    std::vector<std::unique_ptr<Recorder>> recorders_;
    int process_ = 0;                    ///< the one in the report; differs after a fork
    std::uint64_t launches_ = 0;         ///< that process's
    LaunchProgress* progress_ = nullptr; ///< that process's
    std::string last_estimate_;          ///< as JSON; empty: none
    bool failed_ = false;                ///< the report could not be written
};

/// One line per kind of request.
std::vector<std::unique_ptr<Recorder>> ReportingObservation::make_recorders() {
    std::vector<std::unique_ptr<Recorder>> recorders;
    if (request_.lines) recorders.push_back(std::make_unique<LineRecorder>());
    if (!request_.draw.empty() && request_.draw != "time")
        recorders.push_back(std::make_unique<AccessRecorder>(
            TraceOptions{.line = request_.line.value_or(0), .values = request_.values}));
    if (!request_.time.empty() || request_.lines)
        recorders.push_back(std::make_unique<TimeRecorder>(request_));
    if (has_several_devices()) recorders.push_back(std::make_unique<PeerRecorder>());
    if (request_.replay) recorders.push_back(std::make_unique<ReplayRecorder>());
    if (request_.checks("mem"))
        recorders.push_back(std::make_unique<CheckRecorder<MemoryChecker>>(findings_, request_.leaks));
    if (request_.checks("init")) recorders.push_back(std::make_unique<CheckRecorder<InitChecker>>(findings_));
    if (request_.checks("race"))
        recorders.push_back(
            std::make_unique<CheckRecorder<StreamRaceChecker>>(findings_, request_.global_races));
    if (request_.checks("race"))
        recorders.push_back(std::make_unique<CheckRecorder<RaceChecker>>(
            findings_, RaceOptions{.global = request_.global_races}));
    if (request_.checks("sync")) recorders.push_back(std::make_unique<CheckRecorder<SyncChecker>>(findings_));
    return recorders;
}

ReportingObservation::ReportingObservation(Request request, std::string path)
    : request_(std::move(request)), path_(std::move(path)), is_wanted_(kernel_filter(request_.kernel)) {
    recorders_ = make_recorders();
    notice_fork();
}

/// A launch with observers.
class ReportingObservation::ReportedLaunch final : public RunningLaunch {
public:
    ReportedLaunch(ReportingObservation& all, std::uint64_t number, const Kernel& kernel,
                   const LaunchConfiguration& configuration, std::span<const std::byte> parameters,
                   GlobalMemory& memory, bool takes_turns)
        : all_(all), name_(kernel.readable_name()), configuration_(configuration),
          parameters_(parameters.begin(), parameters.end()),
          observed_{.number = number,
                    .kernel = kernel,
                    .configuration = configuration_,
                    .selected = all.is_wanted_(name_) && number == all.request_.launch.value_or(number),
                    .parameters = parameters_,
                    .memory = memory,
                    .takes_turns = takes_turns} {
        // One by one: building a list would copy them, and there may be many launches.
        record_["record"] = observed_.selected ? "launch" : "other launch";
        record_["launch"] = number;
        record_["kernel"] = short_name(name_);
        record_["name"] = name_;
        if (has_several_devices()) record_["device"] = configuration.device;
        record_["grid"] = configuration.grid;
        record_["block"] = configuration.block;
        record_["static_shared_bytes"] = kernel.static_shared_bytes();
        record_["dynamic_shared_bytes"] = configuration.dynamic_shared_bytes;
        for (const auto& [kind, instruction] : ptx::uncounted_traffic(kernel.module().ptx(), kernel.name()))
            record_["uncounted"][std::string(kind)] = instruction;
    }
    ReportedLaunch(const ReportedLaunch&) = delete;
    ReportedLaunch& operator=(const ReportedLaunch&) = delete;

    ~ReportedLaunch() override {
        if (!has_ended_) end("given up: it would wait forever, or another kernel has failed");
    }

    /// \throws Error as emulator::begin_launch.
    void begin(GlobalMemory& memory) {
        std::vector<Watcher*> watchers;
        if (all_.request_.schedule)
            watchers.push_back(&weak_memory_); // first: others read memory that it restores
        for (const auto& recorder : all_.recorders_) {
            Watcher* const watcher = recorder->begin(observed_);
            if (!watcher) continue;
            if (!watcher->judges_blocks()) {
                watchers.push_back(watcher);
                continue;
            }
            if (!checkers_of_blocks_.has_checkers()) watchers.push_back(&checkers_of_blocks_);
            checkers_of_blocks_.add(*watcher);
        }
        all_.write(running()); // otherwise a crash of the program would lose the rest
        if (!all_.progress_) all_.progress_ = new LaunchProgress;
        progress_.emplace(*all_.progress_, short_name(name_), configuration_.grid.count(),
                          [this](const std::optional<Party>& somebody) {
                              all_.write_findings(&observed_);
                              if (!somebody) return;
                              Json known = running();
                              known["somebody"] = *somebody;
                              all_.write(std::move(known));
                          });
        progress_->goes_on();
        watchers.push_back(&*progress_);
        all_.last_estimate_.clear();
        if (all_.request_.time_only) return;
        ending_on_error([&] {
            launch_ = emulator::begin_launch(observed_.kernel, configuration_, parameters_, memory,
                                             {.watchers = watchers,
                                              .schedule = all_.request_.schedule,
                                              .takes_turns = observed_.takes_turns});
        });
    }

    bool run_for(std::uint64_t instructions) override {
        if (launch_) {
            progress_->goes_on();
            bool ends = false;
            ending_on_error([&] { ends = launch_->run_for(instructions); });
            if (!ends) {
                all_.write_findings(&observed_);
                return false;
            }
            counters_ = launch_->counters();
            record_["counters"] = counters_;
        }
        end();
        return true;
    }
    bool spins() override { return launch_ && launch_->spins(); }
    std::string place() const override { return launch_ ? launch_->place() : ""; }
    const Counters& counters() const override { return counters_; }

private:
    Json running() const { return {{"record", "running"}, {"launch", observed_.number}, {"name", name_}}; }

    template <class Part> void ending_on_error(Part part) {
        try {
            part();
        } catch (const std::exception& error) {
            end(error.what());
            throw;
        }
    }

    void end(const std::string& error = {}) {
        has_ended_ = true;
        launch_.reset(); // so that observers tell what they have found
        progress_.reset();
        if (!error.empty()) record_["error"] = error;
        all_.write(std::move(record_));
        for (const auto& recorder : all_.recorders_) {
            for (Json& seen : recorder->end(observed_)) {
                if (seen.at("record") == "time") all_.last_estimate_ = estimate_of(seen);
                seen["launch"] = observed_.number;
                if (observed_.selected) all_.write(std::move(seen));
            }
        }
        all_.write_findings(&observed_);
    }

    ReportingObservation& all_;
    const std::string name_;
    const LaunchConfiguration configuration_;
    const std::vector<std::byte> parameters_;
    const ObservedLaunch observed_;
    Json record_ = Json::object();
    WeakMemory weak_memory_;
    BlockDeduplication checkers_of_blocks_;
    std::optional<LaunchProgress::Launch> progress_;
    std::unique_ptr<RunningLaunch> launch_; ///< null: it is only estimated
    Counters counters_;
    bool has_ended_ = false;
};

std::unique_ptr<RunningLaunch> ReportingObservation::begin_launch(const Kernel& kernel,
                                                                  const LaunchConfiguration& configuration,
                                                                  std::span<const std::byte> parameters,
                                                                  GlobalMemory& memory, bool takes_turns) {
    notice_fork();
    auto launch = std::make_unique<ReportedLaunch>(*this, launches_++, kernel, configuration, parameters,
                                                   memory, takes_turns);
    launch->begin(memory);
    return launch;
}

std::vector<MemoryEvents*> ReportingObservation::memory_listeners() const {
    std::vector<MemoryEvents*> listeners;
    for (const auto& recorder : recorders_)
        if (MemoryEvents* const listener = recorder->memory_listener()) listeners.push_back(listener);
    return listeners;
}

void ReportingObservation::write_findings(const ObservedLaunch* launch) {
    for (const Finding& finding : findings_.take()) {
        if (launch && !launch->selected) continue;
        Json record{{"record", "finding"}, {"launch", nullptr}};
        if (launch) record["launch"] = launch->number;
        record.update(Json(finding));
        write(std::move(record));
    }
}

void ReportingObservation::write_rejected_launch() { write({{"record", "refused launch"}}); }

void ReportingObservation::write_refusal(const std::string& function) {
    write({{"record", "refusal"}, {"function", function}});
}

void ReportingObservation::write_error(std::string_view text) {
    write({{"record", "error"}, {"text", text}});
}

void ReportingObservation::finish() {
    if (process_ != getpid()) return; // a fork that is here for the first time
    for (const auto& recorder : recorders_)
        for (Json& record : recorder->finish()) write(std::move(record));
    write_findings();
}

void ReportingObservation::notice_fork() {
    if (process_ == getpid()) return;
    process_ = getpid();
    launches_ = 0;
    progress_ = nullptr; // a fork does not inherit its thread
    std::error_code error;
    write({{"record", "process"},
           {"program", std::filesystem::read_symlink("/proc/self/exe", error).string()}});
}

void ReportingObservation::write(Json record) {
    notice_fork();
    if (failed_) return;
    record["process"] = process_;
    const std::string line = record.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
    if (append(path_, line)) return;
    failed_ = true;
    std::perror("emulator: the report for `emulate` cannot be written");
    // An incomplete report must not look complete.
    if (truncate(path_.c_str(), 0) == 0) append(path_, "{\"record\": \"cut off\"}\n");
}

} // namespace

std::vector<Json> Recorder::end(const ObservedLaunch&) { return {}; }
std::vector<Json> Recorder::finish() { return {}; }

Observation* Observation::instance() {
    static Observation* const observation = []() -> Observation* {
        const char* const request = std::getenv(request_variable);
        const char* const report = std::getenv(report_variable);
        if (!request || !report) return nullptr;
        try {
            return new ReportingObservation(parse_request(request), report); // never destroyed, as Runtime
        } catch (const std::exception& error) {
            std::fprintf(stderr, "emulator: nothing is observed: %s says '%s': %s\n", request_variable,
                         request, error.what());
            return nullptr;
        }
    }();
    return observation;
}

} // namespace emulator
