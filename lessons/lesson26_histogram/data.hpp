/// \file
/// The input of lesson 26, its histogram by the obvious loop, and its contention: how many additions the
/// busiest word takes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iomanip>
#include <sstream>
#include <string>
#include <vector>

#include "harness/device_buffer.hpp"
#include "harness/numbers.hpp"
#include "harness/random_input.hpp"

/// Random ints, of which `skew` in 100 are 0 instead.
class SkewedInts {
public:
    SkewedInts(const harness::RandomInts& random, std::uint64_t skew)
        : random_(random), skew_(skew), device_(skew > 0 ? random.size() : 0) {
        if (skew == 0) return;
        for (std::size_t first = 0; first < random.size(); first += chunk) device_.write(part(first), first);
    }

    const int* data() const { return skew_ > 0 ? device_.data() : random_.data(); }

    /// The histogram of their lowest bytes. Its counts wrap around, as those of the kernels do.
    std::vector<int> histogram() const {
        std::vector<unsigned int> counts(256);
        for_each_bin([&](std::size_t, unsigned int bin) { ++counts[bin]; });
        return {counts.begin(), counts.end()};
    }

    /// How many additions the busiest word takes. \param histograms at most so many
    /// \param histogram_of in which of them element i is counted
    template <class HistogramOf>
    std::uint64_t busiest_word(std::size_t histograms, const HistogramOf& histogram_of) const {
        std::vector<std::uint32_t> additions(histograms * 256);
        for_each_bin([&](std::size_t i, unsigned int bin) { ++additions[histogram_of(i) * 256 + bin]; });
        return *std::max_element(additions.begin(), additions.end());
    }

    template <class Use> void for_each_bin(const Use& use) const {
        for (std::size_t first = 0; first < random_.size(); first += chunk) {
            const std::vector<int> values = part(first);
            for (std::size_t i = 0; i < values.size(); ++i)
                use(first + i, static_cast<unsigned int>(values[i]) % 256);
        }
    }

private:
    static constexpr std::size_t chunk = std::size_t{1} << 22; // 16 MiB of host memory

    std::vector<int> part(std::size_t first) const {
        std::vector<int> values = random_.values(first, std::min(chunk, random_.size() - first));
        for (std::size_t i = 0; skew_ > 0 && i < values.size(); ++i) {
            // Of the 2,000 numbers that random_int draws, 20 leave each remainder.
            const int drawn = harness::random_int(~random_.seed(), first + i) + 1000;
            if (static_cast<std::uint64_t>(drawn % 100) < skew_) values[i] = 0;
        }
        return values;
    }

    const harness::RandomInts& random_;
    std::uint64_t skew_;
    harness::DeviceBuffer<int> device_;
};

/// "contention in histogram_shared", and a line for each memory. \param blocks that add their counts to
/// global memory; 0: the kernel counts there
inline std::string describe_contention(const std::string& kernel, std::uint64_t busiest,
                                       std::uint64_t blocks) {
    std::ostringstream text;
    const auto add_line = [&](const char* memory, std::uint64_t additions) {
        text << "  additions to the busiest word in " << memory << " memory" << std::setw(14)
             << harness::group_digits(additions) << "\n";
    };
    text << "contention in " << kernel << "\n";
    add_line(blocks > 0 ? "shared" : "global", busiest);
    if (blocks > 0) add_line("global", blocks);
    return text.str();
}
