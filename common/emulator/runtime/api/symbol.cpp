/// Device variables: `__device__`, `__constant__` and `__managed__`.

#include "emulator/runtime/api/parts.hpp"
#include "emulator/runtime/api_call.hpp"
#include "emulator/runtime/transfers.hpp"

using namespace emulator;
using namespace emulator::abi;

namespace {

/// `bytes` bytes of the variable from `offset` on.
void* part_of_variable(Device& device, const void* symbol, std::size_t bytes, std::size_t offset) {
    const Allocation& variable = device.modules.variable(registered_variable(symbol));
    require(offset <= variable.bytes && bytes <= variable.bytes - offset);
    return reinterpret_cast<void*>(variable.address + offset);
}

void copy_to_variable(Device& device, const void* symbol, const void* from, std::size_t bytes,
                      std::size_t offset, cudaMemcpyKind kind) {
    require(kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice || kind == cudaMemcpyDefault,
            cudaErrorInvalidMemcpyDirection);
    copy(device, part_of_variable(device, symbol, bytes, offset), bytes, from, single_row(bytes), kind);
}

void copy_from_variable(Device& device, void* to, const void* symbol, std::size_t bytes, std::size_t offset,
                        cudaMemcpyKind kind) {
    require(kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice || kind == cudaMemcpyDefault,
            cudaErrorInvalidMemcpyDirection);
    copy(device, to, bytes, part_of_variable(device, symbol, bytes, offset), single_row(bytes), kind);
}

GraphNode to_symbol(const void* symbol, const void* from, std::size_t bytes, std::size_t offset,
                    cudaMemcpyKind kind) {
    return {.type = cudaGraphNodeTypeMemcpy,
            .work = [=](Device& device) { copy_to_variable(device, symbol, from, bytes, offset, kind); },
            .host = nullptr};
}

GraphNode from_symbol(void* to, const void* symbol, std::size_t bytes, std::size_t offset,
                      cudaMemcpyKind kind) {
    return {.type = cudaGraphNodeTypeMemcpy,
            .work = [=](Device& device) { copy_from_variable(device, to, symbol, bytes, offset, kind); },
            .host = nullptr};
}

} // namespace

GraphNode emulator::to_symbol_node(Device& device, const void* symbol, const void* from, std::size_t bytes,
                                   std::size_t offset, cudaMemcpyKind kind) {
    part_of_variable(device, symbol, bytes, offset);
    return to_symbol(symbol, from, bytes, offset, kind);
}

GraphNode emulator::from_symbol_node(Device& device, void* to, const void* symbol, std::size_t bytes,
                                     std::size_t offset, cudaMemcpyKind kind) {
    part_of_variable(device, symbol, bytes, offset);
    return from_symbol(to, symbol, bytes, offset, kind);
}

EMULATOR_ENTRY cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* from, std::size_t bytes,
                                              std::size_t offset, cudaMemcpyKind kind) {
    return call_without_waiting([&](Device& device) {
        run_operation(device, nullptr, cudaGraphNodeTypeMemcpy, [&](Device&) {
            copy_to_variable(device, symbol, from, bytes, offset, kind);
            device.memory.operations().host_waits_for_current();
        });
    });
}
EMULATOR_PER_THREAD_TWIN(cudaMemcpyToSymbol, cudaMemcpyToSymbol_ptds);

EMULATOR_ENTRY cudaError_t cudaMemcpyToSymbolAsync(const void* symbol, const void* from, std::size_t bytes,
                                                   std::size_t offset, cudaMemcpyKind kind, void* stream) {
    return stream_call(stream, to_symbol(symbol, from, bytes, offset, kind));
}
EMULATOR_PER_THREAD_TWIN(cudaMemcpyToSymbolAsync, cudaMemcpyToSymbolAsync_ptsz);

EMULATOR_ENTRY cudaError_t cudaMemcpyFromSymbol(void* to, const void* symbol, std::size_t bytes,
                                                std::size_t offset, cudaMemcpyKind kind) {
    return call_without_waiting([&](Device& device) {
        run_operation(device, nullptr, cudaGraphNodeTypeMemcpy, [&](Device&) {
            copy_from_variable(device, to, symbol, bytes, offset, kind);
            device.memory.operations().host_waits_for_current();
        });
    });
}
EMULATOR_PER_THREAD_TWIN(cudaMemcpyFromSymbol, cudaMemcpyFromSymbol_ptds);

EMULATOR_ENTRY cudaError_t cudaMemcpyFromSymbolAsync(void* to, const void* symbol, std::size_t bytes,
                                                     std::size_t offset, cudaMemcpyKind kind, void* stream) {
    return stream_call(stream, from_symbol(to, symbol, bytes, offset, kind));
}
EMULATOR_PER_THREAD_TWIN(cudaMemcpyFromSymbolAsync, cudaMemcpyFromSymbolAsync_ptsz);

EMULATOR_ENTRY cudaError_t cudaGetSymbolAddress(void** pointer, const void* symbol) {
    return call_without_waiting([&](Device& device) {
        require(pointer);
        *pointer = part_of_variable(device, symbol, 0, 0);
    });
}

EMULATOR_ENTRY cudaError_t cudaGetSymbolSize(std::size_t* bytes, const void* symbol) {
    return call_without_waiting([&](Device& device) {
        require(bytes);
        *bytes = device.modules.variable(registered_variable(symbol)).bytes;
    });
}
