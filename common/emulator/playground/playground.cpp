/// \file
/// The emulator for web pages: the functions that JavaScript calls. Strings are UTF-8, addresses and sizes
/// numbers of 32 bits. One module is loaded at a time. A function that fails returns 0, or null for a string;
/// playground_error() then returns the reason. A string is valid until the next call.
///
/// Device memory is memory of the WebAssembly instance. JavaScript reads and writes it through HEAPU8, at the
/// addresses that playground_allocate() returns.
#include "emulator/error.hpp"
#include "emulator/execute/opcodes.hpp"
#include "emulator/machine/block.hpp"
#include "emulator/machine/launch.hpp"
#include "emulator/machine/loaded_module.hpp"
#include "emulator/machine/observer.hpp"
#include "emulator/memory/global_memory.hpp"
#include "emulator/program/source_location.hpp"
#include "emulator/text.hpp"

#include <emscripten.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

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

struct Playground {
    GlobalMemory memory;
    std::optional<LoadedModule> module;
    std::string ptx, text, error;
};

Playground& playground() {
    static Playground one;
    return one;
}

LoadedModule& loaded() {
    if (!playground().module) throw Error(Failure::unknown_symbol, "no PTX is loaded");
    return *playground().module;
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

/// Keeps the text until the next one.
const char* kept(std::string text) {
    playground().text = std::move(text);
    return playground().text.c_str();
}

std::string quoted(std::string_view text) {
    std::string result = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') result += '\\';
        result += c;
    }
    return result + '"';
}

std::string json(const Kernel& kernel) {
    std::string parameters;
    for (const Parameter& one : kernel.parameters())
        parameters += (parameters.empty() ? "" : ",") + ("{\"offset\":" + std::to_string(one.offset)) +
                      ",\"bytes\":" + std::to_string(one.bytes) + "}";
    return "{\"name\":" + quoted(kernel.name()) + ",\"readable_name\":" + quoted(kernel.readable_name()) +
           ",\"parameters\":[" + parameters + "]}";
}

std::string json(const Counters& counters) {
    std::string result = "{";
    for (std::size_t k = 0; k < metric_count; ++k)
        result += (k == 0 ? "" : ",") + quoted(metric_name(static_cast<Metric>(k))) + ":" +
                  std::to_string(counters.values[k]);
    return result + "}";
}

} // namespace

extern "C" {

/// Why the last function failed that did.
EMSCRIPTEN_KEEPALIVE const char* playground_error() { return playground().error.c_str(); }

/// Where to write PTX text of so many bytes, for playground_load().
EMSCRIPTEN_KEEPALIVE char* playground_text(std::uint32_t bytes) {
    return guarded<char*>(nullptr, [&] {
        playground().ptx.assign(bytes, '\0');
        return playground().ptx.data();
    });
}

/// Loads that text, in place of the module before.
EMSCRIPTEN_KEEPALIVE int playground_load() {
    return guarded(0, [] {
        playground().module.reset();
        playground().module.emplace(std::move(playground().ptx), playground().memory, all_opcodes());
        return 1;
    });
}

/// [{"name": …, "readable_name": …, "parameters": [{"offset": …, "bytes": …}]}]
EMSCRIPTEN_KEEPALIVE const char* playground_kernels() {
    return guarded<const char*>(nullptr, [] {
        std::string all;
        for (const auto& function : loaded().ptx().functions)
            if (function->is_kernel) all += (all.empty() ? "" : ",") + json(loaded().kernel(function->name));
        return kept("[" + all + "]");
    });
}

/// The address of `bytes` bytes of new device memory. They hold anything.
EMSCRIPTEN_KEEPALIVE std::uint32_t playground_allocate(std::uint32_t bytes) {
    return guarded(0u, [&] {
        return static_cast<std::uint32_t>(
            playground().memory.allocate(std::max(bytes, 1u), "playground").address);
    });
}

/// Ends the allocation at this address.
EMSCRIPTEN_KEEPALIVE int playground_release(std::uint32_t address) {
    return playground().memory.release(address);
}

/// Launches the kernel with this mangled name. Returns its counters as JSON, by their names in Nsight
/// Compute. Fails after about `max_instructions` warp instructions.
EMSCRIPTEN_KEEPALIVE const char* playground_launch(const char* kernel, std::uint32_t grid_x,
                                                   std::uint32_t grid_y, std::uint32_t grid_z,
                                                   std::uint32_t block_x, std::uint32_t block_y,
                                                   std::uint32_t block_z, std::uint32_t shared_bytes,
                                                   const std::byte* parameters, std::uint32_t parameter_bytes,
                                                   double max_instructions) {
    return guarded<const char*>(nullptr, [&] {
        InstructionLimit limit(static_cast<std::uint64_t>(max_instructions));
        Watcher* const watchers[] = {&limit};
        const LaunchConfiguration configuration{.grid = {grid_x, grid_y, grid_z},
                                                .block = {block_x, block_y, block_z},
                                                .dynamic_shared_bytes = shared_bytes,
                                                .dynamic_shared_limit = shared_bytes};
        return kept(json(run(loaded().kernel(kernel), configuration, std::span(parameters, parameter_bytes),
                             playground().memory, {.host_threads = 1, .watchers = watchers})));
    });
}

} // extern "C"
