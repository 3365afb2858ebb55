/// What the check of an exercise has to know of a solution's PTX, or to change in it.
#pragma once

#include "emulator/ptx/module.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace emulator::ptx {

/// "st.shared.u32"
std::string instruction_text(const Statement& statement);

/// Traffic of this kernel, and of all functions that it may call, which no counter of loads and stores
/// counts: a card counts it elsewhere, or not at all. Each kind once, with its first instruction: {"local
/// memory", "ld.local.u32"}.
std::vector<std::pair<std::string_view, std::string>> uncounted_traffic(const Module& module,
                                                                        std::string_view kernel);

/// The PTX, so that each number that is stored in shared memory carries a tag, which the storing thread's
/// number and `seed` make; and each number that is stored in global memory loses it, if it has the tag of the
/// thread whose number it is, else becomes -1. So a kernel that stores its threads' numbers is right only if
/// they come to each other through shared memory. \throws Error unsupported for an instruction that writes
/// memory but is not a plain store of an int: that cannot be followed; as parse does
std::string with_tagged_numbers(const std::string& text, std::uint64_t seed);

} // namespace emulator::ptx
