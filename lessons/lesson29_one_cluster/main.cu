// Lesson 29: one cluster, and the other ways in which blocks can meet.
//
//     make lesson29 && ./lesson29

#include <array>
#include <string>

#include "harness/check.hpp"
#include "harness/exit_status.hpp"
#include "harness/launch_size.hpp"
#include "harness/lesson.hpp"
#include "harness/verification.hpp"
#include "kernels.cuh"

namespace {

using harness::KernelRun;
using Launch = harness::FunctionRef<void(const int* input, int* result)>;

unsigned int blocks_of(const KernelRun& run) { return static_cast<unsigned int>(run.option("--blocks")); }

/// \param ints_between partial sums that go to memory and back
/// \param rest what follows the first launch and leaves the complete sum
void measure_sum(KernelRun& run, std::size_t ints_between, Launch first, Launch rest = nullptr) {
    const harness::RandomInts& input = run.input(run.option("--offset"));
    harness::DeviceBuffer<int> result(1);
    const auto launch_rest = [&] { rest(input.data(), result.data()); };
    const auto verify = [&] {
        if (rest) launch_rest();
        return harness::compare_value(input.sum(), result.read().front());
    };
    run.measure({.grid = dim3(blocks_of(run)),
                 .block = dim3(run.block()),
                 .bytes = (run.n() + ints_between + 1) * sizeof(int),
                 .passes = rest ? 2u : 1u},
                {.prepare = [&] { result.poison(); },
                 .launch = [&] { first(input.data(), result.data()); },
                 .verify = verify,
                 .launch_rest = rest ? harness::Step(launch_rest) : nullptr});
}

/// A grid that is one cluster.
void measure_cluster(KernelRun& run, void (*kernel)(const int* input, int* result, std::size_t n)) {
    run.require_compute_capability(9, 0, "thread block clusters");
    // Eight blocks are the most that every device with clusters has.
    HARNESS_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
    cudaLaunchAttribute cluster{};
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim = {blocks_of(run), 1, 1};
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(blocks_of(run));
    config.blockDim = dim3(run.block());
    config.attrs = &cluster;
    config.numAttrs = 1;
    measure_sum(run, 0, [&](const int* input, int* result) {
        HARNESS_CHECK(cudaLaunchKernelEx(&config, kernel, input, result, run.n()));
    });
}

} // namespace

int main(int argc, char** argv) {
    harness::Lesson lesson({.name = "lesson29",
                            .title = "One cluster",
                            .default_block = 512,
                            .options = {{.name = "--blocks",
                                         .value = "K",
                                         .help = "thread blocks of each kernel, 1 to 16. Default: 16",
                                         .smallest = 1,
                                         .largest = 16,
                                         .default_value = 16},
                                        {.name = "--offset",
                                         .value = "K",
                                         .help = "the input starts K ints into its allocation, which is\n"
                                                 "aligned to 256 bytes. Default: 0",
                                         .largest = 1u << 20}},
                            .default_n = 1 << 14,
                            .sweep = true});

    lesson.add_kernel("two_launches", [](KernelRun& run) {
        const unsigned int blocks = blocks_of(run), block = run.block();
        harness::DeviceBuffer<int> partial_sums(blocks);
        measure_sum(
            run, blocks,
            [&](const int* input, int*) {
                block_sums<<<blocks, block>>>(input, partial_sums.data(), run.n());
            },
            [&](const int*, int* result) { block_sums<<<1, block>>>(partial_sums.data(), result, blocks); });
    });
    lesson.add_kernel("last_block", [](KernelRun& run) {
        const unsigned int blocks = blocks_of(run);
        harness::DeviceBuffer<int> partial_sums(blocks);
        harness::DeviceBuffer<unsigned int> blocks_done(1);
        blocks_done.write(std::array{0u}); // only once: each launch leaves it so
        measure_sum(run, 2 * blocks, [&](const int* input, int* result) {
            last_block<<<blocks, run.block()>>>(input, result, run.n(), partial_sums.data(),
                                                blocks_done.data());
        });
    });
    lesson.add_kernel("atomic_per_block", [](KernelRun& run) {
        measure_sum(run, blocks_of(run), [&](const int* input, int* result) {
            HARNESS_CHECK(cudaMemsetAsync(result, 0, sizeof(int)));
            atomic_per_block<<<blocks_of(run), run.block()>>>(input, result, run.n());
        });
    });
    lesson.add_kernel("reduce12", [](KernelRun& run) { measure_cluster(run, reduce12); });
    lesson.add_kernel("reduce12a", [](KernelRun& run) { measure_cluster(run, reduce12a); });
    lesson.add_kernel("counted_sum", [](KernelRun& run) {
        harness::DeviceBuffer<unsigned long long> sum_and_count(1);
        sum_and_count.write(std::array{0ull}); // only once: each launch leaves it so
        measure_sum(run, 2 * blocks_of(run), [&](const int* input, int* result) {
            counted_sum<<<blocks_of(run), run.block()>>>(input, result, run.n(), sum_and_count.data());
        });
    });

    return lesson.run(argc, argv);
}
