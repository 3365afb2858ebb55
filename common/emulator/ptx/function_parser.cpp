#include "emulator/ptx/function_parser.hpp"

#include "emulator/ptx/variable_parser.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace emulator::ptx {

namespace {

constexpr std::uint64_t max_registers = 1u << 20;      // per function; no compiler emits more
constexpr std::uint64_t max_kernel_parameters = 32764; // bytes

/// What a `{ … }` block declares. Inner blocks see the names of outer ones.
struct Scope {
    const Scope* outer = nullptr;
    std::unordered_map<std::string_view, std::uint32_t> registers; ///< index in Function::registers
    std::unordered_map<std::string_view, const Variable*> variables;
    std::unordered_map<std::string_view, std::uint32_t> labels; ///< index of the statement that follows
};

class FunctionParser : VariableParser {
public:
    explicit FunctionParser(Source& source) : VariableParser(source) {}

    /// function = (".entry" | ".func" [parameters]) name [parameters] {attribute} (";" | body)
    void function() {
        module_->functions.push_back(std::make_unique<Function>());
        function_ = module_->functions.back().get();
        function_->is_kernel = take().is(".entry");
        Scope scope;
        scope_ = &scope;
        if (token_->is("(")) function_->results = parameters();
        function_->place = token_->offset;
        const Token& name = *token_;
        function_->name = identifier("the function's name");
        const Token& list = *token_;
        if (list.is("(")) function_->parameters = parameters();
        std::uint64_t bytes = 0;
        for (const Variable* const parameter : function_->parameters) bytes += parameter->bytes;
        if (function_->is_kernel && bytes > max_kernel_parameters)
            fail(list,
                 "a kernel has at most " + std::to_string(max_kernel_parameters) + " bytes of parameters");
        attributes();
        if (!accept(";")) {
            expect_first_body(name);
            function_->has_body = true;
            body();
        }
    }

private:
    /// Other units may have a body of this name too, such as a template's.
    void expect_first_body(const Token& name) const {
        for (const auto& other : module_->functions)
            if (other->has_body && other->name == function_->name && other->place >= source_.unit_start)
                fail(name, "there is a function called " + ptx::quoted(function_->name) + " already");
    }

    /// parameters = "(" [".param" variable {"," ".param" variable}] ")"
    std::vector<const Variable*> parameters() {
        std::vector<const Variable*> result;
        expect("(");
        while (!accept(")")) {
            const Token& start = *token_;
            const auto space = accept_space();
            if (start.kind != TokenKind::dot_word) fail(start, "expected a parameter here");
            if (space != Space::param)
                fail(start, "only .param parameters are supported", Failure::unsupported);
            for (auto& variable : parameter()) result.push_back(declare(std::move(variable)));
            accept(",");
        }
        return result;
    }

    std::vector<std::unique_ptr<Variable>> parameter() {
        // A comma may end this parameter or separate it from the next `.param`: take one declarator only.
        std::uint32_t alignment = 0;
        if (accept(".align")) alignment = alignment_number();
        const Token& start = *token_;
        const auto type = accept_type();
        if (!type) fail(start, "expected a type here");
        if (accept(".ptr")) {
            accept_space();
            if (accept(".align")) alignment_number();
        }
        std::vector<std::unique_ptr<Variable>> result;
        result.push_back(declarator(Space::param, *type, 1, alignment));
        return result;
    }

    const Variable* declare(std::unique_ptr<Variable> variable) {
        scope_->variables[variable->name] = variable.get();
        function_->variables.push_back(std::move(variable));
        return function_->variables.back().get();
    }

    void attributes() {
        for (;;) {
            if (accept(".maxntid") || accept(".reqntid")) {
                std::uint64_t threads = positive_number();
                while (accept(",")) threads *= std::min(positive_number(), 65536u);
                function_->max_threads =
                    static_cast<std::uint32_t>(std::min<std::uint64_t>(threads, UINT32_MAX));
            } else if (accept(".explicitcluster")) {
                function_->needs_cluster = true;
            } else if (accept(".reqnctapercluster")) {
                auto& cluster = function_->cluster.emplace(std::array<std::uint32_t, 3>{1, 1, 1});
                for (std::uint32_t& extent : cluster) {
                    extent = small_number();
                    if (!accept(",")) break;
                }
            } else if (accept(".maxclusterrank")) {
                function_->max_cluster = small_number();
            } else if (accept(".minnctapersm") || accept(".maxnctapersm") || accept(".maxnreg")) {
                small_number(); // tuning: no effect on results
            } else if (accept(".pragma")) {
                do {
                    take();
                } while (accept(","));
                expect(";");
            } else if (!accept(".noreturn")) {
                if (token_->kind == TokenKind::dot_word)
                    fail(*token_, quoted(token_->text) + " is not supported", Failure::unsupported);
                return;
            }
        }
    }

    // ---- bodies ----

    void body() {
        block(*scope_);
        for (std::size_t i = 0; i < function_->statements.size(); ++i)
            for (Operand& operand : function_->statements[i].operands)
                resolve_label(operand, *statement_scopes_[i]);
        for (const auto& [name, scope] : target_list_scopes_)
            for (Operand& target : function_->branch_targets.find(name)->second)
                resolve_label(target, *scope);
    }

    /// block = "{" {block | label ":" | directive | statement} "}"
    void block(const Scope& outer) {
        const Token& open = *token_;
        expect("{");
        if (scopes_.size() > 100'000) fail(open, "too many blocks");
        if (++depth_ > 100) fail(open, "blocks nested too deeply");
        scopes_.push_back(std::make_unique<Scope>());
        Scope* const outer_scope = scope_;
        scope_ = scopes_.back().get();
        scope_->outer = &outer;
        while (!accept("}")) {
            if (token_->kind == TokenKind::end) fail(open, "this block has no end");
            if (token_->is("{"))
                block(*scope_);
            else if (token_->kind == TokenKind::identifier && token_[1].is(":"))
                label();
            else if (token_->kind == TokenKind::dot_word)
                body_directive();
            else
                statement();
        }
        scope_ = outer_scope;
        --depth_;
    }

    void label() {
        const Token name = take();
        expect(":");
        if (accept(".branchtargets")) {
            const auto [list, fresh] = function_->branch_targets.try_emplace(std::string(name.text));
            if (!fresh)
                fail(name, "two lists of branch targets with one name are not supported",
                     Failure::unsupported);
            target_list_scopes_.emplace_back(name.text, scope_);
            do {
                list->second.push_back(operand());
            } while (accept(","));
            expect(";");
            return;
        }
        if (accept(".callprototype") || accept(".calltargets")) { // the call itself contains the same
            while (!accept(";"))
                if (take().kind == TokenKind::end) fail(name, "this prototype has no end");
            return;
        }
        const auto place = static_cast<std::uint32_t>(function_->statements.size());
        if (!scope_->labels.emplace(name.text, place).second)
            fail(name, "this label is defined twice in one block");
    }

    void body_directive() {
        const Token& start = *token_;
        if (accept(".loc")) return location();
        if (accept(".pragma")) {
            do {
                take();
            } while (accept(","));
            expect(";");
            return;
        }
        const auto space = accept_space();
        if (!space || *space == Space::global || *space == Space::constant)
            fail(start, quoted(start.text) + " is not supported here", Failure::unsupported);
        if (*space == Space::reg) {
            registers();
        } else {
            for (auto& variable : variables(*space)) declare(std::move(variable));
        }
        expect(";");
    }

    /// registers = type name ["<" n ">"] {"," name ["<" n ">"]}
    void registers() {
        const Token& start = *token_;
        const auto type = accept_type();
        if (!type) fail(start, "this register type is not supported", Failure::unsupported);
        do {
            const Token name = *token_;
            identifier("a register's name");
            if (!accept("<")) {
                add_register(name, std::string(name.text), *type);
                continue;
            }
            const std::uint64_t count = unsigned_number();
            if (count > max_registers) fail(name, "too many registers");
            for (std::uint64_t i = 0; i < count; ++i)
                add_register(name, std::string(name.text) + std::to_string(i), *type);
            expect(">");
        } while (accept(","));
    }

    void add_register(const Token& token, std::string name, Type type) {
        if (function_->registers.size() >= max_registers) fail(token, "too many registers");
        register_names_.push_back(std::make_unique<std::string>(name));
        scope_->registers[*register_names_.back()] = static_cast<std::uint32_t>(function_->registers.size());
        function_->registers.push_back({std::move(name), type});
    }

    /// location = file line column ["," "function_name" symbol ["+" n] "," "inlined_at" file line column]
    void location() {
        auto here = std::make_unique<Location>();
        here->file = file_number();
        here->line = small_number();
        here->column = small_number();
        while (accept(",")) {
            if (accept("function_name")) {
                take();
                if (accept("+")) take();
            } else {
                expect("inlined_at");
                Location caller;
                caller.file = file_number();
                caller.line = small_number();
                caller.column = small_number();
                here->inlined_at = find_location(caller);
            }
        }
        function_->locations.push_back(std::move(here));
    }

    /// The latest `.loc` of this location, which records where that one was inlined.
    const Location* find_location(const Location& wanted) {
        for (auto location = function_->locations.rbegin(); location != function_->locations.rend();
             ++location)
            if ((*location)->file == wanted.file && (*location)->line == wanted.line &&
                (*location)->column == wanted.column)
                return location->get();
        function_->locations.push_back(std::make_unique<Location>(wanted));
        return function_->locations.back().get();
    }

    // ---- statements ----

    /// statement = ["@" ["!"] predicate] opcode {modifier} [operand {"," operand}] ";"
    void statement() {
        Statement statement;
        if (accept("@")) {
            statement.guarded = true;
            statement.guard_negated = accept("!");
            statement.guard = predicate_register();
        }
        statement.place = token_->offset;
        statement.opcode = identifier("an instruction");
        while (token_->kind == TokenKind::dot_word) {
            const Token modifier = take();
            statement.modifiers.push_back({modifier.text, modifier.offset});
        }
        if (!token_->is(";")) do {
                statement.operands.push_back(operand());
            } while (accept(","));
        expect(";");
        statement.location = function_->locations.empty() ? nullptr : function_->locations.back().get();
        function_->statements.push_back(std::move(statement));
        statement_scopes_.push_back(scope_);
    }

    std::uint32_t predicate_register() {
        const Token& token = *token_;
        const auto found = find_register(identifier("a predicate register"));
        if (!found || function_->registers[*found].type != Type::pred)
            fail(token, "this is not a predicate register");
        return *found;
    }

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

    /// primary = "!" predicate | "_" | "[" (name | number) ["+" n] "]" | "{" list "}" | "(" list ")" | number
    /// | name ["+" n]
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
            Operand& base = result.elements.emplace_back();
            base.place = token_->offset;
            if (token_->kind == TokenKind::identifier)
                named(base);
            else
                number(base);
            result.offset = optional_offset();
            if (token_->is(","))
                fail(*token_, "addresses of several parts (tensors) are not supported", Failure::unsupported);
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

    std::int64_t optional_offset() {
        if (accept("+")) return signed_number();
        if (token_->is("-")) return signed_number();
        return 0;
    }

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
        if (const auto found = find_register(token.text)) {
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
            result.variable = find_variable(token.text);
            if (!result.variable) result.name = module_name(token.text);
            if (token_->is("+") && token_[1].kind == TokenKind::integer) result.offset = optional_offset();
        }
    }

    std::optional<std::uint32_t> find_register(std::string_view name) const {
        for (const Scope* scope = scope_; scope; scope = scope->outer)
            if (const auto found = scope->registers.find(name); found != scope->registers.end())
                return found->second;
        return std::nullopt;
    }

    const Variable* find_variable(std::string_view name) const {
        for (const Scope* scope = scope_; scope; scope = scope->outer)
            if (const auto found = scope->variables.find(name); found != scope->variables.end())
                return found->second;
        return nullptr;
    }

    static void resolve_label(Operand& operand, const Scope& innermost) {
        for (Operand& element : operand.elements) resolve_label(element, innermost);
        if (operand.kind != Operand::Kind::symbol || operand.variable || operand.offset != 0) return;
        for (const Scope* scope = &innermost; scope; scope = scope->outer) {
            const auto found = scope->labels.find(operand.name);
            if (found == scope->labels.end()) continue;
            operand.kind = Operand::Kind::label;
            operand.index = found->second;
            return;
        }
    }

    Function* function_ = nullptr;
    Scope* scope_ = nullptr;
    std::vector<std::unique_ptr<Scope>> scopes_;
    std::vector<const Scope*> statement_scopes_; ///< one for each statement
    std::vector<std::pair<std::string_view, const Scope*>>
        target_list_scopes_;                                   ///< one for each `.branchtargets`
    std::vector<std::unique_ptr<std::string>> register_names_; ///< what the scopes' keys refer to
};

} // namespace

void parse_function(Source& source) { FunctionParser(source).function(); }

} // namespace emulator::ptx
