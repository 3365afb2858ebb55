/// The cost of one memory request: pure functions of the lanes' addresses, with the hardware's rules.
#pragma once

#include "emulator/machine/observer.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace emulator {

inline constexpr std::uint32_t sector_bytes = 32;               ///< of global memory
inline constexpr std::uint32_t bank_count = 32, bank_bytes = 4; ///< of shared memory

/// "shared load", "global atomic"
std::string access_name(ptx::Space space, AccessKind kind);

/// 32-byte sectors that a request to global memory touches. Lanes in the same sector share it.
std::uint32_t sectors(const Access& access);

/// Sectors that the bytes of a request would fill if they were contiguous: the minimum for a request.
std::uint32_t ideal_sectors(const Access& access);

/// Sectors of an atomic on global memory. Lanes with the same word are served one after another, together
/// with lanes of other words. So a sector counts as often as its most popular word is accessed.
std::uint32_t atomic_sectors(const Access& access);

/// Passes of a request through the shared-memory data pipe, and the passes it would take without bank
/// conflicts.
struct Wavefronts {
    std::uint32_t count = 0, ideal = 0;
    friend bool operator==(const Wavefronts&, const Wavefronts&) = default;
};

/// Shared memory has 32 banks of 4 bytes. In one pass each bank serves one word to all lanes that access it.
///
/// Accesses of up to 4 bytes are served for the whole warp at once, of 8 bytes per half warp, of 16 bytes per
/// quarter. Two halves, or the two quarters of a half, are served together if for every active lane i of the
/// warp, lane i^1 (or for every one, lane i^2) is inactive or has the same address.
Wavefronts wavefronts(const Access& access);

/// Caches the last results of `wavefronts`: they depend only on the distances between lanes. A loop repeats
/// the few that its accesses have.
class LastWavefronts {
public:
    /// wavefronts(access)
    Wavefronts of(const Access& access) {
        if (access.bytes != bank_bytes || !access.addresses.are_strided()) return of_any(access);
        const std::int64_t stride = access.addresses.stride();
        if (stride == 0 || stride == bank_bytes) return {1, 1}; // nearly always
        return wavefronts(access);
    }

private:
    Wavefronts of_any(const Access& access);

    struct Result {
        std::uint64_t first = 0; ///< of lane 0; any address with the same offset in its word is as good
        alignas(64) std::uint64_t distances[warp_size] = {}; ///< from there
        LaneMask active = 0;
        std::uint32_t bytes = 0;
        Wavefronts wavefronts;

        bool is_of(const Access& access) const;
    };

    std::array<Result, 4> results_;
    std::size_t oldest_ = 0;
};

/// The cost of a warp's cp.async beyond the instruction.
struct CopyTraffic {
    std::uint32_t requests = 0;      ///< 0: it reads nothing, and fills with zeros
    std::uint32_t sectors = 0;       ///< of global memory
    std::uint32_t ideal_sectors = 0; ///< as those of any request
    Wavefronts wavefronts;           ///< from global to shared memory
};

/// Lanes are served in the same groups as for other accesses: all for 4 bytes each, halves for 8, quarters
/// for 16. A wavefront moves a lane's bytes from bank to bank: the cache also keeps global words in 32 banks.
/// Lanes with the same word are not served together.
///
/// An H200 counts `cp.async.ca` like this. It counts `cp.async.cg` like this if the lanes copy a row of bytes
/// to a row of shared memory, both aligned to 32 bytes, without filling zeros. Otherwise it mostly counts
/// more.
CopyTraffic copy_traffic(const AsyncCopy& copy);

/// Sectors of global memory that a bulk copy fetches. The copy engine fills one line of 128 bytes of shared
/// memory after another, and fetches the sectors of each line separately.
std::uint32_t bulk_sectors(std::uint64_t from, std::uint64_t to, std::uint32_t bytes);

/// How many lanes are served together by that rule, 8, 16 or 32: lanes 0 to 7, 8 to 15 and so on.
int lanes_served_together(const Access& access);

} // namespace emulator
