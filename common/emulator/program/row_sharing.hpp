/// \file
/// Which registers of a function take one row in turn, and which accesses have one address register.
#pragma once

#include "emulator/program/code.hpp"
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

/// Unrolled loops access memory many times from one register, each time with another displacement. The first
/// such load or store of a basic block gets an Instruction::address_place, in which the warp remembers what the
/// register's values have in common. The others need not look at them again.
void share_addresses(const ptx::Function& function, std::vector<Instruction>& instructions);

} // namespace emulator
