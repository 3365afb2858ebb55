/// \file
/// Graph nodes that other parts of the API make.
#pragma once

#include "emulator/runtime/cuda_abi.hpp"
#include "emulator/runtime/graph.hpp"

#include <cstddef>

namespace emulator {

/// A launch with the arguments' current values. \throws ApiError for what the launch itself would fail with.
GraphNode kernel_node(Device& device, const void* host_stub, abi::dim3 grid, abi::dim3 block,
                      void* const* arguments, std::size_t shared_bytes);

/// Copies to and from a device variable. \throws ApiError if there is no such variable, or the bytes are not
/// in it.
GraphNode to_symbol_node(Device& device, const void* symbol, const void* from, std::size_t bytes,
                         std::size_t offset, abi::cudaMemcpyKind kind);
GraphNode from_symbol_node(Device& device, void* to, const void* symbol, std::size_t bytes,
                           std::size_t offset, abi::cudaMemcpyKind kind);

} // namespace emulator
