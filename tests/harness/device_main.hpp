/// \file
/// For tests that launch kernels. Their main chooses a device as a lesson does; `--device=emulator` or
/// `--device=gpu` forces the choice.
#pragma once

#include "harness/device.hpp"

/// The device that this test program runs on.
const harness::Device& test_device();
