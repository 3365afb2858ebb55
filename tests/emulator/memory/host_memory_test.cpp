#include "emulator/memory/address_space.hpp"

#include <gmock/gmock.h>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <sys/mman.h>

using emulator::host_memory_at;
using testing::Optional, testing::StartsWith;

namespace {

int of_the_program = 1;

std::uint64_t address_of(const void* pointer) { return reinterpret_cast<std::uint64_t>(pointer); }

} // namespace

TEST(HostMemory, is_named_by_its_kind) {
    int on_stack = 0;
    EXPECT_THAT(host_memory_at(address_of(&on_stack)), Optional(std::string("its stack")));
    EXPECT_THAT(host_memory_at(address_of(&of_the_program)), Optional(StartsWith("a variable of ")));
    const auto on_heap = std::make_unique<int>(1);
    EXPECT_TRUE(host_memory_at(address_of(on_heap.get())));
}

TEST(HostMemory, is_not_where_nothing_can_be_read) {
    EXPECT_FALSE(host_memory_at(0));
    EXPECT_FALSE(host_memory_at(~0ull));
    constexpr std::size_t bytes = 1 << 16;
    void* const reserved = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT_FALSE(host_memory_at(address_of(reserved)));
    mprotect(reserved, bytes, PROT_READ);
    EXPECT_TRUE(host_memory_at(address_of(reserved)));
    munmap(reserved, bytes);
    EXPECT_FALSE(host_memory_at(address_of(reserved)));
}
