/// Random input, the same on every platform, and its sum.
#pragma once

#include "harness/device_buffer.hpp"

#include <cstddef>
#include <cstdint>
#include <iterator>

namespace harness {

/// 64 random bits: number `index` of the sequence `seed`. Computed without those before it.
std::uint64_t random_bits(std::uint64_t seed, std::uint64_t index);

/// Element `index` of the random sequence `seed`, from -1000 to 1000 but never 0: a lost element changes the
/// sum. Computed without the elements before it: SplitMix64 only scrambles a counter.
int random_int(std::uint64_t seed, std::uint64_t index);

/// The reference: the sum of `count` values, wrapped to 32 bits.
int reference_sum(const int* values, std::size_t count);

/// The same of a vector or an array.
template <class Values> int reference_sum(const Values& values) {
    return reference_sum(std::data(values), std::size(values));
}

/// `size` random ints in device memory, and their sum. They start `offset` ints into an allocation that is
/// aligned to 256 bytes. The ints before them are poisoned.
class RandomInts {
public:
    /// \throws DeviceError if they don't fit in device memory
    /// \param filled false: only their memory is there, for kernels that are not run
    RandomInts(std::size_t size, std::uint64_t seed, std::size_t offset = 0, bool filled = true);

    /// The whole allocation, the `offset` ints included.
    const DeviceBuffer<int>& device() const { return device_; }
    const int* data() const { return device_.data() + offset_; }
    std::size_t size() const { return device_.size() - offset_; }
    std::size_t offset() const { return offset_; }
    bool is_filled() const { return filled_; }
    std::uint64_t seed() const { return seed_; }
    int sum() const { return sum_; }

    /// `count` elements from `first` on, computed again: right even if a kernel has overwritten those on the
    /// device.
    std::vector<int> values(std::size_t first, std::size_t count) const;
    /// Their sum, which is quick where `first` is a multiple of 256.
    int sum(std::size_t first, std::size_t count) const;

private:
    static constexpr std::size_t piece = 256;

    std::uint64_t seed_;
    std::size_t offset_;
    bool filled_;
    DeviceBuffer<int> device_;
    std::vector<int> sums_; // of each whole piece
    int sum_ = 0;
};

} // namespace harness
