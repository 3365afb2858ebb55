/// How fast the emulator is: warp instructions a second, with counters on, by kernel and number of cores; and
/// how many times as long a launch takes with all checkers on.
///
/// Run by `make bench-emulator`. The figures are this machine's, and don't apply to a GPU.
#include "workloads.hpp"

#include "harness/check.hpp"
#include "harness/detail/counters.hpp"
#include "harness/device.hpp"
#include "harness/device_buffer.hpp"
#include "harness/exit_status.hpp"
#include "harness/random_input.hpp"

#include <benchmark/benchmark.h>
#include <cuda_runtime_api.h>
#include <sched.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

constexpr std::size_t elements = std::size_t{1} << 24;

/// Random ints that a kernel may overwrite, and room for what it writes.
struct Memory {
    Memory() {
        data.write(harness::RandomInts(elements, 42).device());
        output.poison();
    }

    harness::DeviceBuffer<int> data{elements}, output{elements};
};

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

void run(benchmark::State& state, const Workload& workload, Memory& memory, int cores) {
    const UseCores use_cores(cores);
    for (auto _ : state) {
        workload.launch(memory.data.data(), memory.output.data(), elements);
        HARNESS_CHECK(cudaDeviceSynchronize());
    }
    const auto instructions =
        harness::find_counter(harness::last_launch_counters(), "smsp__inst_executed.sum");
    state.counters["warp_instructions"] =
        benchmark::Counter(static_cast<double>(instructions.value() * workload.launches * state.iterations()),
                           benchmark::Counter::kIsRate);
}

// ---- with checkers ----

// A process is observed from its first call on, or not at all: each of the two runs in one of its own, this
// program called as `bench_emulator --cpu-seconds <workload> <cores>`. CPU seconds, since other programs that
// run meanwhile do not count in them.

/// The variables that have all checkers look on, from the library that has them.
std::string checks_all() {
    const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe");
    return "LD_LIBRARY_PATH='" + harness::emulator_directory(self) + "/observing' " +
           R"(EMULATOR_REQUEST='{"check":["mem","init","race","sync"]}' EMULATOR_REPORT=/dev/null)";
}

/// Prints how many CPU seconds a launch takes.
int print_cpu_seconds(const std::string& name, int cores) {
    const auto workload = std::find_if(workloads().begin(), workloads().end(),
                                       [&](const Workload& one) { return one.name == name; });
    if (workload == workloads().end()) throw std::invalid_argument("no workload " + name);
    Memory memory;
    const UseCores use_cores(cores);
    const std::clock_t start = std::clock();
    workload->launch(memory.data.data(), memory.output.data(), elements);
    HARNESS_CHECK(cudaDeviceSynchronize());
    std::cout << static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC << '\n';
    return 0;
}

/// The output of a process with these variables.
double cpu_seconds_of_launch(const std::string& variables, const std::string& workload, int cores) {
    const std::string command = variables + " '" + std::filesystem::read_symlink("/proc/self/exe").string() +
                                "' --cpu-seconds " + workload + ' ' + std::to_string(cores) + " 2>/dev/null";
    std::FILE* const output = popen(command.c_str(), "r");
    double seconds = 0;
    const bool printed = output && std::fscanf(output, "%lf", &seconds) == 1;
    if (!output || pclose(output) != 0 || !printed) throw std::runtime_error("cannot run " + command);
    return seconds;
}

double median(std::vector<double> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

/// Alternates runs without and with checkers, so that a processor that slows down affects both.
void run_checked(benchmark::State& state, const std::string& workload, int cores) {
    std::vector<double> times_unchecked;
    for (auto _ : state) {
        const double unchecked = cpu_seconds_of_launch("", workload, cores);
        const double checked = cpu_seconds_of_launch(checks_all(), workload, cores);
        times_unchecked.push_back(checked / unchecked);
        state.SetIterationTime(checked);
    }
    state.counters["times_unchecked"] = median(times_unchecked);
}

} // namespace

int main(int argc, char** argv) try {
    harness::choose_device(harness::DeviceChoice::emulator, argv);
    if (argc == 4 && std::string(argv[1]) == "--cpu-seconds")
        return print_cpu_seconds(argv[2], std::stoi(argv[3]));
    Memory memory;
    const int max_cores = usable_cores();
    for (const Workload& workload : workloads()) {
        for (const int cores : {1, 2}) {
            if (cores > max_cores) continue;
            const std::string name = workload.name + (cores == 1 ? "/1_core" : "/2_cores");
            benchmark::RegisterBenchmark(
                name.c_str(), [&, cores](benchmark::State& state) { run(state, workload, memory, cores); })
                ->UseRealTime()
                ->Unit(benchmark::kMillisecond);
        }
        benchmark::RegisterBenchmark((workload.name + "/1_core/check_all").c_str(),
                                     [&](benchmark::State& state) { run_checked(state, workload.name, 1); })
            ->UseManualTime()
            ->Iterations(5)
            ->Unit(benchmark::kMillisecond);
    }
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
    benchmark::RunSpecifiedBenchmarks();
    return 0;
} catch (const std::exception& error) {
    std::cerr << "bench_emulator: " << error.what() << '\n';
    return 1;
}
