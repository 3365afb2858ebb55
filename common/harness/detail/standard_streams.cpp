#include "harness/detail/standard_streams.hpp"

#include "emulator/text.hpp"
#include "harness/exit_status.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <unistd.h>

namespace harness {
namespace {

bool is_closed(int descriptor) { return fcntl(descriptor, F_GETFD) == -1 && errno == EBADF; }

bool write_all(int descriptor, std::string_view text) {
    while (!text.empty()) {
        const ssize_t written = write(descriptor, text.data(), text.size());
        if (written == -1 && errno == EINTR) continue;
        if (written == -1) return false;
        text.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
}

} // namespace

void prepare_standard_streams() {
    std::signal(SIGPIPE, SIG_IGN);
    const bool stdout_closed = is_closed(STDOUT_FILENO);
    // open() returns the lowest free descriptor: in ascending order each stream gets its own.
    for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        if (is_closed(descriptor)) open("/dev/null", O_RDWR);
    }
    if (stdout_closed)
        throw OutputError("standard output is closed, so there is nowhere to print the results");
}

void write_output(std::string_view text) {
    if (!write_all(STDOUT_FILENO, text)) {
        throw OutputError(
            fmt::format("could not write the results to standard output: {}", std::strerror(errno)));
    }
}

void write_message(std::string_view program, std::string_view message) {
    // An error is ignored: there is nowhere left to report it.
    write_all(STDERR_FILENO, fmt::format("{}: {}\n", emulator::printable(program), message));
}

void write_file(const std::filesystem::path& path, std::string_view text) {
    std::ofstream file(path);
    file << text << std::flush;
    if (!file) throw OutputError(fmt::format("could not write {}: {}", path.string(), std::strerror(errno)));
}

} // namespace harness
