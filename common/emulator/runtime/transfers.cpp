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
/// `call`: what is done, for those who keep account.
void check_side(const Device& device, const void* pointer, std::size_t bytes, Place place, const char* call) {
    require(pointer);
    const auto address = reinterpret_cast<std::uint64_t>(pointer);
    const DeviceMemory& memory = device.memory;
    const Allocation* allocation = memory.find(pointer);
    if (allocation) {
        require(place != Place::host || memory.kind_of(*allocation) != MemoryKind::device);
        if (allocation->contains(address, bytes)) return;
        memory.was_refused({call, address, bytes});
        refuse_range(*allocation, pointer, bytes);
    } else if (place == Place::device || memory.was_freed(pointer)) {
        memory.was_refused({call, address, bytes});
        throw Refused(cudaErrorInvalidValue);
    }
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
    check_side(device, from, rows.extent(), source_place(kind), "copy from device memory");
    check_side(device, to, Rows{to_pitch, rows.width, rows.height}.extent(), target_place(kind),
               "copy to device memory");
    for (std::size_t row = 0; row < rows.height; ++row) {
        char* const target = static_cast<char*>(to) + row * to_pitch;
        const char* const source = static_cast<const char*>(from) + row * rows.pitch;
        std::memmove(target, source, rows.width);
        device.memory.was_copied(target, source, rows.width);
    }
}

Box box_of(const cudaMemcpy3DParms& parameters) {
    if (parameters.srcArray || parameters.dstArray)
        throw Refused(cudaErrorNotSupported,
                      "a copy of an array in three dimensions is not supported by the emulator");
    const auto start = [](const cudaPitchedPtr& whole, const cudaPos& at) {
        require(whole.ptr);
        return static_cast<char*>(whole.ptr) + (at.z * whole.ysize + at.y) * whole.pitch + at.x;
    };
    const auto &to = parameters.dstPtr, &from = parameters.srcPtr;
    return {.to = start(to, parameters.dstPos),
            .to_pitch = to.pitch,
            .to_slice = to.pitch * to.ysize,
            .from = start(from, parameters.srcPos),
            .from_pitch = from.pitch,
            .from_slice = from.pitch * from.ysize,
            .extent = parameters.extent,
            .kind = parameters.kind};
}

void copy(const Device& device, const Box& box) {
    for (std::size_t z = 0; z < box.extent.depth; ++z)
        copy(device, static_cast<char*>(box.to) + z * box.to_slice, box.to_pitch,
             static_cast<const char*>(box.from) + z * box.from_slice,
             {box.from_pitch, box.extent.width, box.extent.height}, box.kind);
}

void fill(const Device& device, void* to, Rows rows, unsigned value, std::size_t element_bytes) {
    if (rows.width == 0 || rows.height == 0) return;
    require(rows.height == 1 || rows.width <= rows.pitch, cudaErrorInvalidPitchValue);
    check_side(device, to, rows.extent(), Place::device, "memset");
    for (std::size_t row = 0; row < rows.height; ++row) {
        char* const target = static_cast<char*>(to) + row * rows.pitch;
        if (element_bytes == 1)
            std::memset(target, static_cast<int>(value), rows.width);
        else
            for (std::size_t i = 0; i + element_bytes <= rows.width; i += element_bytes)
                std::memcpy(target + i, &value, element_bytes); // little-endian, as the device is
        device.memory.was_set(target, rows.width);
    }
}

} // namespace emulator
