/// Which bytes of a piece of memory have been written.
#pragma once

#include "emulator/machine/observer.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>

namespace emulator {

/// Keeps for each byte the size of the element last written to it, or 0. The sizes distinguish a struct's
/// padding, which is never written, from elements that were left out.
///
/// Several host threads may write and query at once. If one thread writes a byte while another queries it,
/// either answer is right: the program has a race there.
class WrittenBytes {
public:
    explicit WrittenBytes(std::size_t size = 0);

    std::size_t size() const { return size_; }

    /// Marks all bytes unwritten, and sets their number to `size`.
    void reset(std::size_t size);

    /// `lanes` of a warp write or query: lane i the `bytes` bytes at `addresses[i]`, counted from `base`.
    /// `bytes` is 1, 2, 4, 8 or 16, and the addresses are multiples of it. A vector has several elements.
    void write(const LaneAddresses& addresses, std::uint64_t base, LaneMask lanes, std::uint32_t bytes,
               std::uint32_t elements = 1);
    /// The same for memory that no other host thread writes to. It is also complete once whole warps have
    /// written it piece by piece.
    void write_alone(const LaneAddresses& addresses, std::uint64_t base, LaneMask lanes, std::uint32_t bytes,
                     std::uint32_t elements = 1);
    /// The lanes with at least one unwritten byte.
    LaneMask unwritten(const LaneAddresses& addresses, std::uint64_t base, LaneMask lanes,
                       std::uint32_t bytes) const;

    bool is_written(std::uint64_t place) const { return size_at(place) != 0; }

    /// True once everything has been written, at once or piece by piece. Then single bytes are no longer
    /// tracked.
    bool is_complete() const { return filled_ == size_ && size_ != 0; }

    /// The host's access to any bytes.
    void fill(std::uint64_t place, std::size_t bytes);
    void copy(std::uint64_t place, const WrittenBytes& from, std::uint64_t from_place, std::size_t bytes);

    struct Unwritten {
        std::uint64_t first = 0;
        std::size_t count = 0;
    };
    /// The unwritten bytes among the `bytes` bytes at `place`, without padding.
    std::optional<Unwritten> find_unwritten(std::uint64_t place, std::size_t bytes) const;

    /// Whether the unwritten byte at `place` is probably padding in a struct: a gap after written bytes that
    /// is shorter than a neighboring element, and ends where such an element may begin.
    bool is_padding(std::uint64_t place) const;

private:
    void filled(std::uint64_t place, std::size_t bytes) {
        if (place <= filled_) filled_ = std::max<std::size_t>(filled_, place + bytes);
    }
    std::uint8_t size_at(std::uint64_t place) const {
        return __atomic_load_n(&sizes_[place], __ATOMIC_RELAXED);
    }
    template <class Word>
    void write_words(const LaneAddresses& addresses, std::uint64_t base, LaneMask lanes, std::uint32_t bytes,
                     std::uint64_t sizes);
    template <class Word>
    LaneMask unwritten_words(const LaneAddresses& addresses, std::uint64_t base, LaneMask lanes,
                             std::uint32_t bytes) const;

    struct Free {
        void operator()(std::uint8_t* bytes) const { std::free(bytes); }
    };
    std::size_t size_ = 0;
    std::size_t filled_ = 0;                      // the first bytes, all written
    std::unique_ptr<std::uint8_t[], Free> sizes_; // zeros; the system provides memory as it is written
};

} // namespace emulator
