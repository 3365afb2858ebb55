// The record of written bytes: written by kernels, by the host, and padding.

#include "emulator/check/written_bytes.hpp"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cstdint>

using emulator::all_lanes, emulator::LaneMask, emulator::warp_size, emulator::WrittenBytes;
using std::uint32_t, std::uint64_t;

namespace {

using Addresses = std::array<uint64_t, warp_size>;

/// Lane i at `first` + i * `stride`.
Addresses strided(uint64_t first, uint64_t stride) {
    Addresses result{};
    for (std::size_t lane = 0; lane < result.size(); ++lane) result[lane] = first + lane * stride;
    return result;
}

/// One element at `place`.
void write_one(WrittenBytes& bytes, uint64_t place, uint32_t size, uint32_t elements = 1) {
    Addresses addresses{};
    addresses.fill(place);
    bytes.write(addresses.data(), 0, 1, size, elements);
}

uint64_t count_written(const WrittenBytes& bytes) {
    uint64_t count = 0;
    for (uint64_t place = 0; place < bytes.size(); ++place) count += bytes.is_written(place) ? 1 : 0;
    return count;
}

/// The bytes of an array of structs that are not written are found, or are taken for padding.
void expect_padding(WrittenBytes& bytes, bool is_padding) {
    EXPECT_EQ(bytes.find_unwritten(0, bytes.size()).has_value(), !is_padding);
}

} // namespace

TEST(WrittenBytes, are_none_at_first_and_after_a_reset) {
    WrittenBytes bytes(100);
    EXPECT_EQ(count_written(bytes), 0u);
    bytes.fill(10, 20);
    EXPECT_EQ(count_written(bytes), 20u);
    for (const std::size_t size : {100u, 200u, 50u}) {
        bytes.reset(size);
        EXPECT_EQ(bytes.size(), size);
        EXPECT_EQ(count_written(bytes), 0u);
    }
}

TEST(WrittenBytes, are_those_of_every_lane_for_any_size_of_access) {
    constexpr uint64_t base = 0x7f00'0000'0000;
    for (const uint32_t size : {1u, 2u, 4u, 8u, 16u})
        for (const uint32_t stride : {0u, 1u, 2u, 3u}) // in elements; 1: side by side
            for (const uint64_t first : {0u, 1u, 2u, 5u})
                for (const LaneMask lanes : {all_lanes, LaneMask{0x8000'0021}, LaneMask{0x0FF0}, LaneMask{1}})
                    for (const bool steps_are_known : {false, true}) {
                        WrittenBytes bytes(16 * 128);
                        const Addresses addresses = strided(base + first * size, uint64_t{stride} * size);
                        const auto from = addresses[static_cast<std::size_t>(std::countr_zero(lanes))];
                        const auto told =
                            steps_are_known
                                ? emulator::LaneAddresses(lanes, from, std::int64_t{stride} * size)
                                : emulator::LaneAddresses(addresses.data());
                        EXPECT_EQ(bytes.unwritten(told, base, lanes, size), lanes);
                        bytes.write(told, base, lanes, size);
                        EXPECT_EQ(bytes.unwritten(told, base, lanes, size), 0u);
                        std::array<bool, 16 * 128> expected{};
                        emulator::for_each_lane(lanes, [&](int lane) {
                            for (uint64_t k = 0; k < size; ++k)
                                expected[addresses[static_cast<std::size_t>(lane)] - base + k] = true;
                        });
                        for (uint64_t place = 0; place < bytes.size(); ++place)
                            ASSERT_EQ(bytes.is_written(place), expected[place])
                                << "byte " << place << ", size " << size << ", stride " << stride;
                    }
}

TEST(WrittenBytes, a_single_missing_byte_is_the_fault_of_its_lane) {
    for (const uint32_t size : {1u, 2u, 4u, 8u, 16u})
        for (uint64_t missing = 0; missing < uint64_t{size} * warp_size; ++missing) {
            WrittenBytes bytes(size * warp_size);
            bytes.fill(0, missing);
            bytes.fill(missing + 1, bytes.size() - missing - 1);
            EXPECT_EQ(bytes.unwritten(strided(0, size).data(), 0, all_lanes, size),
                      LaneMask{1} << missing / size)
                << "byte " << missing << ", size " << size;
        }
}

TEST(WrittenBytes, that_the_host_wrote_all_at_once_are_complete) {
    WrittenBytes bytes(64);
    bytes.fill(0, 63);
    EXPECT_FALSE(bytes.is_complete());
    bytes.fill(0, 64);
    EXPECT_TRUE(bytes.is_complete());
    EXPECT_FALSE(bytes.find_unwritten(0, 64));
}

TEST(WrittenBytes, that_the_host_wrote_piece_after_piece_are_complete) {
    WrittenBytes bytes(64);
    bytes.fill(0, 20);
    bytes.fill(40, 24);
    EXPECT_FALSE(bytes.is_complete()) << "a gap from 20 on";
    bytes.fill(20, 10);
    bytes.fill(29, 35); // once more 29, and the end
    EXPECT_TRUE(bytes.is_complete());

    bytes.copy(10, WrittenBytes(64), 0, 4); // unwrites 10 to 13
    EXPECT_FALSE(bytes.is_complete());
    bytes.fill(12, 52);
    EXPECT_FALSE(bytes.is_complete()) << "10 and 11 are missing";
    EXPECT_EQ(bytes.find_unwritten(0, 64)->count, 2u);
    bytes.fill(8, 56);
    EXPECT_TRUE(bytes.is_complete());
}

TEST(WrittenBytes, that_whole_warps_wrote_alone_are_complete) {
    WrittenBytes bytes(256);
    const auto write = [&](uint64_t first, uint64_t stride, emulator::LaneMask lanes) {
        bytes.write_alone(strided(first, stride).data(), 0, lanes, 4);
    };
    write(0, 4, emulator::all_lanes);
    write(128, 4, emulator::all_lanes >> 1);
    EXPECT_FALSE(bytes.is_complete()) << "one lane did not";
    write(0, 8, emulator::all_lanes);
    EXPECT_FALSE(bytes.is_complete()) << "with gaps";
    write(128, 4, emulator::all_lanes);
    EXPECT_TRUE(bytes.is_complete());
    bytes.reset(256);
    EXPECT_FALSE(bytes.is_complete());
    write(128, 4, emulator::all_lanes);
    EXPECT_FALSE(bytes.is_complete()) << "not from the first on";
}

TEST(WrittenBytes, go_along_with_copies) {
    WrittenBytes half(64), complete(64), target(64);
    half.fill(0, 32);
    complete.fill(0, 64);

    target.copy(16, half, 16, 32); // 16 written, then 16 not
    EXPECT_EQ(count_written(target), 16u);
    EXPECT_TRUE(target.is_written(16) && target.is_written(31) && !target.is_written(32));

    target.copy(0, complete, 0, 64);
    EXPECT_TRUE(target.is_complete());

    target.copy(40, half, 32, 8); // unwrites bytes of a complete one
    EXPECT_FALSE(target.is_complete());
    EXPECT_EQ(count_written(target), 56u);
    EXPECT_FALSE(target.is_written(40) || target.is_written(47));

    target.copy(32, target, 36, 16); // within itself, overlapping
    EXPECT_TRUE(target.is_written(35) && !target.is_written(36) && !target.is_written(43) &&
                target.is_written(44));
    EXPECT_EQ(complete.size(), 64u);
    EXPECT_TRUE(complete.is_complete());
}

TEST(WrittenBytes, unwritten_ones_are_counted_and_the_first_is_named) {
    WrittenBytes bytes(1000);
    bytes.fill(0, 100);
    bytes.fill(300, 600);
    const auto unwritten = bytes.find_unwritten(50, 900);
    ASSERT_TRUE(unwritten);
    EXPECT_EQ(unwritten->first, 100u);
    EXPECT_EQ(unwritten->count, 200u + 50u);
    EXPECT_FALSE(bytes.find_unwritten(0, 100));
    EXPECT_FALSE(bytes.find_unwritten(300, 600));
    EXPECT_EQ(bytes.find_unwritten(99, 2)->count, 1u);
}

TEST(WrittenBytes, padding_before_a_wider_member) {
    WrittenBytes bytes(4 * 24); // struct { char c; int i; double d; float f; double e; }, without its last
    for (uint64_t first = 0; first < bytes.size(); first += 24) {
        write_one(bytes, first, 1);
        write_one(bytes, first + 4, 4);
        write_one(bytes, first + 8, 8);
        write_one(bytes, first + 16, 8);
    }
    expect_padding(bytes, true);
    EXPECT_TRUE(bytes.is_padding(1) && bytes.is_padding(3) && bytes.is_padding(24 + 2));
}

TEST(WrittenBytes, padding_behind_the_last_member) {
    WrittenBytes bytes(3 * 24); // struct { char c; double d; short s; }
    for (uint64_t first = 0; first < bytes.size(); first += 24) {
        write_one(bytes, first, 1);
        write_one(bytes, first + 8, 8);
        write_one(bytes, first + 16, 2);
    }
    expect_padding(bytes, true);
    EXPECT_TRUE(bytes.is_padding(23) && bytes.is_padding(71));
}

TEST(WrittenBytes, elements_left_out_are_no_padding) {
    WrittenBytes every_second(64);
    for (uint64_t place = 0; place < 64; place += 8) write_one(every_second, place, 4);
    expect_padding(every_second, false);

    WrittenBytes three_of_four(64); // bytes
    for (uint64_t place = 0; place < 64; ++place)
        if (place % 4 != 3) write_one(three_of_four, place, 1);
    expect_padding(three_of_four, false);

    WrittenBytes tail_of_vectors(64); // vectors of four words, and the last word forgotten
    for (uint64_t place = 0; place < 48; place += 16) write_one(tail_of_vectors, place, 16, 4);
    for (uint64_t place = 48; place < 60; place += 4) write_one(tail_of_vectors, place, 4);
    expect_padding(tail_of_vectors, false);

    WrittenBytes first(64);
    first.fill(1, 63);
    expect_padding(first, false);

    WrittenBytes last(64);
    last.fill(0, 63);
    expect_padding(last, false);

    WrittenBytes three_of_eight(64); // bytes behind a double
    write_one(three_of_eight, 0, 8);
    write_one(three_of_eight, 8, 1);
    three_of_eight.fill(11, 53);
    expect_padding(three_of_eight, false);

    WrittenBytes hole_of_a_struct(64); // larger than any member
    for (uint64_t place = 0; place < 64; place += 32) {
        write_one(hole_of_a_struct, place, 8);
        write_one(hole_of_a_struct, place + 16, 16);
    }
    expect_padding(hole_of_a_struct, true); // 8 bytes before an element of 16
    hole_of_a_struct.reset(64);
    for (uint64_t place = 0; place < 64; place += 32) {
        write_one(hole_of_a_struct, place, 8);
        write_one(hole_of_a_struct, place + 24, 8);
    }
    expect_padding(hole_of_a_struct, false);
}
