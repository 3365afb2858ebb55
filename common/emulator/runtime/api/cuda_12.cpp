/// Functions that CUDA 13 dropped from CUDA 12: they have an old name, a name with a number, or no data for
/// the edges of a graph.

#include "emulator/runtime/api_call.hpp"

#ifdef EMULATED_CUDA_12

#undef cudaGraphAddDependencies
#undef cudaGraphNodeGetDependencies
#undef cudaGraphRemoveDependencies

using namespace emulator::abi;

extern "C" {
cudaError_t cudaGraphAddDependencies_v2(void*, const void* const*, const void* const*, const void*,
                                        std::size_t);
cudaError_t cudaGraphRemoveDependencies_v2(void*, const void* const*, const void* const*, const void*,
                                           std::size_t);
cudaError_t cudaGraphNodeGetDependencies_v2(const void*, const void**, void*, std::size_t*);
cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache*);
cudaError_t cudaDeviceGetLimit(std::size_t*, cudaLimit);
cudaError_t cudaDeviceReset();
cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache);
cudaError_t cudaDeviceSetLimit(cudaLimit, std::size_t);
cudaError_t cudaDeviceSynchronize();
cudaError_t cudaEventElapsedTime(float*, void*, void*);
cudaError_t cudaMemAdvise(const void*, std::size_t, int, cudaMemLocation);
cudaError_t cudaMemPrefetchAsync(const void*, std::size_t, cudaMemLocation, unsigned int, void*);
cudaError_t cudaStreamGetCaptureInfo_v3(void*, cudaStreamCaptureStatus*, unsigned long long*, void**,
                                        const void* const**, const void**, std::size_t*);
}

EMULATOR_ENTRY cudaError_t cudaGraphAddDependencies(void* graph, const void* const* from,
                                                    const void* const* to, std::size_t count) {
    return cudaGraphAddDependencies_v2(graph, from, to, nullptr, count);
}

EMULATOR_ENTRY cudaError_t cudaGraphRemoveDependencies(void* graph, const void* const* from,
                                                       const void* const* to, std::size_t count) {
    return cudaGraphRemoveDependencies_v2(graph, from, to, nullptr, count);
}

EMULATOR_ENTRY cudaError_t cudaGraphNodeGetDependencies(const void* node, const void** nodes,
                                                        std::size_t* count) {
    return cudaGraphNodeGetDependencies_v2(node, nodes, nullptr, count);
}

EMULATOR_ENTRY cudaError_t cudaStreamGetCaptureInfo_v2(void* stream, cudaStreamCaptureStatus* status,
                                                       unsigned long long* id, void** graph,
                                                       const void* const** dependencies, std::size_t* count) {
    return cudaStreamGetCaptureInfo_v3(stream, status, id, graph, dependencies, nullptr, count);
}
EMULATOR_PER_THREAD_TWIN(cudaStreamGetCaptureInfo_v2, cudaStreamGetCaptureInfo_v2_ptsz);

EMULATOR_ENTRY cudaError_t cudaEventElapsedTime_v2(float* milliseconds, void* start, void* end) {
    return cudaEventElapsedTime(milliseconds, start, end);
}

// Those without the number take a device in place of a location. Neither is read.

EMULATOR_ENTRY cudaError_t cudaMemAdvise_v2(const void* pointer, std::size_t bytes, int advice,
                                            cudaMemLocation location) {
    return cudaMemAdvise(pointer, bytes, advice, location);
}

EMULATOR_ENTRY cudaError_t cudaMemPrefetchAsync_v2(const void* pointer, std::size_t bytes,
                                                   cudaMemLocation location, unsigned int flags,
                                                   void* stream) {
    return cudaMemPrefetchAsync(pointer, bytes, location, flags, stream);
}
EMULATOR_PER_THREAD_TWIN(cudaMemPrefetchAsync_v2, cudaMemPrefetchAsync_v2_ptsz);

// Deprecated since CUDA 4.

EMULATOR_ENTRY cudaError_t cudaThreadExit() { return cudaDeviceReset(); }

EMULATOR_ENTRY cudaError_t cudaThreadSynchronize() { return cudaDeviceSynchronize(); }

EMULATOR_ENTRY cudaError_t cudaThreadSetLimit(cudaLimit limit, std::size_t value) {
    return cudaDeviceSetLimit(limit, value);
}

EMULATOR_ENTRY cudaError_t cudaThreadGetLimit(std::size_t* value, cudaLimit limit) {
    return cudaDeviceGetLimit(value, limit);
}

EMULATOR_ENTRY cudaError_t cudaThreadSetCacheConfig(cudaFuncCache preference) {
    return cudaDeviceSetCacheConfig(preference);
}

EMULATOR_ENTRY cudaError_t cudaThreadGetCacheConfig(cudaFuncCache* preference) {
    return cudaDeviceGetCacheConfig(preference);
}

// For devices without doubles, they converted the number.

EMULATOR_ENTRY cudaError_t cudaSetDoubleForDevice(double*) { return cudaSuccess; }

EMULATOR_ENTRY cudaError_t cudaSetDoubleForHost(double*) { return cudaSuccess; }

#endif
