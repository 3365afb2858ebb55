#include "harness/cold_cache.hpp"

#include "harness/check.hpp"
#include "harness/exit_status.hpp"

namespace harness {
namespace {

/// Reads all of `words`, which are zeros.
__global__ void read_all(unsigned int* words, std::size_t count) {
    unsigned int bits = 0;
    const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
    for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += threads) {
        bits |= words[i];
    }
    if (bits != 0) *words = bits; // never true: keeps the compiler from dropping the loads
}

} // namespace

ColdCache::ColdCache(std::size_t l2_bytes) {
    try {
        DeviceBuffer<unsigned int> zeros(2 * l2_bytes / sizeof(unsigned int));
        HARNESS_CHECK(cudaMemset(zeros.data(), 0, zeros.bytes()));
        scratch_ = std::move(zeros);
    } catch (const DeviceError&) {
        // Too little memory is left. Then the lesson's data are far larger than the cache, and a flush would
        // change little.
    }
}

void ColdCache::flush() {
    if (!works()) return;
    // Reads, because dirty lines that a memset leaves in the cache would be written back during the timed
    // kernel.
    read_all<<<1024, 256>>>(scratch_.data(), scratch_.size());
    check_launch("the flush of the L2 cache");
}

cudaError_t load_harness_kernel() {
    cudaFuncAttributes attributes;
    return cudaFuncGetAttributes(&attributes, read_all);
}

} // namespace harness
