// The maps of lessons 16 to 21 are true: for every tile that fits a block, and every padding, each thread of
// each kernel takes the very words that the map has for it, and the map's wavefronts are those that the
// emulator counts. The kernels run on the emulated machine itself, where each access can be looked at.
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <ostream>
#include <string>
#include <vector>

#include "emulator/execute/opcodes.hpp"
#include "emulator/machine/cluster.hpp"
#include "emulator/machine/counting.hpp"
#include "emulator/machine/launch.hpp"
#include "emulator/machine/loaded_module.hpp"
#include "emulator/machine/observer.hpp"
#include "emulator/memory/global_memory.hpp"
#include "harness/detail/bank_map.hpp"
#include "harness/tile.hpp"

namespace {

using emulator::Metric;
using harness::Order, harness::Tile, harness::by_columns, harness::by_rows;

/// Writes down which word each thread stores and loads, in a kernel whose threads store once and load once.
class Recorder final : public emulator::Observer {
public:
    explicit Recorder(unsigned int threads) : stored(threads), loaded(threads) {}

    void accessed(const emulator::Warp& warp, const emulator::Instruction&,
                  const emulator::Access& access) override {
        if (access.space != emulator::ptx::Space::shared) return;
        const bool is_store = access.kind == emulator::AccessKind::store;
        for (int lane = 0; lane < 32; ++lane) {
            if ((access.active >> lane & 1) == 0) continue;
            (is_store ? stored : loaded).at(32 * warp.index() + lane) =
                static_cast<unsigned int>(access.addresses[lane] / sizeof(int));
            ++(is_store ? stores : loads);
        }
        loaded_too_soon |= loads > 0 && stores < stored.size();
    }

    std::vector<unsigned int> stored, loaded;
    unsigned int stores = 0, loads = 0;
    bool loaded_too_soon = false; ///< before every thread had stored
};

struct Kernel {
    std::string name;
    Order store, load;
    bool padded = false, dynamic = false;

    /// As PTX has it.
    std::string symbol(const std::string& group) const {
        return "_ZN" + std::to_string(group.size()) + group + std::to_string(name.size()) + name + "EPi" +
               (padded ? "j" : "");
    }
    friend void PrintTo(const Kernel& kernel, std::ostream* out) { *out << kernel.name; }
};

const Kernel kernels[] = {
    {"setRowReadRow", by_rows, by_rows},
    {"setColReadCol", by_columns, by_columns},
    {"setRowReadCol", by_rows, by_columns},
    {"setRowReadColDyn", by_rows, by_columns, false, true},
    {"setRowReadColPad", by_rows, by_columns, true, false},
    {"setRowReadColDynPad", by_rows, by_columns, true, true},
};

/// The kernels, and the device that they run on.
class Machine {
public:
    /// Runs one block, and compares what each thread did with the map.
    testing::AssertionResult agrees_with_map(const Kernel& kernel, const std::string& symbol,
                                             const Tile& tile) {
        emulator::LaunchConfiguration configuration;
        configuration.block = {tile.width, tile.height};
        configuration.dynamic_shared_bytes =
            static_cast<std::uint32_t>(kernel.dynamic ? tile.words() * sizeof(int) : 0);
        configuration.dynamic_shared_limit = emulator::DeviceLimits::shared_bytes_per_block;
        std::vector<int> out(tile.threads(), -1);
        memory_.adopt(out.data(), out.size() * sizeof(int), "out"); // not an int more
        std::array<std::byte, 12> parameters{};
        const int* const first = out.data();
        std::memcpy(parameters.data(), &first, sizeof first);
        std::memcpy(parameters.data() + 8, &tile.padding, sizeof tile.padding);
        const emulator::Kernel& code = module_.kernel(symbol);
        const emulator::Grid launch{.kernel = code,
                                    .configuration = configuration,
                                    .has_clusters = false,
                                    .cluster = {1, 1, 1},
                                    .parameters = std::span(parameters).first(kernel.padded ? 12 : 8),
                                    .memory = memory_,
                                    .stack_bytes = code.local_bytes()};
        Recorder recorder(tile.threads());
        emulator::Counting counting;
        emulator::Observer* const observers[] = {&recorder, &counting};
        emulator::Cluster block(launch, observers);
        block.start(0);
        const bool ended = block.run(1'000'000);
        memory_.release(reinterpret_cast<std::uint64_t>(out.data()));
        if (!ended) return testing::AssertionFailure() << "does not come to an end";

        if (recorder.stores != tile.threads() || recorder.loads != tile.threads())
            return testing::AssertionFailure() << "a thread stores or loads not once";
        if (recorder.loaded_too_soon)
            return testing::AssertionFailure() << "a thread loads before all have stored";
        for (unsigned int thread = 0; thread < tile.threads(); ++thread) {
            if (recorder.stored[thread] != word_of(tile, kernel.store, thread))
                return testing::AssertionFailure()
                       << "thread " << thread << " stores word " << recorder.stored[thread];
            if (recorder.loaded[thread] != word_of(tile, kernel.load, thread))
                return testing::AssertionFailure()
                       << "thread " << thread << " loads word " << recorder.loaded[thread];
        }
        const std::uint64_t store = counting.counters()[Metric::shared_store_wavefronts];
        const std::uint64_t load = counting.counters()[Metric::shared_load_wavefronts];
        if (store != wavefronts(tile, kernel.store) || load != wavefronts(tile, kernel.load))
            return testing::AssertionFailure() << store << " wavefronts stored, " << load << " loaded";
        if (out != expected_output(tile, {.store = kernel.store, .load = kernel.load}))
            return testing::AssertionFailure() << "the result is wrong";
        return testing::AssertionSuccess();
    }

private:
    static std::string read_ptx() {
        std::ifstream file(LESSONS_PTX);
        return {std::istreambuf_iterator<char>(file), {}};
    }

    emulator::GlobalMemory memory_;
    emulator::LoadedModule module_{read_ptx(), memory_, emulator::all_opcodes()};
};

class Map : public testing::TestWithParam<Kernel> {};
INSTANTIATE_TEST_SUITE_P(Lessons, Map, testing::ValuesIn(kernels),
                         [](const auto& info) { return info.param.name; });

/// In this tile, with every `step`-th padding from `first` on if the kernel has any.
void expect_agreement(Machine& machine, const Kernel& kernel, const std::string& group, Tile tile,
                      unsigned int first = 0, unsigned int step = 1) {
    const std::string symbol = kernel.symbol(group);
    if (!kernel.padded) {
        ASSERT_TRUE(machine.agrees_with_map(kernel, symbol, tile)) << tile.width << " x " << tile.height;
        return;
    }
    for (tile.padding = first; tile.padding <= harness::most_padding; tile.padding += step) {
        // What a static array of 48 KiB cannot hold, lesson21 refuses.
        if (!kernel.dynamic && tile.words() > 12 * 1024) continue;
        ASSERT_TRUE(machine.agrees_with_map(kernel, symbol, tile))
            << tile.width << " x " << tile.height << ", padding " << tile.padding;
    }
}

TEST_P(Map, is_true_for_every_square) {
    Machine machine;
    for (unsigned int width = 1; width <= 32 && !HasFatalFailure(); ++width)
        expect_agreement(machine, GetParam(), "square", {width, width});
}

// Of the paddings every sixteenth, other ones for each neighbor, to save time; all of them where width and
// height are powers of two.
TEST_P(Map, is_true_for_every_rectangle) {
    Machine machine;
    for (unsigned int width = 1; width <= 1024; ++width) {
        for (unsigned int height = 1; width * height <= 1024 && !HasFatalFailure(); ++height) {
            if (std::has_single_bit(width * height))
                expect_agreement(machine, GetParam(), "rectangle", {width, height});
            else
                expect_agreement(machine, GetParam(), "rectangle", {width, height}, (width + height) % 16,
                                 16);
        }
    }
}

} // namespace
