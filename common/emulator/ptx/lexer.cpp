#include "emulator/ptx/lexer.hpp"

#include "emulator/ptx/diagnostic.hpp"

#include <algorithm>
#include <bit>
#include <cctype>
#include <charconv>
#include <limits>

namespace emulator::ptx {

namespace {

bool starts_identifier(char c) {
    return std::isalpha(static_cast<unsigned char>(c)) || c == '_' || c == '$' || c == '%';
}
bool continues_identifier(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$';
}
bool is_digit(char c) { return c >= '0' && c <= '9'; }

class Lexer {
public:
    explicit Lexer(std::string_view text, std::size_t begin = 0) : text_(text), place_(begin) {}

    std::vector<Token> run() {
        std::vector<Token> tokens;
        tokens.reserve((text_.size() - place_) / 4 + 1);
        for (;;) {
            skip_blanks();
            tokens.push_back(next());
            if (tokens.back().kind == TokenKind::end) return tokens;
        }
    }

    std::vector<Token> run_around_kernels() {
        std::vector<Token> tokens;
        bool is_before_body = false;
        for (;;) {
            skip_blanks();
            Token token = next();
            if (is_before_body && token.is("{")) token = body(token.offset);
            if (token.kind == TokenKind::body || token.is(";")) is_before_body = false;
            if (token.is(".entry")) is_before_body = true;
            tokens.push_back(token);
            if (token.kind == TokenKind::end) return tokens;
        }
    }

private:
    char at(std::size_t place) const { return place < text_.size() ? text_[place] : '\0'; }

    [[noreturn]] void fail(std::size_t place, const std::string& message) const {
        throw error_at(Failure::invalid_ptx, text_, static_cast<std::uint32_t>(place), message);
    }

    Token token(TokenKind kind, std::size_t start, std::uint64_t bits = 0) const {
        return {kind, static_cast<std::uint32_t>(start), text_.substr(start, place_ - start), bits};
    }

    void skip_blanks() {
        for (;;) {
            while (place_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[place_]))) ++place_;
            if (at(place_) == '/' && at(place_ + 1) == '/') {
                place_ = std::min(text_.find('\n', place_), text_.size());
            } else if (at(place_) == '/' && at(place_ + 1) == '*') {
                const std::size_t end = text_.find("*/", place_ + 2);
                if (end == std::string_view::npos) fail(place_, "this comment has no end");
                place_ = end + 2;
            } else {
                return;
            }
        }
    }

    Token next() {
        const std::size_t start = place_;
        if (start >= text_.size()) return token(TokenKind::end, start);
        const char c = text_[start];
        if (starts_identifier(c)) {
            do {
                ++place_;
            } while (continues_identifier(at(place_)));
            return token(TokenKind::identifier, start);
        }
        if (c == '.' && (continues_identifier(at(start + 1)))) {
            do {
                ++place_;
            } while (continues_identifier(at(place_)) || skip_double_colon());
            return token(TokenKind::dot_word, start);
        }
        if (is_digit(c)) return number();
        if (c == '"') return quoted();
        if (std::string_view(",;:(){}[]=@!|+-<>*&~").find(c) == std::string_view::npos)
            fail(start, "PTX has no such character");
        ++place_;
        return token(TokenKind::punctuation, start);
    }

    /// `.mbarrier::complete_tx::bytes` is one word.
    bool skip_double_colon() {
        if (at(place_) != ':' || at(place_ + 1) != ':' || !continues_identifier(at(place_ + 2))) return false;
        ++place_;
        return true;
    }

    /// To the brace that closes the one before place_.
    Token body(std::size_t start) {
        for (int depth = 1; depth > 0;) {
            place_ = text_.find_first_of("{}\"/", place_);
            if (place_ == std::string_view::npos) fail(start, "this block has no end");
            const char c = text_[place_];
            if (c == '"') {
                quoted();
            } else if (c == '/' && (at(place_ + 1) == '/' || at(place_ + 1) == '*')) {
                skip_blanks();
            } else {
                depth += c == '{' ? 1 : c == '}' ? -1 : 0;
                ++place_;
            }
        }
        return token(TokenKind::body, start);
    }

    Token quoted() {
        const std::size_t start = place_ + 1;
        const std::size_t end = text_.find('"', start);
        if (end == std::string_view::npos) fail(place_, "this string has no end");
        place_ = end + 1;
        return {TokenKind::string, static_cast<std::uint32_t>(start), text_.substr(start, end - start), 0};
    }

    Token number() {
        const std::size_t start = place_;
        const char letter = static_cast<char>(std::tolower(static_cast<unsigned char>(at(start + 1))));
        if (text_[start] == '0' && letter == 'f') return hexadecimal(start, TokenKind::single_precision, 8);
        if (text_[start] == '0' && letter == 'd') return hexadecimal(start, TokenKind::double_precision, 16);
        if (text_[start] == '0' && letter == 'x') return integer(start, start + 2, 16);
        if (text_[start] == '0' && letter == 'b') return integer(start, start + 2, 2);

        std::size_t end = start;
        while (is_digit(at(end))) ++end;
        const bool fraction = at(end) == '.' && is_digit(at(end + 1));
        const bool exponent = at(end) == 'e' || at(end) == 'E';
        if (fraction || exponent) return decimal(start);
        return text_[start] == '0' && end - start > 1 ? integer(start, start + 1, 8)
                                                      : integer(start, start, 10);
    }

    Token hexadecimal(std::size_t start, TokenKind kind, int digits) {
        const Token bits = integer(start, start + 2, 16);
        if (bits.text.size() - 2 != static_cast<std::size_t>(digits) || bits.text.ends_with('U') ||
            bits.text.ends_with('u'))
            fail(start, "a floating-point number has " + std::to_string(digits) + " hexadecimal digits here");
        return {kind, bits.offset, bits.text, bits.bits};
    }

    Token integer(std::size_t start, std::size_t digits, int base) {
        std::uint64_t value = 0;
        const char* last = text_.data() + text_.size();
        const auto [end, error] = std::from_chars(text_.data() + digits, last, value, base);
        if (error == std::errc::result_out_of_range) fail(start, "this number needs more than 64 bits");
        if (error != std::errc{}) fail(start, "this is not a number");
        place_ = static_cast<std::size_t>(end - text_.data());
        if (at(place_) == 'U' || at(place_) == 'u') ++place_;
        if (continues_identifier(at(place_))) fail(place_, "this digit does not belong in the number");
        return token(TokenKind::integer, start, value);
    }

    Token decimal(std::size_t start) {
        double value = 0;
        const auto [end, error] = std::from_chars(text_.data() + start, text_.data() + text_.size(), value);
        if (error != std::errc{}) fail(start, "this is not a floating-point number");
        place_ = static_cast<std::size_t>(end - text_.data());
        return token(TokenKind::double_precision, start, std::bit_cast<std::uint64_t>(value));
    }

    std::string_view text_;
    std::size_t place_ = 0;
};

void expect_offsets_to_fit(std::string_view text) {
    if (text.size() >= std::numeric_limits<std::uint32_t>::max())
        throw Error(Failure::invalid_ptx, "a PTX module of 4 GiB or more");
}

} // namespace

std::vector<Token> tokenize(std::string_view text) {
    expect_offsets_to_fit(text);
    return Lexer(text).run();
}

std::vector<Token> tokenize_around_kernels(std::string_view text) {
    expect_offsets_to_fit(text);
    return Lexer(text).run_around_kernels();
}

std::vector<Token> tokenize_body(std::string_view text, std::string_view body) {
    const auto begin = static_cast<std::size_t>(body.data() - text.data());
    return Lexer(text.substr(0, begin + body.size()), begin).run();
}

} // namespace emulator::ptx
