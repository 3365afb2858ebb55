/// \file
/// Functions that CUDA 13 dropped from CUDA 12: they take no data for the edges of a graph.

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

#endif
