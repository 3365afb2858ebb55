#include "emulator/machine_code/listing.hpp"

#include "emulator/machine_code/actions.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <map>
#include <string>

namespace emulator::machine_code {
namespace {

using Text = std::string_view;
using Kind = Operand::Kind;

Text trimmed(Text text) {
    const auto from = text.find_first_not_of(" \t");
    if (from == Text::npos) return {};
    return text.substr(from, text.find_last_not_of(" \t") + 1 - from);
}

/// Removes `prefix`, if it is there.
bool take(Text& text, Text prefix) {
    if (!text.starts_with(prefix)) return false;
    text.remove_prefix(prefix.size());
    return true;
}

/// The text up to `separator`, which is removed with it.
Text take_until(Text& text, Text separator) {
    const auto end = text.find(separator);
    const Text front = text.substr(0, end);
    text.remove_prefix(end == Text::npos ? text.size() : end + separator.size());
    return front;
}

std::uint64_t from_hexadecimal(Text text) {
    take(text, "0x");
    std::uint64_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value, 16);
    return value;
}

std::uint8_t number(Text digits) {
    std::uint8_t value = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return value;
}

bool is_register(Text text, Text prefix) {
    return text.starts_with(prefix) && text.size() > prefix.size() &&
           std::all_of(text.begin() + static_cast<std::ptrdiff_t>(prefix.size()), text.end(),
                       [](char c) { return c >= '0' && c <= '9'; });
}

/// `R4`, `URZ`, `UP0` and the like; false for anything else.
bool read_register(Text text, Operand& operand) {
    struct File {
        Text prefix, constant;
        Kind kind;
        std::uint8_t constant_index;
    };
    static constexpr File files[] = {{"R", "RZ", Kind::reg, zero_register},
                                     {"UR", "URZ", Kind::uniform, zero_uniform_register},
                                     {"P", "PT", Kind::predicate, true_predicate},
                                     {"UP", "UPT", Kind::uniform_predicate, true_predicate},
                                     {"B", "", Kind::barrier, 0}};
    for (const File& file : files) {
        if (text != file.constant && !is_register(text, file.prefix)) continue;
        operand.kind = file.kind;
        operand.index = text == file.constant ? file.constant_index : number(text.substr(file.prefix.size()));
        return true;
    }
    return false;
}

/// Between the brackets of an address: registers and an offset, with + between them.
void read_address(Text text, Operand& operand) {
    operand.kind = Kind::address;
    while (!text.empty()) {
        Text term = take_until(text, "+");
        Operand part;
        const bool minus = take(term, "-");
        const bool wide = term.ends_with(".64");
        const Text plain = term.substr(0, term.find('.'));
        if (term.starts_with("0x")) {
            operand.bits += minus ? 0 - from_hexadecimal(term) : from_hexadecimal(term);
        } else if (read_register(plain, part) && !minus && part.kind == Kind::reg) {
            operand.index = part.index;
            operand.wide_base |= wide;
            if (term.size() != plain.size() && !wide)
                throw NotUnderstood("the model does not know the address [" + std::string(term) + "]");
        } else if (part.kind == Kind::uniform && !minus) {
            operand.uniform = part.index;
            operand.wide_base |= wide;
        } else {
            throw NotUnderstood("the model does not know the address [" + std::string(term) + "]");
        }
    }
}

/// `c[0x0][0x210]`, `c[0x3][R4+0x10]`
void read_constant(Text text, Operand& operand) {
    operand.kind = Kind::constant;
    take(text, "c[");
    operand.index = static_cast<std::uint8_t>(from_hexadecimal(take_until(text, "][")));
    Operand address;
    read_address(text.substr(0, text.find(']')), address);
    operand.index_register = address.index;
    operand.uniform = address.uniform;
    operand.bits = address.bits;
}

void read_number(Text text, Operand& operand) {
    operand.kind = Kind::immediate;
    Text digits = text;
    const bool minus = take(digits, "-");
    if (digits.starts_with("0x"))
        operand.bits = minus ? 0 - from_hexadecimal(digits) : from_hexadecimal(digits);
    // Only the opcode tells what the bits of 1.5 are: see real_number() and its like.
}

Operand read_operand(Text text, const std::map<std::string, std::uint64_t, std::less<>>& labels) {
    Operand operand;
    operand.text = std::string(text);
    if (const auto label = text.find("`("); label != Text::npos) {
        const Text name = text.substr(label + 2, text.find(')', label) - label - 2);
        if (label > 0) read_register(trimmed(text.substr(0, label)), operand); // RET R2 `(kernel)
        const auto found = labels.find(name);
        operand.bits = found == labels.end() ? 0 : found->second;
        if (label == 0) operand.kind = Kind::label;
        return operand;
    }
    if (take(text, "!") || take(text, "~")) operand.inverted = true;
    if (text.starts_with("-") && text.size() > 1 && std::isdigit(static_cast<unsigned char>(text[1])) == 0 &&
        !text.starts_with("-INF") && !text.starts_with("-QNAN"))
        operand.negated = take(text, "-");
    if (take(text, "|")) {
        operand.absolute = true;
        text = text.substr(0, text.find('|'));
    }
    if (const auto blank = text.find(" -0x"); blank != Text::npos) { // of BRX
        operand.bits = 0 - from_hexadecimal(text.substr(blank + 2));
        text = text.substr(0, blank);
    }
    if (text.starts_with("desc[")) text.remove_prefix(text.find("][") + 1);
    if (text.starts_with("[")) {
        read_address(text.substr(1, text.find(']') - 1), operand);
        return operand;
    }
    if (text.starts_with("c[")) {
        read_constant(text, operand);
        return operand;
    }
    Text rest = text;
    const Text plain = take_until(rest, ".");
    if (read_register(plain, operand)) {
        take(rest, "reuse");
        take(rest, ".");
        operand.high_half = rest == "H1_H1";
        const bool is_part =
            rest.size() == 2 && (rest[0] == 'B' || rest[0] == 'H') && '0' <= rest[1] && rest[1] <= '3';
        if (is_part) operand.shift = static_cast<std::uint8_t>((rest[1] - '0') * (rest[0] == 'B' ? 8 : 16));
        if (!rest.empty() && !is_part && rest != "H0_H0" && rest != "H1_H1" && rest != "64")
            throw NotUnderstood("the model does not know the operand " + operand.text);
        return operand;
    }
    if (std::isdigit(static_cast<unsigned char>(text[0])) != 0 || text[0] == '-' || text[0] == '+')
        read_number(text, operand);
    return operand;
}

/// A line of the listing, as far as it concerns.
struct Line {
    Text statement;
    std::uint64_t control = 0; ///< the upper half of the encoding
    std::uint32_t of_ptx = 0;  ///< Instruction::line
};

/// The bits of the encoding that control words of this generation use.
Control control_of(std::uint64_t upper) {
    const std::uint64_t bits = upper >> 41;
    return {.stall = static_cast<std::uint8_t>(bits & 15),
            .yields = (bits >> 4 & 1) == 0,
            .write_scoreboard = static_cast<std::uint8_t>(bits >> 5 & 7),
            .read_scoreboard = static_cast<std::uint8_t>(bits >> 8 & 7),
            .waits = static_cast<std::uint8_t>(bits >> 11 & 63)};
}

Instruction read_instruction(const Line& line,
                             const std::map<std::string, std::uint64_t, std::less<>>& labels) {
    Instruction instruction;
    instruction.control = control_of(line.control);
    instruction.line = line.of_ptx;
    Text rest = line.statement;
    if (take(rest, "@")) {
        instruction.guarded = true;
        instruction.guard = read_operand(take_until(rest, " "), labels);
        rest = trimmed(rest);
    }
    instruction.text = std::string(rest);
    Text opcode = take_until(rest, " ");
    instruction.base = std::string(take_until(opcode, "."));
    while (!opcode.empty()) instruction.modifiers.emplace_back(take_until(opcode, "."));
    if (instruction.base == "BRX")
        rest = rest.substr(0, rest.find("(*")); // BRX R6 -0x190 (*"BRANCH_TARGETS …"*)
    while (!rest.empty())
        if (const Text operand = trimmed(take_until(rest, ",")); !operand.empty())
            instruction.operands.push_back(read_operand(operand, labels));
    if (instruction.has("E")) // ATOMG.E.CAS R4, [R6+0x18], R2, R3
        for (Operand& operand : instruction.operands) operand.wide_base |= operand.kind == Kind::address;
    decode(instruction);
    return instruction;
}

/// The registers in ptxas' "Used 16 registers" below "Compiling entry function 'name'".
std::uint32_t registers_of(Text listing, Text name) {
    const auto entry = listing.find("'" + std::string(name) + "'");
    const auto used = entry == Text::npos ? entry : listing.find("Used ", entry);
    return used == Text::npos ? 0 : static_cast<std::uint32_t>(std::atoi(listing.data() + used + 5));
}

/// The lines of a section; empty: there is none.
Text section_of(Text listing, const std::string& name) {
    const std::string head = "\n" + name + ":\n";
    const auto begin = listing.find(head);
    if (begin == Text::npos) return {};
    listing.remove_prefix(begin + head.size());
    return listing.substr(0, listing.find("\n//-----"));
}

/// Lines such as `.byte 0x2a, 0x00`, `.zero 64`, `.dword counter` and, in front of a variable's bytes, `k:`.
class DataSection {
public:
    explicit DataSection(Text lines) {
        while (!lines.empty()) {
            Text line = trimmed(take_until(lines, "\n"));
            if (take(line, "/*")) take_until(line, "*/");
            line = trimmed(line);
            if (line.ends_with(":") && !line.starts_with("."))
                labels[bytes.size()] = std::string(line.substr(0, line.size() - 1));
            else
                read(line);
        }
    }

    std::vector<std::uint8_t> bytes;
    std::map<std::uint64_t, std::string> labels, symbols; ///< by offset

private:
    void read(Text line) {
        static constexpr std::pair<Text, std::size_t> sizes[] = {
            {".byte", 1}, {".short", 2}, {".word", 4}, {".dword", 8}};
        if (take(line, ".zero"))
            bytes.resize(bytes.size() + std::strtoull(std::string(line).c_str(), nullptr, 0));
        for (const auto& [directive, size] : sizes) {
            if (!take(line, directive)) continue;
            while (!line.empty()) add(trimmed(take_until(line, ",")), size);
        }
    }

    void add(Text value, std::size_t size) {
        if (!value.starts_with("0x")) symbols[bytes.size()] = std::string(value);
        const std::uint64_t number = value.starts_with("0x") ? from_hexadecimal(value) : 0;
        for (std::size_t k = 0; k < size; ++k) bytes.push_back(static_cast<std::uint8_t>(number >> 8 * k));
    }
};

Constants constants_of(Text listing, Text kernel) {
    return {.literals = DataSection(section_of(listing, ".nv.constant2." + std::string(kernel))).bytes,
            .variables = DataSection(section_of(listing, ".nv.constant3")).labels,
            .addresses = DataSection(section_of(listing, ".nv.constant4")).symbols};
}

} // namespace

Code read_listing(Text listing, Text name) {
    Code code{.instructions = {}, .registers = registers_of(listing, name)};
    std::map<std::string, std::uint64_t, std::less<>> labels;
    std::vector<Line> lines;
    Text section = section_of(listing, ".text." + std::string(name));
    if (section.empty()) throw NotUnderstood("nvdisasm lists no machine code of " + std::string(name));
    std::uint32_t of_ptx = 0;
    while (!section.empty()) {
        Text line = trimmed(take_until(section, "\n"));
        if (line.ends_with(":")) {
            labels.emplace(line.substr(0, line.size() - 1), lines.size());
            if (!line.starts_with(".L")) of_ptx = 0; // a function begins: ptxas' own ones have no lines
        } else if (take(line, "//## File ")) {       // ".nv_debug_ptx_txt", line 12
            of_ptx = static_cast<std::uint32_t>(std::atoi(line.data() + line.find(", line ") + 7));
        } else if (take(line, "/* ")) {
            if (!lines.empty()) lines.back().control = from_hexadecimal(line.substr(0, line.find(' ')));
        } else if (take(line, "/*")) {
            take_until(line, "*/");
            Text statement = trimmed(line.substr(0, line.find("/*")));
            if (statement.ends_with(";")) statement.remove_suffix(1);
            lines.push_back({.statement = trimmed(statement), .of_ptx = of_ptx});
        }
    }
    code.constants = constants_of(listing, name);
    for (const Line& line : lines) code.instructions.push_back(read_instruction(line, labels));
    return code;
}

} // namespace emulator::machine_code
