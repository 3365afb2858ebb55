/// Makes fat binaries byte by byte, right ones and wrong ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

using Bytes = std::vector<std::byte>;

/// One entry of a fat binary, with each field open to being wrong.
struct EntryBuilder {
    std::uint16_t kind = 1; ///< 1: PTX, 2: machine code
    std::uint32_t header_bytes = 64;
    std::uint32_t target = 90;
    std::uint64_t flags = 0;
    std::uint32_t compressed_bytes = 0;
    std::uint64_t uncompressed_bytes = 0;
    Bytes payload;
};

template <typename T> void put(Bytes& bytes, std::size_t offset, T value) {
    std::memcpy(bytes.data() + offset, &value, sizeof value);
}

inline Bytes bytes_of(const std::string& text) {
    Bytes bytes(text.size());
    std::memcpy(bytes.data(), text.data(), text.size());
    return bytes;
}

inline Bytes entry_bytes(const EntryBuilder& entry) {
    Bytes bytes(64);
    put(bytes, 0, entry.kind);
    put(bytes, 4, entry.header_bytes);
    put(bytes, 8, std::uint64_t{entry.payload.size()});
    put(bytes, 16, entry.compressed_bytes);
    put(bytes, 28, entry.target);
    put(bytes, 40, entry.flags);
    put(bytes, 56, entry.uncompressed_bytes);
    if (entry.header_bytes > bytes.size()) bytes.resize(entry.header_bytes);
    bytes.insert(bytes.end(), entry.payload.begin(), entry.payload.end());
    return bytes;
}

inline Bytes fat_binary_bytes(std::span<const EntryBuilder> entries) {
    Bytes bytes(16);
    put(bytes, 0, std::uint32_t{0xBA55ED50});
    put(bytes, 4, std::uint16_t{1});
    put(bytes, 6, std::uint16_t{16});
    for (const EntryBuilder& entry : entries) {
        const Bytes more = entry_bytes(entry);
        bytes.insert(bytes.end(), more.begin(), more.end());
    }
    put(bytes, 8, std::uint64_t{bytes.size() - 16});
    return bytes;
}
