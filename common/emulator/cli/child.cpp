#include "emulator/cli/child.hpp"

#include "emulator/cli/exit_status.hpp"
#include "emulator/text.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace emulate {
namespace {

constexpr int passed_on[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};

volatile sig_atomic_t child_process = 0, interrupted = 0;

/// The terminal's signals come from the kernel, which sends them to the child too.
void pass_on(int signal, siginfo_t* info, void*) {
    if (signal != SIGUSR1 && signal != SIGUSR2) interrupted = 1;
    if (info->si_code <= 0 && child_process != 0) kill(child_process, signal);
}

/// Passes signals on to the child while it lives. Ignored signals stay ignored in both processes.
class SignalsArePassedOn {
public:
    SignalsArePassedOn() {
        for (const int signal : passed_on) {
            struct sigaction& before = before_[index_++];
            sigaction(signal, nullptr, &before);
            if (before.sa_handler == SIG_IGN) continue;
            struct sigaction action {};
            action.sa_sigaction = pass_on;
            action.sa_flags = SA_SIGINFO | SA_RESTART;
            sigaction(signal, &action, nullptr);
        }
    }
    ~SignalsArePassedOn() { restore(); }
    void restore() const {
        for (std::size_t i = 0; i < index_; ++i) sigaction(passed_on[i], &before_[i], nullptr);
    }

private:
    struct sigaction before_[std::size(passed_on)]{};
    std::size_t index_ = 0;
};

[[noreturn]] void become(const Command& command, int error_pipe) {
    for (const auto& [name, value] : command.environment) setenv(name.c_str(), value.c_str(), 1);
    for (const auto& [theirs, ours] : command.descriptors) dup2(ours, theirs);
    std::vector<char*> arguments;
    for (const std::string& argument : command.arguments)
        arguments.push_back(const_cast<char*>(argument.c_str()));
    arguments.push_back(nullptr);
    execv(command.file.c_str(), arguments.data());
    const int error = errno;
    [[maybe_unused]] const ssize_t told = write(error_pipe, &error, sizeof error);
    _exit(static_cast<int>(ExitStatus::not_runnable));
}

} // namespace

std::string describe(const Ending& ending) {
    return ending.signal != 0 ? "signal " + std::to_string(ending.signal)
                              : "exit status " + std::to_string(ending.status);
}

Ending run_child(const Command& command) {
    int error_pipe[2]; // closed by a successful exec
    if (pipe2(error_pipe, O_CLOEXEC) != 0)
        throw CommandError(ExitStatus::failed, fmt::format("no pipe: {}", std::strerror(errno)));

    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before); // none comes before it is known whom to pass it on to
    const SignalsArePassedOn signals;
    const pid_t child = fork();
    if (child == 0) {
        signals.restore();
        sigprocmask(SIG_SETMASK, &before, nullptr);
        become(command, error_pipe[1]);
    }
    child_process = child;
    sigprocmask(SIG_SETMASK, &before, nullptr);
    close(error_pipe[1]);
    int error = child < 0 ? errno : 0;
    if (child > 0) {
        while (read(error_pipe[0], &error, sizeof error) < 0 && errno == EINTR) {
        }
    }
    close(error_pipe[0]);

    int status = 0;
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    child_process = 0;
    if (error == ENOEXEC)
        throw CommandError(
            ExitStatus::not_runnable,
            fmt::format("{}: neither a program for this machine nor a script that begins with #!",
                        emulator::printable(command.arguments.front())));
    if (error != 0)
        throw CommandError(ExitStatus::not_runnable,
                           fmt::format("{}: cannot be started: {}",
                                       emulator::printable(command.arguments.front()), std::strerror(error)));
    if (WIFSIGNALED(status)) return {.status = 128 + WTERMSIG(status), .signal = WTERMSIG(status)};
    return {.status = WEXITSTATUS(status)};
}

bool was_interrupted() { return interrupted != 0; }

void end_like(const Ending& ending) {
    if (ending.signal != 0) {
        const rlimit none{0, 0};
        setrlimit(RLIMIT_CORE, &none); // the program has left its core already
        prctl(PR_SET_DUMPABLE, 0);
        std::signal(ending.signal, SIG_DFL);
        sigset_t only;
        sigemptyset(&only);
        sigaddset(&only, ending.signal);
        sigprocmask(SIG_UNBLOCK, &only, nullptr);
        raise(ending.signal);
    }
    std::_Exit(ending.status);
}

} // namespace emulate
