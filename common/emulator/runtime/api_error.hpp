/// How code behind the API rejects a call, and CUDA's names and texts for its error codes.
#pragma once

#include "emulator/runtime/cuda_abi.hpp"

#include <stdexcept>
#include <string>

namespace emulator {

/// A call that fails with a known CUDA error. `what()` is printed unless it is empty: most failures are
/// silent, like CUDA's own.
class ApiError : public std::runtime_error {
public:
    explicit ApiError(abi::cudaError_t code, const std::string& message = {})
        : std::runtime_error(message), code_(code) {}

    abi::cudaError_t code() const { return code_; }

private:
    abi::cudaError_t code_;
};

/// A call that a card supports and the emulator does not.
class UnsupportedCall : public ApiError {
public:
    /// `detail` names the unsupported part of the function.
    UnsupportedCall(const std::string& function, const std::string& detail)
        : ApiError(abi::cudaErrorNotSupported, function + ": " + detail), function_(function) {}

    const std::string& function() const { return function_; }

private:
    std::string function_;
};

/// \throws ApiError with `error` unless `holds`.
inline void require(bool holds, abi::cudaError_t error = abi::cudaErrorInvalidValue) {
    if (!holds) throw ApiError(error);
}

/// "cudaErrorInvalidValue" for 1; "unrecognized error code" for an unknown number. Never freed.
const char* error_name(int error);

/// "invalid argument" for 1; "unrecognized error code" for an unknown number. Never freed.
const char* error_text(int error);

} // namespace emulator
