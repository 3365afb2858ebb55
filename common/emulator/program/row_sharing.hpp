/// \file
/// Which registers of a function take one row in turn.
#pragma once

#include "emulator/ptx/module.hpp"

#include <cstdint>
#include <vector>

namespace emulator {

/// For each register, the one whose row it uses: its own index, or that of another register of the same width
/// whose value no lane needs at the same time. PTX uses a new register for nearly every value, so a kernel
/// has far more of them than values at once, and its frames would not fit into a cache.
///
/// A lane follows its own path through the function, and writes its own cells only. So what holds for one
/// thread holds for each lane, however the lanes of a warp diverge.
std::vector<std::uint32_t> shared_rows(const ptx::Function& function);

} // namespace emulator
