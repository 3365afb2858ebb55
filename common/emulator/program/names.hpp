/// \file
/// Names of kernels and variables as in the source.
#pragma once

#include <string>
#include <string_view>

namespace emulator {

/// "reduce3(int const*, int*, unsigned long)"
std::string readable_name(const std::string& mangled);

/// "reduce3" of "reduce3(int const*, int*)", "reduce<256>" of "void reduce<256>(int const*)".
std::string short_name(const std::string& readable_name);

/// "tile", for the variable "_ZZ13setRowReadColPiE4tile" that is "setRowReadCol(int*)::tile"
std::string variable_name(std::string_view mangled);

} // namespace emulator
