/// \file
/// Cluster dimensions in the arguments of API calls.
#pragma once

#include "emulator/machine/launch.hpp"
#include "emulator/runtime/cuda_abi.hpp"

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

} // namespace emulator
