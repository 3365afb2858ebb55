// Any text as a module of small kernels: each is launched with three blocks, or three clusters, under all
// four checkers, in the usual order and in another one. What is found has to be the same whether blocks that
// repeat what another one has done are checked or not.

#include "small_module.hpp"

#include "emulator/check/block_deduplication.hpp"
#include "emulator/check/init_checker.hpp"
#include "emulator/check/memory_checker.hpp"
#include "emulator/check/race/race_checker.hpp"
#include "emulator/check/sync_checker.hpp"
#include "emulator/error.hpp"
#include "emulator/execute/opcodes.hpp"
#include "emulator/machine/launch.hpp"
#include "emulator/machine/loaded_module.hpp"
#include "emulator/memory/global_memory.hpp"
#include "emulator/program/code.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

using namespace emulator;

namespace {

constexpr std::uint64_t max_instructions = 4'000; // of a launch, by warps
constexpr std::uint32_t max_local_bytes = 32 * 1024;
constexpr std::uint32_t threads = 40; // the last warp is a quarter full
constexpr std::size_t buffer_bytes = 4096;

/// Ends a launch that takes too long: a kernel may loop for ever, and be right.
class Budget final : public Watcher {
public:
    std::unique_ptr<Observer> observer(const Grid&) override { return std::make_unique<Counting>(); }
    bool wants_one_thread() const override { return true; }

private:
    class Counting final : public Observer {
        void instructions_executed(const Warp&, const Code&, std::uint32_t, std::uint32_t count,
                                   LaneMask) override {
            turn_counts_ += count;
            if (turn_counts_ > max_instructions)
                throw Error(Failure::launch_failure, "the launch takes too long");
        }
        std::uint64_t turn_counts_ = 0;
    };
};

/// What `init` and `race` find in shared memory.
struct BlockCheckers {
    Findings findings;
    InitChecker init{findings};
    RaceChecker race{findings};

    std::string text() const {
        std::string text;
        for (const Finding& finding : findings.list())
            text +=
                finding.checker + ": " + finding.message + ", " + std::to_string(finding.count) + " times\n";
        return text;
    }
};

void launch(const Kernel& kernel, std::optional<std::uint64_t> schedule, GlobalMemory& memory) {
    Findings findings;
    MemoryChecker mem(findings, true);
    RaceChecker race(findings, {.global = true});
    SyncChecker sync(findings);
    BlockCheckers all_blocks, other_blocks;
    BlockDeduplication repeated;
    repeated.add(other_blocks.init);
    repeated.add(other_blocks.race);
    Budget budget;
    Watcher* const watchers[] = {&mem, &race, &sync, &all_blocks.init, &all_blocks.race, &repeated, &budget};

    // Every parameter is the address of one buffer, of which half is written.
    const Allocation& buffer = memory.allocate(buffer_bytes, "cudaMalloc");
    std::memset(reinterpret_cast<void*>(buffer.address), 1, buffer_bytes / 2);
    for (MemoryEvents* const listener :
         std::initializer_list<MemoryEvents*>{&mem, &all_blocks.init, &other_blocks.init}) {
        listener->allocated(buffer, false);
        listener->written(buffer.address, buffer_bytes / 2);
    }
    const std::vector<std::uint64_t> parameters(kernel.parameter_bytes() / 8 + 1, buffer.address);

    LaunchConfiguration configuration;
    configuration.grid = kernel.cluster().value_or(Dim3{});
    configuration.grid.x *= 3;
    configuration.block = {std::min(threads, kernel.max_threads_per_block()), 1, 1};
    configuration.dynamic_shared_bytes = 512;
    try {
        (void)run(kernel, configuration, std::as_bytes(std::span(parameters)), memory,
                  {.watchers = watchers, .schedule = schedule});
    } catch (const Error&) {
        // The kernel is wrong, or takes too long.
    }
    if (const std::string all = all_blocks.text(), other = other_blocks.text(); all != other) {
        std::fprintf(stderr, "in all blocks:\n%s\nin those that do not repeat others:\n%s\n", all.c_str(),
                     other.c_str());
        std::abort();
    }
    memory.release(buffer.address);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
    const std::string text(reinterpret_cast<const char*>(data), bytes);
    try {
        if (!fuzz::has_few_registers(text) || !fuzz::has_small_variables(text)) return -1;
        GlobalMemory memory;
        memory.remember_freed();
        LoadedModule module(text, memory, all_opcodes());
        for (const auto& function : module.ptx().functions) {
            if (!function->is_kernel || !function->has_body) continue;
            const Kernel& kernel = module.kernel(function->name);
            if (kernel.local_bytes() > max_local_bytes) return -1;
            launch(kernel, std::nullopt, memory);
            launch(kernel, 1, memory);
        }
    } catch (const Error&) {
        // ApiError.
    }
    return 0;
}
