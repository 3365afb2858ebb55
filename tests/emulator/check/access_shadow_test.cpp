#include "emulator/check/race/race_actors.hpp"

#include <gmock/gmock.h>

#include <random>
#include <tuple>
#include <vector>

namespace {

using namespace emulator;

constexpr std::uint64_t bytes = 2048; // 16 lines
constexpr std::uint32_t warps = 3, blocks = 2;

/// Accesses of warps to memory, from some place on.
template <class Actor> class Shadow {
public:
    explicit Shadow(std::uint64_t from) : from_(from) {}

    using Disturbance = std::tuple<int, std::uint64_t, LaneMask, InstructionId, Role>;

    std::vector<Disturbance> access(const Actor& actor, Role role, LaneMask active, std::uint64_t first,
                                    std::int64_t stride, std::uint32_t width) {
        std::vector<Disturbance> found;
        shadow_.access(
            actor, role, LaneAddresses(active, from_ + first, stride), width, active,
            [&](int lane, const typename Actor::Record& record, Role earlier) {
                found.emplace_back(lane, record.stamp, record.lanes, record.id, earlier);
                return false;
            },
            [](int, int) {});
        return found;
    }

private:
    std::uint64_t from_;
    AccessShadow<Actor> shadow_{bytes + 64};
};

/// A warp's next access: all lanes access words in a row, or vectors, or only some lanes do.
struct Pattern {
    explicit Pattern(std::mt19937& random) {
        const auto below = [&](std::uint32_t end) { return static_cast<std::uint32_t>(random() % end); };
        const LaneMask masks[] = {all_lanes, all_lanes, all_lanes, 0xffff, 1, 0x80, 0x0ff0, 0x5555};
        active = masks[below(8)];
        width = 4u << (below(3) == 0 ? below(3) : 0);
        const std::int64_t strides[] = {width, width, width, width, 0, 2 * width};
        stride = active == 1 ? width : strides[below(6)];
        const std::uint64_t room = bytes - 32 * static_cast<std::uint64_t>(stride) - width;
        first = below(2) == 0 ? below(static_cast<std::uint32_t>(room / 128)) * 128
                              : below(static_cast<std::uint32_t>(room / width)) * width;
        role = std::array{Role::read, Role::write, Role::atomic}[below(3)];
    }
    LaneMask active = 0;
    std::uint32_t width = 0;
    std::int64_t stride = 0;
    std::uint64_t first = 0;
    Role role = Role::read;
};

// A line has one record where an access fills it. With all addresses a word (a vector) further, the same
// accesses fill none: each cell has its own. Both have to find the same, whatever came before.

TEST(AccessShadow, of_whole_lines_finds_what_that_of_cells_does) {
    std::mt19937 random(42);
    std::size_t found = 0;
    for (int round = 0; round < 100; ++round) {
        MemoryOrder order(max_ticks);
        order.start();
        Shadow<BlockActor> lines(0), cells(16);
        for (InstructionId id = 1; id < 60; ++id) {
            const Pattern next(random);
            const BlockActor actor(order, static_cast<std::uint32_t>(random() % warps), id, round % 2 != 0);
            const auto expected =
                cells.access(actor, next.role, next.active, next.first, next.stride, next.width);
            ASSERT_EQ(lines.access(actor, next.role, next.active, next.first, next.stride, next.width),
                      expected)
                << "round " << round << ", access " << id;
            found += expected.size();
            if (random() % 3 == 0) order.start_tick();
            if (random() % 8 == 0) order.start(); // as a barrier of the whole block
        }
    }
    EXPECT_GT(found, 3'000u);
}

TEST(AccessShadow, of_whole_lines_finds_what_that_of_cells_does_between_blocks) {
    std::mt19937 random(42);
    std::size_t found = 0;
    for (int round = 0; round < 100; ++round) {
        std::vector<MemoryOrder> orders;
        for (std::uint32_t block = 0; block < blocks; ++block) orders.emplace_back(max_ticks).start();
        GridOrder grid;
        std::vector<GridOrder::View> views(blocks);
        for (std::uint32_t block = 0; block < blocks; ++block) grid.start(views[block], block, block);
        Shadow<GridActor> lines(0), cells(16);
        for (InstructionId id = 1; id < 60; ++id) {
            const Pattern next(random);
            const auto block = static_cast<std::uint32_t>(random() % blocks);
            const auto warp = static_cast<std::uint32_t>(random() % warps);
            const BlockActor in_block(orders[block], warp, id, false);
            const GridActor actor(in_block, block, warp, views[block], round % 2 != 0);
            const auto expected =
                cells.access(actor, next.role, next.active, next.first, next.stride, next.width);
            ASSERT_EQ(lines.access(actor, next.role, next.active, next.first, next.stride, next.width),
                      expected)
                << "round " << round << ", access " << id;
            found += expected.size();
            if (random() % 3 == 0) orders[block].start_tick();
            if (random() % 8 == 0) orders[block].start();
            if (random() % 8 == 0) { // as a fence and an atomic, and an atomic and a fence
                const auto released = orders[block].release(warp);
                grid.released(views[block], warp, 0, Scope::gpu, released);
                grid.read(views[1 - block], warp, 0, Scope::gpu, true);
            }
        }
    }
    EXPECT_GT(found, 3'000u);
}

} // namespace
