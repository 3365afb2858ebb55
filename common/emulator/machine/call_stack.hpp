/// A warp's call frames, and the local memory in which they lie.
#pragma once

#include "emulator/program/code.hpp"
#include "emulator/program/lanes.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace emulator {

class Block;

/// A call frame: the registers of all lanes that entered through the same call site.
struct Frame {
    const Code* code = nullptr;
    std::byte* rows = nullptr;
    Frame* caller = nullptr;           ///< null for the kernel itself
    const Instruction* call = nullptr; ///< in the caller's code
    std::uint32_t depth = 0;
    std::uint32_t room = 0;               ///< local memory past the frame, allocated by `alloca`
    std::uint32_t local_base = 0;         ///< where the frame starts in each lane's local memory
    LaneMask lanes = 0;                   ///< those that have not returned or exited
    std::unique_ptr<std::byte[]> storage; ///< what `rows` points into
};

/// Storage for one block at a time, as its warp.
class CallStack {
public:
    /// Prepares the kernel's frame for the warp with index `warp`.
    CallStack(const Block& block, std::uint32_t warp);

    /// Only the kernel's frame, with `lanes`. Returns it.
    Frame& start(LaneMask lanes);

    /// `lanes` of `caller` enter the function with their arguments. Returns its frame. \throws Fault if local
    /// memory has no room for it.
    Frame& call(Frame& caller, LaneMask lanes, const Instruction& instruction, const Code& callee);

    /// `lanes` return from a function with their results. Returns the caller's frame.
    Frame& leave(Frame& frame, LaneMask lanes);

    /// Allocates `bytes` more bytes of the frame's local memory for `lanes`; returns their offset. \throws
    /// Fault if there are too few.
    std::uint64_t allocate(Frame& frame, LaneMask lanes, const Instruction& instruction, std::uint64_t bytes,
                           std::uint64_t alignment) const;

    std::byte* local(int lane) const { return local_.get() + static_cast<std::size_t>(lane) * local_bytes_; }
    std::uint32_t local_bytes() const { return local_bytes_; } ///< of each lane

private:
    [[noreturn]] void overflow(LaneMask lanes, const Instruction& instruction) const;
    void fill_constants(Frame& frame) const;
    void fill_specials(Frame& frame) const;
    void fill_block_specials(Frame& frame) const;
    /// The frame of lanes that made the same call before and have not returned, or null. Lanes that make the
    /// call later join it: a shuffle in the function may wait for them.
    Frame* shared_frame(const Frame& caller, const Instruction& call, const Code& callee,
                        std::uint32_t local_base) const;
    Frame& new_frame();

    const Block& block_;
    std::uint32_t warp_;
    std::uint32_t local_bytes_;
    std::unique_ptr<std::byte[]> local_;
    Frame kernel_frame_;
    std::vector<std::unique_ptr<Frame>> call_frames_; ///< those without lanes are free
};

} // namespace emulator
