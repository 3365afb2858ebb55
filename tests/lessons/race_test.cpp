// No two threads race: if one of them writes a word that the other one reads or writes, a barrier is between.
// And every thread reaches every barrier of its block. A kernel that breaks these rules may still give the
// right sum, on the emulator as on a card, so this test checks the accesses themselves.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "emulator/execute/opcodes.hpp"
#include "emulator/machine/cluster.hpp"
#include "emulator/machine/launch.hpp"
#include "emulator/machine/loaded_module.hpp"
#include "emulator/machine/observer.hpp"
#include "emulator/memory/global_memory.hpp"
#include "harness/random_input.hpp"
#include "harness/reduction.hpp"

namespace {

using emulator::Access, emulator::AccessKind, emulator::Code, emulator::Instruction, emulator::LaneMask,
    emulator::SyncKind, emulator::Warp;

/// Watches the blocks of a launch, one after the other, whose barriers are all for a whole block or for a
/// whole warp.
class RaceCheck final : public emulator::Observer {
public:
    explicit RaceCheck(unsigned int threads) : threads_(threads) {}

    void begin_block(std::uint64_t index) {
        block_ = index;
        block_phase_ = 0;
        warp_phases_ = {};
    }
    void end_block() {
        if (arrived_ > 0)
            faults.push_back("threads of block " + std::to_string(block_) + " missed a barrier");
        arrived_ = 0;
    }

    /// A control instruction, such as a barrier, is the last of its run.
    void instructions_executed(const Warp& warp, const Code& code, std::uint32_t first, std::uint32_t count,
                               LaneMask active) override {
        if (count == 0) return;
        const Instruction& last = code.instructions[first + count - 1];
        if (last.sync == SyncKind::block_barrier) {
            arrived_ += static_cast<unsigned int>(std::popcount(active));
            if (arrived_ == threads_) {
                ++block_phase_;
                arrived_ = 0;
            }
        } else if (last.sync == SyncKind::warp_barrier && active == emulator::all_lanes) {
            ++warp_phases_[warp.index()]; // lanes that come one by one execute it once more, together
        }
    }

    void accessed(const Warp& warp, const Instruction&, const Access& access) override {
        const bool is_shared = access.space == emulator::ptx::Space::shared;
        emulator::for_each_lane(access.active, [&](int lane) {
            const Visit visit{block_, warp.index(), lane, block_phase_, warp_phases_[warp.index()]};
            for (std::uint32_t byte = 0; byte < access.bytes; byte += 4) {
                // Every block has its own shared memory.
                Word& word = words_[{is_shared ? block_ + 1 : 0, (access.addresses[lane] + byte) / 4}];
                if (access.kind == AccessKind::load)
                    load(word, visit);
                else if (access.kind == AccessKind::store)
                    store(word, visit);
                else
                    update(word, visit);
            }
        });
    }

    std::vector<std::string> faults;

private:
    /// A thread's visit to a word. Phases count the barriers that it has passed.
    struct Visit {
        std::uint64_t block;
        std::uint32_t warp;
        int lane;
        unsigned int block_phase, warp_phase;
    };
    struct Word {
        std::vector<Visit> stores, loads, atomics; ///< the last store, and what came after it
    };

    static bool is_ordered(const Visit& a, const Visit& b) {
        if (a.block != b.block) return false; // nothing orders the blocks of a launch
        if (a.block_phase != b.block_phase) return true;
        return a.warp == b.warp && (a.lane == b.lane || a.warp_phase != b.warp_phase);
    }

    void compare(const std::vector<Visit>& earlier, const Visit& visit, const char* what) {
        for (const Visit& other : earlier) {
            if (is_ordered(other, visit)) continue;
            faults.push_back(std::string(what) + ": " + describe(other) + ", " + describe(visit));
            return;
        }
    }
    static std::string describe(const Visit& visit) {
        return "block " + std::to_string(visit.block) + " thread " +
               std::to_string(32 * visit.warp + visit.lane);
    }

    void load(Word& word, const Visit& visit) {
        compare(word.stores, visit, "stored, loaded");
        compare(word.atomics, visit, "updated, loaded");
        word.loads.push_back(visit);
    }
    /// An atomic, which may come before or after any other one.
    void update(Word& word, const Visit& visit) {
        compare(word.stores, visit, "stored, updated");
        compare(word.loads, visit, "loaded, updated");
        word.atomics.push_back(visit);
    }
    void store(Word& word, const Visit& visit) {
        compare(word.stores, visit, "stored, stored");
        compare(word.loads, visit, "loaded, stored");
        compare(word.atomics, visit, "updated, stored");
        word.loads.clear();
        word.atomics.clear();
        word.stores = {visit};
    }

    unsigned int threads_, arrived_ = 0;
    std::uint64_t block_ = 0;
    unsigned int block_phase_ = 0;
    std::array<unsigned int, 32> warp_phases_{};
    std::map<std::pair<std::uint64_t, std::uint64_t>, Word> words_; ///< by whose memory, and the place there
};

/// Runs a kernel (input or data, partial sums, n), and returns what RaceCheck found.
std::vector<std::string> find_faults(const std::string& kernel, unsigned int block, std::uint64_t grid,
                                     std::size_t n) {
    static const std::string ptx = [] {
        std::ifstream file(LESSONS_PTX);
        return std::string{std::istreambuf_iterator<char>(file), {}};
    }();
    emulator::GlobalMemory memory;
    emulator::LoadedModule module(ptx, memory, emulator::all_opcodes());
    std::vector<int> input(n), partial_sums(grid);
    for (std::size_t i = 0; i < n; ++i) input[i] = harness::random_int(1, i);
    memory.adopt(input.data(), n * sizeof(int), "input");
    memory.adopt(partial_sums.data(), grid * sizeof(int), "partial sums");
    const int sum = harness::reference_sum(input);
    const std::array<std::uint64_t, 3> parameters{reinterpret_cast<std::uint64_t>(input.data()),
                                                  reinterpret_cast<std::uint64_t>(partial_sums.data()), n};

    emulator::LaunchConfiguration configuration;
    configuration.grid.x = static_cast<std::uint32_t>(grid);
    configuration.block.x = block;
    configuration.dynamic_shared_bytes = block * sizeof(int);
    const emulator::Kernel& code = module.kernel(kernel);
    const emulator::Grid launch{.kernel = code,
                                .configuration = configuration,
                                .has_clusters = false,
                                .cluster = {1, 1, 1},
                                .parameters = std::as_bytes(std::span(parameters)),
                                .memory = memory,
                                .stack_bytes = code.local_bytes()};
    RaceCheck check(block);
    emulator::Observer* const observers[] = {&check};
    emulator::Cluster running(launch, observers);
    for (std::uint64_t index = 0; index < grid; ++index) {
        check.begin_block(index);
        running.start(index);
        EXPECT_TRUE(running.run(10'000'000)) << kernel << " does not come to an end";
        check.end_block();
    }
    EXPECT_EQ(harness::reference_sum(partial_sums), sum) << kernel;
    return check.faults;
}

struct Kernel {
    std::string name;
    std::string symbol; // as PTX has it; `#` stands for the block size
    unsigned int elements_per_thread;
};

const Kernel kernels[] = {
    {"reduce0", "_Z7reduce0PKiPim", 1},
    {"reduce0a", "_Z8reduce0aPKiPim", 1},
    {"reduce1", "_Z7reduce1PKiPim", 1},
    {"reduce2", "_Z7reduce2PKiPim", 1},
    {"reduce3", "_Z7reduce3PKiPim", 2},
    {"reduce4", "_Z7reduce4PKiPim", 2},
    {"reduce5", "_Z7reduce5ILj#EEvPKiPim", 2},
    {"reduce6", "_Z7reduce6ILj#EEvPKiPim", 2},
    {"reduce7", "_Z7reduce7ILj#EEvPKiPim", 2},
    {"reduce8", "_Z7reduce8ILj#EEvPKiPim", 8},
    {"reduceNeighboredGmem", "_Z20reduceNeighboredGmemPiS_m", 1},
    {"reduceNeighboredSmem", "_Z20reduceNeighboredSmemILj#EEvPKiPim", 1},
    {"reduceGmem", "_Z10reduceGmemPiS_m", 1},
    {"reduceSmem", "_Z10reduceSmemILj#EEvPKiPim", 1},
    {"reduceGmemUnroll", "_Z16reduceGmemUnrollPiS_m", 4},
    {"reduceSmemUnroll", "_Z16reduceSmemUnrollILj#EEvPKiPim", 4},
    {"reduceSmemDyn", "_Z13reduceSmemDynPKiPim", 1},
    {"reduceSmemUnrollDyn", "_Z19reduceSmemUnrollDynPKiPim", 4},
    // These add to the first partial sum.
    {"naive_reduction", "_Z15naive_reductionPKiPim", 1},
    {"warp_reduction", "_Z14warp_reductionPKiPim", 1},
    {"block_reduction", "_Z15block_reductionPKiPim", 1},
    {"segmented_blocked", "_Z17segmented_blockedPiS_m", 2},
    {"segmented_strided", "_Z17segmented_stridedPiS_m", 2},
    {"segmented_smem", "_Z14segmented_smemPKiPim", 2},
    {"coarse_reduction", "_Z16coarse_reductionILj4EEvPKiPim", 8},
};

class Races : public testing::TestWithParam<std::tuple<Kernel, unsigned int>> {};
INSTANTIATE_TEST_SUITE_P(Lessons, Races,
                         testing::Combine(testing::ValuesIn(kernels), testing::Values(32u, 64u, 256u)),
                         [](const auto& info) {
                             return std::get<0>(info.param).name + "_block_" +
                                    std::to_string(std::get<1>(info.param));
                         });

TEST_P(Races, are_none) {
    const auto& [kernel, block] = GetParam();
    std::string symbol = kernel.symbol;
    if (const auto hash = symbol.find('#'); hash != std::string::npos)
        symbol.replace(hash, 1, std::to_string(block));
    const std::size_t elements = std::size_t{block} * kernel.elements_per_thread;
    for (const std::size_t n : {std::size_t{1}, elements, 2 * elements + 17, 3 * elements - 1}) {
        EXPECT_THAT(find_faults(symbol, block, harness::ceil_div(n, elements), n), testing::IsEmpty())
            << "n = " << n;
    }
}

// The check finds what it is there for. All of them give the right sum here.
TEST(RaceCheck, finds_lanes_that_rely_on_lock_step) {
    EXPECT_THAT(find_faults("_Z13with_volatilePiS_m", 64, 2, 128),
                testing::Contains("loaded, stored: block 0 thread 0, block 0 thread 16"));
}

TEST(RaceCheck, finds_what_one_barrier_a_step_leaves_open) {
    EXPECT_THAT(find_faults("_Z23with_one_barrier_a_stepPiS_m", 64, 2, 128),
                testing::Contains("loaded, stored: block 0 thread 0, block 0 thread 16"));
}

TEST(RaceCheck, finds_a_result_that_is_zeroed_in_the_kernel) {
    EXPECT_THAT(find_faults("_Z15with_zero_in_itPKiPim", 64, 2, 128),
                testing::Contains("stored, updated: block 0 thread 0, block 1 thread 0"));
}

TEST(RaceCheck, finds_a_return_before_a_barrier) {
    EXPECT_THAT(find_faults("_Z17with_early_returnPiS_m", 64, 2, 100),
                testing::Contains("threads of block 1 missed a barrier"));
}

} // namespace
