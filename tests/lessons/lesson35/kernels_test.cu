// Each way to an all-reduce, over all devices that are there: on a machine without a GPU over one. The programs' tests in
// counters_test.cpp emulate several.
#include <cuda/atomic>
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "harness/check.hpp"
#include "harness/device_buffer.hpp"
#include "harness/exit_status.hpp"
#include "harness/launch_size.hpp"
#include "harness/lesson.hpp"
#include "harness/random_input.hpp"
#include "harness/streams.hpp"
#include "harness/verification.hpp"
#include "test_device.hpp"

namespace lesson35_kernels { // Other lessons have functions of the same names.
#include "../../../lessons/lesson35_several_cards/all_cards.hpp"
#include "../../../lessons/lesson35_several_cards/kernels.cuh"
#include "../../../lessons/lesson35_several_cards/nccl.hpp"
#include "../../../lessons/lesson35_several_cards/ways.cuh"

using namespace harness;

void through_pinned(AllCards& cards) {
    const PinnedInts staging(cards.n * static_cast<std::size_t>(cards.count()));
    through_host(cards, staging);
    cards.synchronize(); // before the pinned memory ends
}

constexpr Way ways[] = {through_pinned, peer_copies,   peer_loads,
                        one_shot_way,   two_steps_way, two_steps_pull_way};

/// Two calls, the second of which begins where the first one ends, on each card by itself.
void expect_right(AllCards& cards, Way way) {
    cards.prepare();
    cards.start();
    way(cards);
    cards.feed_back();
    way(cards);
    cards.finish();
    synchronize("all-reduce");
    const Verification verified = cards.verify(2);
    ASSERT_TRUE(verified.passed) << (verified.wrong_places.empty() ? "" : verified.wrong_places.front());
}

TEST(Lesson35Ways, are_right_at_every_size) {
    for (const std::size_t n :
         {1, 2, 3, 4, 5, 7, 8, 31, 32, 33, 127, 128, 129, 1000, 1023, 1024, 1025, 4097, 65'537})
        for (const unsigned int block : {32u, 256u, 1024u}) {
            AllCards cards(count_cards(), n, block, n, true);
            for (std::size_t way = 0; way < std::size(ways); ++way) {
                SCOPED_TRACE("n = " + std::to_string(n) + ", block " + std::to_string(block) + ", way " +
                             std::to_string(way));
                expect_right(cards, ways[way]);
            }
        }
}

// A block that had no work in small grids knows an old round. That must not let it pass, nor stop it.
TEST(Lesson35Ways, meet_in_grids_that_grow_and_shrink) {
    AllCards cards(count_cards(), 20'000, 64, 7, false);
    for (const std::size_t blocks : {1, 3, 40, 2, 40}) {
        cards.most_blocks = blocks;
        for (const Way way : {one_shot_way, two_steps_way, two_steps_pull_way}) expect_right(cards, way);
    }
}

// The second meeting of a call has round 0: it waits for the peers as any other does.
TEST(Lesson35Ways, meet_when_the_rounds_begin_again) {
    constexpr unsigned int last = 0xffffffff;
    for (const Way way : {one_shot_way, two_steps_way, two_steps_pull_way}) {
        AllCards cards(count_cards(), 1000, 64, 7, false);
        cards.for_each([&](int card) {
            cards[card].arrived.write(std::vector<unsigned int>(cards[card].arrived.size(), last - 1));
            cards[card].round = last;
        });
        expect_right(cards, way);
        EXPECT_LT(cards[0].round, 10u);
    }
}

TEST(Lesson35Nccl, is_right_if_it_is_there) {
    if (!dlopen("libnccl.so.2", RTLD_NOW)) {
        EXPECT_THROW(Nccl(1), UnsupportedKernel);
        return;
    }
    if (test_device().kind != DeviceKind::gpu) return; // It would take the real GPU.
    AllCards cards(count_cards(), 1000, 64, 7, false);
    const Nccl nccl(cards.count());
    cards.prepare();
    nccl.group_start();
    cards.for_each([&](int card) {
        nccl.all_reduce(card, cards[card].input.data(), cards[card].output.data(), cards.n,
                        cards[card].stream);
    });
    nccl.group_end();
    EXPECT_TRUE(cards.verify(1).passed);
}

} // namespace lesson35_kernels
