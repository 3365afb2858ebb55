/// The blocks and input sizes that tests of kernels share.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <iterator>
#include <vector>

constexpr unsigned int blocks[] = {32, 64, 128, 256, 512, 1024};
/// In elements: around warps, lines, blocks and powers of two.
constexpr std::size_t sizes[] = {1,   2,   3,   4,    5,    31,   32,   33,   127,  128,  129,   255,
                                 256, 257, 999, 1000, 1023, 1024, 1025, 4095, 4096, 4097, 65'537};
/// These take most of the time. A prime, and around a power of two.
constexpr std::size_t large_sizes[] = {999'983, (1 << 20) - 1, 1 << 20, (1 << 20) + 1};

/// One large size per block. With all blocks a kernel comes to all of them.
constexpr std::size_t large_size_for(unsigned int block) { return large_sizes[__builtin_ctz(block) % 4]; }

/// All sizes, and the block's large one.
inline std::vector<std::size_t> sizes_for(unsigned int block) {
    std::vector<std::size_t> all(std::begin(sizes), std::end(sizes));
    all.push_back(large_size_for(block));
    return all;
}

/// Checks with every block. A loop, since each class of parameterized tests that a .cu file declares takes up
/// to a second to compile: nvcc reads it twice before the host compiler does.
template <class Checks> void with_every_block(const Checks& check) {
    for (const unsigned int block : blocks) {
        SCOPED_TRACE(testing::Message() << "blocks of " << block);
        check(block);
    }
}

/// The same for each of `kernels`.
template <class Kernels, class Checks>
void with_every_kernel_and_block(const Kernels& kernels, const Checks& check) {
    for (const auto& kernel : kernels) {
        SCOPED_TRACE(kernel.name);
        with_every_block([&](unsigned int block) { check(kernel, block); });
    }
}
