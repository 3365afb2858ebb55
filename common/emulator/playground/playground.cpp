/// The emulator for web pages: the functions that JavaScript calls. Strings are UTF-8, addresses and sizes
/// numbers of 32 bits. A function that fails returns 0, or null for a string; playground_error() then returns
/// the reason. A string is valid until the next call.
///
/// A run is: playground_begin(), a text for each module and playground_load(), memory, launches,
/// playground_findings().
///
/// Device memory is memory of the WebAssembly instance. JavaScript reads and writes it through HEAPU8, at the
/// addresses that playground_allocate() returns, and calls playground_written() then.
#include "emulator/check/block_deduplication.hpp"
#include "emulator/check/init_checker.hpp"
#include "emulator/check/memory_checker.hpp"
#include "emulator/check/race/race_checker.hpp"
#include "emulator/check/sync_checker.hpp"
#include "emulator/cli/picture.hpp"
#include "emulator/error.hpp"
#include "emulator/execute/opcodes.hpp"
#include "emulator/machine/block.hpp"
#include "emulator/machine/launch.hpp"
#include "emulator/machine/loaded_module.hpp"
#include "emulator/machine/observer.hpp"
#include "emulator/machine/occupancy.hpp"
#include "emulator/memory/global_memory.hpp"
#include "emulator/observe/access_trace.hpp"
#include "emulator/observe/line_counts.hpp"
#include "emulator/program/names.hpp"
#include "emulator/program/source_location.hpp"
#include "emulator/session/recorders.hpp"
#include "emulator/session/records.hpp"
#include "emulator/text.hpp"

#include <emscripten.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace emulator;

/// Ends a launch that executes too many warp instructions. It counts them when a block's turn ends, so the
/// launch may execute a few million more.
class InstructionLimit final : public Watcher {
public:
    explicit InstructionLimit(std::uint64_t limit) : limit_(limit) {}

    std::unique_ptr<Observer> observer(const Grid&) override { return std::make_unique<Counter>(limit_); }
    bool wants_one_thread() const override { return true; }

private:
    class Counter final : public Observer {
    public:
        explicit Counter(std::uint64_t limit) : limit_(limit) {}

        bool wants(EventKind kind) const override { return kind == EventKind::turn; }
        void turn_ended(const Block& block, const TurnCounts& executed) override {
            executed_ += executed.warp_instructions;
            if (executed_ > limit_) stop(block);
        }

    private:
        [[noreturn]] void stop(const Block& block) const {
            std::string message = "stopped after " + thousands(executed_) + " warp instructions, in " +
                                  block.grid().kernel.readable_name() + ", block " + triple(block.index());
            for (const auto& warp : block.warps()) {
                const ConvergenceGroup& running = warp->running();
                if (running.lanes == 0 || running.wait != Wait::nothing) continue;
                if (const std::string line = source_line(*running.frame->code, running.pc); !line.empty())
                    message += ", at " + line;
                message += "\n" + ptx_line(*running.frame->code, running.pc);
                break;
            }
            throw Error(Failure::launch_failure, message);
        }

        std::uint64_t limit_, executed_ = 0;
    };

    std::uint64_t limit_;
};

/// See playground_launch().
Json steps_of(const AccessTrace& trace) {
    Json steps = Json::array(), arrays = Json::array();
    for (const TracedStep& step : trace.steps) {
        Json writes = Json::array();
        for (const TracedWrite& write : step.writes)
            writes.push_back(Json::array({write.word, static_cast<std::int32_t>(write.value)}));
        Json waiting = Json::array();
        for (const TracedWait& wait : step.waiting)
            waiting.push_back(Json::array({wait.warp, wait.lanes, wait.line}));
        steps.push_back({{"file", step.place.path},
                         {"line", step.place.line},
                         {"what", step.what},
                         {"barriers", step.barriers},
                         {"active", step.active},
                         {"waiting", std::move(waiting)},
                         {"writes", std::move(writes)}});
    }
    for (const TracedVariable& variable : trace.shared)
        arrays.push_back(
            {{"name", variable.name}, {"word", variable.address / 4}, {"words", variable.bytes / 4}});
    return {{"steps", steps}, {"arrays", arrays}, {"steps_left_out", trace.steps_left_out}};
}

/// What watches the launches of a run.
class Observation {
public:
    /// `wanted`: see playground_begin().
    explicit Observation(const Json& wanted)
        : lines_(wanted.value("lines", false)), steps_(wanted.value("steps", false)) {
        wanted.value("draw", Json::array()).get_to(draw_);
        wanted.value("sources", Json::object()).get_to(sources_);
        line_ = wanted.value("line", 0u);
        const auto checks = wanted.value("check", std::vector<std::string>{});
        const auto checks_for = [&](const char* checker) {
            return std::find(checks.begin(), checks.end(), checker) != checks.end();
        };
        if (checks_for("mem")) memory_.emplace(findings_);
        if (checks_for("init")) init_.emplace(findings_);
        if (checks_for("race")) race_.emplace(findings_, RaceOptions{.global = checks_for("global-races")});
        if (checks_for("sync")) sync_.emplace(findings_);
    }

    /// Runs the launch and returns its record. The checkers watch all launches, the rest those selected.
    Json run(const Kernel& kernel, const LaunchConfiguration& configuration,
             std::span<const std::byte> parameters, GlobalMemory& memory, std::uint64_t limit, bool selected,
             bool takes_turns);

    template <class Event> void tell(Event event) {
        if (memory_) event(static_cast<MemoryEvents&>(*memory_));
        if (init_) event(static_cast<MemoryEvents&>(*init_));
    }

    Json findings() { return findings_.take(); }

private:
    Json pictures(const AccessTrace& trace) const;

    bool lines_, steps_;
    std::vector<std::string> draw_{};
    std::map<std::string, std::string> sources_{};
    std::uint32_t line_ = 0;
    Findings findings_;
    std::optional<MemoryChecker> memory_;
    std::optional<InitChecker> init_;
    std::optional<RaceChecker> race_;
    std::optional<SyncChecker> sync_;
};

Json Observation::run(const Kernel& kernel, const LaunchConfiguration& configuration,
                      std::span<const std::byte> parameters, GlobalMemory& memory, std::uint64_t limit,
                      bool selected, bool takes_turns) {
    InstructionLimit instruction_limit(limit);
    LineCounting lines;
    AccessTracing tracing({.line = line_});
    AccessTracing stepping({.max_steps = 1000, .values = true});
    BlockDeduplication checkers_of_blocks; // as `emulate` does
    std::vector<Watcher*> watchers{&instruction_limit};
    if (selected && lines_) watchers.push_back(&lines);
    if (selected && !draw_.empty()) watchers.push_back(&tracing);
    if (selected && steps_) watchers.push_back(&stepping);
    const auto add = [&](auto& checker) {
        if (!checker) return;
        if (checker->judges_blocks())
            checkers_of_blocks.add(*checker);
        else
            watchers.push_back(&*checker);
    };
    add(memory_), add(init_), add(race_), add(sync_);
    if (checkers_of_blocks.has_checkers()) watchers.push_back(&checkers_of_blocks);

    Json record = Json::object();
    try {
        record["counters"] =
            emulator::run(kernel, configuration, parameters, memory,
                          {.host_threads = 1, .watchers = watchers, .takes_turns = takes_turns});
    } catch (const std::exception& error) {
        record["error"] = error.what();
    }
    if (selected && lines_) record["lines"] = lines.functions();
    if (selected && !draw_.empty()) record["pictures"] = pictures(tracing.trace());
    if (selected && steps_) record.update(steps_of(stepping.trace()));
    return record;
}

/// The text of a line, without its indentation.
std::string line_of(const std::string& source, std::uint32_t number) {
    std::size_t first = 0;
    for (std::uint32_t line = 1; line < number && first != std::string::npos; ++line) {
        first = source.find('\n', first);
        if (first != std::string::npos) ++first;
    }
    if (number == 0 || first == std::string::npos) return "";
    const std::size_t end = std::min(source.find('\n', first), source.size());
    first = source.find_first_not_of(" \t", first);
    return first < end ? source.substr(first, end - first) : "";
}

Json Observation::pictures(const AccessTrace& trace) const {
    const auto source_of = [&](const TracedPlace& place) {
        const auto file = sources_.find(place.path);
        return file == sources_.end() ? "" : line_of(file->second, place.line);
    };
    Json all = Json::array();
    for (const std::string& kind : draw_) {
        const emulate::Picture picture = emulate::draw_picture(kind, trace, line_, source_of);
        all.push_back({{"name", kind},
                       {"svg", picture.drawing.svg},
                       {"about", picture.about},
                       {"result", picture.drawing.result}});
    }
    return all;
}

struct Playground {
    GlobalMemory memory;
    std::vector<std::unique_ptr<LoadedModule>> modules;
    std::optional<Observation> observation;
    unsigned int allocations = 0; ///< of this run
    std::string ptx, text, error;
};

Playground& playground() {
    static Playground one;
    return one;
}

Observation& observation() {
    if (!playground().observation) playground().observation.emplace(Json::object());
    return *playground().observation;
}

const Kernel& kernel_named(const std::string& name) {
    for (const auto& module : playground().modules)
        for (const auto& function : module->ptx().functions)
            if (function->is_kernel && function->name == name) return module->kernel(name);
    throw Error(Failure::unknown_symbol,
                playground().modules.empty() ? "no PTX is loaded" : "the PTX has no kernel " + name);
}

/// `action()`, or `otherwise` if it throws.
template <class Result, class Action> Result guarded(Result otherwise, Action action) {
    try {
        return action();
    } catch (const std::exception& error) {
        playground().error = error.what();
        return otherwise;
    }
}

/// The JSON text that `action()` makes, or null. It is kept until the next one.
template <class Action> const char* json_text(Action action) {
    return guarded<const char*>(nullptr, [&] {
        playground().text = Json(action()).dump(-1, ' ', false, Json::error_handler_t::replace);
        return playground().text.c_str();
    });
}

/// While it lives, allocations lie from `address` on.
struct Placing {
    explicit Placing(std::uint32_t address) { playground().memory.place_from(address); }
    ~Placing() { playground().memory.place_from(0); }
    Placing(const Placing&) = delete;
    Placing& operator=(const Placing&) = delete;
};

Dim3 extents(const Json& json) { return json.get<Dim3>(); }

} // namespace

extern "C" {

/// Why the last function failed that did.
EMSCRIPTEN_KEEPALIVE const char* playground_error() { return playground().error.c_str(); }

/// Begins a run: forgets the modules and findings of the one before. `wanted` tells what to record:
/// {"lines": true, "check": ["mem", "init", "race", "sync", "global-races"], "draw": ["banks", "sectors",
/// "tile", "activity"], "line": 0 (for pictures), "sources": {path in PTX: text}, "steps": true}. All of it
/// may be left out. "global-races" is for "race": in global memory, too.
EMSCRIPTEN_KEEPALIVE int playground_begin(const char* wanted) {
    return guarded(0, [&] {
        playground().modules.clear();
        playground().allocations = 0;
        playground().observation.emplace(Json::parse(wanted));
        return 1;
    });
}

/// Where to write PTX text of so many bytes, for playground_load().
EMSCRIPTEN_KEEPALIVE char* playground_text(std::uint32_t bytes) {
    return guarded<char*>(nullptr, [&] {
        playground().ptx.assign(bytes, '\0');
        return playground().ptx.data();
    });
}

/// Loads that text, beside this run's other modules. Its variables lie from `address` on, in reserved memory;
/// 0: anywhere.
EMSCRIPTEN_KEEPALIVE int playground_load(std::uint32_t address) {
    return guarded(0, [=] {
        const Placing placing(address);
        playground().modules.push_back(
            std::make_unique<LoadedModule>(std::move(playground().ptx), playground().memory, all_opcodes()));
        return 1;
    });
}

/// [{"name": …, "short_name": "reduce5<256u>", "readable_name": "void reduce5<256u>(int const*, int*)"}]
EMSCRIPTEN_KEEPALIVE const char* playground_kernels() {
    return json_text([] {
        Json all = Json::array();
        for (const auto& module : playground().modules) {
            for (const auto& function : module->ptx().functions) {
                if (!function->is_kernel) continue;
                const std::string readable = readable_name(function->name);
                all.push_back({{"name", function->name},
                               {"short_name", short_name(readable)},
                               {"readable_name", readable}});
            }
        }
        return all;
    });
}

/// {"parameters": [{"offset": …, "bytes": …}], "static_shared_bytes": …, "max_threads_per_block": …}
EMSCRIPTEN_KEEPALIVE const char* playground_kernel(const char* name) {
    return json_text([&] {
        const Kernel& kernel = kernel_named(name);
        Json parameters = Json::array();
        for (const Parameter& one : kernel.parameters())
            parameters.push_back({{"offset", one.offset}, {"bytes", one.bytes}});
        return Json{{"parameters", parameters},
                    {"static_shared_bytes", kernel.static_shared_bytes()},
                    {"max_threads_per_block", kernel.max_threads_per_block()}};
    });
}

/// The address of `bytes` bytes of new device memory. They hold anything.
EMSCRIPTEN_KEEPALIVE std::uint32_t playground_allocate(std::uint32_t bytes) {
    return guarded(0u, [&] {
        const Allocation& allocation = playground().memory.allocate(
            std::max(bytes, 1u), "cudaMalloc #" + std::to_string(++playground().allocations));
        observation().tell([&](MemoryEvents& listener) { listener.allocated(allocation, false); });
        return static_cast<std::uint32_t>(allocation.address);
    });
}

/// Reserves the addresses from `first` to `end` for playground_place(). Call it before anything else, and
/// only once with another `end`.
EMSCRIPTEN_KEEPALIVE int playground_reserve(std::uint32_t first, std::uint32_t end) {
    return guarded(0, [=] {
        static std::uint32_t reserved = 0; // their end
        if (end <= reserved) return 1;
        const auto used = reinterpret_cast<std::uintptr_t>(sbrk(0));
        if (used > first || sbrk(static_cast<std::intptr_t>(end - used)) == reinterpret_cast<void*>(-1))
            throw Error(Failure::out_of_memory,
                        "this page has no room for the program's memory, " + byte_count(end - first));
        reserved = end;
        return 1;
    });
}

/// New device memory at this address, which is reserved: as in `configuration`, {"address": …, "bytes": …,
/// "origin": "cudaMalloc #1", "writable": …, "host_writes": …}. Bytes that nobody has written are to be told
/// to playground_written() if `host_writes` is false. They hold anything.
EMSCRIPTEN_KEEPALIVE int playground_place(const char* configuration) {
    return guarded(0, [&] {
        const Json wanted = Json::parse(configuration);
        const Placing placing(wanted.at("address"));
        const Allocation& allocation =
            playground().memory.allocate(wanted.at("bytes"), wanted.at("origin"), wanted.at("writable"));
        observation().tell(
            [&](MemoryEvents& listener) { listener.allocated(allocation, wanted.at("host_writes")); });
        return 1;
    });
}

/// JavaScript wrote these bytes of device memory.
EMSCRIPTEN_KEEPALIVE void playground_written(std::uint32_t address, std::uint32_t bytes) {
    observation().tell([&](MemoryEvents& listener) { listener.written(address, bytes); });
}

/// Ends the allocation at this address.
EMSCRIPTEN_KEEPALIVE int playground_release(std::uint32_t address) {
    const Allocation* const allocation = playground().memory.find(address);
    if (!allocation || allocation->address != address) return 0;
    observation().tell([&](MemoryEvents& listener) { listener.freed(*allocation); });
    return playground().memory.release(address);
}

/// The address of a `__device__` or `__constant__` variable, by its name in PTX.
EMSCRIPTEN_KEEPALIVE std::uint32_t playground_variable(const char* name) {
    return guarded(0u, [&] {
        for (const auto& module : playground().modules)
            if (const Allocation* const variable = module->variable(name))
                return static_cast<std::uint32_t>(variable->address);
        throw Error(Failure::unknown_symbol, "the PTX has no variable " + std::string(name));
    });
}

/// Whether an allocation has these bytes.
EMSCRIPTEN_KEEPALIVE int playground_holds(std::uint32_t address, std::uint32_t bytes) {
    const Allocation* const allocation = playground().memory.find(address);
    return allocation && allocation->contains(address, bytes);
}

/// Launches a kernel. `configuration`: {"kernel": its mangled name, "grid": [x, y, z], "block": [x, y, z],
/// "shared": bytes, "cluster": [x, y, z] or absent, "cooperative": whether, "takes_turns": as RunOptions has it,
/// "call_stack_bytes": per thread, or absent, "limit": of warp instructions, a few million more or less, "selected": whether it is to be
/// recorded}. Returns {"counters": {name in Nsight Compute: number}, "lines": [see LineRecorder], "pictures":
/// [{"name": kind, "svg": …, "about": …, "result": …}]}, or with "error" in place of the counters. With the
/// first block's steps, which write memory or exchange values: {"steps": [{"file": …, "line": …, "what":
/// "shared store", "barriers": those before it, "active": [a mask of lanes per warp], "waiting": [[warp, mask
/// of its lanes at a barrier, line of that]], "writes": [[word of shared memory, int]]}], "arrays": [{"name":
/// "tile", "word": the first, "words": number}], "steps_left_out": …}.
EMSCRIPTEN_KEEPALIVE const char* playground_launch(const char* configuration, const std::byte* parameters,
                                                   std::uint32_t parameter_bytes) {
    return json_text([&] {
        const Json wanted = Json::parse(configuration);
        LaunchConfiguration launch{.grid = extents(wanted.at("grid")),
                                   .block = extents(wanted.at("block")),
                                   .dynamic_shared_bytes = wanted.at("shared"),
                                   .dynamic_shared_limit = wanted.at("shared"),
                                   .cluster_limit = DeviceLimits::blocks_per_large_cluster,
                                   .cooperative = wanted.value("cooperative", false)};
        launch.call_stack_bytes = wanted.value("call_stack_bytes", launch.call_stack_bytes);
        if (wanted.contains("cluster")) launch.cluster = extents(wanted.at("cluster"));
        const Kernel& kernel = kernel_named(wanted.at("kernel"));
        if (launch.cooperative && launch.grid.count() > blocks_on_device(kernel, launch))
            throw Error(Failure::invalid_configuration,
                        "a cooperative launch has at most " + thousands(blocks_on_device(kernel, launch)) +
                            " blocks, as many as the device runs at once, not " +
                            thousands(launch.grid.count()));
        return observation().run(kernel, launch, std::span(parameters, parameter_bytes), playground().memory,
                                 wanted.at("limit"), wanted.value("selected", true),
                                 wanted.value("takes_turns", false));
    });
}

/// What the checkers found since the last call: [a Finding's members].
EMSCRIPTEN_KEEPALIVE const char* playground_findings() {
    return json_text([] { return observation().findings(); });
}

/// Blocks of a kernel that a multiprocessor holds at once, as cudaOccupancyMaxActiveBlocksPerMultiprocessor
/// returns on the emulator.
EMSCRIPTEN_KEEPALIVE std::uint32_t playground_resident_blocks(std::uint32_t threads,
                                                              std::uint32_t shared_bytes) {
    return resident_blocks(threads, shared_bytes);
}

} // extern "C"
