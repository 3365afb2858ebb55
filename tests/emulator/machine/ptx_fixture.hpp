/// Kernels of a few lines of PTX, run on the emulated machine.
#pragma once

#include "emulator/error.hpp"
#include "emulator/execute/opcodes.hpp"
#include "emulator/machine/launch.hpp"
#include "emulator/machine/loaded_module.hpp"
#include "emulator/memory/global_memory.hpp"

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace emulator::fixture {

/// A module whose kernel `k(.param .u64 p0, p1, p2)` has `body`. Declared for it: %p<32>, %rs<32>, %r<64>,
/// %rd<64>, and with `%r60` = %tid.x, `%r61` = %ctaid.x, `%r62` = %ctaid.x * %ntid.x + %tid.x, `%rd60`, `%rd61`,
/// `%rd62` = p0, p1, p2. `declarations` stand before the kernel.
std::string module_of(std::string_view body, std::string_view declarations = "");

/// `blocks` blocks of `threads` threads, in one dimension.
LaunchConfiguration grid_of(std::uint32_t threads, std::uint32_t blocks = 1,
                            std::uint32_t dynamic_shared_bytes = 0);

/// A loaded module with the memory that its kernels use.
class Program {
public:
    explicit Program(std::string text) : module(std::move(text), memory, all_opcodes()) {}

    /// Zeroed device memory for `count` values; the pointer serves as its device address too.
    template <class T> T* allocate(std::size_t count, std::string origin = "cudaMalloc") {
        return reinterpret_cast<T*>(allocate_bytes(count * sizeof(T), std::move(origin)));
    }

    /// Launches `kernel` with 64-bit parameters.
    Counters launch(std::string_view kernel, LaunchConfiguration configuration,
                    std::initializer_list<const void*> parameters = {}, unsigned int host_threads = 1);
    Counters launch(std::string_view kernel, LaunchConfiguration configuration,
                    std::initializer_list<const void*> parameters, const RunOptions& options);

    GlobalMemory memory;
    LoadedModule module;

private:
    void* allocate_bytes(std::size_t bytes, std::string origin);
};

/// Runs `body` in `blocks` blocks of `threads` threads and returns what each thread leaves in %r0, or poison
/// for those that do not reach the body's end. Thread i finds input[i] in %r1, if there is one; %rd61 points
/// to 64 zeroed words that all threads share.
std::vector<std::uint32_t> run(std::string_view body, std::uint32_t threads = 32,
                               std::span<const std::uint32_t> input = {}, std::string_view declarations = "",
                               std::uint32_t blocks = 1, unsigned int host_threads = 1);

inline constexpr std::uint32_t poison = 0xA5A5'A5A5;

using Words = std::vector<std::uint32_t>;

/// One word per lane: `value` of its index.
template <class Value> Words lanes(Value value, std::uint32_t count = 32) {
    Words words(count);
    for (std::uint32_t lane = 0; lane < count; ++lane) words[lane] = value(lane);
    return words;
}

/// The operands that one lane of an instruction gets, and the result that is expected of it.
struct LaneCase {
    std::uint64_t expected = 0;
    std::uint64_t a = 0, b = 0, c = 0, d = 0;
};

/// Executes `instruction` (no semicolon) with each case in a lane of its own. Operands a to d are the low
/// bits of %rs1 to %rs4, %r1 to %r4, %rd1 to %rd4 and of the predicates %p1 to %p4; the result is the
/// register 0 of one of these kinds. The instruction runs four times: as it stands, under a guard, under the
/// opposite guard, and behind a branch that some lanes take. Lanes that sit it out must keep what their
/// result register held.
void expect_lanes(std::string_view instruction, std::span<const LaneCase> cases);

/// The error that `action` throws; a test failure if it throws none.
template <class Action> Error error_of(Action action) {
    try {
        action();
    } catch (const Error& error) {
        return error;
    }
    return {Failure::launch_failure, "no error was thrown"};
}

} // namespace emulator::fixture
