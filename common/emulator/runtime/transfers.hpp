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

/// Slices of such rectangles behind each other, in two places.
struct Box {
    void* to;
    std::size_t to_pitch, to_slice; ///< bytes from one row, one slice to the next
    const void* from;
    std::size_t from_pitch, from_slice;
    abi::cudaExtent extent;
    abi::cudaMemcpyKind kind;
};

/// \throws Refused with cudaErrorNotSupported when one side is an array.
Box box_of(const abi::cudaMemcpy3DParms& parameters);

void copy(const Device& device, const Box& box);

/// Writes `value`, in elements of 1, 2 or 4 bytes.
/// \throws Refused with cudaErrorInvalidValue when the rows are not inside one allocation.
void fill(const Device& device, void* to, Rows rows, unsigned value, std::size_t element_bytes = 1);

} // namespace emulator
