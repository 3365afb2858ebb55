#include "emulator/observe/memory_traffic.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace emulator {

namespace {

using std::uint32_t, std::uint64_t;

/// How many different values there are among `count`, which it reorders.
uint32_t distinct(uint64_t* values, uint32_t count) {
    std::sort(values, values + count);
    return static_cast<uint32_t>(std::unique(values, values + count) - values);
}

/// The most words that any bank has to give to `group`.
uint32_t conflict_degree(const Access& access, LaneMask group) {
    const uint32_t words_each = std::max(access.bytes / bank_bytes, 1u);
    std::array<uint64_t, warp_size * 4> words;
    uint32_t count = 0;
    bool ascending = true;
    for_each_lane(group, [&](int lane) {
        for (uint32_t k = 0; k < words_each; ++k) {
            const uint64_t word = access.addresses[lane] / bank_bytes + k;
            ascending = ascending && (count == 0 || words[count - 1] < word);
            words[count++] = word;
        }
    });
    if (!ascending) count = distinct(words.data(), count);
    std::array<std::uint8_t, bank_count> wanted{};
    uint32_t most = 0;
    for (uint32_t i = 0; i < count; ++i) most = std::max<uint32_t>(most, ++wanted[words[i] % bank_count]);
    return most;
}

/// True when each active lane's neighbour at `distance` is inactive or has the same address.
bool neighbours_agree(const Access& access, int distance) {
    bool agree = true;
    for_each_lane(access.active, [&](int lane) {
        const int neighbour = lane ^ distance;
        if ((access.active >> neighbour & 1) != 0 && access.addresses[lane] != access.addresses[neighbour])
            agree = false;
    });
    return agree;
}

/// One bit for each bank that a lane's only word lies in. Inactive lanes repeat an active one.
uint32_t banks_touched(const Access& access) {
    uint32_t touched = 0;
    for (int lane = 0; lane < warp_size; ++lane)
        touched |= 1u << (access.addresses[lane] / bank_bytes % bank_count);
    return touched;
}

} // namespace

uint32_t sectors(const Access& access) {
    // Most requests touch sectors that lie close together: one bit for each.
    const uint64_t first = access.addresses[0] / sector_bytes;
    uint64_t touched = 0, far = 0;
    for (int lane = 0; lane < warp_size; ++lane) {
        const uint64_t place = access.addresses[lane] / sector_bytes - first + 32;
        far |= place >> 6;
        touched |= uint64_t{1} << (place & 63);
    }
    if (far == 0) return static_cast<uint32_t>(std::popcount(touched));

    std::array<uint64_t, warp_size> all;
    for (int lane = 0; lane < warp_size; ++lane)
        all[static_cast<std::size_t>(lane)] = access.addresses[lane] / sector_bytes;
    return distinct(all.data(), warp_size);
}

uint32_t ideal_sectors(const Access& access) {
    // Accesses are aligned: two lanes share all of their bytes or none.
    std::array<uint64_t, warp_size> all;
    std::copy_n(access.addresses, warp_size, all.begin());
    return (distinct(all.data(), warp_size) * access.bytes + sector_bytes - 1) / sector_bytes;
}

uint32_t atomic_sectors(const Access& access) {
    std::array<uint64_t, warp_size> words;
    uint32_t count = 0;
    for_each_lane(access.active, [&](int lane) { words[count++] = access.addresses[lane]; });
    std::sort(words.begin(), words.begin() + count);
    uint32_t total = 0, wanted = 0, most_wanted = 0;
    for (uint32_t i = 0; i < count; ++i) {
        wanted = i > 0 && words[i] == words[i - 1] ? wanted + 1 : 1;
        if (i > 0 && words[i] / sector_bytes != words[i - 1] / sector_bytes) {
            total += most_wanted;
            most_wanted = 0;
        }
        most_wanted = std::max(most_wanted, wanted);
    }
    return total + most_wanted;
}

Wavefronts wavefronts(const Access& access) {
    if (access.bytes <= bank_bytes) {
        // No bank is wanted twice.
        if (std::popcount(banks_touched(access)) == std::popcount(access.active)) return {1, 1};
        return {conflict_degree(access, access.active), 1};
    }
    const int lanes_each = lanes_served_together(access);
    Wavefronts result;
    const LaneMask first_group = lanes_each == 32 ? all_lanes : (LaneMask{1} << lanes_each) - 1;
    for (int first = 0; first < warp_size; first += lanes_each) {
        const LaneMask group = access.active & (first_group << first);
        if (group == 0) continue;
        result.count += conflict_degree(access, group);
        ++result.ideal;
    }
    return result;
}

int lanes_served_together(const Access& access) {
    if (access.bytes <= bank_bytes) return warp_size;
    const int lanes = access.bytes <= 8 ? 16 : 8;
    return neighbours_agree(access, 1) || neighbours_agree(access, 2) ? 2 * lanes : lanes;
}

} // namespace emulator
