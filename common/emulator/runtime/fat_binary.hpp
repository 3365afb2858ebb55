/// Fat binaries: the containers in which nvcc puts PTX and machine code for several targets into a program.
///
/// A program registers a *wrapper*, which points to one fat binary (version 1). In a program linked with
/// -rdc=true it points to one more per translation unit (version 2). A fat binary is a header and a list of
/// entries. An entry is a header and its text or code, often compressed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace emulator {

enum class Compression { none, lz4, zstd };

/// A PTX text in a fat binary.
struct PtxEntry {
    unsigned int target = 0; ///< 90 for `.target sm_90`
    Compression compression = Compression::none;
    std::span<const std::byte> payload;   ///< as stored, without padding when compressed
    std::uint64_t uncompressed_bytes = 0; ///< as in the header; 0 if not compressed
};

enum class ImageKind { ptx, fat_binary, wrapper, machine_code };

/// What begins there, by its first four bytes: PTX, if it is none of the others.
ImageKind image_kind(const void* image);

inline constexpr std::size_t fat_binary_header_bytes = 16;

/// All bytes of the fat binary that begins there. \throws Error invalid_ptx if there is none.
std::span<const std::byte> fat_binary_at(const void* code);

/// The fat binaries that the wrapper at `wrapper` points to. \throws Error invalid_ptx if it is not a
/// wrapper, has an unknown version, or points to something else.
std::vector<std::span<const std::byte>> fat_binaries(const void* wrapper);

/// The PTX entries of a fat binary, in their order; none if it has only machine code. \throws Error
/// invalid_ptx if a header is wrong or exceeds the bytes that there are.
std::vector<PtxEntry> ptx_entries(std::span<const std::byte> fat_binary);

/// The targets of the machine code in a fat binary: 90 for sm_90.
/// \throws as above.
std::vector<unsigned int> machine_code_targets(std::span<const std::byte> fat_binary);

/// The entry that a device of compute capability 9.0 should run: the highest target up to 90, otherwise the
/// lowest one; null if there is none.
const PtxEntry* best_entry(std::span<const PtxEntry> entries);

/// The entry's text, decompressed, without the NUL and the padding at its end. \throws Error invalid_ptx if
/// the compressed bytes are damaged or their size differs from the header's.
std::string ptx_text(const PtxEntry& entry);

} // namespace emulator
