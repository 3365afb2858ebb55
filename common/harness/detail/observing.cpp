#include "harness/detail/observing.hpp"

#include "harness/exit_status.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace harness {

const char* observing_help() {
    return R"(
Reports on the kernels, from the emulator, on stderr:
  --lines         the kernels' source with each line's counters: of PTX, and
                  of the machine code (sm_90) if nvdisasm is there
  --check [WHAT]  errors: all, or some of mem,init,race,sync. Default: all
  --time[=CARD]   the time on a card, estimated, and what warps wait for there.
                  On a terminal a lesson estimates its time unasked, here and
                  at 2^28, if ./emulate and nvdisasm are there (make emulate,
                  scripts/setup time), and spends about a second on each
  --time-only     the same without running the kernels: quick at any size
  --draw WHAT     a picture of each kernel, as an SVG file in the folder
                  pictures: banks, sectors, activity, tile or time
  --line N        draw: the access in line N of the source
  --schedule S    verify with blocks, warps and lanes in the order of seed S;
                  other blocks see stores late unless a fence orders them
  --schedules K   the same with K seeds; report the first that changes a result
  --devices N     emulate N devices
  emulate --help explains these and lists more.
)";
}

namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

/// As exec takes them.
std::vector<char*> pointers_to(Names& words) {
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    return pointers;
}

/// Its path in the build tree. Builds it if it is not there yet.
fs::path find_emulate(const fs::path& self) {
    const fs::path bin = self.parent_path(), emulate = bin / "emulate";
    if (fs::exists(emulate)) return emulate;
    const fs::path script = HARNESS_ROOT "/scripts/build";
    if (fs::exists(script) && fs::exists(bin.parent_path() / "CMakeCache.txt")) {
        fmt::print(stderr, "{}: building ./emulate first, once\n", self.filename().string());
        pid_t builder = 0;
        std::string arguments[] = {script.string(), bin.parent_path().string(), "emulate"};
        char* const words[] = {arguments[0].data(), arguments[1].data(), arguments[2].data(), nullptr};
        int status = 0;
        if (posix_spawn(&builder, words[0], nullptr, nullptr, words, environ) == 0)
            waitpid(builder, &status, 0);
    }
    if (fs::exists(emulate)) return emulate;
    throw DeviceError(fmt::format("there is no {} (`make emulate` builds it)", emulate.string()));
}

} // namespace

void become_emulate(const std::string& lesson, const Names& options, const Names& arguments,
                    const char* name) {
    std::error_code error;
    const fs::path self = fs::read_symlink("/proc/self/exe", error);
    const fs::path emulate = find_emulate(self);

    Names words{"emulate", "--asked-by=" + lesson};
    words.insert(words.end(), options.begin(), options.end());
    words.emplace_back("--");
    words.emplace_back(std::strchr(name, '/') ? name : self.string());
    words.insert(words.end(), arguments.begin(), arguments.end());
    execv(emulate.c_str(), pointers_to(words).data());
    throw DeviceError(fmt::format("could not start {}: {}", emulate.string(), std::strerror(errno)));
}

bool is_observed() { return std::getenv("EMULATOR_REQUEST") != nullptr; }

bool only_estimates() {
    const char* const request = std::getenv("EMULATOR_REQUEST");
    return request && std::strstr(request, "\"time_only\":true");
}

std::string estimates_as_json(const Names& arguments, bool asked) {
    std::error_code error;
    const fs::path self = fs::read_symlink("/proc/self/exe", error);
    const fs::path emulate = asked ? find_emulate(self) : self.parent_path() / "emulate";
    // Processor time: what it estimates hardly depends on what else this machine does. Unasked, nobody waits for it long.
    Names words{"sh",
                "-c",
                fmt::format("ulimit -c 0 && ulimit -t {} && exec \"$@\"", asked ? 60 : 5),
                "sh",
                emulate,
                "--time-only",
                "--output=/dev/null"};
    if (!asked) words.emplace_back("--at-most=1000");
    words.insert(words.end(), {"--", self});
    words.insert(words.end(), arguments.begin(), arguments.end());
    int ends[2];
    if (!fs::exists(emulate) || pipe2(ends, O_CLOEXEC) != 0) return "";
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, ends[1], STDOUT_FILENO);
    if (!asked) posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    pid_t child = 0;
    const bool runs =
        posix_spawn(&child, "/bin/sh", &files, nullptr, pointers_to(words).data(), environ) == 0;
    posix_spawn_file_actions_destroy(&files);
    close(ends[1]);
    std::string text;
    char part[4096];
    for (ssize_t count = 0; runs && (count = read(ends[0], part, sizeof part)) > 0;)
        text.append(part, static_cast<std::size_t>(count));
    close(ends[0]);
    int status = 0;
    return runs && waitpid(child, &status, 0) == child && status == 0 ? text : "";
}

} // namespace harness
