/// ptx_of PROGRAM FILE: writes the PTX that nvcc put into a program to FILE. Of several modules it takes the
/// first: those of libraries come after the program's own.
/// ptx_of PTX FILE NAMESPACE [REGEX]: the kernels of that namespace, of those in a file of PTX, but for
/// kernels whose readable names match. See only_namespace.
#include "emulator/program/names.hpp"
#include "emulator/runtime/fat_binary.hpp"

#include <fstream>
#include <iostream>
#include <iterator>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

namespace {

constexpr std::string_view fat_binary_begin = "\x50\xED\x55\xBA";

std::string first_ptx(const std::string& program) {
    for (std::size_t at = 0; (at = program.find(fat_binary_begin, at)) != std::string::npos; ++at) {
        const auto entries = emulator::ptx_entries(std::as_bytes(std::span(program).subspan(at)));
        if (const emulator::PtxEntry* const entry = emulator::best_entry(entries))
            return emulator::ptx_text(*entry);
    }
    throw std::runtime_error("it has no PTX: compile it with nvcc, for a virtual architecture");
}

} // namespace

int main(int count, char** words) {
    if (count < 3 || count > 5) {
        std::cerr << "usage: ptx_of PROGRAM FILE, or ptx_of PTX FILE NAMESPACE [REGEX]\n";
        return 2;
    }
    try {
        std::ifstream from(words[1], std::ios::binary);
        if (!from) throw std::runtime_error("it cannot be read");
        const std::string text(std::istreambuf_iterator<char>(from), {});
        const std::string ptx = count == 3
                                    ? first_ptx(text)
                                    : emulator::only_namespace(text, words[3], count > 4 ? words[4] : "");
        std::ofstream file(words[2]);
        if (!(file << ptx).flush()) throw std::runtime_error(std::string(words[2]) + " cannot be written");
    } catch (const std::exception& error) {
        std::cerr << "ptx_of: " << words[1] << ": " << error.what() << '\n';
        return 1;
    }
    return 0;
}
