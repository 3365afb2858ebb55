#include "run_program.hpp"

#include "device_main.hpp"

#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace {

namespace fs = std::filesystem;

/// A folder that is deleted with its contents.
class TemporaryFolder {
public:
    TemporaryFolder() {
        std::string name = fs::temp_directory_path() / "lesson_test_XXXXXX";
        if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder could be made");
        path_ = name;
    }
    ~TemporaryFolder() { fs::remove_all(path_); }
    const fs::path& path() const { return path_; }

private:
    fs::path path_;
};

/// LD_LIBRARY_PATH without the emulator's folder, which this test program has put there for itself.
std::string plain_library_path(const fs::path& executable) {
    const char* present = std::getenv("LD_LIBRARY_PATH");
    std::string path = present == nullptr ? "" : present;
    const std::string emulator = harness::emulator_directory(executable);
    if (path == emulator) return "";
    if (path.starts_with(emulator + ":")) path.erase(0, emulator.size() + 1);
    return path;
}

std::string read_file(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

} // namespace

ProgramResult run_program(const std::string& line) {
    const TemporaryFolder folder;
    const fs::path executable = fs::read_symlink("/proc/self/exe");
    const fs::path out = folder.path() / "out", err = folder.path() / "err";
    const std::string command = "export LD_LIBRARY_PATH='" + plain_library_path(executable) + "' && cd '" +
                                executable.parent_path().string() + "' && ( " + line + "\n) >" +
                                out.string() + " 2>" + err.string();
    const int status = std::system(command.c_str());
    return {.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
            .out = read_file(out),
            .err = read_file(err)};
}

ProgramResult run_lesson(const std::string& lesson, const std::string& arguments) {
    const bool gpu = test_device().kind == harness::DeviceKind::gpu;
    return run_program("./" + lesson + " --device " + (gpu ? "gpu " : "emulator ") + arguments);
}
