/// What files of this folder share: cluster dimensions in the arguments of calls, and the nodes of graphs.
#pragma once

#include "emulator/machine/launch.hpp"
#include "emulator/runtime/cuda_abi.hpp"
#include "emulator/runtime/graph.hpp"

#include <cstddef>
#include <optional>

namespace emulator {

inline Dim3 extents(abi::dim3 value) { return {value.x, value.y, value.z}; }

/// The cluster that cudaLaunchAttributeClusterDimension asks for. 0 x 0 x 0 asks for none (seen on an H200).
inline std::optional<Dim3> asked_cluster(const abi::cudaLaunchConfig_t& config) {
    std::optional<Dim3> asked;
    for (unsigned int i = 0; i < config.numAttrs; ++i)
        if (config.attrs[i].id == abi::cudaLaunchAttributeClusterDimension)
            asked = extents(config.attrs[i].val.clusterDim);
    return asked == Dim3{0, 0, 0} ? std::nullopt : asked;
}

/// A launch with the arguments' current values. \throws ApiError for what the launch itself would fail with.
GraphNode kernel_node(Device& device, const void* host_stub, abi::dim3 grid, abi::dim3 block,
                      void* const* arguments, std::size_t shared_bytes);

/// Copies to and from a device variable. \throws ApiError if there is no such variable, or the bytes are not
/// in it.
GraphNode to_symbol_node(Device& device, const void* symbol, const void* from, std::size_t bytes,
                         std::size_t offset, abi::cudaMemcpyKind kind);
GraphNode from_symbol_node(Device& device, void* to, const void* symbol, std::size_t bytes,
                           std::size_t offset, abi::cudaMemcpyKind kind);

/// Memory of its own for `bytes` bytes, allocated when the node runs.
GraphNode allocation_node(std::size_t bytes);

/// Frees memory that a graph allocates. \throws ApiError if `pointer` is not such memory.
GraphNode free_node(Device& device, void* pointer);

/// Frees it now, for the API function `call`. \throws ApiError if there is none at `pointer`.
void free_on_device(Device& device, void* pointer, const char* call);

} // namespace emulator
