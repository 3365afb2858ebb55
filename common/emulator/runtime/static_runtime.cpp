#include "emulator/runtime/static_runtime.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

namespace emulator {
namespace {

#ifdef __x86_64__

/// movabs $target, %rax; jmp *%rax. A caller expects no value in rax, but for the number of vector arguments
/// of a variadic function, and the runtime has none.
constexpr std::size_t jump_bytes = 12;
void write_jump(unsigned char* place, const void* target) {
    std::array<unsigned char, jump_bytes> code{0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xe0};
    std::memcpy(code.data() + 2, &target, sizeof target);
    std::memcpy(place, code.data(), code.size());
}

struct Function {
    std::string_view name;
    std::uint64_t address; ///< as in the file
};

/// The functions in the file's symbol table, by address. None where the table is not whole: the programs that
/// the program starts come here too, and any tool may have changed theirs.
std::vector<Function> functions_of(const std::vector<char>& file) {
    const auto read = [&]<class T>(T value, std::uint64_t offset) {
        if (offset <= file.size() && sizeof value <= file.size() - offset)
            std::memcpy(&value, file.data() + offset, sizeof value);
        return value;
    };
    const auto header = read(Elf64_Ehdr{}, 0);
    const auto section = [&](std::uint64_t index) {
        return read(Elf64_Shdr{}, header.e_shoff + index * sizeof(Elf64_Shdr));
    };
    std::vector<Function> functions;
    for (std::uint64_t i = 0; i < header.e_shnum; ++i) {
        const Elf64_Shdr table = section(i);
        if (table.sh_type != SHT_SYMTAB || table.sh_size > file.size()) continue;
        const std::uint64_t names = section(table.sh_link).sh_offset;
        for (std::uint64_t at = 0; at < table.sh_size; at += sizeof(Elf64_Sym)) {
            const auto symbol = read(Elf64_Sym{}, table.sh_offset + at);
            const std::uint64_t name = names + symbol.st_name;
            if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_shndx == SHN_UNDEF) continue;
            if (name >= file.size()) continue;
            functions.push_back(
                {{file.data() + name, strnlen(file.data() + name, file.size() - name)}, symbol.st_value});
        }
    }
    std::sort(functions.begin(), functions.end(),
              [](const Function& a, const Function& b) { return a.address < b.address; });
    return functions;
}

/// Where the program's addresses begin: 0, or its place if it is position-independent.
unsigned char* program_base() {
    ElfW(Addr) base = 0;
    dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* result) {
            *static_cast<ElfW(Addr)*>(result) = info->dlpi_addr;
            return 1; // the first one is the program
        },
        &base);
    return reinterpret_cast<unsigned char*>(base);
}

/// Whether the pages of these bytes can be written to, or again only be executed.
bool protect(unsigned char* place, std::size_t bytes, int protection) {
    const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    const auto first = reinterpret_cast<std::uintptr_t>(place) / page * page;
    return mprotect(reinterpret_cast<void*>(first), reinterpret_cast<std::uintptr_t>(place) + bytes - first,
                    protection) == 0;
}

/// Sends each function of the static runtime to this library's function of the same name. Runs before the
/// program registers its kernels: a preloaded library is initialized first.
[[gnu::constructor]] void redirect_static_runtime() {
    if (!std::getenv(static_runtime_variable)) return;
    Dl_info self{};
    dladdr(reinterpret_cast<const void*>(&redirect_static_runtime), &self);
    void* const library = dlopen(self.dli_fname, RTLD_NOW | RTLD_NOLOAD);
    constexpr const char* self_file = "/proc/self/exe";
    std::error_code error;
    const std::uintmax_t bytes = std::filesystem::file_size(self_file, error);
    std::vector<char> file(error ? 0 : bytes);
    std::ifstream(self_file, std::ios::binary).read(file.data(), static_cast<std::streamsize>(file.size()));
    const std::vector<Function> functions = functions_of(file);
    if (std::none_of(functions.begin(), functions.end(),
                     [](const Function& f) { return f.name == "__cudaRegisterFatBinary"; }))
        return; // a process that such a program started, and not one itself
    unsigned char* const base = program_base();
    for (const Function& function : functions) {
        if (!function.name.starts_with("cuda") && !function.name.starts_with("__cuda")) continue;
        const auto next = std::find_if(functions.begin(), functions.end(),
                                       [&](const Function& f) { return f.address > function.address; });
        const bool has_room = next == functions.end() || next->address - function.address >= jump_bytes;
        const void* const target = dlsym(library, std::string(function.name).c_str());
        if (!has_room || !target) continue;
        unsigned char* const place = base + function.address;
        if (!protect(place, jump_bytes, PROT_READ | PROT_WRITE | PROT_EXEC)) {
            std::fputs("emulator: this system lets no program change its code, so the static CUDA runtime "
                       "stays; link with nvcc -cudart shared\n",
                       stderr);
            return;
        }
        write_jump(place, target);
        protect(place, jump_bytes, PROT_READ | PROT_EXEC);
    }
}

#endif

} // namespace
} // namespace emulator
