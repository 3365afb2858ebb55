#include "emulator/machine/launch.hpp"
#include "emulator/machine/occupancy.hpp"
#include "emulator/memory/global_memory.hpp"
#include "emulator/runtime/device.hpp"

#include <cstdio>
#include <cstring>

namespace emulator {

using namespace abi;
using Limits = DeviceLimits;

int device_attribute(int attribute) {
    switch (attribute) {
    case cudaDevAttrComputeCapabilityMajor: return Limits::compute_capability_major;
    case cudaDevAttrComputeCapabilityMinor: return Limits::compute_capability_minor;
    case cudaDevAttrMultiProcessorCount: return Limits::multiprocessors;
    case cudaDevAttrWarpSize: return Limits::warp_size;

    case cudaDevAttrMaxThreadsPerBlock: return Limits::threads_per_block;
    case cudaDevAttrMaxBlockDimX: return Limits::block.x;
    case cudaDevAttrMaxBlockDimY: return Limits::block.y;
    case cudaDevAttrMaxBlockDimZ: return Limits::block.z;
    case cudaDevAttrMaxGridDimX: return Limits::grid.x;
    case cudaDevAttrMaxGridDimY: return Limits::grid.y;
    case cudaDevAttrMaxGridDimZ: return Limits::grid.z;
    case cudaDevAttrMaxThreadsPerMultiProcessor: return Limits::threads_per_multiprocessor;
    case cudaDevAttrMaxBlocksPerMultiprocessor: return Limits::blocks_per_multiprocessor;
    case cudaDevAttrMaxRegistersPerBlock: return Limits::registers_per_multiprocessor;
    case cudaDevAttrMaxRegistersPerMultiprocessor: return Limits::registers_per_multiprocessor;

    case cudaDevAttrMaxSharedMemoryPerBlock: return Limits::default_shared_bytes_per_block;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin: return Limits::shared_bytes_per_block;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor: return Limits::shared_bytes_per_multiprocessor;
    case cudaDevAttrReservedSharedMemoryPerBlock: return reserved_shared_bytes_per_block;
    case cudaDevAttrTotalConstantMemory: return 64 * 1024;
    case cudaDevAttrL2CacheSize: return 50 * 1024 * 1024;
    case cudaDevAttrGlobalL1CacheSupported: return 1;
    case cudaDevAttrLocalL1CacheSupported: return 1;
    case cudaDevAttrMaxTexture1DWidth: return 131072;
    case cudaDevAttrMaxTexture1DLayeredWidth: return 32768;
    case cudaDevAttrMaxTexture1DLayeredLayers: return 2048;
    case cudaDevAttrMaxTexture2DWidth: return 131072;
    case cudaDevAttrMaxTexture2DHeight: return 65536;
    case cudaDevAttrMaxTexture2DLayeredWidth: return 32768;
    case cudaDevAttrMaxTexture2DLayeredHeight: return 32768;
    case cudaDevAttrMaxTexture2DLayeredLayers: return 2048;
    case cudaDevAttrMaxTexture3DWidth: return 16384;
    case cudaDevAttrMaxTexture3DHeight: return 16384;
    case cudaDevAttrMaxTexture3DDepth: return 16384;
    case cudaDevAttrMaxTexture3DWidthAlt: return 8192;
    case cudaDevAttrMaxTexture3DHeightAlt: return 8192;
    case cudaDevAttrMaxTexture3DDepthAlt: return 32768;
    case cudaDevAttrMaxTextureCubemapWidth: return 32768;
    case cudaDevAttrMaxTextureCubemapLayeredWidth: return 32768;
    case cudaDevAttrMaxTextureCubemapLayeredLayers: return 2046;
    case cudaDevAttrMaxPitch: return 2147483647;
    case cudaDevAttrTextureAlignment: return 512;
    case cudaDevAttrTexturePitchAlignment: return 32;
    case cudaDevAttrSurfaceAlignment: return 512;

    case cudaDevAttrClockRate: return 1'980'000;       // kHz
    case cudaDevAttrMemoryClockRate: return 2'619'000; // kHz
    case cudaDevAttrGlobalMemoryBusWidth: return 5120; // bits
    case cudaDevAttrSingleToDoublePrecisionPerfRatio: return 2;
    case cudaDevAttrAsyncEngineCount: return 3;
    case cudaDevAttrGpuOverlap: return 1;
    case cudaDevAttrConcurrentKernels: return 1;
    case cudaDevAttrStreamPrioritiesSupported: return 1;
    case cudaDevAttrClusterLaunch: return 1;
    case cudaDevAttrCooperativeLaunch: return 1;
    case cudaDevAttrComputePreemptionSupported: return 1;
    case cudaDevAttrMemSyncDomainCount: return 4;

    case cudaDevAttrUnifiedAddressing: return 1;
    case cudaDevAttrMemoryPoolsSupported: return 1;
    case cudaDevAttrManagedMemory: return 1;
    case cudaDevAttrConcurrentManagedAccess: return 1;
    case cudaDevAttrCanMapHostMemory: return 1;
    case cudaDevAttrHostRegisterSupported: return 1;
    case cudaDevAttrCanUseHostPointerForRegisteredMem: return 1;
    case cudaDevAttrNumaId: return -1;
    case cudaDevAttrHostNumaId: return 0;
    case cudaDevAttrHostNumaMemoryPoolsSupported: return 1;
    case cudaDevAttrHostMemoryPoolsSupported: return 1;
    }
    return 0;
}

std::string pci_bus_id(int number) {
    char text[16];
    std::snprintf(text, sizeof text, "0000:%02x:00.0", static_cast<unsigned int>(number));
    return text;
}

cudaDeviceProp device_properties(int number) {
    const auto attribute = device_attribute;
    cudaDeviceProp properties{};
    std::strcpy(properties.name, "Emulated GPU (compute capability 9.0)");
    std::memcpy(properties.uuid.bytes, "emulated-sm90-00", sizeof properties.uuid.bytes);
    properties.uuid.bytes[14] = static_cast<char>('0' + number / 10);
    properties.uuid.bytes[15] = static_cast<char>('0' + number % 10);
    properties.pciBusID = number;
    properties.isMultiGpuBoard = 0;
    properties.totalGlobalMem = device_at(number).memory.total_bytes();
    properties.sharedMemPerBlock = attribute(cudaDevAttrMaxSharedMemoryPerBlock);
    properties.regsPerBlock = attribute(cudaDevAttrMaxRegistersPerBlock);
    properties.warpSize = attribute(cudaDevAttrWarpSize);
    properties.memPitch = attribute(cudaDevAttrMaxPitch);
    properties.maxThreadsPerBlock = attribute(cudaDevAttrMaxThreadsPerBlock);
    properties.maxThreadsDim[0] = attribute(cudaDevAttrMaxBlockDimX);
    properties.maxThreadsDim[1] = attribute(cudaDevAttrMaxBlockDimY);
    properties.maxThreadsDim[2] = attribute(cudaDevAttrMaxBlockDimZ);
    properties.maxGridSize[0] = attribute(cudaDevAttrMaxGridDimX);
    properties.maxGridSize[1] = attribute(cudaDevAttrMaxGridDimY);
    properties.maxGridSize[2] = attribute(cudaDevAttrMaxGridDimZ);
    properties.totalConstMem = attribute(cudaDevAttrTotalConstantMemory);
    properties.major = attribute(cudaDevAttrComputeCapabilityMajor);
    properties.minor = attribute(cudaDevAttrComputeCapabilityMinor);
    properties.textureAlignment = attribute(cudaDevAttrTextureAlignment);
    properties.texturePitchAlignment = attribute(cudaDevAttrTexturePitchAlignment);
    properties.multiProcessorCount = attribute(cudaDevAttrMultiProcessorCount);
    properties.canMapHostMemory = attribute(cudaDevAttrCanMapHostMemory);
    properties.maxTexture1D = attribute(cudaDevAttrMaxTexture1DWidth);
    properties.maxTexture1DLayered[0] = attribute(cudaDevAttrMaxTexture1DLayeredWidth);
    properties.maxTexture1DLayered[1] = attribute(cudaDevAttrMaxTexture1DLayeredLayers);
    properties.maxTexture2D[0] = attribute(cudaDevAttrMaxTexture2DWidth);
    properties.maxTexture2D[1] = attribute(cudaDevAttrMaxTexture2DHeight);
    properties.maxTexture2DLayered[0] = attribute(cudaDevAttrMaxTexture2DLayeredWidth);
    properties.maxTexture2DLayered[1] = attribute(cudaDevAttrMaxTexture2DLayeredHeight);
    properties.maxTexture2DLayered[2] = attribute(cudaDevAttrMaxTexture2DLayeredLayers);
    properties.maxTexture3D[0] = attribute(cudaDevAttrMaxTexture3DWidth);
    properties.maxTexture3D[1] = attribute(cudaDevAttrMaxTexture3DHeight);
    properties.maxTexture3D[2] = attribute(cudaDevAttrMaxTexture3DDepth);
    properties.maxTexture3DAlt[0] = attribute(cudaDevAttrMaxTexture3DWidthAlt);
    properties.maxTexture3DAlt[1] = attribute(cudaDevAttrMaxTexture3DHeightAlt);
    properties.maxTexture3DAlt[2] = attribute(cudaDevAttrMaxTexture3DDepthAlt);
    properties.maxTextureCubemap = attribute(cudaDevAttrMaxTextureCubemapWidth);
    properties.maxTextureCubemapLayered[0] = attribute(cudaDevAttrMaxTextureCubemapLayeredWidth);
    properties.maxTextureCubemapLayered[1] = attribute(cudaDevAttrMaxTextureCubemapLayeredLayers);
    properties.surfaceAlignment = attribute(cudaDevAttrSurfaceAlignment);
    properties.concurrentKernels = attribute(cudaDevAttrConcurrentKernels);
    properties.asyncEngineCount = attribute(cudaDevAttrAsyncEngineCount);
    properties.unifiedAddressing = attribute(cudaDevAttrUnifiedAddressing);
    properties.memoryBusWidth = attribute(cudaDevAttrGlobalMemoryBusWidth);
    properties.l2CacheSize = attribute(cudaDevAttrL2CacheSize);
    properties.maxThreadsPerMultiProcessor = attribute(cudaDevAttrMaxThreadsPerMultiProcessor);
    properties.streamPrioritiesSupported = attribute(cudaDevAttrStreamPrioritiesSupported);
    properties.globalL1CacheSupported = attribute(cudaDevAttrGlobalL1CacheSupported);
    properties.localL1CacheSupported = attribute(cudaDevAttrLocalL1CacheSupported);
    properties.sharedMemPerMultiprocessor = attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor);
    properties.regsPerMultiprocessor = attribute(cudaDevAttrMaxRegistersPerMultiprocessor);
    properties.managedMemory = attribute(cudaDevAttrManagedMemory);
    properties.concurrentManagedAccess = attribute(cudaDevAttrConcurrentManagedAccess);
    properties.computePreemptionSupported = attribute(cudaDevAttrComputePreemptionSupported);
    properties.canUseHostPointerForRegisteredMem = attribute(cudaDevAttrCanUseHostPointerForRegisteredMem);
    properties.cooperativeLaunch = attribute(cudaDevAttrCooperativeLaunch);
    properties.sharedMemPerBlockOptin = attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
    properties.maxBlocksPerMultiProcessor = attribute(cudaDevAttrMaxBlocksPerMultiprocessor);
    properties.reservedSharedMemPerBlock = attribute(cudaDevAttrReservedSharedMemoryPerBlock);
    properties.memoryPoolsSupported = attribute(cudaDevAttrMemoryPoolsSupported);
    properties.clusterLaunch = attribute(cudaDevAttrClusterLaunch);
    properties.hostRegisterSupported = attribute(cudaDevAttrHostRegisterSupported);
    properties.deviceNumaId = attribute(cudaDevAttrNumaId);
    properties.hostNumaId = attribute(cudaDevAttrHostNumaId);
#ifdef EMULATED_CUDA_12
    properties.clockRate = attribute(cudaDevAttrClockRate);
    properties.memoryClockRate = attribute(cudaDevAttrMemoryClockRate);
    properties.deviceOverlap = attribute(cudaDevAttrGpuOverlap);
    properties.singleToDoublePrecisionPerfRatio = attribute(cudaDevAttrSingleToDoublePrecisionPerfRatio);
#endif
    return properties;
}

} // namespace emulator
