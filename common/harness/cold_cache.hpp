/// \file
/// Timing from a cold L2 cache.
#pragma once

#include "harness/device_buffer.hpp"

#include <driver_types.h>

#include <cstddef>

namespace harness {

/// Empties the L2 cache of what the kernels use, so that a timed kernel finds its data in memory.
class ColdCache {
public:
    /// Takes device memory of twice the cache's size. Without that much left, flush() does nothing.
    explicit ColdCache(std::size_t l2_bytes);

    /// Whether there is a cache, and memory to do it with.
    bool works() const { return scratch_.size() > 0; }

    /// Queues the flush on the default stream, and does not wait for it.
    void flush();

private:
    DeviceBuffer<unsigned> scratch_{0};
};

/// Loads this library's own kernel on the device: the proof that the device can run what this program was
/// compiled for.
cudaError_t load_harness_kernel();

} // namespace harness
