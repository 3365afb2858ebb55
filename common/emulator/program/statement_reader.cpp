#include "emulator/program/statement_reader.hpp"

#include "emulator/program/decoder.hpp"
#include "emulator/program/names.hpp"
#include "emulator/program/source_location.hpp"
#include "emulator/ptx/diagnostic.hpp"

#include <algorithm>

namespace emulator {

using ptx::error_at, ptx::quoted, ptx::Operand, ptx::Space, ptx::Type;

bool StatementReader::take(std::string_view modifier) { return !take_any({modifier}).empty(); }

std::string_view StatementReader::take_any(std::initializer_list<std::string_view> modifiers) {
    for (std::size_t i = 0; i < taken_.size(); ++i) {
        const std::string_view text = statement_.modifiers[i].text;
        if (taken_[i] || std::find(modifiers.begin(), modifiers.end(), text) == modifiers.end()) continue;
        taken_[i] = true;
        return text;
    }
    return {};
}

std::optional<Type> StatementReader::take_optional_type() {
    for (std::size_t i = 0; i < taken_.size(); ++i) {
        if (taken_[i]) continue;
        const auto type = ptx::type_from(statement_.modifiers[i].text);
        if (!type) continue;
        taken_[i] = true;
        return type;
    }
    return std::nullopt;
}

Type StatementReader::take_type() {
    const auto type = take_optional_type();
    if (type) return *type;
    check_all_taken(); // an apparently missing type may be an unknown one
    invalid(statement_.place, "this instruction needs a type");
}

Space StatementReader::take_space() {
    const std::string_view text = take_any({".global", ".shared", ".shared::cta", ".shared::cluster",
                                            ".local", ".const", ".param", ".param::entry", ".param::func"});
    if (text == ".global") return Space::global;
    if (text == ".shared::cluster") return Space::shared_cluster;
    if (text.starts_with(".shared")) return Space::shared;
    if (text == ".local") return Space::local;
    if (text == ".const") return Space::constant;
    if (text.starts_with(".param")) return Space::param;
    return Space::generic;
}

Ordering StatementReader::take_ordering(std::initializer_list<std::string_view> modifiers) {
    const std::string_view text = take_any(modifiers);
    if (text == ".volatile") return Ordering::as_volatile;
    if (text == ".relaxed") return Ordering::relaxed;
    if (text == ".acquire") return Ordering::acquire;
    if (text == ".release") return Ordering::release;
    if (text == ".acq_rel") return Ordering::acquire_release;
    return Ordering::weak;
}

Scope StatementReader::take_scope(Scope by_default) {
    const std::string_view text = take_any({".cta", ".cluster", ".gpu", ".sys"});
    if (text == ".cta") return Scope::block;
    if (text == ".cluster") return Scope::cluster;
    if (text == ".gpu") return Scope::gpu;
    return text == ".sys" ? Scope::system : by_default;
}

void StatementReader::expect_operands(std::size_t least, std::size_t most) {
    const std::size_t count = operand_count();
    if (count >= least && count <= most) return;
    check_all_taken(); // an unknown modifier may come with operands
    const std::string wanted =
        least == most ? std::to_string(least) : std::to_string(least) + " to " + std::to_string(most);
    invalid(statement_.place,
            quoted(statement_.opcode) + " takes " + wanted + " operands here, not " + std::to_string(count));
}

bool StatementReader::is_constant(const Operand& operand) const {
    return operand.kind == Operand::Kind::integer;
}

std::uint64_t StatementReader::constant(const Operand& operand) const {
    if (!is_constant(operand)) unsupported(operand.place, "only a constant is supported here");
    return operand.bits;
}

void StatementReader::unsupported(std::uint32_t place, const std::string& what,
                                  const std::string& instead) const {
    const Error error = error_at(Failure::unsupported, linkage_.module->text, place,
                                 what + ", in " + readable_name(function_.name) + source_line());
    throw Error(Failure::unsupported, error.what() + instead);
}

std::string StatementReader::source_line() const {
    const ptx::Location* location = statement_.location;
    while (location && location->inlined_at) location = location->inlined_at;
    const auto& files = linkage_.module->files;
    const auto file = location ? files.find(location->file) : files.end();
    return file == files.end() ? "" : ", " + short_path(file->second) + ':' + std::to_string(location->line);
}

void StatementReader::expect_supported(const Operand& symbol) const {
    const auto found = linkage_.module->unsupported.find(symbol.name);
    if (found == linkage_.module->unsupported.end()) return;
    const std::string why = found->second.what();
    unsupported(symbol.place, quoted(symbol.name) + ": " + why.substr(0, why.find('\n')));
}

void StatementReader::invalid(std::uint32_t place, const std::string& what) const {
    throw error_at(Failure::invalid_ptx, linkage_.module->text, place,
                   what + ", in " + readable_name(function_.name));
}

void StatementReader::no_such_type(Type) const {
    unsupported(statement_.place, quoted(statement_.opcode) + " is not supported for this type");
}

void StatementReader::check_all_taken() const {
    for (std::size_t i = 0; i < taken_.size(); ++i)
        if (!taken_[i])
            unsupported(statement_.modifiers[i].place, quoted(statement_.opcode) + " with " +
                                                           quoted(statement_.modifiers[i].text) +
                                                           " is not supported");
}

} // namespace emulator
