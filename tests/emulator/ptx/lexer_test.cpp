#include "emulator/ptx/lexer.hpp"

#include "emulator/error.hpp"

#include <gmock/gmock.h>

#include <bit>

using emulator::Error;
using emulator::ptx::Token, emulator::ptx::tokenize, emulator::ptx::TokenKind;
using std::uint64_t;
using testing::HasSubstr;

namespace {

std::vector<std::string> words(std::string_view text) {
    std::vector<std::string> result;
    for (const Token& token : tokenize(text))
        if (token.kind != TokenKind::end) result.emplace_back(token.text);
    return result;
}

std::string message_of_error(std::string_view text) {
    try {
        tokenize(text);
    } catch (const Error& error) {
        EXPECT_EQ(error.failure(), emulator::Failure::invalid_ptx);
        return error.what();
    }
    return "no error";
}

} // namespace

TEST(Lexer, splits_statements_with_and_without_white_space) {
    const std::vector<std::string> expected{"@",  "!",       "%p1",  "bra", ".uni", "$L__BB0_2", ";",
                                            "ld", ".global", ".u32", "%r1", ",",    "[",         "%rd2",
                                            "+",  "-",       "4",    "]",   ";"};
    EXPECT_EQ(words("@!%p1 bra.uni $L__BB0_2;\n\tld.global.u32 \t%r1, [%rd2 + -4];\r\n"), expected);
    EXPECT_EQ(words("@!%p1 bra.uni $L__BB0_2;ld.global.u32%r1,[%rd2+-4];"), expected);
    EXPECT_EQ(words(".reg.b32%r<5>;%tid.x{_,a}|(b)=0"),
              (std::vector<std::string>{".reg", ".b32", "%r", "<", "5", ">", ";", "%tid", ".x", "{",
                                        "_",    ",",    "a",  "}", "|", "(", "b", ")",    "=",  "0"}));
    EXPECT_EQ(
        words("ld.shared::cta.L1::evict_last.b32 a::b"),
        (std::vector<std::string>{"ld", ".shared::cta", ".L1::evict_last", ".b32", "a", ":", ":", "b"}));
    EXPECT_TRUE(words("").empty());
    EXPECT_TRUE(words(" \n\t").empty());
}

TEST(Lexer, skips_comments) {
    EXPECT_EQ(words("a // b ; c\nd /* e\n f // */ g /**/ h //"),
              (std::vector<std::string>{"a", "d", "g", "h"}));
    EXPECT_THAT(message_of_error("a\n b /* c"),
                HasSubstr("this comment has no end\nPTX line 2:\n    b /* c\n      ^"));
}

TEST(Lexer, reads_integers_in_every_base) {
    struct Row {
        const char* text;
        uint64_t value;
    };
    for (const Row& row : {Row{"0", 0},
                           {"42", 42},
                           {"42U", 42},
                           {"0x2A", 42},
                           {"0X2a", 42},
                           {"0xFFu", 255},
                           {"052", 42},
                           {"0b101010", 42},
                           {"0B11U", 3},
                           {"18446744073709551615", ~0ull},
                           {"0xFFFFFFFFFFFFFFFF", ~0ull},
                           {"01777777777777777777777", ~0ull},
                           {"00", 0}}) {
        const auto tokens = tokenize(row.text);
        ASSERT_EQ(tokens.size(), 2u) << row.text;
        EXPECT_EQ(tokens[0].kind, TokenKind::integer) << row.text;
        EXPECT_EQ(tokens[0].bits, row.value) << row.text;
        EXPECT_EQ(tokens[0].text, row.text);
    }
}

TEST(Lexer, reads_floating_point_numbers_by_bits_and_in_decimal) {
    struct Row {
        const char* text;
        TokenKind kind;
        uint64_t bits;
    };
    for (const Row& row : {Row{"0f3F800000", TokenKind::single_precision, 0x3F80'0000},
                           {"0FfF800000", TokenKind::single_precision, 0xFF80'0000},
                           {"0d3FF0000000000000", TokenKind::double_precision, 0x3FF0'0000'0000'0000},
                           {"0D400921FB54442D18", TokenKind::double_precision, 0x4009'21FB'5444'2D18},
                           {"1.5", TokenKind::double_precision, std::bit_cast<uint64_t>(1.5)},
                           {"2.5e3", TokenKind::double_precision, std::bit_cast<uint64_t>(2500.0)},
                           {"1e-3", TokenKind::double_precision, std::bit_cast<uint64_t>(1e-3)},
                           {"0.25E+1", TokenKind::double_precision, std::bit_cast<uint64_t>(2.5)}}) {
        const auto tokens = tokenize(row.text);
        ASSERT_EQ(tokens.size(), 2u) << row.text;
        EXPECT_EQ(tokens[0].kind, row.kind) << row.text;
        EXPECT_EQ(tokens[0].bits, row.bits) << row.text;
    }
}

TEST(Lexer, points_at_numbers_that_are_none) {
    EXPECT_THAT(message_of_error("mov 0x;"),
                HasSubstr("this is not a number\nPTX line 1:\n    mov 0x;\n        ^"));
    EXPECT_THAT(message_of_error("18446744073709551616"), HasSubstr("more than 64 bits"));
    EXPECT_THAT(message_of_error("0x1FFFFFFFFFFFFFFFF"), HasSubstr("more than 64 bits"));
    EXPECT_THAT(message_of_error("089"), HasSubstr("this is not a number"));
    EXPECT_THAT(message_of_error("0718"), HasSubstr("    0718\n       ^")); // the 8 is what does not fit
    EXPECT_THAT(message_of_error("0b12"), HasSubstr("    0b12\n       ^"));
    EXPECT_THAT(message_of_error("12ab"), HasSubstr("    12ab\n      ^"));
    for (const char* const text : {"0f3F8", "0f3F8000000", "0f3F80000U", "0d3FF"})
        EXPECT_THAT(message_of_error(text), HasSubstr("hexadecimal digits here")) << text;
    EXPECT_THAT(message_of_error("1e999"), HasSubstr("not a floating-point number"));
}

TEST(Lexer, keeps_strings_whole_and_apart_from_other_tokens) {
    const auto tokens = tokenize(".file 1 \"a b;.cu\"");
    ASSERT_EQ(tokens.size(), 4u);
    EXPECT_EQ(tokens[2].kind, TokenKind::string);
    EXPECT_EQ(tokens[2].text, "a b;.cu");
    EXPECT_FALSE(tokenize("\";\"")[0].is(";"));
    EXPECT_TRUE(tokenize(";")[0].is(";"));
    EXPECT_THAT(message_of_error("x \"abc"), HasSubstr("this string has no end"));
}

TEST(Lexer, refuses_characters_that_ptx_does_not_have) {
    for (const char* const text :
         {"a # b", "a ? b", "a ^ b", "a \\ b", "a ' b", "a \x01 b", "a \xFF b", "a . b"})
        EXPECT_THAT(message_of_error(text), HasSubstr("PTX has no such character")) << text;
    EXPECT_THAT(message_of_error(std::string_view("a \0 b", 5)), HasSubstr("PTX has no such character"));
}

TEST(Lexer, tokens_know_their_place) {
    const std::string_view text = "add.s32\n  %r1;";
    for (const Token& token : tokenize(text))
        EXPECT_EQ(text.substr(token.offset, token.text.size()), token.text);
}
