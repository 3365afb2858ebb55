/// \file
/// Copying and setting memory, with the checks that come first.
#pragma once

#include "emulator/runtime/runtime.hpp"

#include <cstddef>

namespace emulator {

/// A rectangle of bytes: `height` rows of `width`, `pitch` bytes from one row's start to the next.
struct Rows {
    std::size_t pitch, width, height;

    /// Bytes from the first byte of the first row to the last of the last.
    std::size_t extent() const;
};

inline Rows single_row(std::size_t bytes) { return {bytes, bytes, 1}; }

/// \throws Refused with cudaErrorInvalidValue when either side leaves its allocation, or is not where `kind`
/// says, cudaErrorInvalidMemcpyDirection when `kind` is no kind, cudaErrorInvalidPitchValue when rows
/// overlap.
void copy(const Device& device, void* to, std::size_t to_pitch, const void* from, Rows rows,
          abi::cudaMemcpyKind kind);

/// \throws Refused with cudaErrorInvalidValue when the rows are not inside one allocation.
void fill(const Device& device, void* to, Rows rows, int value);

} // namespace emulator
