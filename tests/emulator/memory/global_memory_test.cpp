#include "emulator/memory/global_memory.hpp"

#include "emulator/error.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <vector>

using emulator::Allocation, emulator::Error, emulator::Failure, emulator::GlobalMemory;
using testing::HasSubstr;

TEST(GlobalMemory, allocates_aligned_poisoned_memory_that_can_be_used) {
    GlobalMemory memory;
    for (const std::size_t bytes : {1u, 255u, 4096u, 4097u, 10'000'000u}) {
        const Allocation& allocation = memory.allocate(bytes, "test");
        EXPECT_EQ(allocation.bytes, bytes);
        EXPECT_EQ(allocation.address % 256, 0u);
        EXPECT_TRUE(allocation.writable);
        auto* const first = reinterpret_cast<unsigned char*>(allocation.address);
        EXPECT_EQ(std::count(first, first + bytes, 0xCD), static_cast<std::ptrdiff_t>(bytes));
        std::memset(first, 1, bytes);
    }
}

TEST(GlobalMemory, takes_no_memory_for_bytes_that_nobody_writes_if_asked_to) {
    GlobalMemory memory;
    const std::size_t bytes = GlobalMemory::total_bytes() + (std::size_t{1} << 30);
    EXPECT_THROW(memory.allocate(bytes, "too much"), Error);
    memory.allocate_untouched();
    const Allocation& allocation = memory.allocate(bytes, "untouched");
    EXPECT_EQ(*reinterpret_cast<const unsigned char*>(allocation.end() - 1), 0);
}

TEST(GlobalMemory, finds_the_allocation_of_every_byte_and_of_no_other) {
    GlobalMemory memory;
    const Allocation& a = memory.allocate(100, "a");
    const Allocation& b = memory.allocate(5000, "b", false);
    EXPECT_FALSE(b.writable);
    for (const Allocation* allocation : {&a, &b}) {
        EXPECT_EQ(memory.find(allocation->address), allocation);
        EXPECT_EQ(memory.find(allocation->end() - 1), allocation);
        EXPECT_EQ(memory.find(allocation->end()), nullptr);
        EXPECT_EQ(memory.find(allocation->address - 1), nullptr);
    }
    EXPECT_EQ(memory.find(0), nullptr);
    EXPECT_EQ(memory.find(std::numeric_limits<std::uint64_t>::max()), nullptr);
}

TEST(GlobalMemory, never_has_two_allocations_side_by_side) {
    GlobalMemory memory;
    for (int i = 0; i < 50; ++i) {
        const Allocation& one = memory.allocate(4096, "page");
        for (std::uint64_t gap = 0; gap < 4096; gap += 64) EXPECT_EQ(memory.find(one.end() + gap), nullptr);
    }
}

TEST(GlobalMemory, places_allocations_one_after_the_other) {
    constexpr std::uint64_t first = 0x2000'0000, page = 64 << 10;
    GlobalMemory memory;
    memory.place_from(first);
    EXPECT_EQ(memory.allocate(100, "a").address, first);
    EXPECT_EQ(memory.allocate(page + 1, "b").address, first + 2 * page); // behind a's page and an unused one
    EXPECT_TRUE(memory.release(first));
    EXPECT_EQ(memory.allocate(100, "c").address, first + 5 * page); // no address is used again
    std::vector<std::uint64_t> addresses;
    for (const Allocation* one : memory.allocations()) addresses.push_back(one->address);
    EXPECT_THAT(addresses, testing::ElementsAre(first + 2 * page, first + 5 * page));
    memory.place_from(first + 2 * page); // where b is
    EXPECT_EQ(memory.allocate(100, "d").address, first + 7 * page);
    memory.place_from(0x3000'0000);
    memory.allocate(100 << 20, "large");
    memory.place_from(0x3000'0000);
    EXPECT_GT(memory.allocate(100, "f").address, 0xFFFF'FFFFu);
    memory.place_from(0);
    EXPECT_GT(memory.allocate(100, "e").address, 0xFFFF'FFFFu);
}

TEST(GlobalMemory, releases_what_starts_at_an_address) {
    GlobalMemory memory;
    const std::uint64_t address = memory.allocate(100, "a").address;
    EXPECT_FALSE(memory.release(address + 1));
    EXPECT_FALSE(memory.release(0));
    EXPECT_TRUE(memory.release(address));
    EXPECT_FALSE(memory.release(address));
    EXPECT_EQ(memory.find(address), nullptr);
}

TEST(GlobalMemory, adopts_memory_that_stays_its_owners) {
    GlobalMemory memory;
    std::array<int, 10> pinned{};
    const Allocation& allocation = memory.adopt(pinned.data(), sizeof pinned, "cudaMallocHost");
    EXPECT_EQ(memory.find(reinterpret_cast<std::uint64_t>(&pinned[9])), &allocation);
    EXPECT_TRUE(memory.release(allocation.address));
    pinned[9] = 5;
    EXPECT_EQ(pinned[9], 5);
}

TEST(GlobalMemory, names_the_nearest_allocation) {
    GlobalMemory memory;
    EXPECT_EQ(memory.nearest(12345), nullptr);
    std::array<char, 1000> arena{};
    const auto first = reinterpret_cast<std::uint64_t>(arena.data());
    const Allocation& low = memory.adopt(arena.data() + 100, 100, "low");
    const Allocation& high = memory.adopt(arena.data() + 500, 100, "high");
    for (const auto& [offset, expected] :
         {std::pair(0, &low), std::pair(100, &low), std::pair(199, &low), std::pair(200, &low),
          std::pair(349, &low), std::pair(351, &high), std::pair(500, &high), std::pair(999, &high)})
        EXPECT_EQ(memory.nearest(first + static_cast<std::uint64_t>(offset)), expected) << offset;
    EXPECT_EQ(memory.nearest(0), &low);
    EXPECT_EQ(memory.nearest(~0ull), &high);
}

TEST(GlobalMemory, knows_the_addresses_that_are_only_next_to_an_allocation) {
    GlobalMemory memory;
    const Allocation& one = memory.allocate(5000, "one");
    EXPECT_EQ(memory.around(one.address), &one);
    EXPECT_EQ(memory.around(one.end()), &one);
    EXPECT_EQ(memory.around(one.address + 3 * 4096 - 1), &one); // two pages, and one unused page
    EXPECT_NE(memory.around(one.address + 3 * 4096), &one);
    EXPECT_NE(memory.around(one.address - 1), &one);
}

TEST(GlobalMemory, remembers_who_freed_what_when_asked) {
    GlobalMemory memory;
    const std::uint64_t before = memory.allocate(100, "forgotten").address;
    EXPECT_TRUE(memory.release(before, "cudaFree #1"));
    EXPECT_EQ(memory.freed(before), nullptr);

    memory.remember_freed();
    const std::uint64_t first = memory.allocate(5000, "a").address;
    EXPECT_TRUE(memory.release(first, "cudaFree #2"));
    EXPECT_EQ(memory.find(first), nullptr);
    for (const std::uint64_t address : {first, first + 4999}) {
        ASSERT_NE(memory.freed(address), nullptr);
        EXPECT_EQ(memory.freed(address)->allocation.origin, "a");
        EXPECT_EQ(memory.freed(address)->allocation.bytes, 5000u);
        EXPECT_EQ(memory.freed(address)->by, "cudaFree #2");
    }
    EXPECT_EQ(memory.freed(first + 5000), nullptr);
    EXPECT_EQ(memory.freed(first - 1), nullptr);
    EXPECT_FALSE(memory.release(first, "cudaFree #3"));
    // No later allocation gets the address.
    for (int i = 0; i < 100; ++i) EXPECT_NE(memory.allocate(5000, "later").address, first);
    EXPECT_NE(memory.freed(first), nullptr);
}

TEST(GlobalMemory, remembers_the_latest_thousands) {
    GlobalMemory memory;
    memory.remember_freed();
    const std::uint64_t first = memory.allocate(1, "first").address;
    memory.release(first);
    std::uint64_t last = 0;
    for (int i = 0; i < 5000; ++i) {
        last = memory.allocate(1, "one of many").address;
        memory.release(last);
    }
    EXPECT_NE(memory.freed(last), nullptr);
    const auto* const freed = memory.freed(first);
    EXPECT_TRUE(!freed || freed->allocation.origin == "one of many");
}

TEST(GlobalMemory, does_not_remember_what_is_not_its_own) {
    GlobalMemory memory;
    memory.remember_freed();
    std::array<int, 10> pinned{};
    const std::uint64_t address = memory.adopt(pinned.data(), sizeof pinned, "cudaHostRegister").address;
    EXPECT_TRUE(memory.release(address));
    EXPECT_EQ(memory.freed(address), nullptr);
    pinned[9] = 5;
    EXPECT_EQ(pinned[9], 5);
}

TEST(GlobalMemory, refuses_more_than_the_machine_has) {
    GlobalMemory memory;
    EXPECT_LE(GlobalMemory::available_bytes(), GlobalMemory::total_bytes());
    EXPECT_GT(GlobalMemory::available_bytes(), 1u << 20);
    for (const std::size_t bytes :
         {GlobalMemory::total_bytes() + 1, std::size_t{1} << 62, std::numeric_limits<std::size_t>::max()}) {
        try {
            memory.allocate(bytes, "too much");
            ADD_FAILURE() << bytes;
        } catch (const Error& error) {
            EXPECT_EQ(error.failure(), Failure::out_of_memory);
            EXPECT_THAT(error.what(),
                        HasSubstr("cannot allocate " + std::to_string(bytes) + " bytes: this machine has "));
        }
    }
    EXPECT_EQ(memory.nearest(0), nullptr); // nothing is left behind
}

TEST(Allocation, contains_whole_runs_of_bytes_only) {
    const Allocation allocation{1000, 100, "a", true};
    EXPECT_TRUE(allocation.contains(1000, 100));
    EXPECT_TRUE(allocation.contains(1099, 1));
    EXPECT_FALSE(allocation.contains(1000, 101));
    EXPECT_FALSE(allocation.contains(1099, 2));
    EXPECT_FALSE(allocation.contains(1100, 1));
    EXPECT_FALSE(allocation.contains(999, 1));
    EXPECT_FALSE(allocation.contains(~0ull, 1));
    EXPECT_FALSE(allocation.contains(1001, std::numeric_limits<std::size_t>::max())); // must not wrap
}
