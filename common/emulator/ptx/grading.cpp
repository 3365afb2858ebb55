#include "emulator/ptx/grading.hpp"

#include "emulator/error.hpp"
#include "emulator/ptx/lexer.hpp"
#include "emulator/ptx/parser.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <random>

namespace emulator::ptx {
namespace {

bool has(const Statement& statement, std::string_view modifier) {
    return std::any_of(statement.modifiers.begin(), statement.modifiers.end(),
                       [&](const Modifier& one) { return one.text == modifier; });
}

bool accesses_memory(const Statement& statement) {
    constexpr std::string_view opcodes[] = {"ld", "st", "atom", "red"};
    return std::find(std::begin(opcodes), std::end(opcodes), statement.opcode) != std::end(opcodes);
}

/// Empty: it is counted, or moves no data.
std::string_view uncounted_kind(const Statement& statement, const std::string& text) {
    if (text.starts_with("cp.reduce.async.bulk")) return "bulk reductions";
    if (text.starts_with("cp.async.bulk.global")) return "bulk stores";
    if (text.starts_with("cp.async.bulk.shared") && !has(statement, ".global"))
        return "copies of shared memory";
    if (text.starts_with("cp.async.bulk")) return "bulk copies";
    if (statement.opcode == "mapa" ||
        (accesses_memory(statement) && (has(statement, ".async") || has(statement, ".shared::cluster"))))
        return "distributed shared memory";
    if (statement.opcode == "ld" && has(statement, ".local")) return "local memory";
    if (statement.opcode == "ld" && has(statement, ".const")) return "constant memory";
    return {};
}

/// `st{.weak|.volatile|.relaxed.scope}.(shared|global){::cta}.(u32|s32|b32)`
bool is_plain_store(const Statement& statement) {
    if (statement.opcode != "st" || statement.operands.size() != 2 ||
        statement.operands[0].kind != Operand::Kind::address)
        return false;
    const std::vector<Modifier>& modifiers = statement.modifiers;
    const auto is_one_of = [&](std::size_t from_the_end, std::initializer_list<std::string_view> words) {
        return modifiers.size() >= from_the_end &&
               std::find(words.begin(), words.end(), modifiers[modifiers.size() - from_the_end].text) !=
                   words.end();
    };
    const bool stores_an_int =
        is_one_of(1, {".u32", ".s32", ".b32"}) && is_one_of(2, {".shared", ".global", ".shared::cta"});
    return stores_an_int &&
           (modifiers.size() == 2 || (modifiers.size() == 3 && is_one_of(3, {".weak", ".volatile"})) ||
            (modifiers.size() == 4 && is_one_of(4, {".relaxed"})));
}

constexpr std::uint32_t lowest = 1023; // bits of a thread's number: a block has at most 1,024

/// The instructions that make a number's tag. Its lowest ten bits are 0, to leave room for the number.
class Tag {
public:
    explicit Tag(std::uint64_t seed) {
        std::mt19937_64 numbers(seed);
        for (std::int32_t& part : parts_) part = static_cast<std::int32_t>(numbers() | 1);
    }

    std::string of(const std::string& number, const std::string& to) const {
        const auto step = [&](const char* opcode, const std::string& from, std::int32_t value) {
            return std::string(opcode) + " " + to + ", " + from + ", " + std::to_string(value) + "; ";
        };
        return step("mul.lo.s32", number, parts_[0]) + step("xor.b32", to, parts_[1]) +
               step("mul.lo.s32", to, parts_[2]) + step("and.b32", to, static_cast<std::int32_t>(~lowest));
    }

private:
    std::array<std::int32_t, 3> parts_{};
};

/// Instructions in place of a store, whose parts are text.
std::string followed(bool is_shared, const std::string& guarded_store, const std::string& address,
                     const std::string& value, const Tag& tag) {
    const std::string seen = "mov.b32 %seen2, " + value + "; ";
    const std::string change =
        is_shared ? "mov.u32 %seen0, %tid.x; mov.u32 %seen1, %tid.y; mov.u32 %seen3, %ntid.x; "
                    "mad.lo.s32 %seen0, %seen1, %seen3, %seen0; " +
                        tag.of("%seen0", "%seen1") + "add.s32 %seen2, %seen2, %seen1; "
                  : "and.b32 %seen0, %seen2, " + std::to_string(lowest) + "; " + tag.of("%seen0", "%seen1") +
                        "add.s32 %seen1, %seen1, %seen0; setp.eq.s32 %seen4, %seen1, %seen2; "
                        "selp.b32 %seen2, %seen0, -1, %seen4; ";
    return "{ .reg .b32 %seen<4>; .reg .pred %seen4; " + seen + change + guarded_store + " " + address +
           ", %seen2; }";
}

} // namespace

std::string instruction_text(const Statement& statement) {
    std::string text(statement.opcode);
    for (const Modifier& modifier : statement.modifiers) text += modifier.text;
    return text;
}

std::vector<std::pair<std::string_view, std::string>> uncounted_traffic(const Module& module,
                                                                        std::string_view kernel) {
    std::vector<std::pair<std::string_view, std::string>> found;
    for (const auto& function : module.functions) {
        if (function->is_kernel && function->name != kernel) continue;
        if (function->cluster ||
            function->needs_cluster) // its blocks reach each other's memory without mapa, too
            found.emplace_back("distributed shared memory", "clusters by __cluster_dims__");
        for (const Statement& statement : function->statements) {
            const std::string text = instruction_text(statement);
            const std::string_view kind = uncounted_kind(statement, text);
            const bool is_known = std::any_of(found.begin(), found.end(),
                                              [&](const auto& known) { return known.first == kind; });
            if (!kind.empty() && !is_known) found.emplace_back(kind, text);
        }
    }
    return found;
}

std::string with_tagged_numbers(const std::string& text, std::uint64_t seed) {
    const std::unique_ptr<Module> module = parse(text);
    const std::vector<Token> tokens = tokenize(module->text);
    const Tag tag(seed);
    std::map<std::uint32_t, std::pair<std::uint32_t, std::string>> changes; // from -> to, instead
    for (const auto& function : module->functions) {
        for (const Statement& statement : function->statements) {
            constexpr std::string_view writing[] = {"st", "atom", "red", "cp"};
            if (std::find(std::begin(writing), std::end(writing), statement.opcode) == std::end(writing) ||
                has(statement, ".local") || has(statement, ".param"))
                continue;
            const std::string instruction = instruction_text(statement);
            if (!is_plain_store(statement))
                throw Error(Failure::unsupported,
                            "cannot follow " + instruction + ": it is no plain store of an int");

            const auto opcode = std::lower_bound(
                tokens.begin(), tokens.end(), statement.place,
                [](const Token& token, std::uint32_t place) { return token.offset < place; });
            auto begin = opcode;
            while (statement.guarded && !begin->is("@")) --begin;
            const auto address = std::find_if(opcode, tokens.end(), [](const Token& t) { return t.is("["); });
            const auto comma = std::find_if(address, tokens.end(), [](const Token& t) { return t.is(","); });
            const auto end = std::find_if(comma, tokens.end(), [](const Token& t) { return t.is(";"); });
            const auto words = [&](auto from, auto to) {
                std::string joined;
                for (; from != to; ++from) joined += from->text;
                return joined;
            };
            std::string guard = words(begin, opcode);
            if (!guard.empty()) guard += ' ';
            changes[begin->offset] = {end->offset + 1,
                                      followed(!has(statement, ".global"), guard + instruction,
                                               words(address, comma), words(comma + 1, end), tag)};
        }
    }
    std::string result;
    std::uint32_t at = 0;
    for (const auto& [from, change] : changes) {
        result.append(module->text, at, from - at).append(change.second);
        at = change.first;
    }
    return result.append(module->text, at);
}

} // namespace emulator::ptx
