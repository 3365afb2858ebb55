/// \file
/// Random input, the same on every platform, and its sum.
#pragma once

#include "harness/device_buffer.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace harness {

/// Element `index` of the random sequence `seed`: from -1000 to 1000, but never 0, so that a lost element
/// changes the sum. Any element can be had without those before it (the generator is SplitMix64, which only
/// counts and scrambles).
int random_int(std::uint64_t seed, std::uint64_t index);

/// The reference: the sum of `values` modulo 2^32, as 32-bit addition gives it.
int reference_sum(std::span<const int> values);

/// `size` random ints in device memory, and their sum. They start `offset` ints into their allocation, which
/// is aligned to 256 bytes; those before them are poisoned.
class RandomInts {
public:
    /// \throws DeviceError when they don't fit in device memory
    RandomInts(std::size_t size, std::uint64_t seed, std::size_t offset = 0);

    /// The whole allocation.
    const DeviceBuffer<int>& device() const { return device_; }
    const int* data() const { return device_.data() + offset_; }
    std::size_t size() const { return device_.size() - offset_; }
    std::size_t offset() const { return offset_; }
    std::uint64_t seed() const { return seed_; }
    int sum() const { return sum_; }

    /// The elements from `first` on, `count` of them, computed anew: right even if a kernel overwrote the
    /// device's.
    std::vector<int> values(std::size_t first, std::size_t count) const;

private:
    std::uint64_t seed_;
    std::size_t offset_;
    DeviceBuffer<int> device_;
    int sum_ = 0;
};

} // namespace harness
