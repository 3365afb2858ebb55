/// The operands of a statement.
#pragma once

#include "emulator/ptx/scope.hpp"
#include "emulator/ptx/token_reader.hpp"

#include <cstdint>
#include <string_view>
#include <utility>

namespace emulator::ptx {

/// Reads operands in a function, which name what the scope declares so far.
class OperandParser : TokenReader {
public:
    OperandParser(Source& source, const Function& function, const Scope& scope)
        : TokenReader(source), function_(function), scope_(scope) {}

    /// operand = primary ["|" primary]
    Operand operand() {
        Operand first = primary();
        if (!accept("|")) return first;
        Operand pair;
        pair.kind = Operand::Kind::pair;
        pair.place = first.place;
        pair.elements.push_back(std::move(first));
        pair.elements.push_back(primary());
        return pair;
    }

    std::uint32_t predicate_register() {
        const Token& token = *token_;
        const auto found = scope_.find_register(identifier("a predicate register"));
        if (!found || function_.registers[*found].type != Type::pred)
            fail(token, "this is not a predicate register");
        return *found;
    }

private:
    /// primary = "!" predicate | "_" | "[" part [offset] {"," (part | "{" list "}")} "]" | "{" list "}" | "(" list ")" |
    /// number | name [offset]
    Operand primary() {
        Operand result;
        result.place = token_->offset;
        if (accept("!")) {
            result.kind = Operand::Kind::reg;
            result.index = predicate_register();
            result.negated = true;
        } else if (accept("_")) {
            result.kind = Operand::Kind::sink;
        } else if (accept("[")) {
            result.kind = Operand::Kind::address;
            result.elements.push_back(part());
            result.offset = optional_offset();
            while (accept(",")) // of a texture, a surface or a tensor
                result.elements.push_back(token_->is("{") ? operand() : part());
            expect("]");
        } else if (accept("{")) {
            list(result, "}");
        } else if (accept("(")) {
            list(result, ")");
        } else if (token_->kind == TokenKind::identifier) {
            named(result);
        } else {
            number(result);
        }
        return result;
    }

    /// part = name | number
    Operand part() {
        Operand result;
        result.place = token_->offset;
        if (token_->kind == TokenKind::identifier)
            named(result);
        else
            number(result);
        return result;
    }

    /// number = ["-"] constant
    void number(Operand& result) {
        const bool negative = accept("-");
        const Token token = take();
        switch (token.kind) {
        case TokenKind::integer: result.kind = Operand::Kind::integer; break;
        case TokenKind::single_precision: result.kind = Operand::Kind::single_precision; break;
        case TokenKind::double_precision: result.kind = Operand::Kind::double_precision; break;
        default: fail(token, "expected an operand here");
        }
        result.bits = token.bits;
        if (negative && token.kind == TokenKind::integer) result.bits = -result.bits;
        if (negative && token.kind == TokenKind::single_precision) result.bits ^= 1ull << 31;
        if (negative && token.kind == TokenKind::double_precision) result.bits ^= 1ull << 63;
    }

    /// offset = "+" n | "-" n
    std::int64_t optional_offset() {
        if (accept("+")) return signed_number();
        if (token_->is("-")) return signed_number();
        return 0;
    }

    /// list = [operand {"," operand}]
    void list(Operand& result, std::string_view close) {
        result.kind = Operand::Kind::list;
        if (++depth_ > 100) fail(*token_, "lists nested too deeply");
        if (!accept(close)) {
            do {
                result.elements.push_back(operand());
            } while (accept(","));
            expect(close);
        }
        --depth_;
    }

    /// A register, a special register, a variable, a function or a label. The last three may be declared
    /// later in the text.
    void named(Operand& result) {
        const Token token = take();
        result.name = token.text;
        if (const auto found = scope_.find_register(token.text)) {
            result.kind = Operand::Kind::reg;
            result.index = *found;
        } else if (token.text.front() == '%') {
            result.kind = Operand::Kind::special;
            if (token_->kind == TokenKind::dot_word) {
                const Token part = take();
                result.name = std::string_view(module_->text)
                                  .substr(token.offset, part.offset + part.text.size() - token.offset);
            }
        } else if (token.text == "WARP_SZ") {
            result.kind = Operand::Kind::integer;
            result.bits = 32;
        } else {
            result.kind = Operand::Kind::symbol;
            result.variable = scope_.find_variable(token.text);
            if (!result.variable) result.name = module_name(token.text);
            if (token_->is("+") && token_[1].kind == TokenKind::integer) result.offset = optional_offset();
        }
    }

    const Function& function_;
    const Scope& scope_;
};

} // namespace emulator::ptx
