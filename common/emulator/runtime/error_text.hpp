/// \file
/// CUDA's names and words for its error codes.
#pragma once

namespace emulator {

/// "cudaErrorInvalidValue" for 1; "unrecognized error code" for a number that is none. Never freed.
const char* error_name(int error);

/// "invalid argument" for 1; "unrecognized error code" for a number that is none. Never freed.
const char* error_text(int error);

} // namespace emulator
