#include "emulator/machine_code/listing.hpp"

#include <cctype>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace emulator::machine_code {
namespace {

namespace fs = std::filesystem;

std::string contents(const fs::path& file) {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
}

/// A folder that goes away with what is in it.
class TemporaryFolder {
public:
    TemporaryFolder() : path_((fs::temp_directory_path() / "emulator-XXXXXX").string()) {
        if (!mkdtemp(path_.data())) throw NotUnderstood("no folder for machine code can be made: " + path_);
    }
    ~TemporaryFolder() {
        std::error_code error;
        fs::remove_all(path_, error);
    }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;
    fs::path operator/(const char* name) const { return fs::path(path_) / name; }

private:
    std::string path_;
};

/// Our environment, without what makes a program run on the emulator.
std::vector<char*> plain_environment() {
    std::vector<char*> variables;
    for (char** variable = environ; *variable; ++variable) {
        const std::string_view text = *variable;
        if (!text.starts_with("LD_") && !text.starts_with("EMULATOR_")) variables.push_back(*variable);
    }
    variables.push_back(nullptr);
    return variables;
}

/// Runs a program with its output in files. \throws NotUnderstood with the first line of its errors
void run(std::vector<std::string> words, const fs::path& output, const fs::path& errors) {
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    const int flags = O_WRONLY | O_CREAT | O_APPEND;
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, output.c_str(), flags, 0600);
    posix_spawn_file_actions_addopen(&files, STDERR_FILENO, errors.c_str(), flags, 0600);
    std::vector<char*> environment = plain_environment();
    pid_t child = 0;
    int status = -1; // Unknown, if the program reaps all children or ignores them.
    const int error =
        posix_spawn(&child, arguments[0], &files, nullptr, arguments.data(), environment.data());
    posix_spawn_file_actions_destroy(&files);
    if (error != 0) throw NotUnderstood(words[0] + ": " + std::strerror(error));
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (status == 0) return;
    const std::string text = contents(errors);
    throw NotUnderstood(words[0] + " failed: " + text.substr(0, text.find('\n')));
}

std::string architecture_of(std::string_view unit) {
    return unit.find(".target sm_90a") != std::string_view::npos ? "-arch=sm_90a" : "-arch=sm_90";
}

/// FNV-1a of all of them.
std::string hash_of(std::initializer_list<std::string_view> texts) {
    std::uint64_t low = 0xCBF29CE484222325, high = 0x9E3779B97F4A7C15;
    for (const std::string_view text : texts)
        for (const char c : text) {
            low = (low ^ static_cast<unsigned char>(c)) * 0x100000001B3;
            high = (high ^ static_cast<unsigned char>(c)) * 0x100000001B3 + low;
        }
    return std::to_string(low) + "-" + std::to_string(high);
}

/// The folder for listings; empty: none can be made.
fs::path cache() {
    const char *const own = std::getenv("XDG_CACHE_HOME"), *const home = std::getenv("HOME");
    if (!(own && *own) && !(home && *home)) return {};
    const fs::path folder = (own && *own ? fs::path(own) : fs::path(home) / ".cache") / "cuda-emulate";
    std::error_code error;
    fs::create_directories(folder, error);
    return error ? fs::path() : folder;
}

/// Writes to a temporary name, then renames: other processes may be reading.
void keep(const fs::path& file, const std::string& text) {
    std::string unfinished = file.string() + ".XXXXXX";
    const int descriptor = mkstemp(unfinished.data());
    if (descriptor < 0) return;
    close(descriptor);
    std::error_code error;
    if (std::ofstream(unfinished, std::ios::binary) << text << std::flush)
        fs::rename(unfinished, file, error);
    fs::remove(unfinished, error); // Renamed, it is not there.
}

std::string size_of(const std::string& program) {
    std::error_code error;
    return std::to_string(fs::file_size(program, error));
}

} // namespace

std::string_view unit_with(std::string_view ptx, std::string_view name) {
    const std::string entry = ".entry " + std::string(name);
    const auto goes_on = [&](std::size_t at) { // _Z3fooPi is not _Z3fooPiS_
        const std::size_t end = at + entry.size();
        return end < ptx.size() &&
               (std::isalnum(static_cast<unsigned char>(ptx[end])) || ptx[end] == '_' || ptx[end] == '$');
    };
    auto kernel = ptx.find(entry);
    while (kernel != std::string_view::npos && goes_on(kernel)) kernel = ptx.find(entry, kernel + 1);
    if (kernel == std::string_view::npos)
        throw NotUnderstood("the program has no PTX of " + std::string(name));
    const auto begin = ptx.rfind(".version", kernel);
    // Each text begins with its `.version`.
    const std::string_view unit = ptx.substr(begin == std::string_view::npos ? 0 : begin);
    return unit.substr(0, unit.find(".version", 1));
}

namespace {

/// \throws NotUnderstood
std::string listing_of(std::string_view unit, const Tools& tools) {
    const TemporaryFolder work;
    std::ofstream(work / "ptx", std::ios::binary) << unit;
    std::vector<std::string> compile{tools.ptxas,
                                     "--verbose",
                                     architecture_of(unit),
                                     "--output-file",
                                     (work / "cubin").string(),
                                     (work / "ptx").string(),
                                     "-lineinfo"}; // which makes the same code
    try {
        run(compile, work / "listing", work / "listing");
    } catch (const NotUnderstood&) { // Another unit may have what it calls: that matters to other kernels.
        if (contents(work / "listing").find("nresolved extern") == std::string::npos) throw;
        compile.push_back("--compile-only");
        run(compile, work / "listing", work / "listing");
    }
    run({tools.nvdisasm, "--print-instruction-encoding", (work / "cubin").string(), "--print-line-info-ptx"},
        work / "listing", work / "errors");
    return contents(work / "listing");
}

} // namespace

std::string listing_of(std::string_view ptx, std::string_view name, const Tools& tools) {
    static std::map<std::string, std::string> failures; // by unit: with all of its kernels it fails once
    const std::string_view unit = unit_with(ptx, name);
    const std::string hash =
        hash_of({"4", unit, tools.ptxas, size_of(tools.ptxas), tools.nvdisasm, size_of(tools.nvdisasm)});
    const fs::path folder = cache(), kept = folder / hash;
    if (!folder.empty())
        if (const std::string listing = contents(kept); !listing.empty()) return listing;
    if (const auto failed = failures.find(hash); failed != failures.end())
        throw NotUnderstood(failed->second);
    std::string listing;
    try {
        listing = listing_of(unit, tools);
    } catch (const NotUnderstood& error) {
        failures[hash] = error.what();
        throw;
    }
    if (!folder.empty() && listing.find(".text." + std::string(name) + ":") != std::string::npos)
        keep(kept, listing);
    return listing;
}

} // namespace emulator::machine_code
