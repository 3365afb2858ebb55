/// \file
/// How fast the emulator is: warp instructions a second, with counters on, by kernel and number of cores.
///
/// Run by `make bench-emulator`. The figures are those of this machine, and say nothing about a GPU.
#include "workloads.hpp"

#include "harness/check.hpp"
#include "harness/counters.hpp"
#include "harness/device.hpp"
#include "harness/device_buffer.hpp"
#include "harness/exit_status.hpp"
#include "harness/random_input.hpp"

#include <benchmark/benchmark.h>
#include <cuda_runtime_api.h>
#include <sched.h>

#include <algorithm>
#include <iostream>
#include <string>
#include <thread>

namespace {

constexpr std::size_t elements = std::size_t{1} << 24;
constexpr unsigned int block = 256;

/// Keeps the emulator to `cores` of the cores that this process may use: it starts one thread for each.
class UseCores {
public:
    explicit UseCores(int cores) {
        sched_getaffinity(0, sizeof before_, &before_);
        cpu_set_t chosen;
        CPU_ZERO(&chosen);
        for (int core = 0; core < CPU_SETSIZE && cores > 0; ++core) {
            if (!CPU_ISSET(core, &before_)) continue;
            CPU_SET(core, &chosen);
            --cores;
        }
        sched_setaffinity(0, sizeof chosen, &chosen);
    }
    ~UseCores() { sched_setaffinity(0, sizeof before_, &before_); }

private:
    cpu_set_t before_;
};

int usable_cores() {
    cpu_set_t usable;
    sched_getaffinity(0, sizeof usable, &usable);
    return CPU_COUNT(&usable);
}

void run(benchmark::State& state, const Workload& workload, const harness::RandomInts& input, int cores) {
    harness::DeviceBuffer<int> partial_sums(elements / block);
    const UseCores use_cores(cores);
    for (auto _ : state) {
        workload.launch(input.device().data(), partial_sums.data(), input.size(), block);
        HARNESS_CHECK(cudaDeviceSynchronize());
    }
    const auto instructions =
        harness::find_counter(harness::last_launch_counters(), "smsp__inst_executed.sum");
    state.counters["warp_instructions"] = benchmark::Counter(
        static_cast<double>(instructions.value() * state.iterations()), benchmark::Counter::kIsRate);
}

} // namespace

int main(int argc, char** argv) try {
    harness::choose_device(harness::DeviceChoice::emulator, argv);
    const harness::RandomInts input(elements, 42);
    const int most_cores = usable_cores();
    for (const Workload& workload : workloads()) {
        for (const int cores : {1, 2}) {
            if (cores > most_cores) continue;
            const std::string name = workload.name + "/" + std::to_string(elements) + "_ints/" +
                                     std::to_string(cores) + (cores == 1 ? "_core" : "_cores");
            benchmark::RegisterBenchmark(
                name.c_str(), [&, cores](benchmark::State& state) { run(state, workload, input, cores); })
                ->UseRealTime()
                ->Unit(benchmark::kMillisecond);
        }
    }
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
    benchmark::RunSpecifiedBenchmarks();
    return 0;
} catch (const std::exception& error) {
    std::cerr << "bench_emulator: " << error.what() << '\n';
    return 1;
}
