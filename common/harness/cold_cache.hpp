/// Timing from a cold L2 cache.
#pragma once

#include "harness/device_buffer.hpp"

#include <driver_types.h>

#include <cstddef>

namespace harness {

/// Evicts the kernels' data from the L2 cache, so that a timed kernel loads them from memory.
class ColdCache {
public:
    /// Allocates twice the size of the cache. If device memory is too small, flush() does nothing.
    explicit ColdCache(std::size_t l2_bytes);

    /// Whether flush() does anything: there is a cache, and memory to flush it with.
    bool works() const { return scratch_.size() > 0; }

    /// Queues the flush on the default stream without waiting for it.
    void flush();

private:
    DeviceBuffer<unsigned int> scratch_{0};
};

/// Loads a kernel of this library. If that works, the device can run code for the architectures that this
/// program was compiled for.
cudaError_t load_harness_kernel();

} // namespace harness
