/// The ways to sum ints that lie in host memory: a tile of them at a time, or all of them in place.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <cstddef>

#include "harness/check.hpp"
#include "harness/device_buffer.hpp"
#include "harness/launch_size.hpp"
#include "harness/lesson.hpp"
#include "harness/streams.hpp"
#include "kernels.cuh"

using harness::default_stream, harness::Event, harness::OwnStream;

/// What a sum of host data needs on the device. The streams come last, so they end first.
struct Tiles {
    /// \param memory bytes for both buffers \param block threads per block
    Tiles(std::size_t n, std::size_t memory, unsigned int block)
        : ints(std::min(n, memory / 2 / sizeof(int))), block(block),
          most_blocks(harness::resident_blocks(add_sum, block)) {}

    std::size_t ints; ///< of a tile; the last one may be shorter
    unsigned int block, most_blocks;
    std::array<harness::DeviceBuffer<int>, 2> buffers{harness::DeviceBuffer<int>(ints),
                                                      harness::DeviceBuffer<int>(ints)};
    harness::DeviceBuffer<int> sum{1};
    std::array<Event, 8> events;
    std::array<OwnStream, 2> streams;

    unsigned int grid(std::size_t count) const {
        const std::size_t blocks = harness::ceil_div(count, std::size_t{4} * block); // a vector per thread
        return static_cast<unsigned int>(std::min<std::size_t>(blocks, most_blocks));
    }
};

/// Queues the copy of `count` ints. From pageable memory it takes the host's help, and blocks the host meanwhile.
inline void copy_tile(int* buffer, const int* host, std::size_t count, cudaStream_t stream) {
    HARNESS_CHECK(cudaMemcpyAsync(buffer, host, count * sizeof(int), cudaMemcpyHostToDevice, stream));
}

/// Queues the sum of `count` ints.
inline void add_tile(Tiles& tiles, const int* input, std::size_t count, cudaStream_t stream) {
    add_sum<<<tiles.grid(count), tiles.block, 0, stream>>>(input, count, tiles.sum.data());
    harness::check_launch("add_sum");
}

/// What comes later in `stream` waits for all that is in `before` so far.
inline void wait_for(cudaStream_t before, cudaStream_t stream, const Event& event) {
    HARNESS_CHECK(cudaEventRecord(event, before));
    HARNESS_CHECK(cudaStreamWaitEvent(stream, event));
}

/// One tile after the other: the link is idle while a kernel runs.
inline void one_stream(Tiles& tiles, const int* host, std::size_t n) {
    HARNESS_CHECK(cudaMemsetAsync(tiles.sum.data(), 0, sizeof(int)));
    for (std::size_t first = 0; first < n; first += tiles.ints) {
        const std::size_t count = std::min(tiles.ints, n - first);
        int* const buffer = tiles.buffers[0].data();
        const cudaStream_t stream = default_stream;
        copy_tile(buffer, host + first, count, stream);
        add_tile(tiles, buffer, count, stream);
    }
}

/// Each stream has a buffer of its own: the one copies while the other one's kernel runs. \param host pinned
inline void two_streams(Tiles& tiles, const int* host, std::size_t n) {
    HARNESS_CHECK(cudaMemsetAsync(tiles.sum.data(), 0, sizeof(int)));
    for (const std::size_t i : {0, 1}) wait_for(default_stream, tiles.streams[i], tiles.events[i]);
    std::size_t turn = 0;
    for (std::size_t first = 0; first < n; first += tiles.ints, turn = 1 - turn) {
        const std::size_t count = std::min(tiles.ints, n - first);
        int* const buffer = tiles.buffers[turn].data();
        const cudaStream_t stream = tiles.streams[turn];
        copy_tile(buffer, host + first, count, stream);
        add_tile(tiles, buffer, count, stream);
    }
    for (const std::size_t i : {0, 1}) wait_for(tiles.streams[i], default_stream, tiles.events[i]);
}

/// No copy: the kernel loads through the link. \param host pinned
inline void in_place(Tiles& tiles, const int* host, std::size_t n) {
    const int* mapped = nullptr;
    HARNESS_CHECK(cudaHostGetDevicePointer(const_cast<int**>(&mapped), const_cast<int*>(host), 0));
    HARNESS_CHECK(cudaMemsetAsync(tiles.sum.data(), 0, sizeof(int)));
    add_tile(tiles, mapped, n, default_stream);
}
