/// \file
/// How code behind the API turns a call down.
#pragma once

#include "emulator/runtime/cuda_abi.hpp"

#include <stdexcept>
#include <string>

namespace emulator {

/// A call that fails with a known CUDA error. `what()` is printed unless it is empty: most refusals are as
/// silent as CUDA's own.
class Refused : public std::runtime_error {
public:
    explicit Refused(abi::cudaError_t error, const std::string& message = {})
        : std::runtime_error(message), error_(error) {}

    abi::cudaError_t error() const { return error_; }

private:
    abi::cudaError_t error_;
};

/// \throws Refused with `error` unless `holds`.
inline void require(bool holds, abi::cudaError_t error = abi::cudaErrorInvalidValue) {
    if (!holds) throw Refused(error);
}

} // namespace emulator
