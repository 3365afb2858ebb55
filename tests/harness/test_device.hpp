/// For tests that launch kernels or run programs. Their main chooses a device as a lesson does;
/// `--device=emulator` or `--device=gpu` forces the choice.
#pragma once

#include "harness/device.hpp"

#include <string>

/// The device that this test program runs on.
const harness::Device& test_device();

struct ProgramResult {
    int status = 0; ///< the exit status; 128 + the signal's number if one ended it, as a shell has it
    std::string out;
    std::string err;
};

/// Runs `line` as a user does: by /bin/sh, in bin/, where the programs are. Waits for its end.
ProgramResult run_program(const std::string& line);

/// Runs a lesson's program on the device that this test runs on.
ProgramResult run_lesson(const std::string& lesson, const std::string& arguments);
