// lesson28's curve and lesson29's steps:
//
//     limit_curves in_flight   bandwidth of reduce10 and reduce11 over stages, bytes per stage and blocks per
//     SM limit_curves steps       where the time of a small sum goes: more of it with each row

#include <cooperative_groups.h>
#include <cuda/atomic>

#include <cstdio>
#include <string>
#include <vector>

#include "../../lessons/lesson28_bytes_in_flight/kernels.cuh"
#include "harness/device.hpp"
#include "harness/exit_status.hpp"
#include "harness/launch_size.hpp"
#include "input.cuh"

namespace lesson29 { // Some of its helpers have the names of lesson28's.
#include "../../lessons/lesson29_one_cluster/kernels.cuh"
}

namespace {

using limit::Contender, limit::Mode;

constexpr int runs = 41;
constexpr unsigned int block_size = 256;

/// A kernel and one ring of its, ready to launch: both passes, the complete sum.
struct RingCase {
    const char* kernel;
    unsigned int stages, stage_bytes, blocks_per_sm;
    std::function<void(const int* input, int* output, std::size_t n, unsigned int grid)> launch;
};

std::vector<RingCase> ring_cases() {
    std::vector<RingCase> cases;
    using Kernel10 = void (*)(const int*, int*, std::size_t, unsigned int);
    const std::vector<std::pair<unsigned int, Kernel10>> kernels10 = {{2, reduce10<block_size, 2>},
                                                                      {3, reduce10<block_size, 3>},
                                                                      {4, reduce10<block_size, 4>},
                                                                      {6, reduce10<block_size, 6>},
                                                                      {8, reduce10<block_size, 8>}};
    const auto add = [&](const char* name, const void* kernel, unsigned int stages, unsigned int stage_bytes,
                         unsigned int blocks_per_sm, auto launch) {
        const std::size_t ring_bytes = std::size_t{stages} * stage_bytes;
        if ((ring_bytes + 2048) * blocks_per_sm > 227 * 1024) return;
        harness::allow_shared_bytes(kernel, ring_bytes);
        if (harness::resident_blocks(kernel, block_size, ring_bytes) <
            blocks_per_sm * harness::multiprocessors())
            return;
        cases.push_back({name, stages, stage_bytes, blocks_per_sm, launch});
    };
    for (const unsigned int blocks_per_sm : {1, 2, 3, 4, 6, 8}) {
        for (const unsigned int stage_bytes : {4096, 8192, 16384, 32768, 65536}) {
            for (const auto& staged : kernels10) {
                const unsigned int stages = staged.first;
                const Kernel10 kernel = staged.second;
                const std::size_t ring_bytes = std::size_t{stages} * stage_bytes;
                add("reduce10", reinterpret_cast<const void*>(kernel), stages, stage_bytes, blocks_per_sm,
                    [=](const int* input, int* output, std::size_t n, unsigned int grid) {
                        harness::allow_shared_bytes(reinterpret_cast<const void*>(kernel), ring_bytes);
                        kernel<<<grid, block_size, ring_bytes>>>(input, output, n,
                                                                 stage_bytes / 16 / block_size);
                    });
            }
        }
        for (const unsigned int stage_bytes : {2048, 4096, 8192, 16384, 32768, 65536}) {
            for (const unsigned int stages : {1, 2, 3, 4, 6, 8, 12, 16, 24}) {
                const auto kernel = reduce11<block_size>;
                const std::size_t ring_bytes = std::size_t{stages} * stage_bytes;
                add("reduce11", reinterpret_cast<const void*>(kernel), stages, stage_bytes, blocks_per_sm,
                    [=](const int* input, int* output, std::size_t n, unsigned int grid) {
                        harness::allow_shared_bytes(reinterpret_cast<const void*>(kernel), ring_bytes);
                        kernel<<<grid, block_size, ring_bytes>>>(input, output, n, stage_bytes, stages);
                    });
            }
        }
    }
    return cases;
}

void print_row(const std::string& what, const std::vector<double>& times, double bytes, double peak) {
    const double typical = median(times), gbs = bytes / typical * 1e-3;
    std::printf("%s,%.4f,%.4f,%zu,%.2f,%.4f\n", what.c_str(), typical,
                *std::min_element(times.begin(), times.end()), times.size(), gbs, gbs / peak);
    std::fflush(stdout);
}

/// Complete sums, in two passes of the same kernel, cold.
void in_flight(limit::Bench& bench, double peak) {
    const std::size_t n = std::size_t{1} << 28;
    const limit::Input input(n);
    const int expected = limit::Input::sum(0, n);
    harness::DeviceBuffer<int> partial_sums(8 * harness::multiprocessors());
    std::printf(
        "n,kernel,block,stages,stage_bytes,blocks_per_sm,bytes_in_flight_per_sm,time_us_median,time_us_min,"
        "time_us_runs,bandwidth_gbs,peak_fraction\n");
    for (const RingCase& one : ring_cases()) {
        const unsigned int grid = one.blocks_per_sm * harness::multiprocessors();
        const Contender contender{one.kernel, [&] {
                                      one.launch(input.data(0), partial_sums.data(), n, grid);
                                      one.launch(partial_sums.data(), bench.result(), grid, 1);
                                  }};
        const auto times = bench.time({contender}, Mode::cold, runs, expected).front();
        print_row(std::to_string(n) + "," + one.kernel + "," + std::to_string(block_size) + "," +
                      std::to_string(one.stages) + "," + std::to_string(one.stage_bytes) + "," +
                      std::to_string(one.blocks_per_sm) + "," +
                      std::to_string(std::size_t{one.stages} * one.stage_bytes * one.blocks_per_sm),
                  times, static_cast<double>(n) * sizeof(int), peak);
    }
}

// ---- the steps of a small sum ----

__global__ void empty() {}

__global__ void store_only(int* result) {
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        *result = 1;
    }
}

/// Each thread loads its four vectors; no block meets another, and a warp's sum goes nowhere unless it is 1.
__global__ void load_only(const int* input, int* result, std::size_t n) {
    const std::size_t thread = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const int sum =
        lesson29::sum_of_warp(lesson29::sum_of_thread(input, n, thread, std::size_t{gridDim.x} * blockDim.x));
    if (sum == 1'234'567'890) *result = sum; // never: it keeps the compiler from dropping the loads
}

__global__ void cluster_barrier(int* result) {
    cooperative_groups::this_cluster().sync();
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        *result = 1;
    }
}

template <class... Parameters, class... Arguments>
void launch_cluster(void (*kernel)(Parameters...), unsigned int blocks, unsigned int block,
                    Arguments... arguments) {
    HARNESS_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
    cudaLaunchAttribute cluster{};
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim = {blocks, 1, 1};
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(blocks);
    config.blockDim = dim3(block);
    config.attrs = &cluster;
    config.numAttrs = 1;
    HARNESS_CHECK(cudaLaunchKernelEx(&config, kernel, Parameters(arguments)...));
}

void steps(limit::Bench& bench) {
    constexpr unsigned int blocks = 16, block = 512;
    std::printf("n,mode,step,time_us_median,time_us_min,time_us_runs\n");
    const limit::Input input(std::size_t{1} << 18);
    harness::DeviceBuffer<int> partial_sums(blocks);
    harness::DeviceBuffer<unsigned int> count(1);
    harness::DeviceBuffer<unsigned long long> word(1);
    HARNESS_CHECK(cudaMemset(count.data(), 0, count.bytes()));
    HARNESS_CHECK(cudaMemset(word.data(), 0, word.bytes()));
    int* const result = bench.result();
    for (unsigned int e = 10; e <= 18; ++e) {
        const std::size_t n = std::size_t{1} << e;
        const int* const ints = input.data(0);
        const std::vector<Contender> contenders = {
            {"events", [] {}, false},
            {"empty_1_block", [=] { empty<<<1, block>>>(); }, false},
            {"empty_16_blocks", [=] { empty<<<blocks, block>>>(); }, false},
            {"empty_cluster_of_16", [=] { launch_cluster(empty, blocks, block); }, false},
            {"store", [=] { store_only<<<blocks, block>>>(result); }, false},
            {"cluster_barrier_and_store", [=] { launch_cluster(cluster_barrier, blocks, block, result); },
             false},
            {"loads", [=] { load_only<<<blocks, block>>>(ints, result, n); }, false},
            {"block_sums", [&, n] { lesson29::block_sums<<<blocks, block>>>(ints, partial_sums.data(), n); },
             false},
            {"memset", [=] { HARNESS_CHECK(cudaMemsetAsync(result, 0, sizeof(int))); }, false},
            {"memset_and_empty",
             [=] {
                 HARNESS_CHECK(cudaMemsetAsync(result, 0, sizeof(int)));
                 empty<<<blocks, block>>>();
             },
             false},
            {"two_empty",
             [=] {
                 empty<<<blocks, block>>>();
                 empty<<<1, block>>>();
             },
             false},
            {"two_launches",
             [&, n] {
                 lesson29::block_sums<<<blocks, block>>>(ints, partial_sums.data(), n);
                 lesson29::block_sums<<<1, block>>>(partial_sums.data(), result, blocks);
             }},
            {"last_block",
             [&, n] {
                 lesson29::last_block<<<blocks, block>>>(ints, result, n, partial_sums.data(), count.data());
             }},
            {"atomic_per_block",
             [=] {
                 HARNESS_CHECK(cudaMemsetAsync(result, 0, sizeof(int)));
                 lesson29::atomic_per_block<<<blocks, block>>>(ints, result, n);
             }},
            {"reduce12", [=] { launch_cluster(lesson29::reduce12, blocks, block, ints, result, n); }},
            {"reduce12a", [=] { launch_cluster(lesson29::reduce12a, blocks, block, ints, result, n); }},
            {"counted_sum",
             [&, n] { lesson29::counted_sum<<<blocks, block>>>(ints, result, n, word.data()); }}};
        const int expected = limit::Input::sum(0, n);
        for (const Mode mode : {Mode::cold, Mode::warm}) {
            const auto times = bench.time(contenders, mode, runs, expected);
            for (std::size_t i = 0; i < contenders.size(); ++i) {
                std::printf("%zu,%s,%s,%.4f,%.4f,%zu\n", n, limit::name_of(mode), contenders[i].name.c_str(),
                            median(times[i]), *std::min_element(times[i].begin(), times[i].end()),
                            times[i].size());
            }
        }
        std::fflush(stdout);
    }
}

} // namespace

int main(int argc, char** argv) {
    const std::string what = argc > 1 ? argv[1] : "";
    if (argc != 2 || (what != "in_flight" && what != "steps")) {
        std::fprintf(stderr, "Usage: limit_curves in_flight|steps\n");
        return static_cast<int>(harness::ExitStatus::usage);
    }
    try {
        const harness::Device device = harness::choose_device(harness::DeviceChoice::automatic, argv);
        limit::Bench bench(device);
        if (what == "in_flight")
            in_flight(bench, device.peak_bandwidth_gbs.value_or(1e9));
        else
            steps(bench);
    } catch (const harness::DeviceError& error) {
        std::fprintf(stderr, "limit_curves: %s\n", error.what());
        return static_cast<int>(harness::ExitStatus::device);
    }
}
