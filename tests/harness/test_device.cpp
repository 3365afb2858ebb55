#include "test_device.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string_view>
#include <vector>

namespace {

harness::Device device;

harness::DeviceChoice choice(int argc, char** argv) {
    for (int i = 1; i < argc; ++i) {
        if (std::string_view(argv[i]) == "--device=gpu") return harness::DeviceChoice::gpu;
        if (std::string_view(argv[i]) == "--device=emulator") return harness::DeviceChoice::emulator;
    }
    return harness::DeviceChoice::automatic;
}

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

const harness::Device& test_device() { return device; }

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

int main(int argc, char** argv) {
    std::vector<char*> all_arguments(argv, argv + argc +
                                               1); // InitGoogleTest takes its own out; a new start needs all
    testing::InitGoogleTest(&argc, argv);
    // Tests are listed while building, when the emulator may not be there yet.
    if (testing::GTEST_FLAG(list_tests)) return RUN_ALL_TESTS();
    try {
        device = harness::choose_device(choice(argc, argv), all_arguments.data());
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return EXIT_FAILURE;
    }
    return RUN_ALL_TESTS();
}
