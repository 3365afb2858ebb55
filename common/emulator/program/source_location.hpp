/// \file
/// Where an instruction comes from: its line of CUDA source, and of PTX.
#pragma once

#include "emulator/program/code.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace emulator {

/// A line of a CUDA source file.
struct SourceLocation {
    std::string_view path; ///< as the compiler was given it; lives as long as the module
    std::uint32_t line = 0;

    explicit operator bool() const { return line != 0; }
    friend bool operator==(const SourceLocation&, const SourceLocation&) = default;
};

/// The source line of an instruction. In an inlined function it is the outermost call. An instruction without
/// a line, such as the implied return, has that of the instruction before it. False if the program was
/// compiled without -lineinfo.
SourceLocation source_location(const Code& code, std::uint32_t pc);

/// Where the function begins in its source.
SourceLocation function_location(const Code& code);

/// The line to look at, as "kernels.cuh:14". An inlined function of the kernel's own file counts with its own
/// line, one of another file with the line of its call. Empty if there is none.
std::string source_line(const Code& code, std::uint32_t pc);

/// Whether the instruction is of a function that stands in the file whose path ends so, or of one inlined
/// there.
bool comes_from(const Code& code, std::uint32_t pc, std::string_view path_ending);

/// The path relative to the current directory, if it lies below it.
std::string short_path(std::string_view path);

/// The line of PTX with a caret under the instruction.
std::string ptx_line(const Code& code, std::uint32_t pc);

/// The instruction's PTX, "st.shared.f32 [%r4], %f1;".
std::string ptx_statement(const Code& code, std::uint32_t pc);

} // namespace emulator
