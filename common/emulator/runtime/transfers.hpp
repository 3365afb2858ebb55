/// Copying and setting memory, after checking the arguments.
#pragma once

#include "emulator/runtime/device.hpp"

#include <cstddef>

namespace emulator {

/// A rectangle of bytes: `height` rows of `width`, `pitch` bytes from one row's start to the next.
struct Rows {
    std::size_t pitch, width, height;

    /// From the first byte of the first row to the last byte of the last.
    std::size_t extent() const;
};

inline Rows single_row(std::size_t bytes) { return {bytes, bytes, 1}; }

/// \throws ApiError with cudaErrorInvalidValue if either side leaves its allocation or contradicts `kind`,
/// cudaErrorInvalidMemcpyDirection if `kind` is invalid, cudaErrorInvalidPitchValue if rows overlap.
void copy(const Device& device, void* to, std::size_t to_pitch, const void* from, Rows rows,
          abi::cudaMemcpyKind kind);

/// One side of a copy: its first byte, and the distances between rows and between slices of rows, in bytes.
struct Side {
    void* first;
    std::size_t pitch, slice = 0;
    bool is_array = false; ///< array_side has checked it
};

/// The part of an array that begins at `at` and has `extent`, both in bytes, rows and slices.
/// \throws ApiError with cudaErrorInvalidResourceHandle if there is no such array, cudaErrorInvalidValue if
/// the part leaves it or begins within an element. `call`: the operation's name, for the listeners of device
/// memory.
Side array_side(const Device& device, const void* handle, abi::cudaPos at, abi::cudaExtent extent,
                const char* call);

inline constexpr const char *to_array = "copy to an array", *from_array = "copy from an array";

/// `call`: the operation on `bytes` bytes of it, for the listeners of device memory; null: none. \throws
/// ApiError with cudaErrorInvalidResourceHandle if there is no such array.
const Array& array_at(const Device& device, const void* handle, const char* call = nullptr,
                      std::size_t bytes = 0);

/// Slices of rows at two locations.
struct Box {
    Side to, from;
    abi::cudaExtent extent; ///< bytes, rows, slices
    abi::cudaMemcpyKind kind;
};

/// \throws ApiError as array_side does, and if a side is not exactly one pointer or one array.
Box box_of(const Device& device, const abi::cudaMemcpy3DParms& parameters);

/// \throws ApiError as the copy of rows does. An array is on the device, whatever `kind` is.
void copy(const Device& device, const Box& box);

/// Writes `value`, in elements of 1, 2 or 4 bytes. \throws ApiError with cudaErrorInvalidValue if the rows
/// are not inside one allocation.
void fill(const Device& device, void* to, Rows rows, unsigned int value, std::size_t element_bytes = 1);

} // namespace emulator
