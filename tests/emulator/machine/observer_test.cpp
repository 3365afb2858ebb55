// The events that observers get, and that observers change nothing.

#include "../machine/ptx_fixture.hpp"

#include "emulator/machine/cluster.hpp"
#include "emulator/machine/observer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

using namespace emulator::fixture;
using emulator::Access, emulator::AccessKind, emulator::LaneMask, emulator::Observer;
using std::uint32_t, std::uint64_t;

namespace {

struct Recorder : Observer {
    struct Recorded {
        Access access;
        std::array<uint64_t, 32> addresses{};
    };
    struct Divergence {
        LaneMask active, taken;
    };

    void instructions_executed(const emulator::Warp&, const emulator::Code&, uint32_t, uint32_t count,
                               LaneMask) override {
        instructions += count;
    }
    void accessed(const emulator::Warp&, const emulator::Instruction&, const Access& access) override {
        Recorded& recorded = accesses.emplace_back();
        recorded.access = access;
        std::copy_n(access.addresses.data(), 32, recorded.addresses.begin());
    }
    void diverged(const emulator::Warp&, const emulator::Instruction&, LaneMask active,
                  LaneMask taken) override {
        divergences.push_back({active, taken});
    }

    uint64_t instructions = 0;
    std::vector<Recorded> accesses;
    std::vector<Divergence> divergences;
};

/// Runs one block of `threads` threads with these observers.
void run_block(Program& program, uint32_t threads, std::span<const void* const> parameters,
               std::span<Observer* const> observers) {
    const emulator::Kernel& kernel = program.module.kernel("k");
    const emulator::Grid launch{.kernel = kernel,
                                .configuration = grid_of(threads),
                                .has_clusters = false,
                                .cluster = {},
                                .parameters = std::as_bytes(parameters),
                                .memory = program.memory,
                                .stack_bytes = kernel.local_bytes()};
    emulator::Cluster cluster(launch, observers);
    cluster.start(0);
    while (!cluster.run(1'000'000)) {
    }
}

} // namespace

TEST(Observer, is_told_once_of_lanes_that_stop_to_wait) {
    struct LetsGo final : Recorder {
        bool absorbs_deadlock(emulator::Block&) override { return true; }
    };
    // Two lanes. Of the masks 3 and 7 each names somebody who names others; of 3 and 3 nobody has to wait.
    const auto instructions = [](const std::string& shift) {
        Program program(module_of("shl.b32 %r2, 4, " + shift + "; sub.u32 %r2, %r2, 1; bar.warp.sync %r2;"));
        LetsGo recorder;
        Observer* const observers[] = {&recorder};
        run_block(program, 2, std::array<const void*, 3>{}, observers);
        return recorder.instructions;
    };
    EXPECT_EQ(instructions("%r60"), instructions("%r61"));
}

TEST(Observer, is_told_each_access_with_its_lanes_and_addresses) {
    Program program(module_of(R"(
        .local .u8 mine; mul.wide.u32 %rd1, %r60, 8; add.u64 %rd1, %rd60, %rd1;
        setp.lt.u32 %p1, %r60, 3; @!%p1 ld.global.u16 %r1, [%rd1];
        st.shared.v2.u32 [tile+8], {%r1, %r1};
        atom.global.add.u32 %r2, [%rd60], 1; @%p1 red.global.add.u64 [%rd1+8], 1; @%p1 bra END;
        mov.u32 %r1, %r2;
        END: st.local.u8 [mine], %r1;)",
                              ".shared .align 8 .b8 tile[16];"));
    auto* const memory = program.allocate<uint64_t>(33);
    const auto first = reinterpret_cast<uint64_t>(memory);
    Recorder recorder;
    Observer* const observers[] = {&recorder};
    const void* const parameters[] = {memory, nullptr, nullptr};
    run_block(program, 20, parameters, observers);

    ASSERT_EQ(recorder.accesses.size(), 5u);
    const auto& load = recorder.accesses[0];
    EXPECT_EQ(load.access.space, emulator::ptx::Space::global);
    EXPECT_EQ(load.access.kind, AccessKind::load);
    EXPECT_EQ(load.access.bytes, 2u);
    EXPECT_EQ(load.access.active, 0xFFFF8u);
    EXPECT_EQ(load.addresses[3], first + 24);
    EXPECT_EQ(load.addresses[19], first + 19 * 8);
    EXPECT_EQ(load.addresses[0], first + 24); // inactive lanes repeat the first active one
    EXPECT_EQ(load.addresses[31], first + 24);
    const auto& store = recorder.accesses[1];
    EXPECT_EQ(store.access.space, emulator::ptx::Space::shared);
    EXPECT_EQ(store.access.kind, AccessKind::store);
    EXPECT_EQ(store.access.bytes, 8u);
    EXPECT_EQ(store.access.active, 0xFFFFFu);
    EXPECT_EQ(store.addresses[7], 8u); // an offset
    EXPECT_EQ(recorder.accesses[2].access.kind, AccessKind::atom);
    EXPECT_EQ(recorder.accesses[3].access.kind, AccessKind::red);
    EXPECT_EQ(recorder.accesses[3].access.active, 7u);
    EXPECT_EQ(recorder.accesses[4].access.space, emulator::ptx::Space::local);
    ASSERT_EQ(recorder.divergences.size(), 1u);
    EXPECT_EQ(recorder.divergences[0].active, 0xFFFFFu);
    EXPECT_EQ(recorder.divergences[0].taken, 7u);
}

TEST(Observer, changes_no_result) {
    const std::string body =
        R"(
        mul.wide.u32 %rd1, %r60, 4; add.u64 %rd1, %rd60, %rd1; and.b32 %r1, %r60, 3;
        setp.eq.u32 %p1, %r1, 0; @%p1 bra SKIP; ld.global.u32 %r2, [%rd1]; add.u32 %r2, %r2, %r60;
        st.global.u32 [%rd1], %r2;
        SKIP: bar.sync 0; shfl.sync.bfly.b32 %r3, %r60, 5, 31, -1; red.global.add.u32 [%rd1], %r3;)";
    std::vector<std::vector<uint32_t>> results;
    std::vector<uint64_t> instructions;
    for (const std::size_t count : {0u, 1u, 3u}) {
        Program program(module_of(body));
        auto* const memory = program.allocate<uint32_t>(128);
        for (uint32_t i = 0; i < 128; ++i) memory[i] = i * 77;
        std::array<Recorder, 3> recorders;
        std::vector<Observer*> observers;
        for (std::size_t i = 0; i < count; ++i) observers.push_back(&recorders[i]);
        const void* const parameters[] = {memory, nullptr, nullptr};
        run_block(program, 128, parameters, observers);
        results.emplace_back(memory, memory + 128);
        for (std::size_t i = 0; i < count; ++i) instructions.push_back(recorders[i].instructions);
    }
    EXPECT_EQ(results[1], results[0]);
    EXPECT_EQ(results[2], results[0]);
    for (const uint64_t count : instructions) EXPECT_EQ(count, instructions[0]);
    EXPECT_GT(instructions[0], 0u);
}
