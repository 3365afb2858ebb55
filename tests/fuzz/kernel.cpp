// Any text as a module of small kernels: each is launched with one block, or one cluster, under all four
// checkers, in the usual order and in another one.

#include "small_module.hpp"

#include "emulator/error.hpp"
#include "emulator/machine/code.hpp"
#include "emulator/machine/launch.hpp"
#include "emulator/machine/loaded_module.hpp"
#include "emulator/memory/global_memory.hpp"
#include "emulator/observe/init_checker.hpp"
#include "emulator/observe/memory_checker.hpp"
#include "emulator/observe/race_checker.hpp"
#include "emulator/observe/sync_checker.hpp"

#include <cstring>
#include <vector>

using namespace emulator;

namespace {

constexpr std::uint64_t most_instructions = 2'000; // of a launch, by warps
constexpr std::uint32_t most_local_bytes = 32 * 1024;
constexpr std::uint32_t threads = 40; // the last warp is a quarter full
constexpr std::size_t buffer_bytes = 4096;

/// Ends a launch that takes too long: a kernel may loop for ever, and be right.
class Budget final : public Watcher {
public:
    std::unique_ptr<Observer> observer(const Launch&) override { return std::make_unique<Counting>(); }
    bool wants_one_thread() const override { return true; }

private:
    class Counting final : public Observer {
        void executed(const Warp&, const Code&, std::uint32_t, std::uint32_t count, LaneMask) override {
            if ((executed_ += count) > most_instructions)
                throw Error(Failure::launch_failure, "the launch takes too long");
        }
        std::uint64_t executed_ = 0;
    };
};

void launch(const Kernel& kernel, std::optional<std::uint64_t> schedule, GlobalMemory& memory) {
    Findings findings;
    MemoryChecker mem(findings, true);
    InitChecker init(findings);
    RaceChecker race(findings, {.global = true});
    SyncChecker sync(findings);
    Budget budget;
    Watcher* const watchers[] = {&mem, &init, &race, &sync, &budget};

    // Every parameter is the address of one buffer, of which half is written.
    const Allocation& buffer = memory.allocate(buffer_bytes, "cudaMalloc");
    std::memset(reinterpret_cast<void*>(buffer.address), 1, buffer_bytes / 2);
    for (MemoryEvents* const listener :
         {static_cast<MemoryEvents*>(&mem), static_cast<MemoryEvents*>(&init)}) {
        listener->allocated(buffer, false);
        listener->written(buffer.address, buffer_bytes / 2);
    }
    const std::vector<std::uint64_t> parameters(kernel.parameter_bytes() / 8 + 1, buffer.address);

    LaunchConfiguration configuration;
    configuration.grid = kernel.cluster().value_or(Dim3{});
    configuration.block = {std::min(threads, kernel.max_threads_per_block()), 1, 1};
    configuration.dynamic_shared_bytes = 512;
    try {
        (void)run(kernel, configuration, std::as_bytes(std::span(parameters)), memory,
                  {.watchers = watchers, .schedule = schedule});
    } catch (const Error&) {
        // The kernel is wrong, or takes too long.
    }
    (void)findings.take();
    memory.release(buffer.address);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
    const std::string text(reinterpret_cast<const char*>(data), bytes);
    try {
        if (!fuzz::has_few_registers(text) || !fuzz::has_small_variables(text)) return -1;
        GlobalMemory memory;
        memory.remember_freed();
        LoadedModule module(text, memory);
        for (const auto& function : module.ptx().functions) {
            if (!function->is_kernel || !function->has_body) continue;
            const Kernel& kernel = module.kernel(function->name);
            if (kernel.local_bytes() > most_local_bytes) return -1;
            launch(kernel, std::nullopt, memory);
            launch(kernel, 1, memory);
        }
    } catch (const Error&) {
        // Refused.
    }
    return 0;
}
