/// Pictures of what one block really did.
#pragma once

#include "emulator/observe/access_trace.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace emulate {

/// The text of a source line. Empty if it is not known.
using SourceOf = std::function<std::string(const emulator::TracedPlace&)>;

struct Drawing {
    std::string svg;    ///< the text of a file
    std::string result; ///< its numbers in a sentence
};

// `kernel` is the kernel's name.

/// The access's worst request to shared memory: its lanes, their banks, and the word that each bank delivers
/// in each wavefront.
Drawing draw_banks(std::string_view kernel, const emulator::AccessTrace& trace,
                   const emulator::TracedAccess& access, const SourceOf& source_of);

/// The access's worst request to global memory: its lanes, the sectors and lines that they touch, and the
/// bytes that no lane uses.
Drawing draw_sectors(std::string_view kernel, const emulator::AccessTrace& trace,
                     const emulator::TracedAccess& access, const SourceOf& source_of);

/// The array that the access's worst request goes to: each word with its bank. Marks the words of the
/// request.
Drawing draw_tile(std::string_view kernel, const emulator::AccessTrace& trace,
                  const emulator::TracedAccess& access, const SourceOf& source_of);

/// Which lanes of the block's warps are active, one step below the other.
Drawing draw_activity(std::string_view kernel, const emulator::AccessTrace& trace, const SourceOf& source_of);

/// The access that a picture is about: of those to `space`, and of `line` if that is not 0, the one whose
/// worst request costs most over its ideal. Of equal ones the one that costs most over the ideal in all, then
/// the one that costs most in all (a loop's rather than the one before it; those last whose lanes all go to
/// one place), then the one whose lanes are furthest apart, then the first. Atomics only where there is
/// nothing else. Null when there is none.
const emulator::TracedAccess* most_costly(const emulator::AccessTrace& trace, emulator::ptx::Space space,
                                          std::uint32_t line);

struct Picture {
    Drawing drawing{};   ///< empty if there is nothing to draw
    std::string about{}; ///< what it shows, or why there is none
};

/// A picture of a kind: "banks", "sectors", "activity" or "tile". With `line` not 0, of the access on that
/// line.
Picture draw_picture(std::string_view kind, const emulator::AccessTrace& trace, std::uint32_t line,
                     const SourceOf& source_of);

/// A kernel's name in a picture: "reduce<a::b>" of "void (anonymous namespace)::reduce<a::b>(int const*)".
std::string kernel_name(const std::string& readable);

} // namespace emulate
