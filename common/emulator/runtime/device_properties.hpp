/// \file
/// The properties of the emulated device. They are the same on every host, and so are grids sized by them.
#pragma once

#include "emulator/runtime/cuda_abi.hpp"

namespace emulator {

/// The device's answer to cudaDeviceGetAttribute: a Hopper card's (an H100's where cards differ), and 0 for
/// all that the emulator does not have, such as textures, cooperative launches and memory pools.
int device_attribute(int attribute);

/// The same as one structure, with the name and the memory of this machine.
abi::cudaDeviceProp device_properties();

} // namespace emulator
