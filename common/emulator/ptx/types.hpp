/// PTX's fundamental types and state spaces.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string_view>

namespace emulator::ptx {

enum class Type : std::uint8_t {
    none,
    pred,
    b8,
    b16,
    b32,
    b64,
    b128,
    u8,
    u16,
    u32,
    u64,
    s8,
    s16,
    s32,
    s64,
    f16,
    bf16,
    f32,
    f64,
    f16x2,
    bf16x2,
    u16x2,
    s16x2,
};

enum class Space : std::uint8_t {
    generic,
    reg,
    constant,
    global,
    local,
    param,
    shared,        ///< of the block
    shared_cluster ///< of all blocks of its cluster
};

/// ".u32" -> Type::u32; nothing for a word that is not a type.
inline std::optional<Type> type_from(std::string_view dot_word) {
    // In the order of Type.
    static constexpr std::string_view words[] = {"",      ".pred",  ".b8",     ".b16",   ".b32",  ".b64",
                                                 ".b128", ".u8",    ".u16",    ".u32",   ".u64",  ".s8",
                                                 ".s16",  ".s32",   ".s64",    ".f16",   ".bf16", ".f32",
                                                 ".f64",  ".f16x2", ".bf16x2", ".u16x2", ".s16x2"};
    const auto found = std::find(std::begin(words) + 1, std::end(words), dot_word);
    if (found == std::end(words)) return std::nullopt;
    return static_cast<Type>(found - std::begin(words));
}

/// Bytes of a value of this type; 0 for none and pred.
constexpr std::uint32_t size_of(Type type) {
    switch (type) {
    case Type::b8:
    case Type::u8:
    case Type::s8: return 1;
    case Type::b16:
    case Type::u16:
    case Type::s16:
    case Type::f16:
    case Type::bf16: return 2;
    case Type::b32:
    case Type::u32:
    case Type::s32:
    case Type::f32: return 4;
    case Type::f16x2:
    case Type::bf16x2:
    case Type::u16x2:
    case Type::s16x2: return 4;
    case Type::b64:
    case Type::u64:
    case Type::s64:
    case Type::f64: return 8;
    case Type::b128: return 16;
    case Type::none:
    case Type::pred: return 0;
    }
    return 0;
}

constexpr bool is_signed(Type type) {
    return type == Type::s8 || type == Type::s16 || type == Type::s32 || type == Type::s64;
}
constexpr bool is_unsigned(Type type) {
    return type == Type::u8 || type == Type::u16 || type == Type::u32 || type == Type::u64;
}
constexpr bool is_integer(Type type) { return is_signed(type) || is_unsigned(type); }
constexpr bool is_bits(Type type) {
    return type == Type::b8 || type == Type::b16 || type == Type::b32 || type == Type::b64 ||
           type == Type::b128;
}

} // namespace emulator::ptx
