#include "emulator/program/names.hpp"

#include "emulator/program/names.hpp"
#include "emulator/ptx/lexer.hpp"
#include "emulator/ptx/parser.hpp"

#include <algorithm>
#include <map>
#include <regex>
#include <string_view>
#include <vector>

namespace emulator {
namespace {

using ptx::Token;
using TokenIterator = std::vector<Token>::const_iterator;

/// A function's tokens, from its linkage to its last brace.
struct TokenRange {
    std::string name;
    bool is_kernel;
    TokenIterator begin, end;
    bool stays = false;
};

std::string replaced(std::string text, const std::string& from, const std::string& to) {
    for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
        text.replace(at, from.size(), to);
    return text;
}

std::vector<TokenRange> bodies_of(const ptx::Module& module, const std::vector<Token>& tokens) {
    std::vector<TokenRange> ranges;
    for (const auto& function : module.functions) {
        if (!function->has_body) continue;
        const TokenIterator name =
            std::lower_bound(tokens.begin(), tokens.end(), function->place,
                             [](const Token& token, std::uint32_t place) { return token.offset < place; });
        TokenIterator begin = name, end = name;
        while (!begin->is(".entry") && !begin->is(".func")) --begin;
        while (begin != tokens.begin() && (std::prev(begin)->is(".visible") || std::prev(begin)->is(".weak")))
            --begin;
        while (!end->is("{")) ++end;
        int depth = 0;
        do {
            depth += end->is("{") ? 1 : end->is("}") ? -1 : 0;
            ++end;
        } while (depth > 0);
        ranges.push_back({function->name, function->is_kernel, begin, end});
    }
    return ranges;
}

/// Lets the function stay, and those that it names.
void keep_function(std::string_view name, std::vector<TokenRange>& ranges);

void keep_named_in(const TokenRange& range, std::vector<TokenRange>& ranges) {
    for (TokenIterator token = range.begin; token != range.end; ++token)
        if (token->kind == ptx::TokenKind::identifier) keep_function(token->text, ranges);
}

void keep_function(std::string_view name, std::vector<TokenRange>& ranges) {
    for (TokenRange& range : ranges) {
        if (range.stays || range.is_kernel || range.name != name) continue;
        range.stays = true;
        keep_named_in(range, ranges);
    }
}

} // namespace

std::string only_namespace(const std::string& ptx, const std::string& space, const std::string& without) {
    const auto module = ptx::parse(ptx);
    const std::vector<Token> tokens = ptx::tokenize(module->text);
    std::vector<TokenRange> ranges = bodies_of(*module, tokens);

    const std::string prefix = space + "::";
    const std::regex left_out(without);
    std::map<std::string, std::string> outside; // readable name -> name
    for (TokenRange& range : ranges) {
        if (!range.is_kernel) continue;
        const std::string readable = readable_name(range.name);
        const bool is_inside = space.empty() || readable.find(prefix) != std::string::npos;
        if (!is_inside) outside[readable] = range.name;
        range.stays = is_inside && (without.empty() || !std::regex_search(readable, left_out));
    }
    for (const TokenRange& range : ranges)
        if (range.is_kernel && range.stays) keep_named_in(range, ranges);
    for (const auto& variable : module->variables)
        for (const ptx::Relocation& address : variable->relocations) keep_function(address.symbol, ranges);

    std::string result;
    std::size_t at = 0;
    for (const TokenRange& range : ranges) {
        const std::size_t begin = range.begin->offset, end = std::prev(range.end)->offset + 1;
        result.append(module->text, at, begin - at);
        at = end;
        if (!range.stays) continue;
        const std::string text = module->text.substr(begin, end - begin);
        const auto known = space.empty() || !range.is_kernel
                               ? outside.end()
                               : outside.find(replaced(readable_name(range.name), prefix, ""));
        result += known == outside.end() ? text : replaced(text, range.name, known->second);
    }
    return result.append(module->text, at);
}

} // namespace emulator
