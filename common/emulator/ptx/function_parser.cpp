#include "emulator/ptx/operand_parser.hpp"
#include "emulator/ptx/parser.hpp"
#include "emulator/ptx/scope.hpp"
#include "emulator/ptx/variable_parser.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace emulator::ptx {

namespace {

constexpr std::uint64_t max_registers = 1u << 20;      // per function; no compiler emits more
constexpr std::uint64_t max_kernel_parameters = 32764; // bytes

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
            if (token_->kind != TokenKind::body) return body();
            function_->unread = take().text;
            function_->unit = source_.unit;
        }
    }

    /// Of a function without one. It may have failed before.
    void body_of(Function& function) {
        function_ = &function;
        function.variables.resize(function.results.size() + function.parameters.size());
        function.registers.clear();
        function.statements.clear();
        function.branch_targets.clear();
        function.locations.clear();
        Scope scope;
        scope_ = &scope;
        for (const auto& parameter : function.variables) scope.variables[parameter->name] = parameter.get();
        body();
    }

private:
    /// Other units may have a body of this name too, such as a template's.
    void expect_first_body(const Token& name) const {
        for (const auto& other : module_->functions)
            if (other->has_body && other->name == function_->name && other->place >= source_.unit->start)
                fail(name, "there is a function called " + ptx::quoted(function_->name) + " already");
    }

    /// parameters = "(" [".param" parameter {"," ".param" parameter}] ")"
    std::vector<const Variable*> parameters() {
        std::vector<const Variable*> result;
        expect("(");
        while (!accept(")")) {
            const Token& start = *token_;
            const auto space = accept_space();
            if (start.kind != TokenKind::dot_word) fail(start, "expected a parameter here");
            if (space != Space::param)
                fail(start, "only .param parameters are supported", Failure::unsupported);
            result.push_back(declare(parameter()));
            accept(",");
        }
        return result;
    }

    /// parameter = [".align" n] type [".ptr" [space] [".align" n]] declarator
    std::unique_ptr<Variable> parameter() {
        std::uint32_t alignment = 0;
        if (accept(".align")) alignment = alignment_number();
        const Token& start = *token_;
        const auto type = accept_type();
        if (!type) fail(start, "expected a type here");
        if (accept(".ptr")) {
            accept_space();
            if (accept(".align")) alignment_number();
        }
        return declarator(Space::param, *type, 1, alignment);
    }

    const Variable* declare(std::unique_ptr<Variable> variable) {
        scope_->variables[variable->name] = variable.get();
        function_->variables.push_back(std::move(variable));
        return function_->variables.back().get();
    }

    /// attribute = (".maxntid" | ".reqntid" | ".reqnctapercluster") n {"," n} | ".explicitcluster" |
    /// (".maxclusterrank" | ".minnctapersm" | ".maxnctapersm" | ".maxnreg") n | pragma | ".noreturn"
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
            } else if (!accept_pragma() && !accept(".noreturn")) {
                if (token_->kind == TokenKind::dot_word)
                    fail(*token_, quoted(token_->text) + " is not supported", Failure::unsupported);
                return;
            }
        }
    }

    // ---- bodies ----

    /// body = block. Labels may be defined after their use.
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
                directive();
            else
                statement();
        }
        scope_ = outer_scope;
        --depth_;
    }

    /// label = name ":" [branch_targets | (".callprototype" | ".calltargets") … ";"]
    void label() {
        const Token name = take();
        expect(":");
        if (accept(".branchtargets")) return branch_targets(name);
        if (accept(".callprototype") || accept(".calltargets")) { // the call itself contains the same
            while (!accept(";"))
                if (take().kind == TokenKind::end) fail(name, "this prototype has no end");
            return;
        }
        const auto place = static_cast<std::uint32_t>(function_->statements.size());
        if (!scope_->labels.emplace(name.text, place).second)
            fail(name, "this label is defined twice in one block");
    }

    /// branch_targets = ".branchtargets" operand {"," operand} ";"
    void branch_targets(const Token& name) {
        const auto [list, fresh] = function_->branch_targets.try_emplace(std::string(name.text));
        if (!fresh)
            fail(name, "two lists of branch targets with one name are not supported", Failure::unsupported);
        target_list_scopes_.emplace_back(name.text, scope_);
        do {
            list->second.push_back(operands().operand());
        } while (accept(","));
        expect(";");
    }

    /// directive = location | pragma | ".reg" registers ";" | (".local" | ".param" | ".shared") variables ";"
    void directive() {
        const Token& start = *token_;
        if (accept(".loc")) return location();
        if (accept_pragma()) return;
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

    /// location = ".loc" file line column ["," "function_name" symbol ["+" n] "," "inlined_at" file line
    /// column]
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
            statement.guard = operands().predicate_register();
        }
        statement.place = token_->offset;
        statement.opcode = identifier("an instruction");
        while (token_->kind == TokenKind::dot_word) {
            const Token modifier = take();
            statement.modifiers.push_back({modifier.text, modifier.offset});
        }
        if (!token_->is(";")) do {
                statement.operands.push_back(operands().operand());
            } while (accept(","));
        expect(";");
        statement.location = function_->locations.empty() ? nullptr : function_->locations.back().get();
        function_->statements.push_back(std::move(statement));
        statement_scopes_.push_back(scope_);
    }

    OperandParser operands() { return {source_, *function_, *scope_}; }

    static void resolve_label(Operand& operand, const Scope& innermost) {
        for (Operand& element : operand.elements) resolve_label(element, innermost);
        if (operand.kind != Operand::Kind::symbol || operand.variable || operand.offset != 0) return;
        const auto label = innermost.find_label(operand.name);
        if (!label) return;
        operand.kind = Operand::Kind::label;
        operand.index = *label;
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

void read_body(Module& module, Function& kernel) {
    if (kernel.unread.empty()) return;
    Source source(module, tokenize_body(module.text, kernel.unread), kernel.unit);
    FunctionParser(source).body_of(kernel);
    kernel.unread = {};
}

} // namespace emulator::ptx
