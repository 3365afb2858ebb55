#include "emulator/check/written_bytes.hpp"

#include <algorithm>
#include <cstring>
#include <new>

namespace emulator {

namespace {

template <class T> using Aliasing [[gnu::may_alias]] = T;

constexpr std::uint64_t each_byte = 0x0101'0101'0101'0101;

template <class Word> void store(std::uint8_t* place, std::uint64_t sizes) {
    __atomic_store_n(reinterpret_cast<Aliasing<Word>*>(place), static_cast<Word>(sizes), __ATOMIC_RELAXED);
}

template <class Word> bool has_no_zero(const std::uint8_t* place) {
    const Word sizes = __atomic_load_n(reinterpret_cast<const Aliasing<Word>*>(place), __ATOMIC_RELAXED);
    // Sizes are at most 16: only a zero, or a borrow from one, sets a byte's top bit.
    return ((sizes - static_cast<Word>(each_byte)) & static_cast<Word>(each_byte << 7)) == 0;
}

/// The total size of the lanes' bytes if they are contiguous, else 0.
std::size_t bytes_side_by_side(const LaneAddresses& addresses, LaneMask lanes, std::uint32_t bytes) {
    if (has_gaps(lanes)) return 0;
    const auto count = static_cast<std::uint32_t>(std::popcount(lanes));
    if (addresses.are_strided()) {
        if (addresses.stride() != bytes && count != 1) return 0;
    } else {
        if (count != warp_size) return 0;
        std::uint64_t difference = 0;
        for (int lane = 0; lane < warp_size; ++lane)
            difference |= addresses[lane] ^ (addresses[0] + static_cast<std::uint32_t>(lane) * bytes);
        if (difference != 0) return 0;
    }
    return count * bytes;
}

/// Calls `visit(place, word)` for the words that make up these bytes, as large as alignment allows; `word` is
/// a zero of the word's type.
template <class Visit> void for_each_word(std::uint8_t* place, std::size_t bytes, Visit visit) {
    const auto offset = [&] { return reinterpret_cast<std::uintptr_t>(place) % sizeof(std::uint64_t); };
    for (; bytes != 0 && offset() != 0; ++place, --bytes) visit(place, std::uint8_t{});
    for (; bytes >= sizeof(std::uint64_t); place += sizeof(std::uint64_t), bytes -= sizeof(std::uint64_t))
        visit(place, std::uint64_t{});
    for (; bytes != 0; ++place, --bytes) visit(place, std::uint8_t{});
}

} // namespace

WrittenBytes::WrittenBytes(std::size_t size) { reset(size); }

void WrittenBytes::reset(std::size_t size) {
    filled_ = 0;
    if (sizes_ && size == size_) {
        std::memset(sizes_.get(), 0, size);
        return;
    }
    size_ = size;
    sizes_.reset(static_cast<std::uint8_t*>(std::calloc(std::max<std::size_t>(size, 1), 1)));
    if (!sizes_) throw std::bad_alloc();
}

template <class Word>
void WrittenBytes::write_words(const LaneAddresses& addresses, std::uint64_t base, LaneMask lanes,
                               std::uint32_t bytes, std::uint64_t sizes) {
    const std::uint64_t* const each = addresses.data();
    for_each_lane(lanes, [&](int lane) {
        for (std::uint32_t k = 0; k < bytes; k += sizeof(Word))
            store<Word>(sizes_.get() + (each[lane] - base + k), sizes);
    });
}

void WrittenBytes::write(const LaneAddresses& addresses, std::uint64_t base, LaneMask lanes,
                         std::uint32_t bytes, std::uint32_t elements) {
    const std::uint64_t sizes = each_byte * (bytes / elements);
    if (const std::size_t together = bytes_side_by_side(addresses, lanes, bytes); together != 0)
        return for_each_word(sizes_.get() + (addresses[0] - base), together,
                             [&](std::uint8_t* place, auto word) { store<decltype(word)>(place, sizes); });
    switch (bytes) {
    case 1: return write_words<std::uint8_t>(addresses, base, lanes, bytes, sizes);
    case 2: return write_words<std::uint16_t>(addresses, base, lanes, bytes, sizes);
    case 4: return write_words<std::uint32_t>(addresses, base, lanes, bytes, sizes);
    default: return write_words<std::uint64_t>(addresses, base, lanes, bytes, sizes);
    }
}

void WrittenBytes::write_alone(const LaneAddresses& addresses, std::uint64_t base, LaneMask lanes,
                               std::uint32_t bytes, std::uint32_t elements) {
    write(addresses, base, lanes, bytes, elements);
    if (const std::size_t together = bytes_side_by_side(addresses, lanes, bytes); together != 0)
        filled(addresses[0] - base, together);
}

template <class Word>
LaneMask WrittenBytes::unwritten_words(const LaneAddresses& addresses, std::uint64_t base, LaneMask lanes,
                                       std::uint32_t bytes) const {
    LaneMask result = 0;
    const std::uint64_t* const each = addresses.data();
    for_each_lane(lanes, [&](int lane) {
        bool written = true;
        for (std::uint32_t k = 0; k < bytes; k += sizeof(Word))
            written = written && has_no_zero<Word>(sizes_.get() + (each[lane] - base + k));
        result |= LaneMask{!written} << lane;
    });
    return result;
}

LaneMask WrittenBytes::unwritten(const LaneAddresses& addresses, std::uint64_t base, LaneMask lanes,
                                 std::uint32_t bytes) const {
    if (const std::size_t together = bytes_side_by_side(addresses, lanes, bytes); together != 0) {
        bool written = true;
        for_each_word(sizes_.get() + (addresses[0] - base), together, [&](std::uint8_t* place, auto word) {
            written = has_no_zero<decltype(word)>(place) && written;
        });
        if (written) return 0;
    }
    switch (bytes) {
    case 1: return unwritten_words<std::uint8_t>(addresses, base, lanes, 1);
    case 2: return unwritten_words<std::uint16_t>(addresses, base, lanes, 2);
    case 4: return unwritten_words<std::uint32_t>(addresses, base, lanes, 4);
    default: return unwritten_words<std::uint64_t>(addresses, base, lanes, bytes);
    }
}

void WrittenBytes::fill(std::uint64_t place, std::size_t bytes) {
    filled(place, bytes);
    if (!is_complete()) std::memset(sizes_.get() + place, 1, bytes);
}

void WrittenBytes::copy(std::uint64_t place, const WrittenBytes& from, std::uint64_t from_place,
                        std::size_t bytes) {
    if (from.is_complete()) return fill(place, bytes);
    if (is_complete()) std::memset(sizes_.get(), 1, size_);
    filled_ = std::min<std::size_t>(filled_, place);
    std::memmove(sizes_.get() + place, from.sizes_.get() + from_place, bytes);
}

std::optional<WrittenBytes::Unwritten> WrittenBytes::find_unwritten(std::uint64_t place,
                                                                    std::size_t bytes) const {
    if (is_complete()) return std::nullopt;
    Unwritten result;
    const std::uint64_t end = place + bytes;
    while (place < end) {
        const void* const found = std::memchr(sizes_.get() + place, 0, end - place);
        if (!found) break;
        const auto first = static_cast<std::uint64_t>(static_cast<const std::uint8_t*>(found) - sizes_.get());
        for (place = first; place < end && sizes_[place] == 0;) ++place;
        if (is_padding(first)) continue;
        if (result.count == 0) result.first = first;
        result.count += place - first;
    }
    return result.count != 0 ? std::optional(result) : std::nullopt;
}

bool WrittenBytes::is_padding(std::uint64_t place) const {
    constexpr std::uint64_t most = 15;    // bytes of padding, before an element of 16
    constexpr std::uint64_t nearby = 128; // bytes
    std::uint64_t first = place, end = place + 1;
    while (first > 0 && place - first < most && size_at(first - 1) == 0) --first;
    while (end < size_ && end - place < most && size_at(end) == 0) ++end;
    if (first == 0 || size_at(first - 1) == 0) return false;
    const auto explains_it = [&](std::uint64_t size) { return size > end - first && end % size == 0; };
    if (end < size_ && explains_it(size_at(end))) return true;
    // At the end of a struct: its widest member decides.
    std::uint8_t widest = 0;
    for (std::uint64_t at = first; at > 0 && first - at < nearby; --at)
        widest = std::max(widest, size_at(at - 1));
    return explains_it(widest);
}

} // namespace emulator
