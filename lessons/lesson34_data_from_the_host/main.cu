// Lesson 34: data from the host.
//
//     make lesson34 && ./lesson34

#include <string>

#include "harness/lesson.hpp"
#include "harness/numbers.hpp"
#include "harness/verification.hpp"
#include "host_ints.hpp"
#include "kernels.cuh"
#include "play.hpp"
#include "ways.cuh"

namespace {

using harness::KernelRun;
using Way = void (*)(Tiles& tiles, const int* host, std::size_t n);

template <HostMemory memory, Way way> void measure_way(KernelRun& run) {
    const HostInts input(memory, run.n(), run.seed());
    Tiles tiles(run.n(), run.option("--memory"), run.block());
    const std::size_t launches = way == in_place ? 1 : harness::ceil_div(run.n(), tiles.ints);
    const std::size_t last = run.n() - (launches - 1) * tiles.ints; // ints of the launch that is counted
    const std::string of_all = harness::group_digits(std::uint64_t{launches});
    run.illustrate((std::string(run.kernel()) + ": " + harness::group_digits(std::uint64_t{input.bytes()}) +
                    " bytes cross the link. Counted: launch " + of_all + " of " + of_all + ", " +
                    harness::group_digits(std::uint64_t{last}) + " ints.\n")
                       .c_str());
    run.measure({.grid = dim3(tiles.grid(last)),
                 .block = dim3(run.block()),
                 .bytes = input.bytes(),
                 .no_estimate = "the time of the link is not modeled"},
                {.prepare = [&] { tiles.sum.poison(); },
                 .launch = [&] { way(tiles, input.data(), run.n()); },
                 .verify = [&] { return harness::compare_value(input.sum(), tiles.sum.read().front()); }});
}

/// The kernel of exercise 34, and the calls that it lists.
void measure_queue(KernelRun& run) {
    const HostInts input(HostMemory::pinned, run.n(), run.seed());
    Tiles tiles(run.n(), run.option("--memory"), run.block());
    const auto count = static_cast<int>(harness::ceil_div(run.n(), tiles.ints));
    harness::DeviceBuffer<Call> calls(16 * static_cast<std::size_t>(count) + 16);
    Player player(tiles, input.data(), run.n(), input.sum());
    run.measure({.grid = dim3(1), .block = dim3(1), .bytes = calls.bytes()},
                {.prepare = [&] { HARNESS_CHECK(cudaMemset(calls.data(), 0, calls.bytes())); },
                 .launch =
                     [&] {
                         queue_tiles<<<1, 1>>>({calls.data(), static_cast<int>(calls.size())}, count);
                     },
                 .verify = [&] { return player.verify(calls.read()); }});
}

} // namespace

int main(int argc, char** argv) {
    harness::Lesson lesson(
        {.name = "lesson34",
         .title = "Data from the host",
         .options = {{.name = "--memory",
                      .value = "M",
                      .help = "bytes of device memory for two tiles, such as 64Mi. The rest\n"
                              "of the input stays in host memory. Default: 16Mi",
                      .smallest = 8192,
                      .largest = std::uint64_t{1} << 40,
                      .default_value = 16 << 20}},
         .default_n = 1 << 24});

    lesson.add_kernel("pageable", measure_way<HostMemory::pageable, one_stream>);
    lesson.add_kernel("file", measure_way<HostMemory::file, one_stream>);
    lesson.add_kernel("pinned", measure_way<HostMemory::pinned, one_stream>);
    lesson.add_kernel("in_place", measure_way<HostMemory::pinned, in_place>);
    lesson.add_kernel("two_streams", measure_way<HostMemory::pinned, two_streams>);
    lesson.add_kernel("queue_tiles", measure_queue, "--kernel queue_tiles");

    return lesson.run(argc, argv);
}
