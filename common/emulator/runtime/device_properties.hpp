/// \file
/// The properties of the emulated device. They are the same on every host, so grids sized by them are too.
#pragma once

#include "emulator/runtime/cuda_abi.hpp"

namespace emulator {

/// The result of cudaDeviceGetAttribute: a Hopper card's value (an H100's where cards differ), and 0 for what
/// the emulator lacks, such as textures.
int device_attribute(int attribute);

/// All of them in one structure, with the machine's name and memory.
abi::cudaDeviceProp device_properties();

} // namespace emulator
