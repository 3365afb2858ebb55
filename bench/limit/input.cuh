/// As many random ints as the largest size needs, made on the device, and the sum of any part of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

#include "bench.hpp"
#include "harness/random_input.hpp"

namespace limit {

inline constexpr std::uint64_t seed = 42;

/// harness::random_int(seed, i) for each i. If the two ever differ, every sum is wrong.
__global__ void make_random_ints(int* ints, std::size_t n) {
    const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
    for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += threads) {
        std::uint64_t bits = seed + (i + 1) * 0x9E3779B97F4A7C15;
        bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9;
        bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EB;
        bits ^= bits >> 31;
        const int below_2000 = static_cast<int>(((bits >> 32) * 2000) >> 32);
        ints[i] = below_2000 < 1000 ? below_2000 - 1000 : below_2000 - 999;
    }
}

__global__ void spin(long long cycles) {
    const long long start = clock64();
    while (clock64() - start < cycles) {
    }
}

void hold_device(long long cycles) { spin<<<1, 1>>>(cycles); }

class Input {
public:
    explicit Input(std::size_t n) : ints_(n) {
        make_random_ints<<<1024, 256>>>(ints_.data(), n);
        harness::synchronize("make_random_ints");
    }

    const int* data(std::size_t offset) const { return ints_.data() + offset; }

    /// The sum of n ints from `first` on, by the host: all its cores, the obvious loop in each.
    static int sum(std::size_t first, std::size_t n) {
        const std::size_t parts = n < 100'000 ? 1 : std::max(1u, std::thread::hardware_concurrency());
        std::vector<unsigned int> sums(parts);
        std::vector<std::thread> threads;
        for (std::size_t part = 0; part < parts; ++part) {
            threads.emplace_back([&, part] {
                unsigned int sum = 0;
                const std::size_t end = first + n * (part + 1) / parts;
                for (std::size_t i = first + n * part / parts; i < end; ++i)
                    sum += static_cast<unsigned int>(harness::random_int(seed, i));
                sums[part] = sum;
            });
        }
        unsigned int total = 0;
        for (std::size_t part = 0; part < parts; ++part) {
            threads[part].join();
            total += sums[part];
        }
        return static_cast<int>(total);
    }

private:
    harness::DeviceBuffer<int> ints_;
};

} // namespace limit
