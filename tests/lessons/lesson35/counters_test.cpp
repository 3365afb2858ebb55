// The counters of lesson 35, to the digit: of card 0's kernel, for n ints per card. v = n / 4 vectors, t = 1 if there is a
// tail of n % 4 ints, else 0. A sector is two vectors, and a warp's request 32.
//   peer_copies, peer_loads   load each card's input: D (ceil(v / 2) + t) sectors, D (ceil(v / 32) + t) requests
//                             store the sums: ceil(v / 2) + t sectors, ceil(v / 32) + t requests
//   one_shot                  stores as much, and a word to each card per meeting: D sectors, 1 request. There are two
//                             meetings per block.
//   two_steps                 a part has p = ceil(v / D) vectors, or what is left: card c's has m(c) = v - c p, but no more
//                             than p and no less than 0. Card 0 stores m(0) sums to each card: D ceil(m(0) / 2) sectors,
//                             D ceil(m(0) / 32) requests. Then the tail and two meetings.
//   two_steps_pull            stores its part and the others' once: the sum over all c of ceil(m(c) / 32) requests. Three
//                             meetings.
// Loads of meetings are not counted here: a block loads a word again until it changes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "harness/reduction.hpp"
#include "launch.hpp"

namespace lesson35_counters {

using harness::ceil_div;
using testing::HasSubstr, testing::Not;

struct Size {
    std::uint64_t n, cards;
    unsigned int block;
};
constexpr Size sizes[] = {
    {1, 4, 256},      // v = 0: no vector, and a tail
    {8, 2, 32},       // p = 1
    {1023, 1, 64},    // v = 255, three ints past them
    {4096, 4, 32},    // v = 1024, p = 256: 8 blocks of a part, 32 of everything
    {4104, 2, 128},   // v = 1026, p = 513
    {10'016, 4, 64},  // v = 2504, p = 626
    {65'537, 3, 256}, // v = 16,384, p = 5462, m(2) = 5460
};

std::string with(const Size& size) {
    return arguments(size.n, size.block) + " --cards " + std::to_string(size.cards);
}

TEST(Lesson35, loads_all_inputs_and_stores_the_sums_once) {
    for (const char* way : {"peer_copies", "peer_loads"})
        for (const Size& size : sizes) {
            SCOPED_TRACE(way + with(size));
            const Launch launch("lesson35", way, with(size));
            const std::uint64_t v = size.n / 4, tail = size.n % 4 != 0;
            EXPECT_EQ(launch.blocks(), std::max<std::uint64_t>(ceil_div(v, size.block), 1));
            EXPECT_EQ(launch.sectors("ld"), size.cards * (ceil_div(v, 2) + tail));
            EXPECT_EQ(launch.requests("ld"), size.cards * (ceil_div(v, 32) + tail));
            EXPECT_EQ(launch.sectors("st"), ceil_div(v, 2) + tail);
            EXPECT_EQ(launch.requests("st"), ceil_div(v, 32) + tail);
        }
}

TEST(Lesson35, stores_a_word_per_meeting_block_and_card) {
    for (const Size& size : sizes) {
        SCOPED_TRACE(with(size));
        const std::uint64_t v = size.n / 4, tail = size.n % 4 != 0, d = size.cards;
        const std::uint64_t part = ceil_div(v, d);
        const auto of_card = [&](std::uint64_t card) { return std::min(v - std::min(v, card * part), part); };

        const Launch one_shot("lesson35", "one_shot", with(size));
        EXPECT_EQ(one_shot.requests("st"), ceil_div(v, 32) + tail + 2 * one_shot.blocks());
        EXPECT_EQ(one_shot.sectors("st"), ceil_div(v, 2) + tail + 2 * d * one_shot.blocks());

        const Launch two_steps("lesson35", "two_steps", with(size));
        const std::uint64_t blocks = std::max<std::uint64_t>(ceil_div(part, size.block), 1);
        EXPECT_EQ(two_steps.blocks(), blocks);
        EXPECT_EQ(two_steps.requests("st"), d * ceil_div(of_card(0), 32) + tail + 2 * blocks);
        EXPECT_EQ(two_steps.sectors("st"), d * ceil_div(of_card(0), 2) + tail + 2 * d * blocks);

        const Launch pull("lesson35", "two_steps_pull", with(size));
        std::uint64_t requests = 0;
        for (std::uint64_t card = 0; card < d; ++card) requests += ceil_div(of_card(card), 32);
        EXPECT_EQ(pull.requests("st"), requests + tail + 3 * blocks);
    }
}

TEST(Lesson35, says_how_much_arrives) {
    const ProgramResult result = run_program("./lesson35 --device emulator --n 1001");
    EXPECT_EQ(result.status, 0) << result.err;
    // 4 cards. Card 0 sums 63 of 250 vectors: 3 x 63 of its peers, and 187 sums. A tail of one int.
    for (const char* line :
         {"\nthrough_host: 4 cards, 4,004 bytes arrive at card 0.\n", // 1001 x 4
          "\npeer_loads: 4 cards, 12,012 bytes arrive at card 0.\n",  // 3 x 4,004
          "\none_shot: 4 cards, 12,012 bytes arrive at card 0.\n",
          "\ntwo_steps: 4 cards, 6,028 bytes arrive at card 0.\n"}) // (189 + 187) x 16 + 12
        EXPECT_THAT(result.out, HasSubstr(line));
    EXPECT_THAT(result.out, Not(HasSubstr("two_steps_pull")));
    EXPECT_THAT(result.out, Not(HasSubstr("nccl")));
}

TEST(Lesson35, emulates_as_many_devices_as_it_is_told) {
    EXPECT_THAT(run_program("EMULATE_DEVICES=2 ./lesson35 --device emulator --n 10").out,
                HasSubstr("peer_loads: 2 cards"));
    EXPECT_THAT(run_program("./emulate --devices 3 ./lesson35 --n 10").out, HasSubstr("peer_loads: 3 cards"));
    EXPECT_THAT(run_program("./emulate ./lesson35 --n 10").out, HasSubstr("peer_loads: 4 cards"));
}

TEST(Lesson35, rejects_more_cards_than_there_are) {
    const ProgramResult result = run_program("./lesson35 --device emulator --cards 5");
    EXPECT_EQ(result.status, 3);
    EXPECT_THAT(result.err,
                HasSubstr("--cards 5: there are 4 (cudaErrorInvalidDevice); write a number from 1 to 4"));
    EXPECT_EQ(run_program("./lesson35 --device emulator --cards 9").status, 2);
    EXPECT_EQ(run_program("./lesson35 --device emulator --cards 0").status, 2);
}

TEST(Lesson35, leaves_nccl_out_without_a_gpu) {
    const ProgramResult result = run_program("./lesson35 --device emulator --kernel nccl");
    EXPECT_EQ(result.status, 3);
    EXPECT_THAT(result.err, HasSubstr("nccl is left out: it needs GPUs"));
}

// kernels_test.cu has them. Here this program has one device.
TEST(Lesson35, ways_are_right_on_several_devices) {
    const ProgramResult result =
        run_program("EMULATE_DEVICES=3 ./lessons_test --device=emulator --gtest_filter='Lesson35Ways.*'");
    EXPECT_EQ(result.status, 0) << result.out << result.err;
    EXPECT_THAT(result.out, HasSubstr("[  PASSED  ] 3 tests."));
}

TEST(Lesson35, prepares_every_run_anew) {
    expect_success(
        "./lesson35 --device emulator --verify --repeat 3",
        {"--n 10007 --calls 3", "--n 10007 --calls 2 --kernel two_steps_pull", "--n 1001 --cards 1"});
}

TEST(Lesson35, is_clean_between_blocks_too) {
    expect_clean_between_blocks("lesson35", {"--n 1 --calls 2", "--n 5003 --cards 2 --calls 2",
                                             "--n 70001 --cards 1", "--n 9001 --block 64 --calls 2",
                                             "--n 9001 --block 64 --calls 2 --kernel two_steps_pull"});
}

TEST(Lesson35, sums_the_same_in_other_orders) {
    expect_success("./emulate --schedules 5 ./lesson35 --verify", {"--n 1003 --calls 2"});
}

} // namespace lesson35_counters
