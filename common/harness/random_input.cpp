#include "harness/random_input.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace harness {

std::uint64_t random_bits(std::uint64_t seed, std::uint64_t index) {
    std::uint64_t bits = seed + (index + 1) * 0x9E3779B97F4A7C15;
    bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9;
    bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EB;
    return bits ^ (bits >> 31);
}

int random_int(std::uint64_t seed, std::uint64_t index) {
    const std::uint64_t bits = random_bits(seed, index);
    const int below_2000 = static_cast<int>(((bits >> 32) * 2000) >> 32);
    return below_2000 < 1000 ? below_2000 - 1000 : below_2000 - 999; // -1000 to -1, and 1 to 1000
}

int reference_sum(const int* values, std::size_t count) {
    unsigned int sum = 0; // unsigned arithmetic wraps; signed overflow is undefined
    for (std::size_t i = 0; i < count; ++i) sum += static_cast<unsigned int>(values[i]);
    return static_cast<int>(sum);
}

namespace {

/// Saturates on overflow: no device has SIZE_MAX ints.
std::size_t saturated_sum(std::size_t a, std::size_t b) {
    constexpr std::size_t most = std::numeric_limits<std::size_t>::max();
    return a > most - b ? most : a + b;
}

} // namespace

RandomInts::RandomInts(std::size_t size, std::uint64_t seed, std::size_t offset, bool filled)
    : seed_(seed), offset_(offset), filled_(filled), device_(saturated_sum(size, offset)) {
    if (!filled) return;
    if (offset > 0) device_.poison();
    constexpr std::size_t chunk = std::size_t{1} << 22; // 16 MiB of host memory, however large the input
    for (std::size_t first = 0; first < size; first += chunk) {
        const std::vector<int> part = values(first, std::min(chunk, size - first));
        device_.write(part, offset + first);
        std::size_t summed = 0;
        for (; part.size() - summed >= piece; summed += piece)
            sums_.push_back(reference_sum(part.data() + summed, piece));
        sum_ = reference_sum(std::array{sum_, reference_sum(part.data() + summed, part.size() - summed)});
    }
    sum_ = reference_sum(std::array{sum_, reference_sum(sums_)});
}

int RandomInts::sum(std::size_t first, std::size_t count) const {
    const std::size_t pieces = first % piece == 0 ? count / piece : 0;
    const int whole = reference_sum(sums_.data() + (pieces > 0 ? first / piece : 0), pieces);
    const std::size_t summed = pieces * piece;
    return reference_sum(std::array{whole, reference_sum(values(first + summed, count - summed))});
}

std::vector<int> RandomInts::values(std::size_t first, std::size_t count) const {
    std::vector<int> result(count);
    for (std::size_t i = 0; i < count; ++i) result[i] = random_int(seed_, first + i);
    return result;
}

} // namespace harness
