#include "emulator/runtime/transfers.hpp"

#include <cinttypes>
#include <cstdio>
#include <cstring>

namespace emulator {
namespace {

using namespace abi;

/// Which memory a copy's `kind` says that one of its sides is in.
enum class Place { host, device, anywhere };

Place source_place(cudaMemcpyKind kind) {
    if (kind == cudaMemcpyDefault) return Place::anywhere;
    return kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice ? Place::device : Place::host;
}

Place target_place(cudaMemcpyKind kind) {
    if (kind == cudaMemcpyDefault) return Place::anywhere;
    return kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice ? Place::device : Place::host;
}

[[noreturn]] void refuse_range(const Allocation& allocation, const void* pointer, std::size_t bytes) {
    char text[256];
    std::snprintf(text, sizeof text,
                  "a copy or memset of %zu bytes at 0x%" PRIxPTR
                  " leaves its allocation: %s, %zu bytes at 0x%" PRIx64,
                  bytes, reinterpret_cast<std::uintptr_t>(pointer), allocation.origin.c_str(),
                  allocation.bytes, allocation.address);
    throw Refused(cudaErrorInvalidValue, text);
}

/// Throws unless the `bytes` bytes at `pointer` are in `place`, and all in one allocation if they are in one.
/// Memory that the device does not know is taken for the host's: there is no way to tell how long it is.
void check_side(const Device& device, const void* pointer, std::size_t bytes, Place place) {
    require(pointer);
    const Allocation* allocation = device.memory.find(pointer);
    if (!allocation) {
        require(place != Place::device);
        return;
    }
    require(place != Place::host || device.memory.kind_of(*allocation) != MemoryKind::device);
    if (!allocation->contains(reinterpret_cast<std::uint64_t>(pointer), bytes))
        refuse_range(*allocation, pointer, bytes);
}

} // namespace

std::size_t Rows::extent() const {
    require(pitch == 0 || height - 1 <= (SIZE_MAX - width) / pitch);
    return (height - 1) * pitch + width;
}

void copy(const Device& device, void* to, std::size_t to_pitch, const void* from, Rows rows,
          cudaMemcpyKind kind) {
    require(kind >= cudaMemcpyHostToHost && kind <= cudaMemcpyDefault, cudaErrorInvalidMemcpyDirection);
    if (rows.width == 0 || rows.height == 0) return;
    require(rows.width <= rows.pitch && rows.width <= to_pitch, cudaErrorInvalidPitchValue);
    check_side(device, from, rows.extent(), source_place(kind));
    check_side(device, to, Rows{to_pitch, rows.width, rows.height}.extent(), target_place(kind));
    for (std::size_t row = 0; row < rows.height; ++row)
        std::memmove(static_cast<char*>(to) + row * to_pitch,
                     static_cast<const char*>(from) + row * rows.pitch, rows.width);
}

void fill(const Device& device, void* to, Rows rows, int value) {
    if (rows.width == 0 || rows.height == 0) return;
    require(rows.height == 1 || rows.width <= rows.pitch, cudaErrorInvalidPitchValue);
    check_side(device, to, rows.extent(), Place::device);
    for (std::size_t row = 0; row < rows.height; ++row)
        std::memset(static_cast<char*>(to) + row * rows.pitch, value, rows.width);
}

} // namespace emulator
