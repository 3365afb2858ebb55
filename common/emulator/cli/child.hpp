/// \file
/// Runs a program as a child that hardly notices.
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

/// Thrown by whoever runs several children, when the user has ended one of them and so means all.
struct Interrupted {
    Ending ending;
};

struct Command {
    std::filesystem::path file;
    std::vector<std::string> arguments;             ///< the first is its name
    std::map<std::string, std::string> environment; ///< on top of our own
    std::map<int, int> descriptors; ///< 1 -> 7: our descriptor 7 is its stdout; the others stay
};

/// Starts the program and waits for its end. Signals that we get are the child's meanwhile: those from the
/// terminal have reached it anyway, and others are passed on. `was_interrupted` tells whether one of them was
/// to end it.
/// \throws CommandError when it cannot be started.
Ending run_child(const Command& command);
bool was_interrupted();

/// Ends this process as the child ended.
[[noreturn]] void end_like(const Ending& ending);

} // namespace emulate
