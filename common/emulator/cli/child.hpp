/// Runs a program as a child process that behaves as if it had been started directly.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace emulate {

/// How a process ended.
struct Ending {
    int status = 0; ///< exit status; with a signal 128 + its number, as a shell has it
    int signal = 0; ///< that ended it; 0: none

    friend bool operator==(const Ending&, const Ending&) = default;
};

/// "exit status 2", "signal 6"
std::string describe(const Ending& ending);

/// Thrown between two runs of a program when the user interrupted the first one: the rest are not started.
struct Interrupted {
    Ending ending;
};

struct Command {
    std::filesystem::path file;
    std::vector<std::string> arguments;             ///< the first is its name
    std::map<std::string, std::string> environment; ///< on top of our own
    std::map<int, int> descriptors; ///< 1 -> 7: our descriptor 7 is its stdout; the others stay
};

/// Starts the program and waits until it ends. Signals that arrive meanwhile go to the child: the terminal
/// has sent its own already, others are passed on. `was_interrupted` is set if one of them asks it to end.
/// \throws CommandError when it cannot be started.
Ending run_child(const Command& command);
bool was_interrupted();

/// Exits with the child's status, or dies of the signal that ended it.
[[noreturn]] void end_like(const Ending& ending);

} // namespace emulate
