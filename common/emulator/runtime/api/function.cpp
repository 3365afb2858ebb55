/// Attributes of kernels, their limits, and occupancy.

#include "emulator/machine/occupancy.hpp"
#include "emulator/runtime/api/parts.hpp"
#include "emulator/runtime/api_call.hpp"

#include <algorithm>

using namespace emulator;
using namespace emulator::abi;

namespace {

/// PTX does not show how many registers ptxas would choose. With 32 per thread, registers never limit a
/// launch or occupancy.
constexpr int registers_per_thread = 32;

FoundKernel find_kernel(Device& device, const void* host_stub) {
    return device.modules.kernel(registered_kernel(host_stub));
}

void set_attribute(Device& device, const void* host_stub, cudaFuncAttribute attribute, int value) {
    const Kernel& kernel = find_kernel(device, host_stub).kernel;
    KernelSettings& settings = device.kernel_settings[host_stub];
    switch (attribute) {
    case cudaFuncAttributeMaxDynamicSharedMemorySize:
        require(value >= 0 &&
                value + std::uint64_t{kernel.static_shared_bytes()} <= DeviceLimits::shared_bytes_per_block);
        settings.dynamic_shared_limit = value;
        return;
    case cudaFuncAttributePreferredSharedMemoryCarveout:
        require(value >= -1 && value <= 100);
        settings.carveout = value;
        return;
    case cudaFuncAttributeNonPortableClusterSizeAllowed: settings.large_clusters = value != 0; return;
    case cudaFuncAttributeClusterSchedulingPolicyPreference: return; // a hint
    case cudaFuncAttributeClusterDimMustBeSet:
    case cudaFuncAttributeRequiredClusterWidth:
    case cudaFuncAttributeRequiredClusterHeight:
    case cudaFuncAttributeRequiredClusterDepth:
        throw UnsupportedCall("cudaFuncSetAttribute",
                              "a kernel's clusters are not set here; use __cluster_dims__ or "
                              "cudaLaunchAttributeClusterDimension");
    }
    require(false);
}

cudaFuncAttributes attributes_of(const Device& device, const void* host_stub, FoundKernel found) {
    cudaFuncAttributes attributes{};
    attributes.sharedSizeBytes = (found.kernel.static_shared_bytes() + 15) / 16 * 16; // as nvcc lays it out
    attributes.localSizeBytes = found.kernel.local_bytes();
    attributes.maxThreadsPerBlock = static_cast<int>(found.kernel.max_threads_per_block());
    attributes.numRegs = registers_per_thread;
    attributes.ptxVersion = static_cast<int>(found.target);
    attributes.binaryVersion =
        10 * DeviceLimits::compute_capability_major + DeviceLimits::compute_capability_minor;
    attributes.maxDynamicSharedSizeBytes =
        static_cast<int>(dynamic_shared_limit(device, host_stub, found.kernel));
    attributes.clusterDimMustBeSet = found.kernel.needs_cluster();
    if (const auto cluster = found.kernel.cluster()) {
        attributes.requiredClusterWidth = static_cast<int>(cluster->x);
        attributes.requiredClusterHeight = static_cast<int>(cluster->y);
        attributes.requiredClusterDepth = static_cast<int>(cluster->z);
    }
    attributes.nonPortableClusterSizeAllowed =
        cluster_limit(device, host_stub) > DeviceLimits::blocks_per_cluster;
    const auto settings = device.kernel_settings.find(host_stub);
    attributes.preferredShmemCarveout =
        settings == device.kernel_settings.end() ? -1 : settings->second.carveout;
    return attributes;
}

cudaError_t max_active_blocks(int* blocks, const void* host_stub, int threads,
                              std::size_t dynamic_shared_bytes) {
    return call_without_waiting([&](Device& device) {
        require(blocks && threads > 0);
        const Kernel& kernel = find_kernel(device, host_stub).kernel;
        const bool fits = dynamic_shared_bytes <= DeviceLimits::shared_bytes_per_block;
        const std::size_t shared_bytes = kernel.static_shared_bytes() + dynamic_shared_bytes;
        *blocks = fits ? static_cast<int>(resident_blocks(threads, shared_bytes)) : 0;
    });
}

/// How many of the launch's blocks a multiprocessor holds, if its clusters can be launched at all.
std::uint32_t resident_blocks_of(Device& device, const void* host_stub, const cudaLaunchConfig_t* config) {
    require(config && (config->attrs || config->numAttrs == 0));
    const Kernel& kernel = find_kernel(device, host_stub).kernel;
    check_cluster(kernel, {.grid = extents(config->gridDim),
                           .block = extents(config->blockDim),
                           .cluster = asked_cluster(*config),
                           .cluster_limit = cluster_limit(device, host_stub)});
    return resident_blocks(extents(config->blockDim).count(),
                           kernel.static_shared_bytes() + config->dynamicSmemBytes);
}

} // namespace

/// An H200 holds no more clusters per multiprocessor, however few threads they have.
constexpr std::uint32_t cluster_blocks_per_multiprocessor = 8;

/// As many as fit if any multiprocessors could form a group. Real groups have limits: an H200 fits up to an
/// eighth fewer.
EMULATOR_ENTRY cudaError_t cudaOccupancyMaxActiveClusters(int* clusters, const void* host_stub,
                                                          const cudaLaunchConfig_t* config) {
    return call_without_waiting([&](Device& device) {
        require(clusters);
        const std::uint32_t blocks =
            std::min(resident_blocks_of(device, host_stub, config), cluster_blocks_per_multiprocessor);
        const auto asked = asked_cluster(*config);
        const auto cluster = asked ? asked : find_kernel(device, host_stub).kernel.cluster();
        *clusters = cluster ? static_cast<int>(blocks * DeviceLimits::multiprocessors / cluster->count()) : 0;
    });
}

EMULATOR_ENTRY cudaError_t cudaOccupancyMaxPotentialClusterSize(int* blocks, const void* host_stub,
                                                                const cudaLaunchConfig_t* config) {
    return call_without_waiting([&](Device& device) {
        require(blocks);
        const bool fits = resident_blocks_of(device, host_stub, config) != 0;
        *blocks = fits ? static_cast<int>(cluster_limit(device, host_stub)) : 0;
    });
}

EMULATOR_ENTRY cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* host_stub) {
    return call_without_waiting([&](Device& device) {
        require(attributes);
        *attributes = attributes_of(device, host_stub, find_kernel(device, host_stub));
    });
}

EMULATOR_ENTRY cudaError_t cudaFuncSetAttribute(const void* host_stub, cudaFuncAttribute attribute,
                                                int value) {
    return call_without_waiting([&](Device& device) { set_attribute(device, host_stub, attribute, value); });
}

EMULATOR_ENTRY cudaError_t cudaKernelSetAttributeForDevice(const void* kernel, cudaFuncAttribute attribute,
                                                           int value, int device_number) {
    return call_without_waiting(
        [&](Device&) { set_attribute(device_at(device_number), kernel, attribute, value); });
}

EMULATOR_ENTRY cudaError_t cudaFuncSetCacheConfig(const void* host_stub, cudaFuncCache preference) {
    return call_without_waiting([&](Device&) {
        require(preference >= cudaFuncCachePreferNone && preference <= cudaFuncCachePreferEqual);
        registered_kernel(host_stub);
    });
}

EMULATOR_ENTRY cudaError_t cudaFuncSetSharedMemConfig(const void* host_stub, cudaSharedMemConfig config) {
    return call_without_waiting([&](Device&) {
        require(config >= cudaSharedMemBankSizeDefault && config <= cudaSharedMemBankSizeEightByte);
        registered_kernel(host_stub);
    });
}

EMULATOR_ENTRY cudaError_t cudaFuncGetName(const char** name, const void* host_stub) {
    return call_without_waiting([&](Device&) {
        require(name);
        *name = registered_kernel(host_stub).name.c_str();
    });
}

EMULATOR_ENTRY cudaError_t cudaFuncGetParamInfo(const void* host_stub, std::size_t index, std::size_t* offset,
                                                std::size_t* bytes) {
    return call_without_waiting([&](Device& device) {
        const auto& parameters = find_kernel(device, host_stub).kernel.parameters();
        require(offset && index < parameters.size());
        *offset = parameters[index].offset;
        if (bytes) *bytes = parameters[index].bytes;
    });
}

EMULATOR_ENTRY cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* host_stub,
                                                                         int threads,
                                                                         std::size_t dynamic_shared_bytes) {
    return max_active_blocks(blocks, host_stub, threads, dynamic_shared_bytes);
}

EMULATOR_ENTRY cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int* blocks, const void* host_stub, int threads, std::size_t dynamic_shared_bytes, unsigned int) {
    return max_active_blocks(blocks, host_stub, threads, dynamic_shared_bytes);
}

EMULATOR_ENTRY cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(std::size_t* bytes,
                                                                     const void* host_stub, int blocks,
                                                                     int threads) {
    return call_without_waiting([&](Device& device) {
        require(bytes && blocks > 0 && threads > 0);
        const Kernel& kernel = find_kernel(device, host_stub).kernel;
        require(resident_blocks(threads, kernel.static_shared_bytes()) >= static_cast<std::uint32_t>(blocks));
        *bytes = shared_bytes_for(blocks) - kernel.static_shared_bytes();
    });
}
