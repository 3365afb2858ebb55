/// \file
/// Graph nodes that others than the calls of graphs make.
#pragma once

#include "emulator/runtime/cuda_abi.hpp"
#include "emulator/runtime/graph.hpp"

#include <cstddef>

namespace emulator {

/// A launch with the values that the arguments have now.
/// \throws ApiError for what the launch itself would be refused for.
GraphNode kernel_node(Device& device, const void* host_stub, abi::dim3 grid, abi::dim3 block,
                      void* const* arguments, std::size_t shared_bytes);

/// Copies to a variable of the device and from it.
/// \throws ApiError when there is no such variable, or the bytes are not in it.
GraphNode to_symbol_node(Device& device, const void* symbol, const void* from, std::size_t bytes,
                         std::size_t offset, abi::cudaMemcpyKind kind);
GraphNode from_symbol_node(Device& device, void* to, const void* symbol, std::size_t bytes,
                           std::size_t offset, abi::cudaMemcpyKind kind);

} // namespace emulator
