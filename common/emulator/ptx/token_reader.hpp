/// What the parsers of modules, variables and functions share: the tokens, and the position in them.
#pragma once

#include "emulator/ptx/diagnostic.hpp"
#include "emulator/ptx/lexer.hpp"
#include "emulator/ptx/module.hpp"

#include <bit>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace emulator::ptx {

/// A translation unit.
struct Unit {
    std::uint32_t first_file = 0; ///< added to its file numbers
    std::uint32_t start = 0;      ///< where it begins in the text
    /// Its renamed variables: old and new names.
    std::unordered_map<std::string_view, std::string_view> renamed;
};

/// A module's text while it is turned into a Module.
struct Source {
    Source(Module& into, std::vector<Token> read, std::shared_ptr<Unit> of)
        : module(into), tokens(std::move(read)), token(tokens.data()), unit(std::move(of)) {}

    Module& module;
    const std::vector<Token> tokens;
    const Token* token;         ///< the next one
    int depth = 0;              ///< of braces and brackets
    std::shared_ptr<Unit> unit; ///< the one that is read
};

/// The basic operations of all grammar rules.
class TokenReader {
protected:
    explicit TokenReader(Source& source)
        : source_(source), module_(&source.module), token_(source.token), depth_(source.depth) {}

    [[noreturn]] void fail(const Token& token, const std::string& message,
                           Failure failure = Failure::invalid_ptx) const {
        throw error_at(failure, module_->text, token.offset, message);
    }

    Token take() {
        const Token token = *token_;
        if (token.kind != TokenKind::end) ++token_;
        return token;
    }

    bool accept(std::string_view text) {
        if (!token_->is(text)) return false;
        ++token_;
        return true;
    }

    void expect(std::string_view text) {
        if (!accept(text)) fail(*token_, std::string("expected ") + quoted(text) + " here");
    }

    std::string_view identifier(const char* what) {
        if (token_->kind != TokenKind::identifier) fail(*token_, std::string("expected ") + what + " here");
        return take().text;
    }

    std::uint64_t unsigned_number() {
        if (token_->kind != TokenKind::integer) fail(*token_, "expected a number here");
        return take().bits;
    }

    std::uint32_t small_number() {
        const Token& token = *token_;
        const std::uint64_t value = unsigned_number();
        if (value > UINT32_MAX) fail(token, "this number needs more than 32 bits");
        return static_cast<std::uint32_t>(value);
    }

    std::uint32_t positive_number() {
        const Token& token = *token_;
        const std::uint32_t value = small_number();
        if (value == 0) fail(token, "this number must be at least 1");
        return value;
    }

    std::optional<Type> accept_type() {
        if (token_->kind != TokenKind::dot_word) return std::nullopt;
        const auto type = type_from(token_->text);
        if (type) ++token_;
        return type;
    }

    /// `{ … }` of a directive whose contents do not matter here
    void skip_block() {
        const Token& open = *token_;
        expect("{");
        while (!accept("}"))
            if (take().kind == TokenKind::end) fail(open, "this block has no end");
    }

    /// pragma = ".pragma" string {"," string} ";"
    bool accept_pragma() {
        if (!accept(".pragma")) return false;
        do {
            take();
        } while (accept(","));
        expect(";");
        return true;
    }

    std::uint32_t alignment_number() {
        const Token& token = *token_;
        const std::uint32_t alignment = small_number();
        if (!std::has_single_bit(alignment) || alignment > 4096)
            fail(token, "an alignment is a power of two up to 4096");
        return alignment;
    }

    void skip_parentheses() {
        const Token& open = *token_;
        expect("(");
        while (!accept(")"))
            if (take().kind == TokenKind::end) fail(open, "this parenthesis has no end");
    }

    std::optional<Space> accept_space() {
        if (accept(".reg")) return Space::reg;
        if (accept(".const")) return Space::constant;
        if (accept(".global")) return Space::global;
        if (accept(".local")) return Space::local;
        if (accept(".param")) return Space::param;
        if (accept(".shared")) return Space::shared;
        return std::nullopt;
    }

    std::int64_t signed_number() {
        const bool negative = accept("-");
        const std::uint64_t magnitude = unsigned_number();
        return static_cast<std::int64_t>(negative ? -magnitude : magnitude);
    }

    /// Each unit numbers its files from 1.
    std::uint32_t file_number() { return source_.unit->first_file + small_number(); }

    std::string_view module_name(std::string_view name) const {
        const auto found = source_.unit->renamed.find(name);
        return found == source_.unit->renamed.end() ? name : found->second;
    }

    Source& source_;
    Module* const module_;
    const Token*& token_;
    int& depth_;
};

} // namespace emulator::ptx
