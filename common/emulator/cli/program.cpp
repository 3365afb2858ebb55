#include "emulator/cli/program.hpp"

#include "emulator/cli/exit_status.hpp"
#include "emulator/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <elf.h>
#include <fcntl.h>
#include <optional>
#include <set>
#include <span>
#include <sstream>
#include <string_view>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace emulate {
namespace {

namespace fs = std::filesystem;

bool is_runnable(const fs::path& path) {
    std::error_code error;
    return fs::is_regular_file(path, error) && access(path.c_str(), X_OK) == 0;
}

/// A file, mapped into memory.
class MappedFile {
public:
    explicit MappedFile(const fs::path& path) {
        const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
        struct stat facts {};
        if (file >= 0 && fstat(file, &facts) == 0 && facts.st_size > 0) {
            void* const bytes =
                mmap(nullptr, static_cast<std::size_t>(facts.st_size), PROT_READ, MAP_PRIVATE, file, 0);
            if (bytes != MAP_FAILED)
                bytes_ = {static_cast<const std::byte*>(bytes), static_cast<std::size_t>(facts.st_size)};
        }
        if (file >= 0) close(file);
    }
    ~MappedFile() {
        if (!bytes_.empty()) munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
    }
    MappedFile(const MappedFile&) = delete;
    MappedFile& operator=(const MappedFile&) = delete;
    std::span<const std::byte> bytes() const { return bytes_; }

private:
    std::span<const std::byte> bytes_;
};

/// A 64-bit ELF file. Offsets past its end read as missing.
class Elf {
public:
    explicit Elf(std::span<const std::byte> bytes) : bytes_(bytes) {
        const auto header = value<Elf64_Ehdr>(0);
        if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
            header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB)
            return;
        const auto names = section(*header, header->e_shstrndx);
        for (std::uint16_t i = 0; names && i < header->e_shnum; ++i)
            if (const auto found = section(*header, i))
                sections_.emplace_back(text(*names, found->sh_name), *found);
    }

    bool has_section(std::string_view name) const { return find(name) != nullptr; }

    /// Whether the dynamic section has an entry of this kind.
    bool has_dynamic(Elf64_Sxword tag) const {
        bool found = false;
        for_each_entry<Elf64_Dyn>(".dynamic", [&](const Elf64_Dyn& entry) { found |= entry.d_tag == tag; });
        return found;
    }

    /// The shared libraries that it is linked with.
    std::vector<std::string_view> needed() const {
        const Elf64_Shdr* const names = find(".dynstr");
        std::vector<std::string_view> found;
        for_each_entry<Elf64_Dyn>(".dynamic", [&](const Elf64_Dyn& entry) {
            if (names && entry.d_tag == DT_NEEDED) found.push_back(text(*names, entry.d_un.d_val));
        });
        return found;
    }

    /// The symbols that it gets from shared libraries.
    std::set<std::string_view> imports() const { return dynamic_symbols(false); }

    /// Those that it gives to others.
    std::set<std::string_view> exports() const { return dynamic_symbols(true); }

    /// Whether its symbol table, which `strip` removes, has this function.
    bool defines(std::string_view function) const {
        const Elf64_Shdr* const names = find(".strtab");
        bool found = false;
        for_each_entry<Elf64_Sym>(".symtab", [&](const Elf64_Sym& entry) {
            found |= names && ELF64_ST_TYPE(entry.st_info) == STT_FUNC && entry.st_shndx != SHN_UNDEF &&
                     text(*names, entry.st_name) == function;
        });
        return found;
    }

private:
    std::set<std::string_view> dynamic_symbols(bool are_defined) const {
        const Elf64_Shdr* const names = find(".dynstr");
        std::set<std::string_view> found;
        for_each_entry<Elf64_Sym>(".dynsym", [&](const Elf64_Sym& entry) {
            if (names && (entry.st_shndx != SHN_UNDEF) == are_defined)
                found.insert(text(*names, entry.st_name));
        });
        return found;
    }

    template <class T> std::optional<T> value(std::uint64_t offset) const {
        if (bytes_.size() < sizeof(T) || offset > bytes_.size() - sizeof(T)) return std::nullopt;
        T result;
        std::memcpy(&result, bytes_.data() + offset, sizeof result);
        return result;
    }

    std::optional<Elf64_Shdr> section(const Elf64_Ehdr& header, std::uint16_t index) const {
        return value<Elf64_Shdr>(header.e_shoff + std::uint64_t{index} * sizeof(Elf64_Shdr));
    }

    std::string_view text(const Elf64_Shdr& strings, std::uint64_t offset) const {
        const std::uint64_t first = strings.sh_offset + offset;
        if (first >= bytes_.size()) return {};
        const auto* const start = reinterpret_cast<const char*>(bytes_.data()) + first;
        return {start, strnlen(start, bytes_.size() - first)};
    }

    const Elf64_Shdr* find(std::string_view name) const {
        const auto found =
            std::find_if(sections_.begin(), sections_.end(), [&](const auto& s) { return s.first == name; });
        return found == sections_.end() ? nullptr : &found->second;
    }

    template <class Entry, class Do> void for_each_entry(std::string_view name, Do each) const {
        const Elf64_Shdr* const table = find(name);
        for (std::uint64_t at = 0; table && at + sizeof(Entry) <= table->sh_size; at += sizeof(Entry)) {
            const auto entry = value<Entry>(table->sh_offset + at);
            if (!entry) return;
            each(*entry);
        }
    }

    std::span<const std::byte> bytes_;
    std::vector<std::pair<std::string_view, Elf64_Shdr>> sections_;
};

/// Libraries that bring kernels of their own, as machine code, and launch them through the driver.
constexpr std::pair<std::string_view, std::string_view> libraries_on_driver[] = {
    {"libcublas.", "cuBLAS"},    {"libcublasLt.", "cuBLASLt"}, {"libcudnn", "cuDNN"},
    {"libcufft", "cuFFT"},       {"libcurand.", "cuRAND"},     {"libcusolver", "cuSOLVER"},
    {"libcusparse", "cuSPARSE"}, {"libcutensor", "cuTENSOR"},  {"libnccl.", "NCCL"},
    {"libnpp", "NPP"},           {"libnvjpeg.", "nvJPEG"},     {"libnvinfer", "TensorRT"},
};

constexpr bool is_cuda_12 = std::string_view(EMULATE_LIBRARY).ends_with(".12");

/// Their folders, the best one first: where the dynamic loader looks too.
std::vector<const char*> variants_for_this_processor() {
    std::vector<const char*> folders;
#ifdef __x86_64__
    const bool is_v3 =
        __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
    if (is_v3 && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl"))
        folders.push_back("glibc-hwcaps/x86-64-v4");
    if (is_v3) folders.push_back("glibc-hwcaps/x86-64-v3");
#endif
    folders.push_back("");
    return folders;
}

} // namespace

fs::path find_program(const std::string& name) {
    std::error_code error;
    const std::string shown = emulator::printable(name);
    if (name.find('/') != std::string::npos) {
        if (!fs::exists(name, error))
            throw CommandError(ExitStatus::not_found, fmt::format("{}: there is no such program", shown));
        if (fs::is_directory(name, error))
            throw CommandError(ExitStatus::not_runnable,
                               fmt::format("{}: is a folder, not a program", shown));
        if (!is_runnable(name))
            throw CommandError(
                ExitStatus::not_runnable,
                fmt::format("{0}: is not executable (chmod +x {0} makes a program so)", shown));
        return name;
    }
    const char* const path = std::getenv("PATH");
    std::istringstream folders(path ? path : "/usr/local/bin:/usr/bin:/bin");
    for (std::string folder; std::getline(folders, folder, ':');) {
        const fs::path candidate = fs::path(folder.empty() ? "." : folder) / name;
        if (is_runnable(candidate)) return candidate;
    }
    throw CommandError(ExitStatus::not_found,
                       fmt::format("{0}: there is no such program in PATH{1}", shown,
                                   is_runnable(name) ? fmt::format(". Did you mean ./{}?", shown) : ""));
}

CudaLinkage cuda_linkage(const fs::path& program) {
    const MappedFile file(program);
    const Elf elf(file.bytes());
    const std::vector<std::string_view> needed = elf.needed();
    std::vector<std::string> libraries;
    for (const auto& [start, name] : libraries_on_driver)
        if (std::any_of(needed.begin(), needed.end(),
                        [&, start = start](std::string_view file) { return file.starts_with(start); }))
            libraries.emplace_back(name);
    const std::set<std::string_view> imports = elf.imports();
    std::vector<std::string> driver_functions;
    for (const std::string_view symbol : imports)
        if (symbol.size() > 2 && symbol.starts_with("cu") &&
            std::isupper(static_cast<unsigned char>(symbol[2])))
            driver_functions.emplace_back(symbol);
    return {.has_device_code = elf.has_section(".nvFatBinSegment"),
            .imports_runtime = imports.contains("__cudaRegisterFatBinary"),
            .has_replaceable_runtime =
                elf.defines("__cudaRegisterFatBinary") &&
                elf.defines("cudaGetDeviceProperties_v2") == is_cuda_12, // which that version alone has
            .driver_functions = std::find(needed.begin(), needed.end(), "libcuda.so.1") != needed.end()
                                    ? std::move(driver_functions)
                                    : std::vector<std::string>{},
            .libraries = std::move(libraries),
            .has_old_style_rpath = elf.has_dynamic(DT_RPATH) && !elf.has_dynamic(DT_RUNPATH)};
}

std::vector<std::string> missing_in(const fs::path& library, const std::vector<std::string>& functions) {
    const MappedFile file(library);
    const auto exports = Elf(file.bytes()).exports();
    std::vector<std::string> missing;
    for (const std::string& function : functions)
        if (!exports.contains(function)) missing.push_back(function);
    return missing;
}

EmulatorLibrary emulator_library() {
    std::error_code error;
    const fs::path self = fs::read_symlink("/proc/self/exe", error);
    const fs::path root = self.parent_path().parent_path();
    const fs::path built = root / "emulator" / "observing", installed = root / "lib" / "emulate";
    for (const fs::path& folder : {built, installed})
        for (const char* const variant : variants_for_this_processor())
            if (const fs::path file = folder / variant / EMULATE_LIBRARY; fs::exists(file, error))
                return {folder, file};
    throw CommandError(
        ExitStatus::failed,
        fmt::format("the emulator is missing: there is neither {} (`make emulate` builds it) nor {}",
                    (built / EMULATE_LIBRARY).string(), (installed / EMULATE_LIBRARY).string()));
}

} // namespace emulate
