// Each way to sum host data, at sizes around a tile's end; and the player, which has to find each event that is missing.
#include <cuda_runtime_api.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "harness/check.hpp"
#include "harness/device_buffer.hpp"
#include "harness/exit_status.hpp"
#include "harness/launch_size.hpp"
#include "harness/lesson.hpp"
#include "harness/numbers.hpp"
#include "harness/random_input.hpp"
#include "harness/streams.hpp"
#include "harness/verification.hpp"
#include "test_device.hpp"

namespace lesson34_kernels { // Other lessons have functions of the same names.
#include "../../../lessons/lesson34_data_from_the_host/host_ints.hpp"
#include "../../../lessons/lesson34_data_from_the_host/kernels.cuh"
#include "../../../lessons/lesson34_data_from_the_host/play.hpp"
#include "../../../lessons/lesson34_data_from_the_host/ways.cuh"

using namespace harness;
using testing::HasSubstr;

constexpr std::size_t smallest_memory = 8192, tile = 1024; // bytes; ints of one of two tiles

TEST(Lesson34Ways, are_right_at_every_end_of_a_tile) {
    for (const std::size_t n :
         {1, 2, 3, 4, 5, 31, 33, 1000, 1023, 1024, 1025, 2047, 2048, 2049, 3072, 5001, 65'537})
        for (const unsigned int block : {32u, 256u, 1024u})
            for (const HostMemory memory : {HostMemory::pageable, HostMemory::pinned, HostMemory::file}) {
                const HostInts input(memory, n, n);
                Tiles tiles(n, smallest_memory, block);
                EXPECT_EQ(tiles.ints, std::min(n, tile));
                for (const auto way : {one_stream, two_streams, in_place}) {
                    if (way != one_stream && memory != HostMemory::pinned) continue;
                    for (const char* call : {"first", "second"}) {
                        tiles.sum.poison();
                        way(tiles, input.data(), n);
                        synchronize("add_sum");
                        ASSERT_EQ(tiles.sum.read().front(), input.sum())
                            << "n = " << n << ", block " << block << ", " << call << " call";
                    }
                }
            }
}

// What a copy may overwrite while the other buffer is read.
TEST(Lesson34Ways, two_streams_take_both_buffers_in_turn) {
    const HostInts input(HostMemory::pinned, 2 * tile, 1);
    Tiles tiles(2 * tile, smallest_memory, 256);
    two_streams(tiles, input.data(), 2 * tile);
    synchronize("add_sum");
    for (const std::size_t i : {0, 1})
        EXPECT_EQ(tiles.buffers[i].read(),
                  std::vector<int>(input.data() + i * tile, input.data() + (i + 1) * tile));
}

TEST(Lesson34Ways, leave_the_host_data_alone) {
    const HostInts input(HostMemory::pinned, 5001, 1);
    Tiles tiles(5001, smallest_memory, 256);
    two_streams(tiles, input.data(), 5001);
    in_place(tiles, input.data(), 5001);
    synchronize("add_sum");
    for (std::size_t i = 0; i < 5001; ++i) ASSERT_EQ(input.data()[i], random_int(1, i));
}

constexpr int copies = static_cast<int>(Stream::copies), kernels = static_cast<int>(Stream::kernels);

/// The calls for six tiles, as the solution lists them.
std::vector<Call> right_calls() {
    DeviceBuffer<Call> calls(64);
    HARNESS_CHECK(cudaMemset(calls.data(), 0, calls.bytes()));
    queue_tiles<<<1, 1>>>({calls.data(), 64}, 6);
    check_launch("queue_tiles");
    std::vector<Call> listed = calls.read();
    while (!listed.empty() && listed.back().kind == Call::none) listed.pop_back();
    return listed;
}

Verification played(const std::vector<Call>& calls) {
    const HostInts input(HostMemory::pinned, 6 * tile - 1, 7);
    Tiles tiles(input.bytes() / sizeof(int), smallest_memory, 256);
    return Player(tiles, input.data(), input.bytes() / sizeof(int), input.sum()).verify(calls);
}

std::string first_wrong(const std::vector<Call>& calls) {
    const Verification verified = played(calls);
    return verified.passed || verified.wrong_places.empty() ? "" : verified.wrong_places.front();
}

TEST(Lesson34Player, plays_the_solution) { EXPECT_TRUE(played(right_calls()).passed); }

// Each wait that is left out lets a copy or a kernel run too early: the sum is wrong in one of the two orders.
TEST(Lesson34Player, misses_each_event) {
    const std::vector<Call> right = right_calls();
    int waits = 0;
    for (std::size_t i = 0; i < right.size(); ++i) {
        if (right[i].kind != Call::wait) continue;
        std::vector<Call> calls = right;
        calls.erase(calls.begin() + static_cast<std::ptrdiff_t>(i));
        EXPECT_THAT(first_wrong(calls),
                    HasSubstr(right[i].stream == copies ? "when the copies run as early"
                                                        : "when the kernels run as early"))
            << "call " << i;
        ++waits;
    }
    EXPECT_EQ(waits, 6 + 4);
}

TEST(Lesson34Player, wants_an_overlap) {
    std::vector<Call> calls = right_calls();
    for (Call& call : calls) call.stream = copies;
    EXPECT_THAT(first_wrong(calls), HasSubstr("the copy of tile 1 waits for the kernel of tile 0"));
}

TEST(Lesson34Player, wants_all_tiles_once) {
    std::vector<Call> less = right_calls(), more = less;
    less.resize(less.size() - 2); // the last kernel and its record
    EXPECT_FALSE(played(less).passed);
    more.push_back(more[more.size() - 2]);
    EXPECT_FALSE(played(more).passed);
    EXPECT_FALSE(played({}).passed);
}

TEST(Lesson34Player, refuses_what_is_not_there) {
    const auto refused = [](const Call& call) { return first_wrong({call}); };
    EXPECT_EQ(refused({Call::copy, 2, 0, 0}), "call 0: there is no stream 2");
    EXPECT_EQ(refused({Call::copy, copies, 2, 0}), "call 0: there is no buffer 2");
    EXPECT_EQ(refused({Call::add, kernels, 0, 6}), "call 0: there is no tile 6");
    EXPECT_EQ(refused({Call::add, kernels, 0, -1}), "call 0: there is no tile -1");
    EXPECT_EQ(refused({Call::record, copies, 8, 0}), "call 0: there is no event 8");
    EXPECT_EQ(refused({Call::wait, copies, -1, 0}), "call 0: there is no event -1");
}

TEST(Lesson34Queue, keeps_to_its_list) {
    DeviceBuffer<Call> calls(8);
    HARNESS_CHECK(cudaMemset(calls.data(), 0, calls.bytes()));
    queue_tiles<<<1, 1>>>({calls.data(), 7}, 6);
    check_launch("queue_tiles");
    const std::vector<Call> listed = calls.read();
    EXPECT_EQ(listed[6].kind,
              static_cast<int>(Call::record)); // the second tile's second call, after five of the first
    EXPECT_EQ(listed[7].kind, static_cast<int>(Call::none));
}

} // namespace lesson34_kernels
