#include "harness/launch_size.hpp"

#include <cuda_runtime_api.h>

#include "harness/check.hpp"
#include "harness/exit_status.hpp"

namespace harness {

unsigned int resident_blocks(const void* kernel, unsigned int block, std::size_t shared_bytes) {
    int device = 0, multiprocessors = 0, blocks_each = 0;
    HARNESS_CHECK(cudaGetDevice(&device));
    HARNESS_CHECK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
    HARNESS_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks_each, kernel, static_cast<int>(block),
                                                                shared_bytes));
    if (blocks_each == 0) {
        throw DeviceError("a block of " + std::to_string(block) +
                          " threads does not fit on a multiprocessor " + "(cudaErrorLaunchOutOfResources)");
    }
    return static_cast<unsigned int>(multiprocessors) * static_cast<unsigned int>(blocks_each);
}

} // namespace harness
