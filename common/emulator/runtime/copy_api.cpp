/// \file
/// Copying memory and setting it. The asynchronous calls do their work before they return.

#include "emulator/runtime/transfers.hpp"

using namespace emulator;
using namespace emulator::abi;

EMULATOR_ENTRY cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
    return api_call([&](Device& device) { copy(device, to, bytes, from, single_row(bytes), kind); });
}
EMULATOR_PER_THREAD_TWIN(cudaMemcpy, cudaMemcpy_ptds);

EMULATOR_ENTRY cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                                           void* stream) {
    return api_call([&](Device& device) {
        require_stream(device, stream);
        copy(device, to, bytes, from, single_row(bytes), kind);
    });
}
EMULATOR_PER_THREAD_TWIN(cudaMemcpyAsync, cudaMemcpyAsync_ptsz);

EMULATOR_ENTRY cudaError_t cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from,
                                        std::size_t from_pitch, std::size_t width, std::size_t height,
                                        cudaMemcpyKind kind) {
    return api_call([&](Device& device) {
        copy(device, to, to_pitch, from, {from_pitch, width, height}, kind);
    });
}
EMULATOR_PER_THREAD_TWIN(cudaMemcpy2D, cudaMemcpy2D_ptds);

EMULATOR_ENTRY cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from,
                                             std::size_t from_pitch, std::size_t width, std::size_t height,
                                             cudaMemcpyKind kind, void* stream) {
    return api_call([&](Device& device) {
        require_stream(device, stream);
        copy(device, to, to_pitch, from, {from_pitch, width, height}, kind);
    });
}
EMULATOR_PER_THREAD_TWIN(cudaMemcpy2DAsync, cudaMemcpy2DAsync_ptsz);

EMULATOR_ENTRY cudaError_t cudaMemset(void* to, int value, std::size_t bytes) {
    return api_call([&](Device& device) { fill(device, to, single_row(bytes), value); });
}
EMULATOR_PER_THREAD_TWIN(cudaMemset, cudaMemset_ptds);

EMULATOR_ENTRY cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, void* stream) {
    return api_call([&](Device& device) {
        require_stream(device, stream);
        fill(device, to, single_row(bytes), value);
    });
}
EMULATOR_PER_THREAD_TWIN(cudaMemsetAsync, cudaMemsetAsync_ptsz);

EMULATOR_ENTRY cudaError_t cudaMemset2D(void* to, std::size_t pitch, int value, std::size_t width,
                                        std::size_t height) {
    return api_call([&](Device& device) { fill(device, to, {pitch, width, height}, value); });
}
EMULATOR_PER_THREAD_TWIN(cudaMemset2D, cudaMemset2D_ptds);

EMULATOR_ENTRY cudaError_t cudaMemset2DAsync(void* to, std::size_t pitch, int value, std::size_t width,
                                             std::size_t height, void* stream) {
    return api_call([&](Device& device) {
        require_stream(device, stream);
        fill(device, to, {pitch, width, height}, value);
    });
}
EMULATOR_PER_THREAD_TWIN(cudaMemset2DAsync, cudaMemset2DAsync_ptsz);
