/// Explains why an access is not allowed.
#pragma once

#include "emulator/error.hpp"
#include "emulator/machine/fault.hpp"

#include <cstdint>
#include <string>

namespace emulator {

class Block;
class GlobalMemory;

struct AccessDiagnosis {
    std::string kind;       ///< "out of bounds", "misaligned", "use after free", …
    std::string message;    ///< one sentence, with addresses and sizes
    std::string allocation; ///< "cudaMalloc #3, 4,096 bytes"; empty where there is none
    std::string cause;      ///< one sentence: what usually causes it
};

/// For a thread of `block`. `failure` is misaligned_address or illegal_address.
AccessDiagnosis diagnose(const Block& block, Failure failure, const LaneAccess& access);

/// For the host's access to device memory. The message only describes where the `bytes` bytes at `address`
/// lie.
AccessDiagnosis diagnose(const GlobalMemory& memory, std::uint64_t address, std::uint64_t bytes);

/// "4-byte load from global memory at 0x7f00"
std::string describe(const LaneAccess& access);

} // namespace emulator
