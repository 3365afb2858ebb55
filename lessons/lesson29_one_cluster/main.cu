// Lesson 29: one cluster, and the other ways in which blocks can meet.
//
//     make lesson29 && ./lesson29

#include <array>
#include <functional>
#include <string>

#include "harness/check.hpp"
#include "harness/exit_status.hpp"
#include "harness/launch_size.hpp"
#include "harness/lesson.hpp"
#include "kernels.cuh"

namespace {

using harness::Turn;
using Launch = std::function<void(const int* input, int* result)>;

unsigned int blocks_of(const Turn& turn) { return static_cast<unsigned int>(turn.option("--blocks")); }

/// \param ints_between partial sums that go to memory and back
/// \param rest what follows the first launch and leaves the complete sum
void measure_sum(Turn& turn, std::size_t ints_between, const Launch& first, const Launch& rest = nullptr) {
    const harness::RandomInts& input = turn.input(turn.option("--offset"));
    harness::DeviceBuffer<int> result(1);
    const auto launch_rest = [&] { rest(input.data(), result.data()); };
    const auto verify = [&] {
        if (rest) launch_rest();
        return harness::compare_value(input.sum(), result.read().front());
    };
    turn.measure({.grid = dim3(blocks_of(turn)),
                  .block = dim3(turn.block()),
                  .bytes = (turn.n() + ints_between + 1) * sizeof(int),
                  .passes = rest ? 2u : 1u},
                 {.prepare = [&] { result.poison(); },
                  .launch = [&] { first(input.data(), result.data()); },
                  .verify = verify,
                  .launch_rest = rest ? std::function<void()>(launch_rest) : nullptr});
}

/// A grid that is one cluster.
void measure_cluster(Turn& turn, void (*kernel)(const int* input, int* result, std::size_t n)) {
    turn.require_compute_capability(9, 0, "thread block clusters");
    // Eight blocks are the most that every device with clusters has.
    HARNESS_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
    cudaLaunchAttribute cluster{};
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim = {blocks_of(turn), 1, 1};
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(blocks_of(turn));
    config.blockDim = dim3(turn.block());
    config.attrs = &cluster;
    config.numAttrs = 1;
    measure_sum(turn, 0, [&](const int* input, int* result) {
        HARNESS_CHECK(cudaLaunchKernelEx(&config, kernel, input, result, turn.n()));
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

    lesson.add_kernel("two_launches", [](Turn& turn) {
        const unsigned int blocks = blocks_of(turn), block = turn.block();
        harness::DeviceBuffer<int> partial_sums(blocks);
        measure_sum(
            turn, blocks,
            [&](const int* input, int*) {
                block_sums<<<blocks, block>>>(input, partial_sums.data(), turn.n());
            },
            [&](const int*, int* result) { block_sums<<<1, block>>>(partial_sums.data(), result, blocks); });
    });
    lesson.add_kernel("last_block", [](Turn& turn) {
        const unsigned int blocks = blocks_of(turn);
        harness::DeviceBuffer<int> partial_sums(blocks);
        harness::DeviceBuffer<unsigned int> blocks_done(1);
        blocks_done.write(std::array{0u}); // only once: each launch leaves it so
        measure_sum(turn, 2 * blocks, [&](const int* input, int* result) {
            last_block<<<blocks, turn.block()>>>(input, result, turn.n(), partial_sums.data(),
                                                 blocks_done.data());
        });
    });
    lesson.add_kernel("atomic_per_block", [](Turn& turn) {
        measure_sum(turn, blocks_of(turn), [&](const int* input, int* result) {
            HARNESS_CHECK(cudaMemsetAsync(result, 0, sizeof(int)));
            atomic_per_block<<<blocks_of(turn), turn.block()>>>(input, result, turn.n());
        });
    });
    lesson.add_kernel("reduce12", [](Turn& turn) { measure_cluster(turn, reduce12); });
    lesson.add_kernel("reduce12a", [](Turn& turn) { measure_cluster(turn, reduce12a); });
    lesson.add_kernel("counted_sum", [](Turn& turn) {
        harness::DeviceBuffer<unsigned long long> sum_and_count(1);
        sum_and_count.write(std::array{0ull}); // only once: each launch leaves it so
        measure_sum(turn, 2 * blocks_of(turn), [&](const int* input, int* result) {
            counted_sum<<<blocks_of(turn), turn.block()>>>(input, result, turn.n(), sum_and_count.data());
        });
    });

    return lesson.run(argc, argv);
}
