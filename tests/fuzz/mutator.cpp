// How libFuzzer changes PTX: every other time by whole tokens and statements, for bytes seldom make sense.

#include "emulator/error.hpp"
#include "emulator/ptx/lexer.hpp"

#include <algorithm>
#include <random>
#include <string>

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t bytes, std::size_t max_bytes);

namespace {

/// \throws Error invalid_ptx for what is not a token.
std::string changed(const std::string& text, std::minstd_rand& random) {
    const auto tokens = emulator::ptx::tokenize(text); // the last one is the end
    const auto& target = tokens[random() % tokens.size()];
    const auto& source = tokens[random() % tokens.size()];
    const auto behind_statement = [&](std::size_t place) {
        const std::size_t end = text.find(';', place);
        return end == std::string::npos ? text.size() : end + 1;
    };
    std::string result = text;
    switch (random() % 5) {
    case 0: return result.erase(target.offset, target.text.size());
    case 1: return result.insert(target.offset, ' ' + std::string(source.text) + ' ');
    case 2: return result.erase(target.offset, behind_statement(target.offset) - target.offset);
    case 3: {
        const std::size_t first = behind_statement(source.offset);
        return result.insert(behind_statement(target.offset),
                             text.substr(first, behind_statement(first) - first));
    }
    default: return result.replace(target.offset, target.text.size(), source.text);
    }
}

} // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t bytes, std::size_t max_bytes,
                                               unsigned int seed) {
    std::minstd_rand random(seed);
    if (random() % 2 == 0) return LLVMFuzzerMutate(data, bytes, max_bytes);
    try {
        const std::string result = changed({reinterpret_cast<const char*>(data), bytes}, random);
        const std::size_t size = std::min(result.size(), max_bytes);
        std::copy_n(result.begin(), size, data);
        return size;
    } catch (const emulator::Error&) {
        return LLVMFuzzerMutate(data, bytes, max_bytes);
    }
}
