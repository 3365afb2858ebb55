// What requests cost, by hand.

#include "emulator/machine/memory_traffic.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <fstream>
#include <functional>
#include <numeric>
#include <random>
#include <set>
#include <sstream>
#include <string>

using emulator::Access, emulator::all_lanes, emulator::LaneMask, emulator::Wavefronts;
using std::int64_t, std::uint32_t, std::uint64_t;

namespace {

using AddressOf = std::function<uint64_t(uint64_t lane)>;

/// A request in which lane i accesses `address(i)`.
template <class Result>
Result measure(Result (*pure)(const Access&), uint32_t bytes, const AddressOf& address, LaneMask active) {
    std::array<uint64_t, 32> addresses{};
    const uint64_t first = address(static_cast<uint64_t>(std::countr_zero(active)));
    for (uint64_t lane = 0; lane < 32; ++lane)
        addresses[lane] = (active >> lane & 1) != 0 ? address(lane) : first;
    Access access;
    access.bytes = bytes;
    access.active = active;
    access.addresses = addresses.data();
    return pure(access);
}

uint32_t sectors(uint32_t bytes, const AddressOf& address, LaneMask active = all_lanes) {
    return measure(emulator::sectors, bytes, address, active);
}
uint32_t ideal_sectors(uint32_t bytes, const AddressOf& address, LaneMask active = all_lanes) {
    return measure(emulator::ideal_sectors, bytes, address, active);
}
int lanes_served_together(uint32_t bytes, const AddressOf& address, LaneMask active = all_lanes) {
    return measure(emulator::lanes_served_together, bytes, address, active);
}
Wavefronts wavefronts(uint32_t bytes, const AddressOf& address, LaneMask active = all_lanes) {
    return measure(emulator::wavefronts, bytes, address, active);
}

AddressOf strided(uint64_t step, uint64_t start = 0) {
    return [=](uint64_t lane) { return start + step * lane; };
}

} // namespace

TEST(Sectors, of_neighboring_lanes_are_shared) {
    EXPECT_EQ(sectors(4, strided(4)), 4u);    // 32 lanes x 4 B = 128 B
    EXPECT_EQ(sectors(8, strided(8)), 8u);    // 256 B
    EXPECT_EQ(sectors(16, strided(16)), 16u); // 512 B
    EXPECT_EQ(sectors(1, strided(1)), 1u);    // 32 B
    EXPECT_EQ(sectors(2, strided(2)), 2u);
    EXPECT_EQ(sectors(4, strided(0, 64)), 1u);                                // all at one place
    EXPECT_EQ(sectors(4, strided(static_cast<uint64_t>(-4), 1024 - 4)), 4u);  // backwards
    EXPECT_EQ(sectors(4, [](uint64_t lane) { return (lane ^ 21) * 4; }), 4u); // in any order
}

TEST(Sectors, of_a_row_that_starts_off_a_sector_are_one_more) {
    for (const uint64_t start : {4u, 8u, 16u, 28u, 4096u + 4})
        EXPECT_EQ(sectors(4, strided(4, start)), 5u) << start; // 128 B over 5 sectors
    EXPECT_EQ(sectors(4, strided(4, 32)), 4u);
    EXPECT_EQ(sectors(8, strided(8, 8)), 9u);
    EXPECT_EQ(sectors(1, strided(1, 1)), 2u);
}

TEST(Sectors, of_strided_lanes_are_the_places_between_first_and_last) {
    // Words 4 s apart, from address 0: lane i's sector is s i / 8, rounded down.
    for (uint64_t stride = 1; stride <= 33; ++stride) {
        // Below 8 no sector is left out.
        const uint32_t expected = stride >= 8 ? 32 : static_cast<uint32_t>(31 * stride / 8 + 1);
        EXPECT_EQ(sectors(4, strided(4 * stride)), expected) << stride;
    }
}

TEST(Sectors, of_inactive_lanes_are_not_counted) {
    EXPECT_EQ(sectors(4, strided(4), 0x0000'00FF), 1u);
    EXPECT_EQ(sectors(4, strided(4), 0x8000'0001), 2u);
    EXPECT_EQ(sectors(4, strided(4), 0xFFFF'FF00), 3u);
    EXPECT_EQ(sectors(4, strided(4096), 0x0000'0002), 1u);
    EXPECT_EQ(sectors(4, strided(128), 0x5555'5555), 16u);
}

TEST(Sectors, may_lie_far_apart) {
    EXPECT_EQ(
        sectors(4, [](uint64_t lane) { return lane % 2 == 0 ? 4 * lane : 0x7FFF'0000'0000 + 4 * lane; }), 8u);
    EXPECT_EQ(sectors(4, [](uint64_t lane) { return 0x7FFF'0000'0000 - lane * 65536; }), 32u);
    EXPECT_EQ(sectors(4, [](uint64_t lane) { return 0x7FFF'0000'0000 + lane / 4 * 65536; }), 8u);
    // The first lane in the middle, others up to 32 sectors below and above it.
    EXPECT_EQ(sectors(4, [](uint64_t lane) { return 4096 + (lane % 2 == 0 ? 32 * lane : 0 - 32 * lane); }),
              32u);
    EXPECT_EQ(sectors(4,
                      [](uint64_t lane) {
                          return lane == 0 ? 4096u : lane == 1 ? 4096 - 32 * 32u : 4096 - 33 * 32u;
                      }),
              3u);
    EXPECT_EQ(sectors(4,
                      [](uint64_t lane) {
                          return lane == 0 ? 4096u : lane == 1 ? 4096 + 31 * 32u : 4096 + 32 * 32u;
                      }),
              3u);
}

TEST(IdealSectors, are_those_of_the_same_bytes_side_by_side) {
    EXPECT_EQ(ideal_sectors(4, strided(4)), 4u);
    EXPECT_EQ(ideal_sectors(4, strided(4, 4)), 4u);                               // off a sector: 5 are taken
    EXPECT_EQ(ideal_sectors(4, strided(4096)), 4u);                               // 32 are taken
    EXPECT_EQ(ideal_sectors(4, strided(8), 0x5555'5555), 2u);                     // 16 x 4 B
    EXPECT_EQ(ideal_sectors(4, strided(4), 0x0000'01FF), 2u);                     // 36 B
    EXPECT_EQ(ideal_sectors(4, strided(0)), 1u);                                  // all lanes at one word
    EXPECT_EQ(ideal_sectors(1, strided(64)), 1u);                                 // 32 x 1 B
    EXPECT_EQ(ideal_sectors(16, strided(32)), 16u);                               // 32 x 16 B
    EXPECT_EQ(ideal_sectors(8, [](uint64_t lane) { return lane / 2 * 64; }), 4u); // 16 x 8 B
}

TEST(Wavefronts, are_for_a_warp_or_parts_of_it) {
    EXPECT_EQ(lanes_served_together(4, strided(128)), 32);
    EXPECT_EQ(lanes_served_together(8, strided(8)), 16);
    EXPECT_EQ(lanes_served_together(8, [](uint64_t lane) { return lane / 2 * 8; }), 32);
    EXPECT_EQ(lanes_served_together(16, strided(16)), 8);
    EXPECT_EQ(lanes_served_together(16, [](uint64_t lane) { return (lane & ~2ull) * 16; }), 16);
    EXPECT_EQ(lanes_served_together(8, strided(8), 0x5555'5555), 32);
}

TEST(Wavefronts, of_words_are_the_most_that_one_bank_has_to_give) {
    EXPECT_EQ(wavefronts(4, strided(4)), (Wavefronts{1, 1}));
    EXPECT_EQ(wavefronts(4, strided(0, 64)), (Wavefronts{1, 1})); // a broadcast
    EXPECT_EQ(wavefronts(4, [](uint64_t lane) { return (31 - lane) * 4; }), (Wavefronts{1, 1}));
    EXPECT_EQ(wavefronts(4, [](uint64_t lane) { return lane * 7 % 32 * 4; }), (Wavefronts{1, 1}));
    EXPECT_EQ(wavefronts(4, [](uint64_t lane) { return lane % 2 * 128; }),
              (Wavefronts{2, 1})); // two words of one bank, each wanted by 16 lanes
    EXPECT_EQ(wavefronts(4, [](uint64_t lane) { return lane < 31 ? lane * 4 : 128; }),
              (Wavefronts{2, 1})); // one lane spoils it
    // Two lanes at one word, and each of the others at its own bank.
    EXPECT_EQ(wavefronts(4, [](uint64_t lane) { return lane == 1 ? 0 : lane * 4; }), (Wavefronts{1, 1}));
}

TEST(Wavefronts, of_strided_words_are_the_common_divisor_with_the_banks) {
    for (uint64_t stride = 1; stride <= 33; ++stride)
        EXPECT_EQ(wavefronts(4, strided(4 * stride)),
                  (Wavefronts{static_cast<uint32_t>(std::gcd(stride, 32ull)), 1}))
            << stride;
    EXPECT_EQ(wavefronts(4, strided(128)), (Wavefronts{32, 1})); // a column of a 32 x 32 tile
    EXPECT_EQ(wavefronts(4, strided(132)), (Wavefronts{1, 1}));  // padded by one
}

TEST(Wavefronts, of_the_published_rectangle_are_reproduced) {
    // 32 wide and 16 high, read by columns: thread idx reads row idx % 16, column idx / 16 of a pitch of 32,
    // 33 and 34 words.
    const auto column = [](uint64_t pitch) {
        return [=](uint64_t lane) { return (lane % 16 * pitch + lane / 16) * 4; };
    };
    EXPECT_EQ(wavefronts(4, column(32)).count, 16u); // 16 warps take 256 in all
    EXPECT_EQ(wavefronts(4, column(33)).count, 2u);  // 32: threads 15 and 16 meet in one bank
    EXPECT_EQ(wavefronts(4, column(34)).count, 1u);  // 16
}

TEST(Wavefronts, of_narrow_accesses_go_by_their_words) {
    EXPECT_EQ(wavefronts(1, strided(1)), (Wavefronts{1, 1})); // 8 words
    EXPECT_EQ(wavefronts(2, strided(2)), (Wavefronts{1, 1})); // 16 words
    EXPECT_EQ(wavefronts(1, strided(128)), (Wavefronts{32, 1}));
    EXPECT_EQ(wavefronts(2, strided(64)), (Wavefronts{16, 1}));
    EXPECT_EQ(wavefronts(1, [](uint64_t lane) { return lane % 4; }),
              (Wavefronts{1, 1})); // four bytes of one word
}

TEST(Wavefronts, of_64_bits_serve_half_a_warp_each) {
    EXPECT_EQ(wavefronts(8, strided(8)), (Wavefronts{2, 2})); // uint2[tid], as published for an A100
    EXPECT_EQ(wavefronts(8, [](uint64_t lane) { return lane / 2 * 8; }),
              (Wavefronts{1, 1})); // uint2[tid/2], likewise: neighbors agree
    EXPECT_EQ(
        wavefronts(8, [](uint64_t lane) { return (lane & ~2ull) * 8; }),
        (Wavefronts{
            2, 1})); // lanes i and i^2 agree; but 16 different places of 2 words each lie in one bank twice
    EXPECT_EQ(wavefronts(8, strided(0)), (Wavefronts{1, 1}));
    EXPECT_EQ(wavefronts(8, strided(16)),
              (Wavefronts{4, 2})); // every second pair of words: two-way in each half
    EXPECT_EQ(wavefronts(8, strided(128)), (Wavefronts{32, 2})); // a column of a pitch of 128 B: 16 + 16
    EXPECT_EQ(wavefronts(8, strided(136)), (Wavefronts{2, 2}));  // padded by one element
    EXPECT_EQ(wavefronts(8, [](uint64_t lane) { return lane / 4 * 8; }), (Wavefronts{1, 1}));
}

TEST(Wavefronts, of_128_bits_serve_a_quarter_of_a_warp_each) {
    EXPECT_EQ(wavefronts(16, strided(16)), (Wavefronts{4, 4}));
    EXPECT_EQ(wavefronts(16, [](uint64_t lane) { return lane / 2 * 16; }),
              (Wavefronts{2, 2}));                                // quarters merge within each half
    EXPECT_EQ(wavefronts(16, strided(0)), (Wavefronts{2, 2}));    // and never across
    EXPECT_EQ(wavefronts(16, strided(128)), (Wavefronts{32, 4})); // 28 conflicts
    EXPECT_EQ(wavefronts(16, strided(32)), (Wavefronts{8, 4}));
    // Published for an A100: only lanes 15 and 16 are active, at one address. Each is the only one of its
    // half.
    EXPECT_EQ(wavefronts(16, strided(0, 32), 0x0001'8000), (Wavefronts{2, 2}));
}

TEST(Wavefronts, of_parts_of_a_warp) {
    EXPECT_EQ(wavefronts(4, strided(4), 0x0000'FFFF), (Wavefronts{1, 1}));
    EXPECT_EQ(wavefronts(4, strided(128), 0x0000'000F), (Wavefronts{4, 1}));
    EXPECT_EQ(wavefronts(4, strided(128), 0x8000'0000), (Wavefronts{1, 1}));
    EXPECT_EQ(wavefronts(4, strided(64), 0x5555'5555), (Wavefronts{16, 1})); // lanes 0, 2, 4: 128 B apart
    EXPECT_EQ(wavefronts(8, strided(8), 0x0000'FFFF), (Wavefronts{1, 1}));   // one half has no lanes
    EXPECT_EQ(wavefronts(8, strided(8), 0xFFFF'0000), (Wavefronts{1, 1}));
    EXPECT_EQ(
        wavefronts(8, strided(8), 0x5555'5555),
        (Wavefronts{2,
                    1})); // no lane has a neighbor: the halves merge; their 16 places of 16 B take two passes
    EXPECT_EQ(wavefronts(16, strided(16), 0x0000'00FF), (Wavefronts{1, 1}));
    EXPECT_EQ(wavefronts(16, strided(16), 0x00FF'00FF), (Wavefronts{2, 2}));
    EXPECT_EQ(wavefronts(16, strided(16), 1u << 13), (Wavefronts{1, 1}));
}

TEST(Wavefronts, are_remembered_by_distances_width_and_lanes) {
    // More patterns than are remembered, in any order, at any word, and some that differ in one lane only.
    emulator::LastWavefronts remembered;
    std::mt19937 random(7);
    for (int k = 0; k < 1000; ++k) {
        const uint64_t pattern = random() % 7, start = random() % 100;
        const uint32_t bytes = random() % 4 == 0 ? 8 : 4;
        std::array<uint64_t, 32> addresses{};
        for (uint64_t lane = 0; lane < 32; ++lane)
            addresses[lane] = (start + lane / 16 * 8 + lane % (pattern + 1) * 32) * 8;
        if (random() % 4 == 0) addresses[15] += 8;
        Access access;
        access.bytes = bytes;
        access.active = random() % 4 == 0 ? 0x8000'7FFF : all_lanes;
        for (uint64_t lane = 0; lane < 32; ++lane)
            if ((access.active >> lane & 1) == 0) addresses[lane] = addresses[0];
        access.addresses = addresses.data();
        EXPECT_EQ(remembered.of(access), emulator::wavefronts(access)) << k;
    }
}

// A bank serves as many words as the lanes of a group access in it.
TEST(Wavefronts, of_scattered_lanes_are_the_words_of_the_busiest_bank) {
    std::mt19937_64 random(5);
    for (const uint64_t rows :
         {1, 3, 32, 63, 64, 65, 66, 200, 1800}) { // of 32 words; a block has up to 1,816
        for (int k = 0; k < 200; ++k) {
            std::array<uint64_t, 32> places{};
            for (uint64_t& place : places) place = 4 * (random() % (32 * rows));
            places[0] = 4 * (random() % 32);
            places[31] = 4 * (32 * (rows - 1) + random() % 32);
            const auto active = k % 2 == 0 ? all_lanes : static_cast<LaneMask>(random()) | 0x8000'0001;
            std::array<std::set<uint64_t>, 32> banks;
            for (uint64_t lane = 0; lane < 32; ++lane)
                if ((active >> lane & 1) != 0) banks[places[lane] / 4 % 32].insert(places[lane]);
            std::size_t most = 0;
            for (const auto& words : banks) most = std::max(most, words.size());
            const uint64_t start = 128 * (random() % 8) + 4 * (random() % 32);
            ASSERT_EQ(wavefronts(
                          4, [&](uint64_t lane) { return start + places[lane]; }, active),
                      (Wavefronts{static_cast<uint32_t>(most), 1}))
                << rows << " rows";
        }
    }
}

// Most requests equal the previous one. Some differ in one thing: the offset in a word, the width, the active
// lanes, or one lane's address.
TEST(LastWavefronts, are_those_of_each_request) {
    std::mt19937_64 random(6);
    emulator::LastWavefronts last;
    std::array<uint64_t, 32> distances{};
    uint32_t bytes = 4;
    LaneMask active = all_lanes;
    uint64_t first = 0;
    int conflicts = 0;
    for (int k = 0; k < 5000; ++k) {
        switch (random() % 8) {
        case 0:
            for (uint64_t& distance : distances) distance = 16 * (random() % 64);
            break;
        case 1: bytes = 1u << random() % 5; break;
        case 2: active = random() % 2 == 0 ? all_lanes : static_cast<LaneMask>(random()) | 1; break;
        case 3: distances[1 + random() % 31] += bytes; break;
        case 4: distances = {}; break;
        default: break;
        }
        for (uint64_t& distance : distances) distance -= distance % bytes;
        distances[0] = 0;
        first = bytes * (random() % 64);
        std::array<uint64_t, 32> addresses{};
        for (std::size_t lane = 0; lane < 32; ++lane)
            addresses[lane] = first + ((active >> lane & 1) != 0 ? distances[lane] : 0);
        const Access access{.bytes = bytes, .active = active, .addresses = addresses.data()};
        const Wavefronts expected = emulator::wavefronts(access);
        ASSERT_EQ(last.of(access), expected) << "request " << k << ", " << bytes << " bytes";
        ASSERT_EQ(last.of(access), expected) << "request " << k << " again";
        conflicts += expected.count > expected.ideal;
    }
    EXPECT_GT(conflicts, 1000);
}

TEST(Wavefronts, are_those_that_an_h200_counted) {
    std::ifstream file(EMULATOR_TESTS "/machine/shared_loads_h200.txt");
    int requests = 0;
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with('#')) continue;
        std::istringstream fields(line);
        uint32_t bytes = 0, count = 0, conflicts = 0;
        LaneMask active = 0;
        fields >> bytes >> std::hex >> active >> std::dec >> count >> conflicts;
        std::array<uint64_t, 32> places{};
        for (uint64_t& place : places) fields >> place;
        ASSERT_TRUE(fields) << line;
        EXPECT_EQ(wavefronts(
                      bytes, [&](uint64_t lane) { return places[lane] * bytes; }, active),
                  (Wavefronts{count, count - conflicts}))
            << line;
        ++requests;
    }
    EXPECT_EQ(requests, 173);
}

// Where a full warp's lanes lie in many 128-byte lines, the card now and then counts a sector more: 14 of the
// 315 random requests, and one of 43 others. Why was not found.
TEST(AtomicSectors, are_those_that_an_h200_counted) {
    std::ifstream file(EMULATOR_TESTS "/machine/atomics_h200.txt");
    int requests = 0, one_more = 0;
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with('#')) continue;
        std::istringstream fields(line);
        uint32_t bytes = 0, count = 0;
        LaneMask active = 0;
        fields >> bytes >> std::hex >> active >> std::dec >> count;
        std::array<uint64_t, 32> addresses{};
        for (uint64_t& address : addresses) {
            fields >> address;
            address *= bytes;
        }
        ASSERT_TRUE(fields) << line;
        const uint32_t ours = emulator::atomic_sectors({.kind = emulator::AccessKind::red,
                                                        .bytes = bytes,
                                                        .active = active,
                                                        .addresses = addresses.data()});
        std::set<uint64_t> lines;
        for (const uint64_t address : addresses) lines.insert(address / 128);
        const bool is_one_more = ours + 1 == count && active == 0xFFFF'FFFF && lines.size() >= 8;
        if (!is_one_more) {
            EXPECT_EQ(ours, count) << line;
        }
        one_more += is_one_more;
        ++requests;
    }
    EXPECT_EQ(requests, 315 + 2 * 43);
    EXPECT_EQ(one_more, 14 + 1);
}

// Evenly spaced lanes have shortcuts: they give the same result as counting lane by lane.
TEST(Strided, requests_cost_the_same) {
    std::mt19937_64 random(7);
    const LaneMask masks[] = {all_lanes,   0x0000'0001, 0x8000'0000, 0x0000'FFFF, 0xFFFF'0000,
                              0x5555'5555, 0x1111'1110, 0x8000'0001, 0x00FF'FF00};
    int compared = 0;
    for (const uint32_t bytes : {1u, 2u, 4u, 8u, 16u}) {
        for (int steps = -70; steps <= 70; ++steps) {
            for (int k = 0; k < 20; ++k) {
                const auto mask = k < 9 ? masks[k] : static_cast<LaneMask>(random());
                if (mask == 0) continue;
                const auto stride = static_cast<int64_t>(bytes) * steps * (k % 4 == 3 ? 8 : 1);
                const int first_lane = std::countr_zero(mask);
                const uint64_t first = (1 << 20) + bytes * (random() % 64);
                const Access access{.bytes = bytes, .active = mask, .addresses = {mask, first, stride}};
                const auto address = [&](uint64_t lane) {
                    return first + static_cast<uint64_t>((static_cast<int64_t>(lane) - first_lane) * stride);
                };
                ASSERT_EQ(emulator::sectors(access), sectors(bytes, address, mask))
                    << bytes << " bytes, stride " << stride << ", mask " << std::hex << mask;
                ASSERT_EQ(emulator::wavefronts(access), wavefronts(bytes, address, mask))
                    << bytes << " bytes, stride " << stride << ", mask " << std::hex << mask;
                ++compared;
            }
        }
    }
    EXPECT_GT(compared, 5 * 141 * 19);
}

// ---- asynchronous copies ----

namespace {

/// A warp's copies of `bytes` each to `to` and from `from` of each lane; the lanes in `zeros` read nothing.
emulator::CopyTraffic copied(uint32_t bytes, LaneMask active, LaneMask zeros,
                             const std::function<uint64_t(uint64_t)>& to,
                             const std::function<uint64_t(uint64_t)>& from) {
    std::array<uint64_t, 32> addresses{};
    std::array<const std::byte*, 32> sources{};
    std::array<uint32_t, 32> counts{};
    for (std::size_t lane = 0; lane < 32; ++lane) {
        const bool is_active = (active >> lane & 1) != 0;
        addresses[lane] = to(is_active ? lane : static_cast<uint64_t>(std::countr_zero(active)));
        if (!is_active || (zeros >> lane & 1) != 0) continue;
        sources[lane] = reinterpret_cast<const std::byte*>(from(lane) + 4096); // never looked at
        counts[lane] = bytes;
    }
    return emulator::copy_traffic({.bytes = bytes,
                                   .lanes = active,
                                   .addresses = addresses.data(),
                                   .from = sources.data(),
                                   .from_bytes = counts.data()});
}

} // namespace

TEST(CopyTraffic, of_16_bytes_goes_by_quarters_of_a_warp) {
    const auto in_steps_of = [](uint64_t bytes) { return [=](uint64_t lane) { return bytes * lane; }; };
    // A row of 32 x 16 B = 512 B: 16 sectors, 4 wavefronts of 128 B.
    emulator::CopyTraffic traffic = copied(16, all_lanes, 0, in_steps_of(16), in_steps_of(16));
    EXPECT_EQ(traffic.requests, 1u);
    EXPECT_EQ(traffic.sectors, 16u);
    EXPECT_EQ(traffic.ideal_sectors, 16u);
    EXPECT_EQ(traffic.wavefronts, (Wavefronts{4, 4}));
    // To a column: 8 lanes of each quarter want the same 4 banks. Each its own sector, of 64 B.
    traffic = copied(16, all_lanes, 0, in_steps_of(128), in_steps_of(64));
    EXPECT_EQ(traffic.sectors, 32u);
    EXPECT_EQ(traffic.ideal_sectors, 16u);
    EXPECT_EQ(traffic.wavefronts, (Wavefronts{32, 4}));
    // Lanes 0 to 8: 9 x 16 B = 144 B lie in 5 sectors, and the ninth lane needs a separate wavefront.
    traffic = copied(16, 0x1ff, 0, in_steps_of(16), in_steps_of(16));
    EXPECT_EQ(traffic.sectors, 5u);
    EXPECT_EQ(traffic.wavefronts, (Wavefronts{2, 2}));
    // Only zeros: they are written, and nothing is read.
    traffic = copied(16, all_lanes, all_lanes, in_steps_of(16), in_steps_of(16));
    EXPECT_EQ(traffic.requests + traffic.sectors + traffic.ideal_sectors, 0u);
    EXPECT_EQ(traffic.wavefronts, (Wavefronts{4, 4}));
}

TEST(CopyTraffic, is_what_an_h200_counted) {
    std::ifstream file(EMULATOR_TESTS "/machine/async_copies_h200.txt");
    int copies = 0, bulks = 0;
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with('#')) continue;
        std::istringstream fields(line);
        std::string kind;
        uint32_t bytes = 0;
        fields >> kind >> bytes;
        if (kind == "bulk") {
            uint64_t from = 0, to = 0;
            uint32_t sectors = 0;
            fields >> from >> to >> sectors;
            ASSERT_TRUE(fields) << line;
            EXPECT_EQ(emulator::bulk_sectors(from, to, bytes), sectors) << line;
            ++bulks;
        } else {
            LaneMask active = 0, zeros = 0;
            uint64_t to = 0, from = 0, first = 0;
            uint32_t requests = 0, sectors = 0, wavefronts = 0;
            fields >> std::hex >> active >> zeros >> std::dec >> to >> from >> first;
            fields >> requests >> sectors >> wavefronts;
            ASSERT_TRUE(fields) << line;
            const emulator::CopyTraffic traffic = copied(
                bytes, active, zeros, [&](uint64_t lane) { return to * lane; },
                [&](uint64_t lane) { return first + from * lane; });
            EXPECT_EQ(traffic.requests, requests) << line;
            EXPECT_EQ(traffic.sectors, sectors) << line;
            EXPECT_EQ(traffic.wavefronts.count, wavefronts) << line;
            ++copies;
        }
    }
    EXPECT_EQ(copies, 19);
    EXPECT_EQ(bulks, 9);
}
