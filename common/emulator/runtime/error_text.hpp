/// \file
/// CUDA's names and texts for its error codes.
#pragma once

namespace emulator {

/// "cudaErrorInvalidValue" for 1; "unrecognized error code" for an unknown number. Never freed.
const char* error_name(int error);

/// "invalid argument" for 1; "unrecognized error code" for an unknown number. Never freed.
const char* error_text(int error);

} // namespace emulator
