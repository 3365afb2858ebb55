/// Compiles PTX to machine code and lists it, by ptxas and nvdisasm in processes of their own, and reads what they
/// print.
#pragma once

#include "emulator/machine_code/instruction.hpp"

#include <string>
#include <string_view>

namespace emulator::machine_code {

// ---- tools.cpp ----

/// Where the two programs are.
struct Tools {
    std::string ptxas, nvdisasm;
};

/// Of texts that were joined, the one with the kernel, which is compiled for it.
/// \throws NotUnderstood: it is in none
std::string_view unit_with(std::string_view ptx, std::string_view name);

/// What read_listing() reads, for the kernel `name` of the PTX: kept in the user's cache, under a hash of PTX and
/// tools. \throws NotUnderstood with a tool's message where it fails
std::string listing_of(std::string_view ptx, std::string_view name, const Tools& tools);

// ---- listing.cpp ----

/// The code of the kernel `name` (mangled), decoded.
/// \param listing that of `nvdisasm --print-instruction-encoding`, below that of `ptxas --verbose`. With
/// `--print-line-info-ptx` and `-lineinfo`, instructions have lines of PTX: those of the text that was compiled
/// \throws NotUnderstood for an instruction that has no action, with its opcode
Code read_listing(std::string_view listing, std::string_view name);

} // namespace emulator::machine_code
