/// Declarations of variables, in modules and in functions.
#pragma once

#include "emulator/ptx/token_reader.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <vector>

namespace emulator::ptx {

class VariableParser : protected TokenReader {
protected:
    using TokenReader::TokenReader;

    /// variables = {".align" n | ".attribute" "(" … ")" | ".v2" | ".v4"} type {".ptr" …} declarator {","
    /// declarator}
    std::vector<std::unique_ptr<Variable>> variables(Space space) {
        std::uint32_t alignment = 0;
        std::uint32_t lanes = 1;
        std::optional<Type> type;
        bool managed = false;
        while (!type) {
            const Token& start = *token_;
            if (accept(".align"))
                alignment = alignment_number();
            else if (accept(".attribute")) {
                managed |= token_[1].is(".managed");
                skip_parentheses();
            } else if (accept(".v2"))
                lanes = 2;
            else if (accept(".v4"))
                lanes = 4;
            else {
                type = accept_type();
                if (!type) expect_known_type(start);
            }
        }
        if (accept(".ptr")) { // describes what a pointer parameter points to
            accept_space();
            if (accept(".align")) alignment_number();
        }
        std::vector<std::unique_ptr<Variable>> result;
        do {
            result.push_back(declarator(space, *type, lanes, alignment));
            result.back()->managed = managed;
        } while (accept(","));
        return result;
    }

    /// declarator = name {"[" [n] "]"} ["=" initializer]
    std::unique_ptr<Variable> declarator(Space space, Type type, std::uint32_t lanes,
                                         std::uint32_t alignment) {
        if (size_of(type) == 0) fail(*token_, "a variable cannot be of this type");
        auto variable = std::make_unique<Variable>();
        variable->place = token_->offset;
        variable->name = identifier("a variable's name");
        variable->space = space;
        variable->type = type;
        const std::uint64_t element = std::uint64_t{size_of(type)} * lanes;
        variable->alignment =
            alignment ? alignment : static_cast<std::uint32_t>(std::max<std::uint64_t>(element, 1));
        variable->bytes = element;
        bool unsized = false;
        while (accept("[")) {
            const Token& size = *token_;
            const std::uint64_t count = size.is("]") ? 0 : unsigned_number();
            if (size.is("]")) unsized = true;
            const std::uint64_t largest = space == Space::param ? largest_parameter : largest_variable;
            if (count != 0 && variable->bytes > largest / count) fail(size, "this variable is too large");
            variable->bytes *= count;
            expect("]");
        }
        if (token_->is("=") && space != Space::global && space != Space::constant)
            fail(*token_, "only variables in global and constant memory have initial values");
        if (accept("=")) {
            initializer(*variable, size_of(type), unsized ? largest_variable : variable->bytes);
            if (unsized) variable->bytes = variable->initial.size();
        }
        return variable;
    }

    /// initializer = "{" initializer {"," initializer} "}" | number | symbol ["+" n] | "generic" "(" symbol
    /// ")" ["+" n]
    void initializer(Variable& variable, std::uint32_t element_bytes, std::uint64_t max_bytes) {
        const Token& start = *token_;
        if (accept("{")) {
            if (++depth_ > 100) fail(start, "braces nested too deeply");
            do {
                initializer(variable, element_bytes, max_bytes);
            } while (accept(","));
            expect("}");
            --depth_;
            return;
        }
        const std::uint64_t offset = variable.initial.size();
        if (offset + element_bytes > max_bytes)
            fail(start, "more initial values than the variable has room for");
        std::uint64_t bits = 0;
        if (token_->kind == TokenKind::identifier) {
            if (element_bytes != 8) fail(start, "an address needs a 64-bit variable", Failure::unsupported);
            const bool generic = token_->is("generic") && token_[1].is("(");
            if (generic) {
                take();
                take();
            }
            Relocation relocation{offset, module_name(identifier("a symbol")), 0, start.offset};
            if (generic) expect(")");
            if (accept("+")) relocation.addend = signed_number();
            variable.relocations.push_back(relocation);
        } else {
            bits = number_as(variable.type);
        }
        variable.initial.resize(offset + element_bytes);
        std::memcpy(variable.initial.data() + offset, &bits,
                    std::min<std::size_t>(element_bytes, sizeof bits)); // little-endian, as PTX is
    }

    [[noreturn]] void expect_known_type(const Token& token) const {
        if (token.kind != TokenKind::dot_word) fail(token, "expected a type here");
        fail(token,
             quoted(token.text) + " is not a type that this emulator supports" + what_instead(token.text),
             Failure::unsupported);
    }

private:
    static constexpr std::uint64_t largest_variable = 1ull << 40; // bytes
    static constexpr std::uint64_t largest_parameter = 1ull << 20;

    std::uint64_t number_as(Type type) {
        const bool negative = accept("-");
        const Token token = take();
        const bool is_float = type == Type::f32 || type == Type::f64;
        if (token.kind == TokenKind::integer && !is_float) return negative ? -token.bits : token.bits;
        if (!is_float)
            fail(token, "only whole numbers can be initial values of this type", Failure::unsupported);
        double value = 0;
        if (token.kind == TokenKind::integer)
            value = static_cast<double>(token.bits);
        else if (token.kind == TokenKind::double_precision)
            value = std::bit_cast<double>(token.bits);
        else if (token.kind == TokenKind::single_precision)
            value = std::bit_cast<float>(static_cast<std::uint32_t>(token.bits));
        else
            fail(token, "expected a number here");
        if (token.kind == TokenKind::single_precision && type == Type::f32 && !negative)
            return token.bits; // NaNs keep their bits
        if (negative) value = -value;
        if (type == Type::f32) return std::bit_cast<std::uint32_t>(static_cast<float>(value));
        return std::bit_cast<std::uint64_t>(value);
    }
};

} // namespace emulator::ptx
