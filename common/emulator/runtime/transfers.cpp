#include "emulator/runtime/transfers.hpp"

#include "emulator/program/names.hpp"
#include "emulator/runtime/runtime.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstring>

namespace emulator {
namespace {

using namespace abi;

/// The memory in which a copy's `kind` places one of its sides.
enum class Place { host, device, anywhere };

Place source_side(cudaMemcpyKind kind) {
    if (kind == cudaMemcpyDefault) return Place::anywhere;
    return kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice ? Place::device : Place::host;
}

Place target_side(cudaMemcpyKind kind) {
    if (kind == cudaMemcpyDefault) return Place::anywhere;
    return kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice ? Place::device : Place::host;
}

std::size_t volume(const cudaExtent& extent) { return extent.width * extent.height * extent.depth; }

[[noreturn]] void reject_range(const Allocation& allocation, const void* pointer, std::size_t bytes) {
    char text[256];
    std::snprintf(text, sizeof text,
                  "a copy or memset of %zu bytes at 0x%" PRIxPTR
                  " leaves its allocation: %s, %zu bytes at 0x%" PRIx64,
                  bytes, reinterpret_cast<std::uintptr_t>(pointer), allocation.origin.c_str(),
                  allocation.bytes, allocation.address);
    throw ApiError(cudaErrorInvalidValue, text);
}

/// Throws unless the `bytes` bytes at `pointer` are in `place`, and inside one allocation if they touch one.
/// Memory unknown to the device counts as host memory of any size. `call`: the operation's name, for
/// listeners.
void check_side(const Device& device, const void* pointer, std::size_t bytes, Place place, const char* call) {
    require(pointer);
    const auto address = reinterpret_cast<std::uint64_t>(pointer);
    const DeviceMemory& memory = device.memory;
    const Allocation* allocation = memory.find(pointer);
    if (allocation) {
        if (place == Place::host && memory.kind_of(*allocation) == MemoryKind::device) {
            memory.was_rejected({call, address, bytes, true});
            throw ApiError(cudaErrorInvalidValue);
        }
        if (allocation->contains(address, bytes)) return;
        memory.was_rejected({call, address, bytes});
        reject_range(*allocation, pointer, bytes);
    } else if (memory.find_array(pointer)) {
        throw ApiError(cudaErrorInvalidValue, "a copy was given an array's handle as a pointer; use "
                                              "cudaMemcpy2DToArray, cudaMemcpy2DFromArray or cudaMemcpy3D");
    } else if (const auto* const variable = Runtime::instance().registry.variable(pointer);
               variable && place == Place::device) {
        const std::string name = variable_name(variable->name);
        memory.was_rejected({call, address, bytes, false, name});
        throw ApiError(cudaErrorInvalidValue,
                       "a copy or memset was given the name of the device variable " + name +
                           " as a pointer; use cudaMemcpyToSymbol or cudaMemcpyFromSymbol, or the pointer "
                           "from cudaGetSymbolAddress");
    } else if (place == Place::device || memory.was_freed(pointer)) {
        memory.was_rejected({call, address, bytes});
        throw ApiError(cudaErrorInvalidValue);
    }
}

/// The array exists, but not that part of it.
[[noreturn]] void refuse_part(const Device& device, const void* handle, cudaPos at, cudaExtent extent,
                              const char* call) {
    const Allocation& allocation = *device.memory.find_array(handle);
    const cudaExtent all = array_at(device, handle).storage();
    const auto common = [](std::size_t first, std::size_t count, std::size_t size) {
        return first >= size ? 0 : std::min(count, size - first);
    };
    const std::size_t inside = common(at.x, extent.width, all.width) *
                               common(at.y, extent.height, all.height) *
                               common(at.z, extent.depth, all.depth);
    // As if the bytes that the array has no room for came right after its end.
    device.memory.was_rejected({call, allocation.end() - inside, std::max(volume(extent), inside + 1)});
    char text[320];
    std::snprintf(text, sizeof text,
                  "%s of %zu bytes x %zu rows x %zu slices, from byte %zu, row %zu, slice %zu on, leaves it: "
                  "%s has %zu bytes x %zu rows x %zu slices",
                  call, extent.width, extent.height, extent.depth, at.x, at.y, at.z,
                  allocation.origin.c_str(), all.width, all.height, all.depth);
    throw ApiError(cudaErrorInvalidValue, text);
}

/// A copy between devices in a default stream waits for both. The host waits for one to memory that may be paged.
void note_order(const Device& device, const void* to, const void* from) {
    const Allocation *const target = device.memory.find(to), *const source = device.memory.find(from);
    if (target && source && target->device != source->device && target->device != Allocation::on_host &&
        source->device != Allocation::on_host)
        device.memory.operations().joins_devices(target->device, source->device);
    if (!target) device.memory.operations().host_waits_for_current();
}

} // namespace

std::size_t Rows::extent() const {
    require(pitch == 0 || height - 1 <= (SIZE_MAX - width) / pitch);
    return (height - 1) * pitch + width;
}

void copy(const Device& device, void* to, std::size_t to_pitch, const void* from, Rows rows,
          cudaMemcpyKind kind) {
    copy(device, {.to = {to, to_pitch},
                  .from = {const_cast<void*>(from), rows.pitch},
                  .extent = {rows.width, rows.height, 1},
                  .kind = kind});
}

const Array& array_at(const Device& device, const void* handle, const char* call, std::size_t bytes) {
    const auto found = device.arrays.find(handle);
    if (found != device.arrays.end()) return found->second;
    if (handle && call && bytes > 0)
        device.memory.was_rejected({call, reinterpret_cast<std::uint64_t>(handle), bytes});
    throw ApiError(cudaErrorInvalidResourceHandle);
}

Side array_side(const Device& device, const void* handle, cudaPos at, cudaExtent extent, const char* call) {
    const Array& array = array_at(device, handle, call, volume(extent));
    const cudaExtent all = array.storage();
    const auto fits = [](std::size_t first, std::size_t count, std::size_t size) {
        return first <= size && count <= size - first;
    };
    if (!fits(at.x, extent.width, all.width) || !fits(at.y, extent.height, all.height) ||
        !fits(at.z, extent.depth, all.depth))
        refuse_part(device, handle, at, extent, call);
    char* const first =
        const_cast<char*>(static_cast<const char*>(handle)) + (at.z * all.height + at.y) * all.width + at.x;
    return {first, all.width, all.width * all.height, true};
}

Box box_of(const Device& device, const cudaMemcpy3DParms& parameters) {
    const auto &to = parameters.dstPtr, &from = parameters.srcPtr;
    require(!parameters.dstArray != !to.ptr && !parameters.srcArray != !from.ptr);
    const auto element_of = [&](const void* array, const char* call) {
        return array ? array_at(device, array, call, volume(parameters.extent)).element_bytes() : 0;
    };
    const std::size_t to_element = element_of(parameters.dstArray, to_array),
                      from_element = element_of(parameters.srcArray, from_array);
    require(to_element == from_element || to_element == 0 || from_element == 0);
    const auto bytes_of = [](std::size_t elements, std::size_t element_bytes) {
        require(elements <= SIZE_MAX / element_bytes);
        return elements * element_bytes;
    };
    // Everything counts in elements of the array, or in bytes without one. CUDA's reference gives bytes for a
    // pointer's position, but an H200 takes elements there too.
    const std::size_t element = std::max({to_element, from_element, std::size_t{1}});
    cudaExtent extent = parameters.extent;
    extent.width = bytes_of(extent.width, element);
    const auto side = [&](const void* array, const cudaPitchedPtr& whole, cudaPos at,
                          const char* call) -> Side {
        at.x = bytes_of(at.x, element);
        if (array) return array_side(device, array, at, extent, call);
        require(element == 1 || (at.x <= whole.pitch && extent.width <= whole.pitch - at.x));
        return {static_cast<char*>(whole.ptr) + (at.z * whole.ysize + at.y) * whole.pitch + at.x, whole.pitch,
                whole.pitch * whole.ysize};
    };
    return {.to = side(parameters.dstArray, to, parameters.dstPos, to_array),
            .from = side(parameters.srcArray, from, parameters.srcPos, from_array),
            .extent = extent,
            .kind = parameters.kind};
}

void copy(const Device& device, const Box& box) {
    const Side &to = box.to, &from = box.from;
    const cudaMemcpyKind kind = box.kind;
    require(kind >= cudaMemcpyHostToHost && kind <= cudaMemcpyDefault, cudaErrorInvalidMemcpyDirection);
    const std::size_t width = box.extent.width, height = box.extent.height, depth = box.extent.depth;
    if (width == 0 || height == 0 || depth == 0) return;
    require(width <= from.pitch && width <= to.pitch, cudaErrorInvalidPitchValue);
    const auto row_of = [](const Side& side, std::size_t z, std::size_t y) {
        return static_cast<char*>(side.first) + z * side.slice + y * side.pitch;
    };
    const auto check = [&](const Side& side, Place place, const char* call) {
        if (side.is_array) return;
        for (std::size_t z = 0; z < depth; ++z)
            check_side(device, side.first ? row_of(side, z, 0) : nullptr,
                       Rows{side.pitch, width, height}.extent(), place, call);
    };
    check(from, source_side(kind), "copy from device memory");
    check(to, target_side(kind), "copy to device memory");
    if (device.shared.rehearses) {
        const Allocation *const target = device.memory.find(to.first), *const source =
                                                                           device.memory.find(from.first);
        device.shared.joins_devices = target && source && target->device != source->device &&
                                      target->device != Allocation::on_host &&
                                      source->device != Allocation::on_host;
        device.shared.may_run_later =
            target && source && !to.is_array && !from.is_array && !device.shared.joins_devices;
        return;
    }
    if (!to.is_array && !from.is_array) note_order(device, to.first, from.first);
    if (to.is_array || from.is_array)
        device.memory.operations().host_waits_for_current(); // or so it is taken
    for (std::size_t z = 0; z < depth; ++z)
        for (std::size_t y = 0; y < height; ++y) {
            char* const target = row_of(to, z, y);
            const char* const source = row_of(from, z, y);
            std::memmove(target, source, width);
            device.memory.was_copied(target, source, width);
        }
}

void fill(const Device& device, void* to, Rows rows, unsigned int value, std::size_t element_bytes) {
    if (rows.width == 0 || rows.height == 0) return;
    require(rows.height == 1 || rows.width <= rows.pitch, cudaErrorInvalidPitchValue);
    check_side(device, to, rows.extent(), Place::device, "memset");
    if (device.shared.rehearses) {
        device.shared.may_run_later = device.memory.find(to)->device != Allocation::on_host;
        return;
    }
    if (device.memory.find(to)->device == Allocation::on_host)
        device.memory.operations().host_waits_for_current(); // or so it is taken
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
