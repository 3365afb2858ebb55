#include "harness/launch_size.hpp"

#include "harness/check.hpp"
#include "harness/exit_status.hpp"

#include <cuda_runtime_api.h>

#include <stdexcept>
#include <string>

namespace harness {
namespace {

int device_attribute(cudaDeviceAttr which) {
    int device = 0, value = 0;
    HARNESS_CHECK(cudaGetDevice(&device));
    HARNESS_CHECK(cudaDeviceGetAttribute(&value, which, device));
    return value;
}

} // namespace

void refuse_block_size(unsigned int block) {
    throw std::logic_error("no kernel is compiled for blocks of " + std::to_string(block));
}

unsigned int resident_blocks(const void* kernel, unsigned int block, std::size_t shared_bytes) {
    int blocks_each = 0;
    HARNESS_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks_each, kernel, static_cast<int>(block),
                                                                shared_bytes));
    if (blocks_each == 0) {
        throw DeviceError("a block of " + std::to_string(block) +
                          " threads does not fit on a multiprocessor " + "(cudaErrorLaunchOutOfResources)");
    }
    return multiprocessors() * static_cast<unsigned int>(blocks_each);
}

unsigned int multiprocessors() {
    return static_cast<unsigned int>(device_attribute(cudaDevAttrMultiProcessorCount));
}

void allow_shared_bytes(const void* kernel, std::size_t shared_bytes) {
    const auto most = static_cast<std::size_t>(device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin));
    cudaFuncAttributes kernel_attributes;
    HARNESS_CHECK(cudaFuncGetAttributes(&kernel_attributes, kernel));
    const std::size_t needed = shared_bytes + kernel_attributes.sharedSizeBytes;
    if (needed > most) {
        throw DeviceError("a block would need " + std::to_string(needed) +
                          " bytes of shared memory, and this device has " + std::to_string(most) +
                          " for a block (cudaErrorInvalidValue)");
    }
    HARNESS_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                       static_cast<int>(shared_bytes)));
}

} // namespace harness
