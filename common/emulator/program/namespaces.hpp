/// \file
/// The kernels of one namespace, out of PTX with many: nvcc takes longer to begin than for all of them.
#pragma once

#include <string>

namespace emulator {

/// The PTX without the kernels outside of the namespace, and without the functions that nothing left may
/// call. A kernel gets the name of the one outside of all namespaces that is declared as it is, if there is
/// one. \param space empty: all kernels stay, with their names \param without readable names of kernels to
/// leave out, too; empty: none
std::string only_namespace(const std::string& ptx, const std::string& space, const std::string& without = "");

} // namespace emulator
