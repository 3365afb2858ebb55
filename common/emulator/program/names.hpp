/// Names of kernels and variables as in the source, and kernels by their namespace.
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

/// The PTX without the kernels outside of the namespace, and without the functions that nothing left may
/// call. A kernel gets the name of the one outside of all namespaces that is declared as it is, if there is
/// one. \param space empty: all kernels stay, with their names \param without readable names of kernels to
/// leave out, too; empty: none
std::string only_namespace(const std::string& ptx, const std::string& space, const std::string& without = "");

} // namespace emulator
