// Lesson 28: bytes in flight, without registers.
//
//     make lesson28 && ./lesson28

#include <string>

#include "../lesson08_vectorized_loads/kernels.cuh"
#include "harness/exit_status.hpp"
#include "harness/launch_size.hpp"
#include "harness/lesson.hpp"
#include "kernels.cuh"

namespace {

using harness::KernelRun;
using Kernel10 = void (*)(const int* input, int* partial_sums, std::size_t n, unsigned int vectors_per_stage);

void check_stages(harness::OptionValues& options) {
    if (options.at("--stages") == 5 || options.at("--stages") == 7)
        throw harness::UsageError("--stages: no reduce10 is compiled for it. Write 2, 3, 4, 6 or 8.");
}

/// The reduce10 that is compiled for the option's value.
template <unsigned int block_size> Kernel10 reduce10_of(std::uint64_t stages) {
    switch (stages) {
    case 2: return reduce10<block_size, 2>;
    case 3: return reduce10<block_size, 3>;
    case 4: return reduce10<block_size, 4>;
    case 6: return reduce10<block_size, 6>;
    default: return reduce10<block_size, 8>;
    }
}

/// The ring of stages, and the grid that the options ask for. Its passes leave one partial sum per block.
harness::ReductionShape ring_shape(const KernelRun& run, const void* kernel) {
    const std::uint64_t stage_bytes = 1024 * run.option("--kib-per-stage");
    const std::uint64_t ring_bytes = run.option("--stages") * stage_bytes;
    const auto wanted = static_cast<unsigned int>(run.option("--blocks-per-sm")) * harness::multiprocessors();
    if (stage_bytes % (16 * run.block()) != 0)
        throw harness::UsageError("--kib-per-stage " + std::to_string(stage_bytes / 1024) + " --block " +
                                  std::to_string(run.block()) +
                                  ": a stage needs a multiple of 16 bytes per "
                                  "thread, here of " +
                                  std::to_string(run.block() / 64) + " KiB.");
    harness::allow_shared_bytes(kernel, ring_bytes);
    if (harness::resident_blocks(kernel, run.block(), ring_bytes) < wanted)
        throw harness::UsageError("--blocks-per-sm " + std::to_string(run.option("--blocks-per-sm")) +
                                  ": so many blocks do not fit, with " + std::to_string(ring_bytes / 1024) +
                                  " KiB of shared memory each.");
    return {.elements_per_thread = static_cast<unsigned int>(stage_bytes / sizeof(int) / run.block()),
            .most_blocks = wanted,
            .shared_ints_per_thread = static_cast<unsigned int>(ring_bytes / sizeof(int) / run.block()),
            .input_offset = run.option("--offset")};
}

} // namespace

int main(int argc, char** argv) {
    harness::Lesson lesson(
        {.name = "lesson28",
         .title = "Bytes in flight",
         .options = {{.name = "--stages",
                      .value = "S",
                      .help = "stages of a block's ring: 2, 3, 4, 6 or 8. Default: 4",
                      .smallest = 2,
                      .largest = 8,
                      .default_value = 4},
                     {.name = "--kib-per-stage",
                      .value = "K",
                      .help = "KiB of a stage, 16 bytes per thread or a multiple. Default: 32",
                      .smallest = 1,
                      .largest = 256,
                      .default_value = 32},
                     {.name = "--blocks-per-sm",
                      .value = "B",
                      .help = "blocks per multiprocessor. Default: 1",
                      .smallest = 1,
                      .largest = 32,
                      .default_value = 1},
                     {.name = "--offset",
                      .value = "K",
                      .help = "the input starts K ints into its allocation, which is aligned\n"
                              "to 256 bytes. Default: 0",
                      .largest = 1u << 20}},
         .complete_options = check_stages});

    lesson.add_kernel("reduce8", [](KernelRun& run) {
        harness::with_block_size(run.block(), [&](auto block_size) {
            const harness::ReductionShape shape{.elements_per_thread = 8, // two vectors
                                                .most_blocks =
                                                    harness::resident_blocks(reduce8<block_size>, block_size),
                                                .shared_ints_per_thread = 0,
                                                .input_offset = run.option("--offset")};
            run.measure_reduction(shape, [&](const harness::Pass& pass) {
                reduce8<block_size><<<pass.grid, pass.block>>>(pass.input, pass.partial_sums, pass.n);
            });
        });
    });
    lesson.add_kernel("reduce10", [](KernelRun& run) {
        run.require_compute_capability(8, 0, "asynchronous copies (cp.async)");
        harness::with_block_size(run.block(), [&](auto block_size) {
            const Kernel10 kernel = reduce10_of<block_size>(run.option("--stages"));
            const auto vectors = static_cast<unsigned int>(64 * run.option("--kib-per-stage") / block_size);
            run.measure_reduction(ring_shape(run, reinterpret_cast<const void*>(kernel)),
                                  [&](const harness::Pass& pass) {
                                      kernel<<<pass.grid, pass.block, pass.shared_bytes>>>(
                                          pass.input, pass.partial_sums, pass.n, vectors);
                                  });
        });
    });
    lesson.add_kernel("reduce11", [](KernelRun& run) {
        run.require_compute_capability(9, 0, "bulk copies (cp.async.bulk)");
        harness::with_block_size(run.block(), [&](auto block_size) {
            const auto kernel = reduce11<block_size>;
            const auto stages = static_cast<unsigned int>(run.option("--stages"));
            const auto stage_bytes = static_cast<unsigned int>(1024 * run.option("--kib-per-stage"));
            run.measure_reduction(ring_shape(run, reinterpret_cast<const void*>(kernel)),
                                  [&](const harness::Pass& pass) {
                                      kernel<<<pass.grid, pass.block, pass.shared_bytes>>>(
                                          pass.input, pass.partial_sums, pass.n, stage_bytes, stages);
                                  });
        });
    });

    return lesson.run(argc, argv);
}
