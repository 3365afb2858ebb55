/// \file
/// Compiles PTX to machine code, and lists it: ptxas and nvdisasm, in processes of their own.
#pragma once

#include <string>
#include <string_view>

namespace emulator::machine_code {

/// Where the two programs are.
struct Tools {
    std::string ptxas, nvdisasm;
};

/// What read_listing() reads, for the kernel `name` of the PTX: kept in the user's cache, under a hash of PTX and
/// tools. \throws NotUnderstood with a tool's message where it fails
std::string listing_of(std::string_view ptx, std::string_view name, const Tools& tools);

} // namespace emulator::machine_code
