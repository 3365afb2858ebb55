// Lesson 34's sum of host data beside a plain copy of them from pinned memory, which shows the link's rate; and
// beside the other ways.
//
//     ahead_host [--smallest EXPONENT] [--largest EXPONENT] [--memory EXPONENT] [--runs R]
//
// The ratio to `link` is the share of the link's rate that the sum reaches.

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "../../lessons/lesson34_data_from_the_host/host_ints.hpp"
#include "../../lessons/lesson34_data_from_the_host/ways.cuh"
#include "ahead.hpp"
#include "harness/device.hpp"
#include "harness/exit_status.hpp"
#include "harness/numbers.hpp"

namespace {

using Way = void (*)(Tiles& tiles, const int* host, std::size_t n);

ahead::Contender contender(const std::string& name, Way way, Tiles& tiles, const HostInts& input,
                           std::size_t n) {
    return {name, [=, &tiles, &input] { way(tiles, input.data(), n); }, [&] { tiles.sum.poison(); },
            [&] { return tiles.sum.read().front() == input.sum(); }};
}

/// The same bytes to the same buffers, and no kernel.
ahead::Contender link(Tiles& tiles, const HostInts& input, std::size_t n) {
    const auto copy = [=, &tiles, &input] {
        std::size_t turn = 0;
        for (std::size_t first = 0; first < n; first += tiles.ints, turn = 1 - turn)
            copy_tile(tiles.buffers[turn].data(), input.data() + first, std::min(tiles.ints, n - first),
                      default_stream);
    };
    const auto is_right = [=, &tiles, &input] { // the last tile, which is in one of the buffers
        const std::size_t last = (n - 1) / tiles.ints, first = last * tiles.ints;
        const std::vector<int> there = tiles.buffers[last % 2].read(0, n - first);
        return std::equal(there.begin(), there.end(), input.data() + first);
    };
    return {"link", copy, [&tiles] { tiles.buffers[0].poison(), tiles.buffers[1].poison(); }, is_right};
}

void race(ahead::Table& table, std::size_t n, std::size_t memory) {
    Tiles tiles(n, memory, 512);
    const std::string what = "tiles of " + harness::format_bytes(tiles.ints * sizeof(int));
    const HostInts pinned(HostMemory::pinned, n, n), pageable(HostMemory::pageable, n, n),
        file(HostMemory::file, n, n);
    const ahead::Contender ours = contender("two_streams", two_streams, tiles, pinned, n);
    table.compare(what, n, ours, link(tiles, pinned, n));
    table.compare(what, n, ours, contender("pinned", one_stream, tiles, pinned, n));
    table.compare(what, n, ours, contender("in_place", in_place, tiles, pinned, n));
    table.compare(what, n, ours, contender("pageable", one_stream, tiles, pageable, n));
    table.compare(what, n, ours, contender("file", one_stream, tiles, file, n));
}

} // namespace

int main(int argc, char** argv) {
    unsigned int smallest = 24, largest = 30, memory = 26;
    int runs = 11;
    bool right = true;
    for (int i = 1; i < argc; i += 2) {
        const std::string name = argv[i];
        const int value = i + 1 < argc ? std::atoi(argv[i + 1]) : -1;
        if (name == "--smallest" && value >= 0 && value <= 36)
            smallest = static_cast<unsigned int>(value);
        else if (name == "--largest" && value >= 0 && value <= 36)
            largest = static_cast<unsigned int>(value);
        else if (name == "--memory" && value >= 13 && value <= 40)
            memory = static_cast<unsigned int>(value);
        else if (name == "--runs" && value >= 1)
            runs = value;
        else
            right = false;
    }
    if (!right) {
        std::fprintf(stderr,
                     "Usage: ahead_host [--smallest EXPONENT] [--largest EXPONENT] [--memory EXPONENT]\n"
                     "                  [--runs R]\n"
                     "EXPONENT: of 2. The ints: 0 to 36; bytes of device memory for two tiles: 13 to 40.\n");
        return static_cast<int>(harness::ExitStatus::usage);
    }
    try {
        const harness::Device device = harness::choose_device(harness::DeviceChoice::automatic, argv);
        ahead::Table table(device, runs);
        for (unsigned int e = smallest; e <= largest; e += 2)
            race(table, std::size_t{1} << e, std::size_t{1} << memory);
    } catch (const harness::DeviceError& error) {
        std::fprintf(stderr, "ahead_host: %s\n", error.what());
        return static_cast<int>(harness::ExitStatus::device);
    }
}
