#include "emulator/machine/occupancy.hpp"

#include "emulator/machine/launch.hpp"

#include <algorithm>

namespace emulator {
namespace {

using Limits = DeviceLimits;

constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) {
    return (value + unit - 1) / unit * unit;
}

} // namespace

std::uint32_t resident_blocks(std::uint64_t threads, std::uint64_t shared_bytes) {
    if (threads == 0 || threads > Limits::threads_per_block || shared_bytes > Limits::shared_bytes_per_block)
        return 0;
    const auto by_threads = Limits::threads_per_multiprocessor / round_up(threads, Limits::warp_size);
    const auto by_shared = Limits::shared_bytes_per_multiprocessor /
                           round_up(shared_bytes + reserved_shared_bytes_per_block, shared_granularity);
    return static_cast<std::uint32_t>(
        std::min({by_threads, by_shared, std::uint64_t{Limits::blocks_per_multiprocessor}}));
}

std::uint32_t shared_bytes_for(std::uint32_t blocks) {
    if (blocks == 0 || blocks > Limits::blocks_per_multiprocessor) return 0;
    const std::uint32_t share =
        Limits::shared_bytes_per_multiprocessor / blocks / shared_granularity * shared_granularity;
    return share - reserved_shared_bytes_per_block;
}

} // namespace emulator
