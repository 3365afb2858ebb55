/// PTX that is cheap to load: a fuzzer soon asks for gigabytes, which is right and only costs time.
#pragma once

#include "emulator/ptx/lexer.hpp"
#include "emulator/ptx/parser.hpp"

#include <cstdint>
#include <string>

namespace emulator::fuzz {

/// Whether no `%r<n>` of the text asks for many registers: one kernel may have a million.
/// \throws Error invalid_ptx
inline bool has_few_registers(const std::string& text) {
    std::uint64_t registers = 0;
    const auto tokens = ptx::tokenize(text);
    for (std::size_t i = 1; i < tokens.size(); ++i)
        if (tokens[i - 1].is("<")) {
            if (tokens[i].bits > 512) return false;
            registers += tokens[i].bits;
        }
    return registers <= 2048;
}

/// Whether the variables of the text take no more than 1 MiB.
/// \throws Error of the parser
inline bool has_small_variables(const std::string& text) {
    std::uint64_t bytes = 0;
    const auto module = ptx::parse(text);
    for (const auto& variable : module->variables) {
        bytes += variable->bytes;
        if (bytes > 1 << 20) return false;
    }
    return true;
}

} // namespace emulator::fuzz
