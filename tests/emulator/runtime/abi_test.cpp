/// Compares cuda_abi.hpp with the real headers. There is nothing to run: it compiles or it does not.

#include "emulator/runtime/cuda_abi.hpp"

// CUDA defines these as macros, under which ours are out of sight once its headers are read.
namespace ours {
constexpr unsigned int stream_non_blocking = emulator::abi::cudaStreamNonBlocking;
constexpr unsigned int event_disable_timing = emulator::abi::cudaEventDisableTiming;
constexpr unsigned int event_interprocess = emulator::abi::cudaEventInterprocess;
constexpr unsigned int host_alloc_mapped = emulator::abi::cudaHostAllocMapped;
constexpr unsigned int mem_attach_global = emulator::abi::cudaMemAttachGlobal;
constexpr unsigned int mem_attach_host = emulator::abi::cudaMemAttachHost;
constexpr unsigned int device_map_host = emulator::abi::cudaDeviceMapHost;
constexpr unsigned int device_mask = emulator::abi::cudaDeviceMask;
constexpr unsigned int array_layered = emulator::abi::cudaArrayLayered;
constexpr unsigned int array_surface_load_store = emulator::abi::cudaArraySurfaceLoadStore;
constexpr unsigned int array_cubemap = emulator::abi::cudaArrayCubemap;
constexpr unsigned int array_texture_gather = emulator::abi::cudaArrayTextureGather;
constexpr unsigned int array_sparse = emulator::abi::cudaArraySparse;
constexpr unsigned int array_deferred_mapping = emulator::abi::cudaArrayDeferredMapping;
} // namespace ours

#include <driver_types.h>
#include <vector_types.h>

#include <cstddef>

namespace abi = emulator::abi;

#define SAME_SIZE(type)                                                                                      \
    static_assert(sizeof(abi::type) == sizeof(::type) && alignof(abi::type) == alignof(::type), #type)
#define SAME_FIELD(type, field)                                                                              \
    static_assert(offsetof(abi::type, field) == offsetof(::type, field) &&                                   \
                      sizeof(abi::type::field) == sizeof(::type::field),                                     \
                  #type "." #field)
#define SAME_VALUE(name) static_assert(static_cast<long>(abi::name) == static_cast<long>(::name), #name)
#ifdef EMULATED_CUDA_12
#define SAME_FIELD_13(type, field) // not in every CUDA 12
#define SAME_VALUE_13(name)
#define SAME_FIELD_12(type, field) SAME_FIELD(type, field)
#else
#define SAME_FIELD_13(type, field) SAME_FIELD(type, field)
#define SAME_VALUE_13(name) SAME_VALUE(name)
#define SAME_FIELD_12(type, field)
#endif

SAME_SIZE(cudaUUID_t);
SAME_FIELD(cudaUUID_t, bytes);

SAME_SIZE(cudaDeviceProp);
SAME_FIELD(cudaDeviceProp, name);
SAME_FIELD(cudaDeviceProp, uuid);
SAME_FIELD(cudaDeviceProp, luid);
SAME_FIELD(cudaDeviceProp, luidDeviceNodeMask);
SAME_FIELD(cudaDeviceProp, totalGlobalMem);
SAME_FIELD(cudaDeviceProp, sharedMemPerBlock);
SAME_FIELD(cudaDeviceProp, regsPerBlock);
SAME_FIELD(cudaDeviceProp, warpSize);
SAME_FIELD(cudaDeviceProp, memPitch);
SAME_FIELD(cudaDeviceProp, maxThreadsPerBlock);
SAME_FIELD(cudaDeviceProp, maxThreadsDim);
SAME_FIELD(cudaDeviceProp, maxGridSize);
SAME_FIELD(cudaDeviceProp, totalConstMem);
SAME_FIELD(cudaDeviceProp, major);
SAME_FIELD(cudaDeviceProp, minor);
SAME_FIELD(cudaDeviceProp, textureAlignment);
SAME_FIELD(cudaDeviceProp, texturePitchAlignment);
SAME_FIELD(cudaDeviceProp, multiProcessorCount);
SAME_FIELD(cudaDeviceProp, integrated);
SAME_FIELD(cudaDeviceProp, canMapHostMemory);
SAME_FIELD(cudaDeviceProp, maxTexture1D);
SAME_FIELD(cudaDeviceProp, maxTexture1DMipmap);
SAME_FIELD(cudaDeviceProp, maxTexture2D);
SAME_FIELD(cudaDeviceProp, maxTexture2DMipmap);
SAME_FIELD(cudaDeviceProp, maxTexture2DLinear);
SAME_FIELD(cudaDeviceProp, maxTexture2DGather);
SAME_FIELD(cudaDeviceProp, maxTexture3D);
SAME_FIELD(cudaDeviceProp, maxTexture3DAlt);
SAME_FIELD(cudaDeviceProp, maxTextureCubemap);
SAME_FIELD(cudaDeviceProp, maxTexture1DLayered);
SAME_FIELD(cudaDeviceProp, maxTexture2DLayered);
SAME_FIELD(cudaDeviceProp, maxTextureCubemapLayered);
SAME_FIELD(cudaDeviceProp, maxSurface1D);
SAME_FIELD(cudaDeviceProp, maxSurface2D);
SAME_FIELD(cudaDeviceProp, maxSurface3D);
SAME_FIELD(cudaDeviceProp, maxSurface1DLayered);
SAME_FIELD(cudaDeviceProp, maxSurface2DLayered);
SAME_FIELD(cudaDeviceProp, maxSurfaceCubemap);
SAME_FIELD(cudaDeviceProp, maxSurfaceCubemapLayered);
SAME_FIELD(cudaDeviceProp, surfaceAlignment);
SAME_FIELD(cudaDeviceProp, concurrentKernels);
SAME_FIELD(cudaDeviceProp, ECCEnabled);
SAME_FIELD(cudaDeviceProp, pciBusID);
SAME_FIELD(cudaDeviceProp, pciDeviceID);
SAME_FIELD(cudaDeviceProp, pciDomainID);
SAME_FIELD(cudaDeviceProp, tccDriver);
SAME_FIELD(cudaDeviceProp, asyncEngineCount);
SAME_FIELD(cudaDeviceProp, unifiedAddressing);
SAME_FIELD(cudaDeviceProp, memoryBusWidth);
SAME_FIELD(cudaDeviceProp, l2CacheSize);
SAME_FIELD(cudaDeviceProp, persistingL2CacheMaxSize);
SAME_FIELD(cudaDeviceProp, maxThreadsPerMultiProcessor);
SAME_FIELD(cudaDeviceProp, streamPrioritiesSupported);
SAME_FIELD(cudaDeviceProp, globalL1CacheSupported);
SAME_FIELD(cudaDeviceProp, localL1CacheSupported);
SAME_FIELD(cudaDeviceProp, sharedMemPerMultiprocessor);
SAME_FIELD(cudaDeviceProp, regsPerMultiprocessor);
SAME_FIELD(cudaDeviceProp, managedMemory);
SAME_FIELD(cudaDeviceProp, isMultiGpuBoard);
SAME_FIELD(cudaDeviceProp, multiGpuBoardGroupID);
SAME_FIELD(cudaDeviceProp, hostNativeAtomicSupported);
SAME_FIELD(cudaDeviceProp, pageableMemoryAccess);
SAME_FIELD(cudaDeviceProp, concurrentManagedAccess);
SAME_FIELD(cudaDeviceProp, computePreemptionSupported);
SAME_FIELD(cudaDeviceProp, canUseHostPointerForRegisteredMem);
SAME_FIELD(cudaDeviceProp, cooperativeLaunch);
SAME_FIELD(cudaDeviceProp, sharedMemPerBlockOptin);
SAME_FIELD(cudaDeviceProp, pageableMemoryAccessUsesHostPageTables);
SAME_FIELD(cudaDeviceProp, directManagedMemAccessFromHost);
SAME_FIELD(cudaDeviceProp, maxBlocksPerMultiProcessor);
SAME_FIELD(cudaDeviceProp, accessPolicyMaxWindowSize);
SAME_FIELD(cudaDeviceProp, reservedSharedMemPerBlock);
SAME_FIELD(cudaDeviceProp, hostRegisterSupported);
SAME_FIELD(cudaDeviceProp, sparseCudaArraySupported);
SAME_FIELD(cudaDeviceProp, hostRegisterReadOnlySupported);
SAME_FIELD(cudaDeviceProp, timelineSemaphoreInteropSupported);
SAME_FIELD(cudaDeviceProp, memoryPoolsSupported);
SAME_FIELD(cudaDeviceProp, gpuDirectRDMASupported);
SAME_FIELD(cudaDeviceProp, gpuDirectRDMAFlushWritesOptions);
SAME_FIELD(cudaDeviceProp, gpuDirectRDMAWritesOrdering);
SAME_FIELD(cudaDeviceProp, memoryPoolSupportedHandleTypes);
SAME_FIELD(cudaDeviceProp, deferredMappingCudaArraySupported);
SAME_FIELD(cudaDeviceProp, ipcEventSupported);
SAME_FIELD(cudaDeviceProp, clusterLaunch);
SAME_FIELD(cudaDeviceProp, unifiedFunctionPointers);
SAME_FIELD_13(cudaDeviceProp, deviceNumaConfig);
SAME_FIELD_13(cudaDeviceProp, deviceNumaId);
SAME_FIELD_13(cudaDeviceProp, mpsEnabled);
SAME_FIELD_13(cudaDeviceProp, hostNumaId);
SAME_FIELD_13(cudaDeviceProp, gpuPciDeviceID);
SAME_FIELD_13(cudaDeviceProp, gpuPciSubsystemID);
SAME_FIELD_13(cudaDeviceProp, hostNumaMultinodeIpcSupported);
SAME_FIELD_13(cudaDeviceProp, reserved);
SAME_FIELD_12(cudaDeviceProp, clockRate);
SAME_FIELD_12(cudaDeviceProp, deviceOverlap);
SAME_FIELD_12(cudaDeviceProp, kernelExecTimeoutEnabled);
SAME_FIELD_12(cudaDeviceProp, computeMode);
SAME_FIELD_12(cudaDeviceProp, maxTexture1DLinear);
SAME_FIELD_12(cudaDeviceProp, memoryClockRate);
SAME_FIELD_12(cudaDeviceProp, singleToDoublePrecisionPerfRatio);
SAME_FIELD_12(cudaDeviceProp, cooperativeMultiDeviceLaunch);

SAME_SIZE(cudaFuncAttributes);
SAME_FIELD(cudaFuncAttributes, sharedSizeBytes);
SAME_FIELD(cudaFuncAttributes, constSizeBytes);
SAME_FIELD(cudaFuncAttributes, localSizeBytes);
SAME_FIELD(cudaFuncAttributes, maxThreadsPerBlock);
SAME_FIELD(cudaFuncAttributes, numRegs);
SAME_FIELD(cudaFuncAttributes, ptxVersion);
SAME_FIELD(cudaFuncAttributes, binaryVersion);
SAME_FIELD(cudaFuncAttributes, cacheModeCA);
SAME_FIELD(cudaFuncAttributes, maxDynamicSharedSizeBytes);
SAME_FIELD(cudaFuncAttributes, preferredShmemCarveout);
SAME_FIELD(cudaFuncAttributes, clusterDimMustBeSet);
SAME_FIELD(cudaFuncAttributes, requiredClusterWidth);
SAME_FIELD(cudaFuncAttributes, requiredClusterHeight);
SAME_FIELD(cudaFuncAttributes, requiredClusterDepth);
SAME_FIELD(cudaFuncAttributes, clusterSchedulingPolicyPreference);
SAME_FIELD(cudaFuncAttributes, nonPortableClusterSizeAllowed);
SAME_FIELD(cudaFuncAttributes, reserved);

SAME_SIZE(cudaPointerAttributes);
SAME_FIELD(cudaPointerAttributes, type);
SAME_FIELD(cudaPointerAttributes, device);
SAME_FIELD(cudaPointerAttributes, devicePointer);
SAME_FIELD(cudaPointerAttributes, hostPointer);
SAME_FIELD_13(cudaPointerAttributes, reserved);

SAME_SIZE(cudaChannelFormatKind);
SAME_VALUE(cudaChannelFormatKindSigned);
SAME_VALUE(cudaChannelFormatKindUnsigned);
SAME_VALUE(cudaChannelFormatKindFloat);
SAME_VALUE(cudaChannelFormatKindNone);
SAME_VALUE(cudaChannelFormatKindNV12);
SAME_VALUE_13(cudaChannelFormatKindUnsignedNormalized1010102);

SAME_SIZE(cudaChannelFormatDesc);
SAME_FIELD(cudaChannelFormatDesc, x);
SAME_FIELD(cudaChannelFormatDesc, y);
SAME_FIELD(cudaChannelFormatDesc, z);
SAME_FIELD(cudaChannelFormatDesc, w);
SAME_FIELD(cudaChannelFormatDesc, f);

SAME_SIZE(cudaMemLocation);
SAME_FIELD(cudaMemLocation, type);
SAME_FIELD(cudaMemLocation, id);

SAME_SIZE(dim3);
SAME_FIELD(dim3, x);
SAME_FIELD(dim3, y);
SAME_FIELD(dim3, z);

SAME_SIZE(cudaLaunchAttributeValue);
SAME_FIELD(cudaLaunchAttributeValue, pad);
SAME_FIELD(cudaLaunchAttributeValue, cooperative);
SAME_FIELD(cudaLaunchAttributeValue, priority);
SAME_FIELD(cudaLaunchAttributeValue, clusterDim);

SAME_SIZE(cudaLaunchAttribute);
SAME_FIELD(cudaLaunchAttribute, id);
SAME_FIELD(cudaLaunchAttribute, pad);
SAME_FIELD(cudaLaunchAttribute, val);

SAME_SIZE(cudaLaunchConfig_t);
SAME_FIELD(cudaLaunchConfig_t, gridDim);
SAME_FIELD(cudaLaunchConfig_t, blockDim);
SAME_FIELD(cudaLaunchConfig_t, dynamicSmemBytes);
SAME_FIELD(cudaLaunchConfig_t, stream);
SAME_FIELD(cudaLaunchConfig_t, attrs);
SAME_FIELD(cudaLaunchConfig_t, numAttrs);

SAME_SIZE(cudaError_t);
SAME_SIZE(cudaPitchedPtr);
SAME_FIELD(cudaPitchedPtr, ptr);
SAME_FIELD(cudaPitchedPtr, pitch);
SAME_FIELD(cudaPitchedPtr, xsize);
SAME_FIELD(cudaPitchedPtr, ysize);

SAME_SIZE(cudaExtent);
SAME_FIELD(cudaExtent, width);
SAME_FIELD(cudaExtent, height);
SAME_FIELD(cudaExtent, depth);

SAME_SIZE(cudaPos);
SAME_FIELD(cudaPos, x);
SAME_FIELD(cudaPos, y);
SAME_FIELD(cudaPos, z);

SAME_SIZE(cudaMemcpy3DParms);
SAME_FIELD(cudaMemcpy3DParms, srcArray);
SAME_FIELD(cudaMemcpy3DParms, srcPos);
SAME_FIELD(cudaMemcpy3DParms, srcPtr);
SAME_FIELD(cudaMemcpy3DParms, dstArray);
SAME_FIELD(cudaMemcpy3DParms, dstPos);
SAME_FIELD(cudaMemcpy3DParms, dstPtr);
SAME_FIELD(cudaMemcpy3DParms, extent);
SAME_FIELD(cudaMemcpy3DParms, kind);

SAME_SIZE(cudaMemcpy3DPeerParms);
SAME_FIELD(cudaMemcpy3DPeerParms, srcArray);
SAME_FIELD(cudaMemcpy3DPeerParms, srcPos);
SAME_FIELD(cudaMemcpy3DPeerParms, srcPtr);
SAME_FIELD(cudaMemcpy3DPeerParms, srcDevice);
SAME_FIELD(cudaMemcpy3DPeerParms, dstArray);
SAME_FIELD(cudaMemcpy3DPeerParms, dstPos);
SAME_FIELD(cudaMemcpy3DPeerParms, dstPtr);
SAME_FIELD(cudaMemcpy3DPeerParms, dstDevice);
SAME_FIELD(cudaMemcpy3DPeerParms, extent);

SAME_SIZE(cudaKernelNodeParams);
SAME_FIELD(cudaKernelNodeParams, func);
SAME_FIELD(cudaKernelNodeParams, gridDim);
SAME_FIELD(cudaKernelNodeParams, blockDim);
SAME_FIELD(cudaKernelNodeParams, sharedMemBytes);
SAME_FIELD(cudaKernelNodeParams, kernelParams);
SAME_FIELD(cudaKernelNodeParams, extra);

SAME_SIZE(cudaMemsetParams);
SAME_FIELD(cudaMemsetParams, dst);
SAME_FIELD(cudaMemsetParams, pitch);
SAME_FIELD(cudaMemsetParams, value);
SAME_FIELD(cudaMemsetParams, elementSize);
SAME_FIELD(cudaMemsetParams, width);
SAME_FIELD(cudaMemsetParams, height);

SAME_SIZE(cudaHostNodeParams);
SAME_FIELD(cudaHostNodeParams, fn);
SAME_FIELD(cudaHostNodeParams, userData);

SAME_SIZE(cudaGraphExecUpdateResultInfo);
SAME_FIELD(cudaGraphExecUpdateResultInfo, result);
SAME_FIELD(cudaGraphExecUpdateResultInfo, errorNode);
SAME_FIELD(cudaGraphExecUpdateResultInfo, errorFromNode);

SAME_SIZE(cudaGraphInstantiateParams);
SAME_FIELD(cudaGraphInstantiateParams, flags);
SAME_FIELD(cudaGraphInstantiateParams, uploadStream);
SAME_FIELD(cudaGraphInstantiateParams, errNode_out);
SAME_FIELD(cudaGraphInstantiateParams, result_out);

SAME_SIZE(cudaMemPoolProps);
SAME_FIELD(cudaMemPoolProps, allocType);
SAME_FIELD(cudaMemPoolProps, handleTypes);
SAME_FIELD(cudaMemPoolProps, location);
SAME_FIELD(cudaMemPoolProps, win32SecurityAttributes);
SAME_FIELD(cudaMemPoolProps, maxSize);
SAME_FIELD_13(cudaMemPoolProps, usage);

SAME_SIZE(cudaMemAllocNodeParams);
SAME_FIELD(cudaMemAllocNodeParams, poolProps);
SAME_FIELD(cudaMemAllocNodeParams, bytesize);
SAME_FIELD(cudaMemAllocNodeParams, dptr);
SAME_SIZE(cudaMemAccessDesc);
SAME_FIELD(cudaMemAccessDesc, location);
SAME_FIELD(cudaMemAccessDesc, flags);

SAME_VALUE(cudaSuccess);
SAME_VALUE(cudaErrorInvalidValue);
SAME_VALUE(cudaErrorMemoryAllocation);
SAME_VALUE(cudaErrorInvalidConfiguration);
SAME_VALUE(cudaErrorInvalidPitchValue);
SAME_VALUE(cudaErrorInvalidSymbol);
SAME_VALUE(cudaErrorInvalidChannelDescriptor);
SAME_VALUE(cudaErrorInvalidMemcpyDirection);
SAME_VALUE(cudaErrorMissingConfiguration);
SAME_VALUE(cudaErrorInvalidDeviceFunction);
SAME_VALUE(cudaErrorInvalidDevice);
SAME_VALUE(cudaErrorInvalidKernelImage);
SAME_VALUE(cudaErrorNoKernelImageForDevice);
SAME_VALUE(cudaErrorUnsupportedLimit);
SAME_VALUE(cudaErrorPeerAccessUnsupported);
SAME_VALUE(cudaErrorInvalidPtx);
SAME_VALUE(cudaErrorFileNotFound);
SAME_VALUE(cudaErrorSymbolNotFound);
SAME_VALUE(cudaErrorDeviceUninitialized);
SAME_VALUE(cudaErrorInvalidResourceHandle);
SAME_VALUE(cudaErrorIllegalState);
SAME_VALUE(cudaErrorNotReady);
SAME_VALUE(cudaErrorIllegalAddress);
SAME_VALUE(cudaErrorPeerAccessAlreadyEnabled);
SAME_VALUE(cudaErrorPeerAccessNotEnabled);
SAME_VALUE(cudaErrorAssert);
SAME_VALUE(cudaErrorHostMemoryAlreadyRegistered);
SAME_VALUE(cudaErrorHostMemoryNotRegistered);
SAME_VALUE(cudaErrorMisalignedAddress);
SAME_VALUE(cudaErrorLaunchFailure);
SAME_VALUE(cudaErrorCooperativeLaunchTooLarge);
SAME_VALUE(cudaErrorNotSupported);
SAME_VALUE(cudaErrorStreamCaptureUnsupported);
SAME_VALUE(cudaErrorStreamCaptureInvalidated);
SAME_VALUE(cudaErrorStreamCaptureMerge);
SAME_VALUE(cudaErrorStreamCaptureUnmatched);
SAME_VALUE(cudaErrorStreamCaptureUnjoined);
SAME_VALUE(cudaErrorStreamCaptureIsolation);
SAME_VALUE(cudaErrorStreamCaptureImplicit);
SAME_VALUE(cudaErrorCapturedEvent);
SAME_VALUE(cudaErrorStreamCaptureWrongThread);
SAME_VALUE(cudaErrorGraphExecUpdateFailure);
SAME_VALUE(cudaErrorInvalidClusterSize);
SAME_VALUE(cudaErrorUnknown);

SAME_SIZE(cudaMemcpyKind);
SAME_VALUE(cudaMemcpyHostToHost);
SAME_VALUE(cudaMemcpyHostToDevice);
SAME_VALUE(cudaMemcpyDeviceToHost);
SAME_VALUE(cudaMemcpyDeviceToDevice);
SAME_VALUE(cudaMemcpyDefault);

SAME_SIZE(cudaMemoryType);
SAME_VALUE(cudaMemoryTypeUnregistered);
SAME_VALUE(cudaMemoryTypeHost);
SAME_VALUE(cudaMemoryTypeDevice);
SAME_VALUE(cudaMemoryTypeManaged);

SAME_SIZE(cudaFuncCache);
SAME_VALUE(cudaFuncCachePreferNone);
SAME_VALUE(cudaFuncCachePreferEqual);

SAME_SIZE(cudaSharedMemConfig);
SAME_VALUE(cudaSharedMemBankSizeDefault);
SAME_VALUE(cudaSharedMemBankSizeFourByte);
SAME_VALUE(cudaSharedMemBankSizeEightByte);

SAME_SIZE(cudaFuncAttribute);
SAME_VALUE(cudaFuncAttributeMaxDynamicSharedMemorySize);
SAME_VALUE(cudaFuncAttributePreferredSharedMemoryCarveout);
SAME_VALUE(cudaFuncAttributeClusterDimMustBeSet);
SAME_VALUE(cudaFuncAttributeRequiredClusterWidth);
SAME_VALUE(cudaFuncAttributeRequiredClusterHeight);
SAME_VALUE(cudaFuncAttributeRequiredClusterDepth);
SAME_VALUE(cudaFuncAttributeNonPortableClusterSizeAllowed);
SAME_VALUE(cudaFuncAttributeClusterSchedulingPolicyPreference);

SAME_SIZE(cudaLimit);
SAME_VALUE(cudaLimitStackSize);
SAME_VALUE(cudaLimitPrintfFifoSize);
SAME_VALUE(cudaLimitMallocHeapSize);
SAME_VALUE(cudaLimitDevRuntimeSyncDepth);
SAME_VALUE(cudaLimitDevRuntimePendingLaunchCount);
SAME_VALUE(cudaLimitMaxL2FetchGranularity);
SAME_VALUE(cudaLimitPersistingL2CacheSize);

SAME_SIZE(cudaStreamCaptureStatus);
SAME_VALUE(cudaStreamCaptureStatusNone);
SAME_VALUE(cudaStreamCaptureStatusActive);
SAME_VALUE(cudaStreamCaptureStatusInvalidated);
SAME_VALUE(cudaStreamCaptureModeGlobal);
SAME_VALUE(cudaStreamCaptureModeThreadLocal);
SAME_VALUE(cudaStreamCaptureModeRelaxed);
SAME_VALUE(cudaGraphNodeTypeKernel);
SAME_VALUE(cudaGraphNodeTypeMemcpy);
SAME_VALUE(cudaGraphNodeTypeMemset);
SAME_VALUE(cudaGraphNodeTypeHost);
SAME_VALUE(cudaGraphNodeTypeGraph);
SAME_VALUE(cudaGraphNodeTypeEmpty);
SAME_VALUE(cudaGraphNodeTypeWaitEvent);
SAME_VALUE(cudaGraphNodeTypeEventRecord);
SAME_VALUE(cudaGraphNodeTypeMemAlloc);
SAME_VALUE(cudaGraphNodeTypeMemFree);
SAME_VALUE(cudaGraphMemAttrUsedMemCurrent);
SAME_VALUE(cudaGraphMemAttrUsedMemHigh);
SAME_VALUE(cudaGraphMemAttrReservedMemCurrent);
SAME_VALUE(cudaGraphMemAttrReservedMemHigh);
SAME_VALUE(cudaGraphInstantiateFlagAutoFreeOnLaunch);
SAME_VALUE(cudaGraphInstantiateSuccess);
SAME_VALUE(cudaGraphInstantiateInvalidStructure);
SAME_VALUE(cudaGraphExecUpdateSuccess);
SAME_VALUE(cudaGraphExecUpdateErrorTopologyChanged);
SAME_VALUE(cudaGraphExecUpdateErrorNodeTypeChanged);
SAME_VALUE(cudaMemPoolReuseFollowEventDependencies);
SAME_VALUE(cudaMemPoolReuseAllowOpportunistic);
SAME_VALUE(cudaMemPoolReuseAllowInternalDependencies);
SAME_VALUE(cudaMemPoolAttrReleaseThreshold);
SAME_VALUE(cudaMemPoolAttrReservedMemCurrent);
SAME_VALUE(cudaMemPoolAttrReservedMemHigh);
SAME_VALUE(cudaMemPoolAttrUsedMemCurrent);
SAME_VALUE(cudaMemPoolAttrUsedMemHigh);
SAME_VALUE(cudaMemAllocationTypePinned);
SAME_VALUE_13(cudaMemAllocationTypeManaged);
SAME_VALUE(cudaMemLocationTypeInvalid);
SAME_VALUE(cudaMemLocationTypeDevice);
SAME_VALUE(cudaMemLocationTypeHost);
SAME_VALUE(cudaMemLocationTypeHostNumaCurrent);
SAME_VALUE(cudaMemAccessFlagsProtReadWrite);
SAME_VALUE(cudaDevP2PAttrPerformanceRank);
SAME_VALUE(cudaDevP2PAttrAccessSupported);
SAME_VALUE(cudaDevP2PAttrNativeAtomicSupported);
SAME_VALUE(cudaDevP2PAttrCudaArrayAccessSupported);
SAME_VALUE_13(cudaDevP2PAttrOnlyPartialNativeAtomicSupported);

SAME_SIZE(cudaDeviceAttr);
SAME_VALUE(cudaDevAttrMaxThreadsPerBlock);
SAME_VALUE(cudaDevAttrMaxBlockDimX);
SAME_VALUE(cudaDevAttrMaxBlockDimY);
SAME_VALUE(cudaDevAttrMaxBlockDimZ);
SAME_VALUE(cudaDevAttrMaxGridDimX);
SAME_VALUE(cudaDevAttrMaxGridDimY);
SAME_VALUE(cudaDevAttrMaxGridDimZ);
SAME_VALUE(cudaDevAttrMaxSharedMemoryPerBlock);
SAME_VALUE(cudaDevAttrTotalConstantMemory);
SAME_VALUE(cudaDevAttrWarpSize);
SAME_VALUE(cudaDevAttrMaxPitch);
SAME_VALUE(cudaDevAttrMaxRegistersPerBlock);
SAME_VALUE(cudaDevAttrClockRate);
SAME_VALUE(cudaDevAttrTextureAlignment);
SAME_VALUE(cudaDevAttrGpuOverlap);
SAME_VALUE(cudaDevAttrMultiProcessorCount);
SAME_VALUE(cudaDevAttrCanMapHostMemory);
SAME_VALUE(cudaDevAttrMaxTexture1DWidth);
SAME_VALUE(cudaDevAttrMaxTexture2DWidth);
SAME_VALUE(cudaDevAttrMaxTexture2DHeight);
SAME_VALUE(cudaDevAttrMaxTexture3DWidth);
SAME_VALUE(cudaDevAttrMaxTexture3DHeight);
SAME_VALUE(cudaDevAttrMaxTexture3DDepth);
SAME_VALUE(cudaDevAttrMaxTexture2DLayeredWidth);
SAME_VALUE(cudaDevAttrMaxTexture2DLayeredHeight);
SAME_VALUE(cudaDevAttrMaxTexture2DLayeredLayers);
SAME_VALUE(cudaDevAttrSurfaceAlignment);
SAME_VALUE(cudaDevAttrConcurrentKernels);
SAME_VALUE(cudaDevAttrPciBusId);
SAME_VALUE(cudaDevAttrMemoryClockRate);
SAME_VALUE(cudaDevAttrGlobalMemoryBusWidth);
SAME_VALUE(cudaDevAttrL2CacheSize);
SAME_VALUE(cudaDevAttrMaxThreadsPerMultiProcessor);
SAME_VALUE(cudaDevAttrAsyncEngineCount);
SAME_VALUE(cudaDevAttrUnifiedAddressing);
SAME_VALUE(cudaDevAttrMaxTexture1DLayeredWidth);
SAME_VALUE(cudaDevAttrMaxTexture1DLayeredLayers);
SAME_VALUE(cudaDevAttrMaxTexture3DWidthAlt);
SAME_VALUE(cudaDevAttrMaxTexture3DHeightAlt);
SAME_VALUE(cudaDevAttrMaxTexture3DDepthAlt);
SAME_VALUE(cudaDevAttrTexturePitchAlignment);
SAME_VALUE(cudaDevAttrMaxTextureCubemapWidth);
SAME_VALUE(cudaDevAttrMaxTextureCubemapLayeredWidth);
SAME_VALUE(cudaDevAttrMaxTextureCubemapLayeredLayers);
SAME_VALUE(cudaDevAttrComputeCapabilityMajor);
SAME_VALUE(cudaDevAttrComputeCapabilityMinor);
SAME_VALUE(cudaDevAttrStreamPrioritiesSupported);
SAME_VALUE(cudaDevAttrMemoryPoolsSupported);
SAME_VALUE(cudaDevAttrClusterLaunch);
SAME_VALUE(cudaDevAttrGlobalL1CacheSupported);
SAME_VALUE(cudaDevAttrLocalL1CacheSupported);
SAME_VALUE(cudaDevAttrMaxSharedMemoryPerMultiprocessor);
SAME_VALUE(cudaDevAttrMaxRegistersPerMultiprocessor);
SAME_VALUE(cudaDevAttrManagedMemory);
SAME_VALUE(cudaDevAttrSingleToDoublePrecisionPerfRatio);
SAME_VALUE(cudaDevAttrConcurrentManagedAccess);
SAME_VALUE(cudaDevAttrComputePreemptionSupported);
SAME_VALUE(cudaDevAttrCanUseHostPointerForRegisteredMem);
SAME_VALUE(cudaDevAttrCooperativeLaunch);
SAME_VALUE(cudaDevAttrMaxSharedMemoryPerBlockOptin);
SAME_VALUE(cudaDevAttrHostRegisterSupported);
SAME_VALUE(cudaDevAttrMaxBlocksPerMultiprocessor);
SAME_VALUE(cudaDevAttrReservedSharedMemoryPerBlock);
SAME_VALUE(cudaDevAttrMemSyncDomainCount);
SAME_VALUE(cudaDevAttrNumaId);
SAME_VALUE(cudaDevAttrHostNumaId);
SAME_VALUE_13(cudaDevAttrHostNumaMemoryPoolsSupported);
SAME_VALUE_13(cudaDevAttrHostMemoryPoolsSupported);

SAME_SIZE(cudaLaunchAttributeID);
SAME_VALUE(cudaLaunchAttributeIgnore);
SAME_VALUE(cudaLaunchAttributeAccessPolicyWindow);
SAME_VALUE(cudaLaunchAttributeCooperative);
SAME_VALUE(cudaLaunchAttributeSynchronizationPolicy);
SAME_VALUE(cudaLaunchAttributeClusterDimension);
SAME_VALUE(cudaLaunchAttributeClusterSchedulingPolicyPreference);
SAME_VALUE(cudaLaunchAttributeProgrammaticStreamSerialization);
SAME_VALUE(cudaLaunchAttributePriority);
SAME_VALUE(cudaLaunchAttributeMemSyncDomainMap);
SAME_VALUE(cudaLaunchAttributeMemSyncDomain);
SAME_VALUE_13(cudaLaunchAttributePreferredClusterDimension);
SAME_VALUE_13(cudaLaunchAttributePreferredSharedMemoryCarveout);
SAME_VALUE_13(cudaLaunchAttributeNvlinkUtilCentricScheduling);

static_assert(ours::stream_non_blocking == cudaStreamNonBlocking);
static_assert(ours::event_disable_timing == cudaEventDisableTiming);
static_assert(ours::event_interprocess == cudaEventInterprocess);
static_assert(ours::host_alloc_mapped == cudaHostAllocMapped);
static_assert(ours::mem_attach_global == cudaMemAttachGlobal);
static_assert(ours::mem_attach_host == cudaMemAttachHost);
static_assert(ours::device_map_host == cudaDeviceMapHost);
static_assert(ours::device_mask == cudaDeviceMask);
static_assert(ours::array_layered == cudaArrayLayered);
static_assert(ours::array_surface_load_store == cudaArraySurfaceLoadStore);
static_assert(ours::array_cubemap == cudaArrayCubemap);
static_assert(ours::array_texture_gather == cudaArrayTextureGather);
static_assert(ours::array_sparse == cudaArraySparse);
static_assert(ours::array_deferred_mapping == cudaArrayDeferredMapping);
