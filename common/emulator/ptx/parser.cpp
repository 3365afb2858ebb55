#include "emulator/ptx/parser.hpp"

#include "emulator/ptx/variable_parser.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace emulator::ptx {

const Function* Module::function(std::string_view name) const {
    if (const auto other = aliases.find(name); other != aliases.end()) name = other->second;
    const Function* declared = nullptr;
    for (const auto& function : functions) {
        if (function->name != name) continue;
        if (function->has_body) return function.get();
        declared = function.get();
    }
    return declared;
}

const Variable* Module::variable(std::string_view name) const {
    for (const auto& variable : variables)
        if (variable->name == name) return variable.get();
    return nullptr;
}

namespace {

/// A recursive-descent parser: one function per rule of the grammar, under that rule.
class ModuleParser : VariableParser {
public:
    /// `skips`: leaves out what the emulator does not support, and notes its names.
    ModuleParser(Source& source, bool skips) : VariableParser(source), skips_(skips) {}

    /// module = unit {unit}
    void module() {
        do {
            unit();
        } while (token_->kind != TokenKind::end);
    }

private:
    /// unit = ".version" n.n ".target" word {"," word} ".address_size" "64" {directive}
    void unit() {
        source_.unit = std::make_shared<Unit>();
        if (!module_->files.empty()) source_.unit->first_file = module_->files.rbegin()->first;
        source_.unit->start = token_->offset;
        expect(".version");
        module_->version = take().text;
        expect(".target");
        module_->target = take().text;
        while (accept(",")) module_->target.append(",").append(take().text);
        while (token_->kind != TokenKind::end && !token_->is(".version")) {
            const Token* const start = token_;
            try {
                directive();
            } catch (const Error& error) {
                const bool is_about_all = start->kind != TokenKind::dot_word || start->is(".address_size");
                if (!skips_ || is_about_all || error.failure() != Failure::unsupported) throw;
                token_ = start;
                depth_ = 0;
                skip_directive(error);
            }
        }
    }

    /// Up to its ";" or the end of its block, or up to what can only begin another one.
    void skip_directive(const Error& error) {
        int depth = 0;
        for (bool has_begun = false; token_->kind != TokenKind::end;) {
            const bool may_begin =
                is_one_of({".visible", ".extern", ".weak", ".common", ".entry", ".func", ".global", ".const",
                           ".shared", ".file", ".section", ".version"});
            if (may_begin && has_begun && depth == 0) return;
            has_begun = has_begun || !may_begin;
            const Token token = take();
            if (token.kind == TokenKind::identifier && depth == 0)
                module_->unsupported.emplace(token.text, error);
            if (token.is("{") || token.is("(") || token.is("[")) ++depth;
            if (token.is("}") || token.is(")") || token.is("]")) --depth;
            if (depth > 0 || !(token.is("}") || token.is(";") || token.kind == TokenKind::body)) continue;
            accept(";"); // behind an initial value's braces
            return;
        }
    }

    bool is_one_of(std::initializer_list<std::string_view> words) const {
        return std::any_of(words.begin(), words.end(), [&](auto word) { return token_->is(word); });
    }

    /// directive = ".address_size" n | ".file" n string | ".section" word block | pragma |
    /// ".alias" name "," name ";" | linkage (function | variable)
    void directive() {
        const Token& start = *token_;
        if (accept(".address_size")) {
            if (unsigned_number() != 64)
                fail(start, "only 64-bit addresses are supported", Failure::unsupported);
        } else if (accept(".file")) {
            const std::uint32_t number = file_number();
            if (token_->kind != TokenKind::string) fail(*token_, "expected the file's name in quotes here");
            module_->files[number] = std::string(take().text);
            while (accept(",")) unsigned_number(); // its time and size
        } else if (accept(".section")) {
            take();
            skip_block();
        } else if (accept(".alias")) {
            const std::string name(identifier("a function's name"));
            expect(",");
            module_->aliases[name] = identifier("a function's name");
            expect(";");
        } else if (!accept_pragma()) {
            bool visible = false, external = false, weak = false;
            for (;;) {
                if (accept(".visible"))
                    visible = true;
                else if (accept(".extern"))
                    external = true;
                else if (accept(".weak") || accept(".common"))
                    weak = true;
                else
                    break;
            }
            if (token_->is(".entry") || token_->is(".func"))
                parse_function(source_);
            else
                module_variable(visible, external, weak);
        }
    }

    void module_variable(bool visible, bool external, bool weak) {
        const Token& start = *token_;
        const auto space = accept_space();
        if (!space || *space == Space::reg || *space == Space::local || *space == Space::param)
            fail(start, quoted(start.text) + " is not a directive that this emulator supports",
                 Failure::unsupported);
        for (auto& variable : variables(*space)) {
            variable->external = external;
            variable->weak = weak;
            if (external && !variable->initial.empty())
                fail(start, "an external variable cannot have an initial value");
            const Variable* const other = module_->variable(variable->name);
            if (other && !visible && !external && !weak && other->place < source_.unit->start) {
                rename(*variable);
            } else if (other) {
                // Each unit has its own definition of a weak variable. The first one counts for all.
                if (external || (weak && !other->external)) continue;
                // A later definition replaces an earlier declaration.
                if (!other->external && !other->weak)
                    fail(start, "there is a variable called " + quoted(variable->name) + " already");
                std::erase_if(module_->variables,
                              [&](const auto& earlier) { return earlier->name == variable->name; });
            }
            module_->variables.push_back(std::move(variable));
        }
        expect(";");
    }

    /// Names that nvcc makes up, such as `$str` for a string, are the same in each unit, but belong to that
    /// unit.
    void rename(Variable& variable) {
        const std::string_view name = variable.name;
        variable.name =
            module_->renamed.emplace_back(std::string(name) + '@' + std::to_string(source_.unit->start));
        source_.unit->renamed[name] = variable.name;
    }

    bool skips_;
};

std::unique_ptr<Module> parse_tokens(std::string text, bool skips_bodies) {
    auto module = std::make_unique<Module>();
    while (!text.empty() && text.back() == '\0') text.pop_back(); // fat binaries pad with zeros
    module->text = std::move(text);
    Source source(*module, (skips_bodies ? tokenize_around_kernels : tokenize)(module->text), nullptr);
    ModuleParser(source, skips_bodies).module();
    return module;
}

} // namespace

std::unique_ptr<Module> parse(std::string text) { return parse_tokens(std::move(text), false); }

std::unique_ptr<Module> parse_around_kernels(std::string text) { return parse_tokens(std::move(text), true); }

} // namespace emulator::ptx
