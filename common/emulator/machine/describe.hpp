/// The text of findings: which thread, and which memory.
#pragma once

#include "emulator/machine/finding.hpp"
#include "emulator/machine/launch.hpp"
#include "emulator/machine/observer.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace emulator {

struct Code;
struct Instruction;
class Warp;

/// The thread in `lane`, at `instruction`, which the warp is executing.
Party party(std::string role, const Warp& warp, const Instruction& instruction, int lane);

/// A thread that was at an instruction before.
Party party(std::string role, const Code& code, std::uint32_t pc, Dim3 block, Dim3 thread);

/// One of the block's threads that does not wait at a barrier; nothing if all do.
std::optional<Party> running_thread(const std::string& role, const Block& block);

/// "load", "store" or "atomic"
const char* role_of(AccessKind kind);

/// The variable at an offset in a block's shared memory: "tile, 1,024 bytes of shared memory".
std::string shared_variable(const Grid& grid, std::uint64_t offset);

} // namespace emulator
