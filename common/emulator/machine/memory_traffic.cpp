#include "emulator/machine/memory_traffic.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace emulator {

namespace {

using std::int64_t, std::uint32_t, std::uint64_t;

using LaneValues = std::array<uint64_t, warp_size>;

/// 1 for each lane whose value a later lane repeats, otherwise 0. No value has all bits set. Compares each with
/// each, which the compiler vectorizes: that is faster than to sort them.
LaneValues repeated_later(const LaneValues& values) {
    std::array<uint64_t, std::size_t{2} * warp_size> padded;
    std::copy(values.begin(), values.end(), padded.begin());
    std::fill(padded.begin() + warp_size, padded.end(), UINT64_MAX);
    LaneValues repeated{};
    for (std::size_t distance = 1; distance < warp_size; ++distance)
        for (std::size_t lane = 0; lane < warp_size; ++lane)
            repeated[lane] |= values[lane] == padded[lane + distance] ? 1u : 0u;
    return repeated;
}

uint32_t distinct(const LaneValues& values) {
    const LaneValues repeated = repeated_later(values);
    return static_cast<uint32_t>(std::count(repeated.begin(), repeated.end(), uint64_t{0}));
}

/// The most distinct words that `group` accesses in any bank, for lanes in any order. Counting the first word
/// of a wider access is enough: accesses are aligned, so the next banks serve the same number.
uint32_t conflict_degree_of_any(const uint64_t* addresses, LaneMask group) {
    LaneValues words; // lanes outside the group repeat a word of it
    words.fill(addresses[std::countr_zero(group)] / bank_bytes);
    for_each_lane(group,
                  [&](int lane) { words[static_cast<std::size_t>(lane)] = addresses[lane] / bank_bytes; });
    const LaneValues repeated = repeated_later(words);
    std::array<std::uint8_t, bank_count> wanted{};
    for (std::size_t lane = 0; lane < warp_size; ++lane)
        wanted[words[lane] % bank_count] += repeated[lane] == 0 ? 1 : 0;
    return *std::max_element(wanted.begin(), wanted.end());
}

/// The same, if the lanes stay within 64 rows of one word per bank: then one bit per row marks the words that
/// a bank serves.
uint32_t conflict_degree(const Access& access, LaneMask group) {
    constexpr uint64_t row_bytes = uint64_t{bank_count} * bank_bytes;
    const uint64_t* const addresses = access.addresses.data();
    uint64_t lowest = addresses[0], highest = addresses[0];
    for (int lane = 1; lane < warp_size; ++lane) {
        lowest = std::min(lowest, addresses[lane]);
        highest = std::max(highest, addresses[lane]);
    }
    const uint64_t first_row = lowest / row_bytes;
    if (highest / row_bytes - first_row >= 64) return conflict_degree_of_any(addresses, group);
    std::array<uint64_t, bank_count> wanted{};
    for (int lane = 0; lane < warp_size; ++lane)
        wanted[addresses[lane] / bank_bytes % bank_count] |= uint64_t{group >> lane & 1}
                                                             << (addresses[lane] / row_bytes - first_row);
    int most = 0;
    for (const uint64_t rows : wanted) most = std::max(most, std::popcount(rows));
    return static_cast<uint32_t>(most);
}

/// Whether each active lane's neighbor at `distance` is inactive or has the same address.
bool neighbors_agree(const Access& access, int distance) {
    bool agree = true;
    for_each_lane(access.active, [&](int lane) {
        const int neighbor = lane ^ distance;
        if ((access.active >> neighbor & 1) != 0 && access.addresses[lane] != access.addresses[neighbor])
            agree = false;
    });
    return agree;
}

/// One bit for each bank that holds a lane's only word. Inactive lanes repeat an active one.
uint32_t banks_touched(const Access& access) {
    const uint64_t* const addresses = access.addresses.data();
    uint32_t touched = 0;
    for (int lane = 0; lane < warp_size; ++lane) touched |= 1u << (addresses[lane] / bank_bytes % bank_count);
    return touched;
}

/// For evenly spaced lanes; 0: there is no shortcut.
uint32_t sectors_in_steps(const Access& access) {
    const LaneAddresses& addresses = access.addresses;
    const uint64_t distance = addresses.highest() / sector_bytes - addresses.lowest() / sector_bytes;
    if (distance == 0) return 1;
    // Either no two lanes share a sector, or no sector in between is left out.
    const int64_t stride = addresses.stride();
    if (std::max(stride, -stride) >= int64_t{sector_bytes})
        return static_cast<uint32_t>(std::popcount(access.active));
    return has_gaps(access.active) ? 0 : static_cast<uint32_t>(distance + 1);
}

/// For 4 bytes per lane, evenly spaced.
uint32_t wavefronts_in_steps(LaneMask active, int64_t stride) {
    if (stride == 0) return 1;
    // The words of two lanes share a bank if 32 divides their distance times the stride in words, that is, if
    // `period` divides their distance.
    const auto words = static_cast<uint64_t>(stride) / bank_bytes;
    const uint32_t period = bank_count >> std::min(std::countr_zero(words), 5);
    if (period == bank_count) return 1;
    const LaneMask every_period = all_lanes / ((LaneMask{1} << period) - 1);
    int most = 0;
    for (uint32_t lane = 0; lane < period; ++lane)
        most = std::max(most, std::popcount(active & every_period << lane));
    return static_cast<uint32_t>(most);
}

} // namespace

uint32_t sectors(const Access& access) {
    if (access.addresses.are_strided())
        if (const uint32_t count = sectors_in_steps(access); count != 0) return count;
    // Most requests touch sectors that lie close together: one bit for each.
    const uint64_t* const addresses = access.addresses.data();
    const uint64_t first = addresses[0] / sector_bytes;
    uint64_t touched = 0, far = 0;
    for (int lane = 0; lane < warp_size; ++lane) {
        const uint64_t place = addresses[lane] / sector_bytes - first + 32;
        far |= place >> 6;
        touched |= uint64_t{1} << (place & 63);
    }
    if (far == 0) return static_cast<uint32_t>(std::popcount(touched));

    LaneValues all;
    for (int lane = 0; lane < warp_size; ++lane)
        all[static_cast<std::size_t>(lane)] = addresses[lane] / sector_bytes;
    return distinct(all);
}

uint32_t ideal_sectors(const Access& access) {
    // Accesses are aligned: two lanes share all of their bytes or none.
    LaneValues all;
    std::copy_n(access.addresses.data(), warp_size, all.begin());
    return (distinct(all) * access.bytes + sector_bytes - 1) / sector_bytes;
}

uint32_t atomic_sectors(const Access& access) {
    std::array<uint64_t, warp_size> words;
    uint32_t count = 0;
    for_each_lane(access.active, [&](int lane) { words[count++] = access.addresses[lane]; });
    std::sort(words.begin(), words.begin() + count);
    uint32_t total = 0, wanted = 0, max_wanted = 0;
    for (uint32_t i = 0; i < count; ++i) {
        wanted = i > 0 && words[i] == words[i - 1] ? wanted + 1 : 1;
        if (i > 0 && words[i] / sector_bytes != words[i - 1] / sector_bytes) {
            total += max_wanted;
            max_wanted = 0;
        }
        max_wanted = std::max(max_wanted, wanted);
    }
    return total + max_wanted;
}

Wavefronts wavefronts(const Access& access) {
    if (access.bytes == bank_bytes && access.addresses.are_strided())
        return {wavefronts_in_steps(access.active, access.addresses.stride()), 1};
    if (access.bytes <= bank_bytes) {
        // No bank is accessed twice.
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

bool LastWavefronts::Result::is_of(const Access& access) const {
    const uint64_t* const addresses = access.addresses.data();
    const uint64_t last = addresses[warp_size - 1] - addresses[0];
    if (access.active != active || access.bytes != bytes || last != distances[warp_size - 1]) return false;
    uint64_t different = (addresses[0] - first) % bank_bytes;
    for (int lane = 0; lane < warp_size; ++lane)
        different |= (addresses[lane] - addresses[0]) ^ distances[lane];
    return different == 0;
}

Wavefronts LastWavefronts::of_any(const Access& access) {
    for (const Result& result : results_)
        if (result.is_of(access)) return result.wavefronts;
    Result& result = results_[oldest_];
    oldest_ = (oldest_ + 1) % results_.size();
    const uint64_t* const addresses = access.addresses.data();
    result.first = addresses[0];
    for (int lane = 0; lane < warp_size; ++lane) result.distances[lane] = addresses[lane] - addresses[0];
    result.active = access.active;
    result.bytes = access.bytes;
    return result.wavefronts = wavefronts(access);
}

CopyTraffic copy_traffic(const AsyncCopy& copy) {
    std::array<uint64_t, warp_size> from;
    LaneMask reading = 0;
    for_each_lane(copy.lanes, [&](int l) {
        const auto lane = static_cast<std::size_t>(l);
        if (copy.from_bytes[lane] == 0) return;
        reading |= LaneMask{1} << l;
        from[lane] = reinterpret_cast<std::uintptr_t>(copy.from[lane]);
    });
    CopyTraffic traffic;
    if (reading != 0) {
        const uint64_t first = from[static_cast<std::size_t>(std::countr_zero(reading))];
        for (std::size_t lane = 0; lane < warp_size; ++lane)
            if ((reading >> lane & 1) == 0) from[lane] = first;
        const Access access{.bytes = copy.bytes, .active = reading, .addresses = from.data()};
        traffic.requests = 1;
        traffic.sectors = sectors(access);
        traffic.ideal_sectors = ideal_sectors(access);
    }
    const int lanes_each = static_cast<int>(bank_count * bank_bytes / copy.bytes);
    for (int begin = 0; begin < warp_size; begin += lanes_each) {
        std::array<uint32_t, bank_count> read{}, written{};
        uint32_t most = 0;
        for (int lane = begin; lane < begin + lanes_each; ++lane) {
            if ((copy.lanes >> lane & 1) == 0) continue;
            most = std::max(most, ++written[copy.addresses[lane] / bank_bytes % bank_count]);
            if ((reading >> lane & 1) != 0)
                most = std::max(most, ++read[from[static_cast<std::size_t>(lane)] / bank_bytes % bank_count]);
        }
        traffic.wavefronts.count += most;
        traffic.wavefronts.ideal += most != 0 ? 1 : 0;
    }
    return traffic;
}

uint32_t bulk_sectors(uint64_t from, uint64_t to, uint32_t bytes) {
    constexpr uint32_t line_bytes = 128;
    uint32_t count = 0;
    while (bytes != 0) {
        const uint32_t piece = std::min(bytes, line_bytes - static_cast<uint32_t>(to % line_bytes));
        count += static_cast<uint32_t>((from + piece - 1) / sector_bytes - from / sector_bytes + 1);
        from += piece;
        to += piece;
        bytes -= piece;
    }
    return count;
}

int lanes_served_together(const Access& access) {
    if (access.bytes <= bank_bytes) return warp_size;
    const int lanes = access.bytes <= 8 ? 16 : 8;
    return neighbors_agree(access, 1) || neighbors_agree(access, 2) ? 2 * lanes : lanes;
}

std::string access_name(ptx::Space space, AccessKind kind) {
    const std::string memory = space == ptx::Space::shared ? "shared " : "global ";
    switch (kind) {
    case AccessKind::load: return memory + "load";
    case AccessKind::store: return memory + "store";
    default: return memory + "atomic";
    }
}

} // namespace emulator
