#include "emulator/runtime/fat_binary.hpp"

#include "emulator/error.hpp"
#include "emulator/machine/launch.hpp"

#include <lz4.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>

namespace emulator {
namespace {

constexpr std::uint32_t wrapper_magic = 0x466243B1;
constexpr std::uint32_t fat_binary_magic = 0xBA55ED50;
constexpr std::uint16_t fat_binary_version = 1;

constexpr std::size_t entry_header_bytes = 64;
constexpr std::uint16_t entry_is_ptx = 1, entry_is_machine_code = 2;
constexpr std::uint64_t entry_is_lz4 = 0x2000, entry_is_zstd = 0x8000;

/// More PTX than any program has: a larger size means a damaged header, so don't allocate that much.
constexpr std::uint64_t max_text_bytes = 256u << 20;

using Bytes = std::span<const std::byte>;

[[noreturn]] void damaged(const std::string& what) {
    throw Error(Failure::invalid_ptx, "the program's fat binary is damaged: " + what);
}

void check(bool holds, const char* what) {
    if (!holds) damaged(what);
}

/// The little-endian value at `offset`.
template <typename T> T value_at(Bytes bytes, std::size_t offset) {
    check(bytes.size() >= sizeof(T) && offset <= bytes.size() - sizeof(T), "it ends within a header");
    T value;
    std::memcpy(&value, bytes.data() + offset, sizeof value);
    return value;
}

std::string decompress_lz4(const PtxEntry& entry) {
    std::string text(entry.uncompressed_bytes, '\0');
    const int written =
        LZ4_decompress_safe(reinterpret_cast<const char*>(entry.payload.data()), text.data(),
                            static_cast<int>(entry.payload.size()), static_cast<int>(text.size()));
    check(written >= 0 && static_cast<std::uint64_t>(written) == entry.uncompressed_bytes,
          "its LZ4-compressed PTX does not decompress");
    return text;
}

std::string decompress_zstd(const PtxEntry& entry) {
    std::string text(entry.uncompressed_bytes, '\0');
    const std::size_t written =
        ZSTD_decompress(text.data(), text.size(), entry.payload.data(), entry.payload.size());
    check(!ZSTD_isError(written) && written == entry.uncompressed_bytes,
          "its zstd-compressed PTX does not decompress");
    return text;
}

unsigned int target_of(Bytes header) { return value_at<std::uint32_t>(header, 28); }

PtxEntry ptx_entry(Bytes header, Bytes content) {
    PtxEntry entry{.target = target_of(header), .payload = content};
    const auto flags = value_at<std::uint64_t>(header, 40);
    if (flags & entry_is_zstd)
        entry.compression = Compression::zstd;
    else if (flags & entry_is_lz4)
        entry.compression = Compression::lz4;
    if (entry.compression == Compression::none) return entry;

    const auto compressed_bytes = value_at<std::uint32_t>(header, 16);
    check(compressed_bytes <= content.size(), "a compressed PTX text is longer than its entry");
    entry.payload = content.first(compressed_bytes);
    entry.uncompressed_bytes = value_at<std::uint64_t>(header, 56);
    return entry;
}

} // namespace

ImageKind image_kind(const void* image) {
    const auto* const first = static_cast<const unsigned char*>(image);
    std::uint32_t magic = 0; // PTX may be shorter
    for (std::size_t k = 0; k < sizeof magic && first[k] != 0; ++k) magic |= std::uint32_t{first[k]} << 8 * k;
    if (magic == fat_binary_magic) return ImageKind::fat_binary;
    if (magic == wrapper_magic) return ImageKind::wrapper;
    return std::memcmp(&magic,
                       "\x7f"
                       "ELF",
                       sizeof magic) == 0
               ? ImageKind::machine_code
               : ImageKind::ptx;
}

/// Only the header at `fat_binary` states the length of the whole.
Bytes fat_binary_at(const void* fat_binary) {
    check(fat_binary, "its wrapper points to nothing");
    const Bytes header(static_cast<const std::byte*>(fat_binary), fat_binary_header_bytes);
    check(value_at<std::uint32_t>(header, 0) == fat_binary_magic,
          "its first four bytes are not those of a fat binary");
    const std::size_t header_bytes = value_at<std::uint16_t>(header, 6);
    return {header.data(), header_bytes + value_at<std::uint64_t>(header, 8)};
}

std::vector<Bytes> fat_binaries(const void* wrapper) {
    struct Wrapper {
        std::uint32_t magic, version;
        const void* fat_binary;
        const void* const* translation_units; ///< version 2: ends with a null
    };
    Wrapper fields;
    std::memcpy(&fields, wrapper, sizeof fields);
    check(fields.magic == wrapper_magic, "its wrapper's first four bytes are wrong");
    check(fields.version == 1 || fields.version == 2, "its wrapper's version is neither 1 nor 2");

    std::vector<Bytes> found{fat_binary_at(fields.fat_binary)};
    if (fields.version == 1 || !fields.translation_units) return found;
    for (const void* const* unit = fields.translation_units; *unit; ++unit)
        found.push_back(fat_binary_at(*unit));
    return found;
}

namespace {

/// Calls `each(kind, header, content)` for every entry.
template <class Each> void for_each_entry(Bytes fat_binary, Each each) {
    check(value_at<std::uint32_t>(fat_binary, 0) == fat_binary_magic,
          "its first four bytes are not those of a fat binary");
    check(value_at<std::uint16_t>(fat_binary, 4) == fat_binary_version, "its version is not 1");
    const std::size_t header_bytes = value_at<std::uint16_t>(fat_binary, 6);
    const auto content_bytes = value_at<std::uint64_t>(fat_binary, 8);
    check(header_bytes >= fat_binary_header_bytes && header_bytes <= fat_binary.size() &&
              content_bytes <= fat_binary.size() - header_bytes,
          "it is shorter than its header says");

    Bytes rest = fat_binary.subspan(header_bytes, content_bytes);
    while (!rest.empty()) {
        const auto kind = value_at<std::uint16_t>(rest, 0);
        const std::size_t entry_header = value_at<std::uint32_t>(rest, 4);
        const auto entry_content = value_at<std::uint64_t>(rest, 8);
        check(entry_header >= entry_header_bytes && entry_header <= rest.size() &&
                  entry_content <= rest.size() - entry_header,
              "an entry is longer than what is left of it");
        each(kind, rest.first(entry_header), rest.subspan(entry_header, entry_content));
        rest = rest.subspan(entry_header + entry_content);
    }
}

} // namespace

std::vector<PtxEntry> ptx_entries(Bytes fat_binary) {
    std::vector<PtxEntry> entries;
    for_each_entry(fat_binary, [&](std::uint16_t kind, Bytes header, Bytes content) {
        if (kind == entry_is_ptx) entries.push_back(ptx_entry(header, content));
    });
    return entries;
}

std::vector<unsigned int> machine_code_targets(Bytes fat_binary) {
    std::vector<unsigned int> targets;
    for_each_entry(fat_binary, [&](std::uint16_t kind, Bytes header, Bytes) {
        if (kind == entry_is_machine_code) targets.push_back(target_of(header));
    });
    return targets;
}

const PtxEntry* best_entry(std::span<const PtxEntry> entries) {
    constexpr unsigned int device =
        10 * DeviceLimits::compute_capability_major + DeviceLimits::compute_capability_minor;
    const auto is_better = [](unsigned int target, unsigned int than) {
        if (target <= device) return than > device || target > than;
        return target < than;
    };
    const PtxEntry* best = nullptr;
    for (const PtxEntry& entry : entries)
        if (!best || is_better(entry.target, best->target)) best = &entry;
    return best;
}

std::string ptx_text(const PtxEntry& entry) {
    const auto bytes = std::max<std::uint64_t>(entry.uncompressed_bytes, entry.payload.size());
    check(bytes <= max_text_bytes, "a PTX text claims to be larger than 256 MiB");
    std::string text;
    switch (entry.compression) {
    case Compression::none:
        text.assign(reinterpret_cast<const char*>(entry.payload.data()), entry.payload.size());
        break;
    case Compression::lz4: text = decompress_lz4(entry); break;
    case Compression::zstd: text = decompress_zstd(entry); break;
    }
    if (const auto end = text.find('\0'); end != std::string::npos) text.resize(end);
    return text;
}

} // namespace emulator
