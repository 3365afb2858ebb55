/// The lessons' random input for web pages, beside the functions of emulator/playground/playground.cpp.
#include "harness/random_input.hpp"

#include <emscripten.h>

#include <cstdint>

extern "C" {

/// Writes the lessons' random ints `first`, `first` + 1, … to device memory. The seed comes in two halves.
EMSCRIPTEN_KEEPALIVE void playground_random_ints(int* values, std::uint32_t count, std::uint32_t seed_low,
                                                 std::uint32_t seed_high, std::uint32_t first) {
    const std::uint64_t seed = std::uint64_t{seed_high} << 32 | seed_low;
    for (std::uint32_t k = 0; k < count; ++k) values[k] = harness::random_int(seed, std::uint64_t{first} + k);
}

/// The same for 64 random bits each.
EMSCRIPTEN_KEEPALIVE void playground_random_bits(std::uint64_t* values, std::uint32_t count,
                                                 std::uint32_t seed_low, std::uint32_t seed_high,
                                                 std::uint32_t first) {
    const std::uint64_t seed = std::uint64_t{seed_high} << 32 | seed_low;
    for (std::uint32_t k = 0; k < count; ++k)
        values[k] = harness::random_bits(seed, std::uint64_t{first} + k);
}

} // extern "C"
