/// Functions that CUDA provides to kernels: vprintf, __assertfail, malloc and free.
#include "emulator/execute/families.hpp"
#include "emulator/machine/block.hpp"
#include "emulator/machine/fault.hpp"
#include "emulator/machine/warp.hpp"
#include "emulator/memory/address_space.hpp"
#include "emulator/program/decoder.hpp"
#include "emulator/text.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>

namespace emulator {

namespace {

using std::uint32_t, std::uint64_t;

/// There is no memory: the launch ends, or skips the access if an observer absorbs the fault.
std::span<const std::byte> reject(Warp& warp, const Instruction& instruction, int lane, ptx::Space space,
                                  uint64_t address, const char* what) {
    const Fault fault{.failure = Failure::illegal_address,
                      .lane = lane,
                      .instruction = &instruction,
                      .message = std::string("illegal address of ") + what,
                      .access = LaneAccess{space, AccessKind::load, 1, address}};
    if (is_absorbed(warp, fault, LaneMask{1} << lane)) return {};
    throw fault;
}

/// The bytes from a generic address to the end of the memory that holds it.
std::span<const std::byte> memory_from(Warp& warp, const Instruction& instruction, int lane, uint64_t address,
                                       const char* what) {
    const uint64_t offset = address & ~window_mask;
    switch (address & window_mask) {
    case local_window:
        if (offset >= warp.local_bytes())
            return reject(warp, instruction, lane, ptx::Space::local, offset, what);
        return {warp.local(lane) + offset, static_cast<std::size_t>(warp.local_bytes() - offset)};
    case shared_window: { // of another block: not supported
        const uint64_t own = offset - warp.block().shared_base();
        if (own >= warp.block().shared().size())
            return reject(warp, instruction, lane, ptx::Space::shared, own, what);
        return warp.block().shared().subspan(static_cast<std::size_t>(own));
    }
    default: {
        const Allocation* const allocation = warp.block().allocation(address, 1);
        if (!allocation) return reject(warp, instruction, lane, ptx::Space::global, address, what);
        return {reinterpret_cast<const std::byte*>(address),
                static_cast<std::size_t>(allocation->end() - address)};
    }
    }
}

std::string text_at(Warp& warp, const Instruction& instruction, int lane, uint64_t address) {
    const auto bytes = memory_from(warp, instruction, lane, address, "a string");
    if (bytes.empty()) return {};
    const auto* const text = reinterpret_cast<const char*>(bytes.data());
    const std::size_t length = strnlen(text, bytes.size());
    if (length == bytes.size())
        throw Fault{Failure::illegal_address, lane, &instruction,
                    "the string at " + hexadecimal(address) +
                        " has no end: no byte is 0 up to the end of the memory that holds it"};
    return {text, length};
}

/// Argument `k` of the call, in the caller's frame of local memory.
uint64_t argument(Warp& warp, const Instruction& instruction, int lane, std::size_t k) {
    uint64_t value = 0;
    const auto& detail = instruction.detail_as<CallDetail>();
    std::memcpy(&value, warp.local(lane) + warp.local_base() + detail.argument_offsets[k],
                std::min<std::size_t>(sizeof value, detail.argument_sizes[k]));
    return value;
}

template <class T> void set_result(Warp& warp, const Instruction& instruction, int lane, T value) {
    const auto& detail = instruction.detail_as<CallDetail>();
    if (!detail.result_offsets.empty())
        std::memcpy(warp.local(lane) + warp.local_base() + detail.result_offsets[0], &value,
                    std::min<std::size_t>(sizeof value, detail.result_sizes[0]));
}

// ---- vprintf ----

/// Takes arguments from the buffer that the compiler fills: each at a multiple of its size, 4 or 8 bytes.
class ArgumentReader {
public:
    explicit ArgumentReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

    template <class T> T next() {
        place_ = (place_ + sizeof(T) - 1) / sizeof(T) * sizeof(T);
        T value{};
        if (place_ + sizeof(T) <= bytes_.size()) std::memcpy(&value, bytes_.data() + place_, sizeof(T));
        place_ += sizeof(T);
        return value;
    }

private:
    std::span<const std::byte> bytes_;
    std::size_t place_ = 0;
};

template <class T> std::string formatted(const std::string& specification, T value) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    const int length = std::snprintf(nullptr, 0, specification.c_str(), value);
    std::string text(static_cast<std::size_t>(std::max(length, 0)), '\0');
    std::snprintf(text.data(), text.size() + 1, specification.c_str(), value);
#pragma GCC diagnostic pop
    return text;
}

std::string format_one(const std::string& specification, bool is_long, char conversion,
                       ArgumentReader& arguments, const auto& read_string) {
    switch (conversion) {
    case 'd':
    case 'i':
        if (is_long) return formatted(specification + "ll" + conversion, arguments.next<long long>());
        return formatted(specification + conversion, arguments.next<int>());
    case 'u':
    case 'o':
    case 'x':
    case 'X':
        if (is_long)
            return formatted(specification + "ll" + conversion, arguments.next<unsigned long long>());
        return formatted(specification + conversion, arguments.next<unsigned int>());
    case 'c': return formatted(specification + conversion, arguments.next<int>());
    case 'p':
        return formatted(specification + conversion, reinterpret_cast<void*>(arguments.next<uint64_t>()));
    case 's': {
        const uint64_t address = arguments.next<uint64_t>();
        return address == 0 ? "(null)" : formatted(specification + conversion, read_string(address).c_str());
    }
    case 'a':
    case 'A':
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G': return formatted(specification + conversion, arguments.next<double>());
    default: return specification + conversion; // not a conversion: printed as it is, as on the device
    }
}

std::string format(const std::string& text, ArgumentReader arguments, uint32_t& count,
                   const auto& read_string) {
    std::string result;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '%') {
            result += text[i];
            continue;
        }
        std::string specification = "%";
        int digits = 0; // limits widths and precisions: more than four digits cannot be intended
        for (++i; i < text.size() && std::strchr("-+ #0123456789.*", text[i]); ++i) {
            if (text[i] == '*') {
                const int number = arguments.next<int>();
                if (number < 0 && specification.back() == '.')
                    specification.pop_back(); // as if there were no precision
                else if (digits == 0)
                    specification += std::to_string(std::clamp(number, -9999, 9999));
                digits = 4; // no more may follow
                continue;
            }
            digits = text[i] >= '0' && text[i] <= '9' ? digits + 1 : 0;
            if (digits <= 4) specification += text[i];
        }
        int longs = 0;
        for (; i < text.size() && std::strchr("hljztL", text[i]); ++i) longs += text[i] != 'h';
        if (i >= text.size()) return result + specification;
        if (text[i] == '%') {
            result += '%';
            continue;
        }
        result += format_one(specification, longs > 0, text[i], arguments, read_string);
        ++count;
    }
    return result;
}

void call_vprintf(Warp& warp, const Instruction& instruction, LaneMask active) {
    for_each_lane(active, [&](int lane) {
        const std::string text = text_at(warp, instruction, lane, argument(warp, instruction, lane, 0));
        const uint64_t buffer = argument(warp, instruction, lane, 1);
        const auto bytes = buffer == 0 ? std::span<const std::byte>{}
                                       : memory_from(warp, instruction, lane, buffer, "printf's arguments");
        uint32_t count = 0;
        const std::string line = format(text, ArgumentReader(bytes), count, [&](uint64_t address) {
            return text_at(warp, instruction, lane, address);
        });
        std::fwrite(line.data(), 1, line.size(), stdout);
        set_result(warp, instruction, lane, count);
    });
    warp.advance();
}

// ---- assert ----

void call_assertfail(Warp& warp, const Instruction& instruction, LaneMask active) {
    const int lane = std::countr_zero(active);
    const auto text = [&](std::size_t k) {
        return text_at(warp, instruction, lane, argument(warp, instruction, lane, k));
    };
    throw Fault{Failure::assertion, lane, &instruction,
                text(1) + ":" + std::to_string(static_cast<uint32_t>(argument(warp, instruction, lane, 2))) +
                    ": " + text(3) + ": assertion `" + text(0) + "` failed"};
}

// ---- malloc and free ----

void tell(const Warp& warp, const Instruction& instruction, int lane, HeapUse use, uint64_t address,
          std::size_t bytes) {
    for (Observer* const observer : warp.block().observers())
        observer->used_heap(warp, instruction, lane, use, address, bytes);
}

DeviceHeap* heap_of(const Warp& warp) {
    const Grid& grid = warp.block().grid();
    return grid.memory.heap(grid.configuration.device);
}

void call_malloc(Warp& warp, const Instruction& instruction, LaneMask active) {
    DeviceHeap& heap = *heap_of(warp);
    for_each_lane(active, [&](int lane) {
        const uint64_t bytes = argument(warp, instruction, lane, 0), address = heap.allocate(bytes);
        set_result(warp, instruction, lane, address);
        if (address != 0) tell(warp, instruction, lane, HeapUse::allocate, address, bytes);
    });
    warp.advance();
}

void call_free(Warp& warp, const Instruction& instruction, LaneMask active) {
    DeviceHeap* const heap = heap_of(warp);
    for_each_lane(active, [&](int lane) {
        const uint64_t address = argument(warp, instruction, lane, 0);
        if (address == 0) return;
        const std::size_t bytes = heap ? heap->release(address) : 0;
        if (bytes == 0)
            throw Fault{Failure::launch_failure, lane, &instruction,
                        "free of " + hexadecimal(address) +
                            ", which malloc has not returned, or which is free"};
        tell(warp, instruction, lane, HeapUse::free, address, bytes);
    });
    warp.advance();
}

} // namespace

std::size_t builtin_arguments(std::string_view name) {
    if (name == "vprintf") return 2;
    return name == "__assertfail" ? 5 : 1;
}

Handler builtin(std::string_view name) {
    if (name == "malloc") return &call_malloc;
    if (name == "free") return &call_free;
    if (name == "vprintf") return &call_vprintf;
    if (name == "__assertfail") return &call_assertfail;
    return nullptr;
}

} // namespace emulator
