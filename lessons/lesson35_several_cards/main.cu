// Lesson 35: several cards.
//
//     make lesson35 && ./lesson35

#include <string>

#include "all_cards.hpp"
#include "harness/device.hpp"
#include "harness/lesson.hpp"
#include "harness/numbers.hpp"
#include "harness/several_devices.hpp"
#include "harness/verification.hpp"
#include "kernels.cuh"
#include "nccl.hpp"
#include "ways.cuh"

namespace {

using harness::KernelRun;

int chosen_cards(const KernelRun& run) {
    const int present = count_cards(), asked = static_cast<int>(run.option("--cards"));
    if (asked > present)
        throw harness::DeviceError(
            "--cards " + std::to_string(asked) + ": there are " + std::to_string(present) +
            " (cudaErrorInvalidDevice); write a number from 1 to " + std::to_string(present));
    return asked == 0 ? present : asked;
}

/// Bytes that arrive at card 0 in one all-reduce of n ints. Null: unknown.
using Arriving = std::uint64_t (*)(std::uint64_t n, std::uint64_t cards);
std::uint64_t the_sums(std::uint64_t n, std::uint64_t) { return n * sizeof(int); }
std::uint64_t all_inputs(std::uint64_t n, std::uint64_t cards) { return (cards - 1) * n * sizeof(int); }
std::uint64_t two_parts(std::uint64_t n, std::uint64_t cards) {
    const std::uint64_t vectors = n / 4, part = harness::ceil_div(vectors, cards); // that it sums
    return ((cards - 1) * part + vectors - part) * sizeof(int4) + all_inputs(n % 4, cards);
}

/// As many all-reduces as --calls asks for. After each one a card makes the next input from its output, and spoils the
/// output, in its own stream: nothing but the all-reduce itself keeps it from doing so too early.
template <class AllReduce>
void measure_calls(KernelRun& run, AllCards& cards, unsigned int grid, Arriving arriving,
                   const AllReduce& all_reduce) {
    const std::uint64_t calls = run.option("--calls");
    const std::size_t bytes = cards.n * sizeof(int);
    const auto launch = [&] {
        cards.start();
        for (std::uint64_t call = 1; call <= calls; ++call) {
            all_reduce();
            if (call < calls) cards.feed_back();
        }
        cards.finish();
    };
    if (arriving) {
        const auto count = static_cast<std::uint64_t>(cards.count());
        run.illustrate((std::string(run.kernel()) + ": " + std::to_string(count) +
                        (count == 1 ? " card, " : " cards, ") +
                        harness::group_digits(arriving(cards.n, count)) + " bytes arrive at card 0.\n")
                           .c_str());
    }
    run.measure({.grid = dim3(grid),
                 .block = dim3(cards.block),
                 .bytes = bytes * calls,
                 .no_estimate = "the links between cards are not modeled"},
                {.prepare = [&] { cards.prepare(); },
                 .launch = launch,
                 .verify = [&] { return cards.verify(calls); }});
}

AllCards cards_of(const KernelRun& run, bool copies = false) {
    return AllCards(chosen_cards(run), run.n(), run.block(), run.seed(), copies);
}

void measure_through_host(KernelRun& run) {
    AllCards cards = cards_of(run);
    const PinnedInts staging(run.n() * static_cast<std::size_t>(cards.count()));
    measure_calls(run, cards, 0, the_sums, [&] { through_host(cards, staging); });
}

template <Way way, unsigned int (*grid)(AllCards&), Arriving arriving> void measure_way(KernelRun& run) {
    AllCards cards = cards_of(run, way == peer_copies);
    if (way != peer_copies) cards.require_peer_access(run.kernel());
    measure_calls(run, cards, grid(cards), arriving, [&] { way(cards); });
}

void measure_nccl(KernelRun& run) {
    if (run.device().kind != harness::DeviceKind::gpu)
        throw harness::UnsupportedKernel("nccl is left out: it needs GPUs (cudaErrorNoDevice)");
    AllCards cards = cards_of(run);
    const Nccl nccl(cards.count());
    measure_calls(run, cards, 0, nullptr, [&] {
        nccl.group_start();
        cards.for_each([&](int card) {
            nccl.all_reduce(card, cards[card].input.data(), cards[card].output.data(), cards.n,
                            cards[card].stream);
        });
        nccl.group_end();
    });
}

} // namespace

int main(int argc, char** argv) {
    harness::Lesson lesson({.name = "lesson35",
                            .title = "Several cards",
                            .options = {{.name = "--cards",
                                         .value = "D",
                                         .help = "how many cards take part, from 1 to 8. Default: all,\n"
                                                 "which are 4 on the emulator",
                                         .smallest = 1,
                                         .largest = most_cards,
                                         .default_value = 0},
                                        {.name = "--calls",
                                         .value = "K",
                                         .help = "all-reduces in a row, each of the sums of the one before.\n"
                                                 "Default: 1",
                                         .smallest = 1,
                                         .largest = 1000,
                                         .default_value = 1}},
                            .default_n = 1 << 18});

    lesson.add_kernel("through_host", measure_through_host);
    lesson.add_kernel("peer_copies", measure_way<peer_copies, sums_grid, all_inputs>);
    lesson.add_kernel("peer_loads", measure_way<peer_loads, sums_grid, all_inputs>);
    lesson.add_kernel("one_shot", measure_way<one_shot_way, one_shot_grid, all_inputs>);
    lesson.add_kernel("two_steps", measure_way<two_steps_way, two_steps_grid<two_steps>, two_parts>);
    lesson.add_kernel("two_steps_pull",
                      measure_way<two_steps_pull_way, two_steps_grid<two_steps_pull>, two_parts>,
                      "--kernel two_steps_pull");
    lesson.add_kernel("nccl", measure_nccl, "--kernel nccl");

    return lesson.run(argc, argv);
}
