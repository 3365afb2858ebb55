/// \file
/// What the emulated device says of itself: always the same, so that a grid sized for it is the same on every
/// host.
#pragma once

#include "emulator/runtime/cuda_abi.hpp"

namespace emulator {

/// The device's answer to cudaDeviceGetAttribute: a Hopper card's (an H100's where cards differ), and 0 for
/// all that the emulator does not have, such as textures, cooperative launches and memory pools.
int device_attribute(int attribute);

/// The same as one structure, with the name and the memory of this machine.
abi::cudaDeviceProp device_properties();

} // namespace emulator
