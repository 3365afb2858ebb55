/// \file
/// Graph nodes that launches make.
#pragma once

#include "emulator/runtime/cuda_abi.hpp"
#include "emulator/runtime/graph.hpp"

#include <cstddef>

namespace emulator {

/// A launch with the values that the arguments have now.
/// \throws Refused for what the launch itself would be refused for.
GraphNode kernel_node(Device& device, const void* host_stub, abi::dim3 grid, abi::dim3 block,
                      void* const* arguments, std::size_t shared_bytes);

} // namespace emulator
