/// PTX text to tokens.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace emulator::ptx {

enum class TokenKind : std::uint8_t {
    identifier,       ///< `add`, `%r1`, `$L__BB0_2`
    dot_word,         ///< `.reg`, `.s32`, `.shared::cta`: the dot belongs to the text
    integer,          ///< `42`, `0x2A`, `052`, `0b101010`, `42U`
    single_precision, ///< `0f3F800000`
    double_precision, ///< `0d3FF0000000000000`, `1.5e3`
    string,           ///< `"file.cu"`: without the quotes
    punctuation,      ///< one character
    body,             ///< `{ … }` of a kernel, of tokenize_around_kernels
    end
};

struct Token {
    TokenKind kind = TokenKind::end;
    std::uint32_t offset = 0; ///< of the first character in the PTX text
    std::string_view text;
    std::uint64_t bits = 0; ///< of a number: two's complement or IEEE bits

    bool is(std::string_view expected) const { return kind != TokenKind::string && text == expected; }
};

/// Splits `text` into tokens; the last one is of kind `end`. The tokens refer to `text`.
/// \throws Error invalid_ptx for a character or number that PTX does not have.
std::vector<Token> tokenize(std::string_view text);

/// The same, but a kernel's body is one token.
std::vector<Token> tokenize_around_kernels(std::string_view text);

/// The tokens of `body`, which is a part of `text`.
std::vector<Token> tokenize_body(std::string_view text, std::string_view body);

} // namespace emulator::ptx
