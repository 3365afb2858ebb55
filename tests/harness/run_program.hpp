/// \file
/// Runs a program as a user does: by a line of shell.
#pragma once

#include <string>

struct ProgramResult {
    int status = 0; ///< the exit status; 128 + the signal's number if one ended it, as a shell has it
    std::string out;
    std::string err;
};

/// Runs `line` by /bin/sh in bin/, where the programs are, and waits for its end.
ProgramResult run_program(const std::string& line);

/// Runs a lesson's program on the device that this test runs on.
ProgramResult run_lesson(const std::string& lesson, const std::string& arguments);
