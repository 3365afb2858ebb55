/// Where an instruction comes from: its line of CUDA source, and of PTX.
#pragma once

#include "emulator/program/code.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace emulator {

/// A line of a CUDA source file.
struct SourceLocation {
    std::string_view path; ///< as passed to the compiler; valid as long as the module
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

/// The line to show, as "kernels.cuh:14". An inlined function of the kernel's own file has its own line, one
/// of another file the line of its call. Empty if there is none.
std::string source_line(const Code& code, std::uint32_t pc);

/// Whether the instruction belongs to a function, inlined or not, in a file whose path ends like this.
bool comes_from(const Code& code, std::uint32_t pc, std::string_view path_ending);

/// The path relative to the current directory, if it is inside it.
std::string short_path(std::string_view path);

/// The line of PTX with a caret under the instruction.
std::string ptx_line(const Code& code, std::uint32_t pc);

/// The instruction's PTX, "st.shared.f32 [%r4], %f1;".
std::string ptx_statement(const Code& code, std::uint32_t pc);

} // namespace emulator
