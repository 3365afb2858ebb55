#include "emulator/machine/call_stack.hpp"

#include "emulator/machine/block.hpp"
#include "emulator/machine/fault.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>

namespace emulator {

namespace {

constexpr std::size_t row_alignment = 64; // a cache line, and the widest vector register

std::byte* aligned(std::byte* storage) {
    const auto address = reinterpret_cast<std::uintptr_t>(storage);
    return storage + (row_alignment - address % row_alignment) % row_alignment;
}

void allocate_rows(Frame& frame, const Code& code) {
    frame.code = &code;
    frame.storage = std::make_unique<std::byte[]>(code.frame_bytes + row_alignment); // zeros
    frame.rows = aligned(frame.storage.get());
}

template <class T> void fill(std::byte* row, T value) {
    std::fill_n(reinterpret_cast<T*>(row), warp_size, value);
}

} // namespace

CallStack::CallStack(const Block& block, std::uint32_t warp)
    : block_(block), warp_(warp), local_bytes_(block.grid().stack_bytes),
      local_(new std::byte[std::size_t{warp_size} * block.grid().stack_bytes]) {
    allocate_rows(kernel_frame_, block.grid().kernel.code());
    fill_constants(kernel_frame_);
    fill_specials(kernel_frame_);
}

Frame& CallStack::start(LaneMask lanes) {
    fill_block_specials(kernel_frame_);
    kernel_frame_.lanes = lanes;
    kernel_frame_.room = 0;
    for (const auto& frame : call_frames_) frame->lanes = 0;
    return kernel_frame_;
}

void CallStack::fill_constants(Frame& frame) const {
    for (const Code::Constant& constant : frame.code->constants) {
        std::uint64_t value = constant.value;
        if (constant.base == Code::Base::local) value += frame.local_base;
        if (constant.base == Code::Base::shared) value += block_.shared_base();
        if (constant.wide)
            fill(frame.rows + constant.row, value);
        else
            fill(frame.rows + constant.row, static_cast<std::uint32_t>(value));
    }
}

void CallStack::fill_specials(Frame& frame) const {
    for (const Code::SpecialRow& special : frame.code->specials) {
        auto* const cells = reinterpret_cast<std::uint32_t*>(frame.rows + special.row);
        if (!depends_on_lane(special.special)) {
            fill(frame.rows + special.row, block_.special(special.special, warp_, 0));
            continue;
        }
        for (int lane = 0; lane < warp_size; ++lane)
            cells[lane] = block_.special(special.special, warp_, lane);
    }
}

void CallStack::fill_block_specials(Frame& frame) const {
    for (const Code::SpecialRow& special : frame.code->block_specials)
        fill(frame.rows + special.row, block_.special(special.special, warp_, 0));
}

Frame* CallStack::shared_frame(const Frame& caller, const Instruction& call, const Code& callee,
                               std::uint32_t local_base) const {
    for (const auto& frame : call_frames_)
        if (frame->lanes != 0 && frame->caller == &caller && frame->call == &call && frame->code == &callee &&
            frame->local_base == local_base && frame->room == 0)
            return frame.get();
    return nullptr;
}

Frame& CallStack::new_frame() {
    for (const auto& frame : call_frames_)
        if (frame->lanes == 0) return *frame;
    return *call_frames_.emplace_back(std::make_unique<Frame>());
}

Frame& CallStack::call(Frame& caller, LaneMask lanes, const Instruction& instruction, const Code& callee) {
    const auto& detail = instruction.detail_as<CallDetail>();
    const std::uint32_t local_base = caller.local_base + caller.code->local_bytes + caller.room;
    if (local_base + callee.local_bytes > local_bytes_) overflow(lanes, instruction);

    Frame* const joined = shared_frame(caller, instruction, callee, local_base);
    Frame& frame = joined ? *joined : new_frame();
    frame.lanes |= lanes;
    if (!joined) {
        allocate_rows(frame, callee);
        frame.caller = &caller;
        frame.call = &instruction;
        frame.depth = caller.depth + 1;
        frame.local_base = local_base;
        frame.room = 0;
        fill_constants(frame);
        fill_specials(frame);
        fill_block_specials(frame);
    }
    const std::size_t arguments = std::min(detail.argument_offsets.size(), callee.argument_offsets.size());
    for_each_lane(lanes, [&](int lane) {
        for (std::size_t i = 0; i < arguments; ++i)
            std::memcpy(local(lane) + local_base + callee.argument_offsets[i],
                        local(lane) + caller.local_base + detail.argument_offsets[i],
                        detail.argument_sizes[i]);
    });
    return frame;
}

Frame& CallStack::leave(Frame& frame, LaneMask lanes) {
    Frame& caller = *frame.caller;
    const auto& detail = frame.call->detail_as<CallDetail>();
    const std::size_t results = std::min(detail.result_offsets.size(), frame.code->result_offsets.size());
    for_each_lane(lanes, [&](int lane) {
        for (std::size_t i = 0; i < results; ++i)
            std::memcpy(local(lane) + caller.local_base + detail.result_offsets[i],
                        local(lane) + frame.local_base + frame.code->result_offsets[i],
                        detail.result_sizes[i]);
    });
    frame.lanes &= ~lanes;
    return caller;
}

std::uint64_t CallStack::allocate(Frame& frame, LaneMask lanes, const Instruction& instruction,
                                  std::uint64_t bytes, std::uint64_t alignment) const {
    const std::uint64_t base = frame.local_base + frame.code->local_bytes;
    const std::uint64_t place = (base + frame.room + alignment - 1) / alignment * alignment;
    if (bytes > local_bytes_ || place + bytes > local_bytes_) overflow(lanes, instruction);
    frame.room = static_cast<std::uint32_t>((place + bytes + 15) / 16 * 16 - base);
    return place;
}

void CallStack::overflow(LaneMask lanes, const Instruction& instruction) const {
    throw Fault{Failure::launch_failure, std::countr_zero(lanes), &instruction,
                "stack overflow: calls need more than the " + std::to_string(local_bytes_) +
                    " bytes of local memory per thread; if the recursion ends, "
                    "cudaDeviceSetLimit(cudaLimitStackSize, bytes) makes room for it"};
}

} // namespace emulator
