/// CUDA arrays: storage for copies only. There are no textures and no surfaces.

#include "emulator/runtime/api_call.hpp"
#include "emulator/runtime/transfers.hpp"

#include <algorithm>
#include <functional>
#include <utility>

using namespace emulator;
using namespace emulator::abi;

namespace {

/// \throws ApiError with cudaErrorInvalidChannelDescriptor unless it describes one, two or four equal
/// channels of a supported kind.
void check_format(const cudaChannelFormatDesc& format, const char* call) {
    const auto [x, y, z, w, kind] = format;
    if (kind >= cudaChannelFormatKindNV12 && kind <= cudaChannelFormatKindUnsignedNormalized1010102)
        throw UnsupportedCall(
            call, "arrays of normalized, compressed or planar formats are not supported by the emulator; "
                  "cudaChannelFormatKindSigned, Unsigned and Float are");
    const bool is_float = kind == cudaChannelFormatKindFloat;
    const bool has_kind =
        is_float || kind == cudaChannelFormatKindSigned || kind == cudaChannelFormatKindUnsigned;
    const bool has_size = x == 16 || x == 32 || (x == 8 && !is_float);
    const bool has_count =
        (y == 0 && z == 0 && w == 0) || (y == x && z == 0 && w == 0) || (y == x && z == x && w == x);
    require(has_kind && has_size && has_count, cudaErrorInvalidChannelDescriptor);
}

/// Between 1 and the attribute's value.
bool is_within(std::size_t size, cudaDeviceAttr limit) {
    return size >= 1 && size <= static_cast<std::size_t>(device_attribute(limit));
}

bool is_valid_cubemap(const cudaExtent& extent, bool is_layered) {
    if (extent.width != extent.height || extent.depth % 6 != 0) return false;
    if (is_layered)
        return is_within(extent.width, cudaDevAttrMaxTextureCubemapLayeredWidth) &&
               is_within(extent.depth, cudaDevAttrMaxTextureCubemapLayeredLayers);
    return is_within(extent.width, cudaDevAttrMaxTextureCubemapWidth) && extent.depth == 6;
}

/// The dimensions that are 0 determine the kind of array.
bool is_valid_extent(const cudaExtent& extent, unsigned int flags) {
    const auto [width, height, depth] = extent;
    const bool is_layered = flags & cudaArrayLayered;
    if (flags & cudaArrayCubemap) return is_valid_cubemap(extent, is_layered);
    if (is_layered && height == 0)
        return is_within(width, cudaDevAttrMaxTexture1DLayeredWidth) &&
               is_within(depth, cudaDevAttrMaxTexture1DLayeredLayers);
    if (is_layered)
        return is_within(width, cudaDevAttrMaxTexture2DLayeredWidth) &&
               is_within(height, cudaDevAttrMaxTexture2DLayeredHeight) &&
               is_within(depth, cudaDevAttrMaxTexture2DLayeredLayers);
    if (height == 0 && depth == 0) return is_within(width, cudaDevAttrMaxTexture1DWidth);
    if (depth == 0)
        return is_within(width, cudaDevAttrMaxTexture2DWidth) &&
               is_within(height, cudaDevAttrMaxTexture2DHeight);
    return (is_within(width, cudaDevAttrMaxTexture3DWidth) &&
            is_within(height, cudaDevAttrMaxTexture3DHeight) &&
            is_within(depth, cudaDevAttrMaxTexture3DDepth)) ||
           (is_within(width, cudaDevAttrMaxTexture3DWidthAlt) &&
            is_within(height, cudaDevAttrMaxTexture3DHeightAlt) &&
            is_within(depth, cudaDevAttrMaxTexture3DDepthAlt));
}

void check_flags(unsigned int flags, unsigned int allowed, const cudaExtent& extent, const char* call) {
    if (flags & (cudaArraySparse | cudaArrayDeferredMapping))
        throw UnsupportedCall(call, "arrays without storage of their own (cudaArraySparse, "
                                    "cudaArrayDeferredMapping) are not supported by the emulator");
    require((flags & ~allowed) == 0);
    const bool is_plane = extent.height != 0 && extent.depth == 0;
    require(!(flags & cudaArrayTextureGather) || (flags == cudaArrayTextureGather && is_plane));
}

cudaError_t make_array(void** handle, const cudaChannelFormatDesc* format, const cudaExtent& extent,
                       unsigned int flags, unsigned int allowed_flags, const char* call) {
    return api_call([&](Device& device) {
        require(handle && format);
        reject_while_capturing(device);
        check_flags(flags, allowed_flags, extent, call);
        check_format(*format, call);
        require(is_valid_extent(extent, flags));
        const Array array{*format, extent, flags};
        const auto [width, height, depth] = array.storage();
        *handle = device.memory.allocate(device.number, width * height * depth, MemoryKind::array);
        device.arrays.insert_or_assign(*handle, array);
    });
}

cudaError_t copy_in(const void* stream, std::function<void(Device&)> work) {
    return stream_call(stream, {.type = cudaGraphNodeTypeMemcpy, .work = std::move(work), .host = nullptr});
}

/// `bytes` bytes of an array from that position on, row after row, as if it were one row.
Side stretch(const Device& device, const void* array, std::size_t x, std::size_t y, std::size_t bytes,
             const char* call) {
    const Side begin = array_side(device, array, {x, y, 0}, {std::min(bytes, std::size_t{1}), 1, 1}, call);
    const cudaExtent all = array_at(device, array).storage();
    const std::size_t left = (all.height - y) * all.width - x;
    if (bytes > left) array_side(device, array, {x, y, 0}, {bytes, 1, 1}, call); // which refuses it
    return {begin.first, bytes, bytes, true};
}

} // namespace

EMULATOR_ENTRY cudaError_t cudaMallocArray(void** array, const cudaChannelFormatDesc* format,
                                           std::size_t width, std::size_t height, unsigned int flags) {
    return make_array(array, format, {width, height, 0}, flags,
                      cudaArraySurfaceLoadStore | cudaArrayTextureGather, "cudaMallocArray");
}

EMULATOR_ENTRY cudaError_t cudaMalloc3DArray(void** array, const cudaChannelFormatDesc* format,
                                             cudaExtent extent, unsigned int flags) {
    return make_array(array, format, extent, flags,
                      cudaArrayLayered | cudaArraySurfaceLoadStore | cudaArrayCubemap |
                          cudaArrayTextureGather,
                      "cudaMalloc3DArray");
}

EMULATOR_ENTRY cudaError_t cudaFreeArray(void* array) {
    return api_call([&](Device& device) {
        if (!array) return;
        reject_while_capturing(device);
        if (device.memory.release(array, MemoryKind::array, "cudaFreeArray")) {
            device.arrays.erase(array);
            return;
        }
        device.memory.was_rejected({"cudaFreeArray", reinterpret_cast<std::uint64_t>(array)});
        throw ApiError(cudaErrorInvalidValue);
    });
}

EMULATOR_ENTRY cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc* format, cudaExtent* extent,
                                            unsigned int* flags, const void* array) {
    return api_call([&](Device& device) {
        const Array& found = array_at(device, array);
        if (format) *format = found.format;
        if (extent) *extent = found.extent;
        if (flags) *flags = found.flags;
    });
}

EMULATOR_ENTRY cudaError_t cudaGetChannelDesc(cudaChannelFormatDesc* format, const void* array) {
    return api_call([&](Device& device) {
        require(format);
        *format = array_at(device, array).format;
    });
}

// ---- rectangles: x and width in bytes, y and height in rows ----

EMULATOR_ENTRY cudaError_t cudaMemcpy2DToArrayAsync(void* array, std::size_t x, std::size_t y,
                                                    const void* from, std::size_t pitch, std::size_t width,
                                                    std::size_t height, cudaMemcpyKind kind, void* stream) {
    return copy_in(stream, [=](Device& device) {
        const cudaExtent extent{width, height, 1};
        copy(device, {.to = array_side(device, array, {x, y, 0}, extent, to_array),
                      .from = {const_cast<void*>(from), pitch},
                      .extent = extent,
                      .kind = kind});
    });
}
EMULATOR_PER_THREAD_TWIN(cudaMemcpy2DToArrayAsync, cudaMemcpy2DToArrayAsync_ptsz);

EMULATOR_ENTRY cudaError_t cudaMemcpy2DToArray(void* array, std::size_t x, std::size_t y, const void* from,
                                               std::size_t pitch, std::size_t width, std::size_t height,
                                               cudaMemcpyKind kind) {
    return cudaMemcpy2DToArrayAsync(array, x, y, from, pitch, width, height, kind, nullptr);
}
EMULATOR_PER_THREAD_TWIN(cudaMemcpy2DToArray, cudaMemcpy2DToArray_ptds);

EMULATOR_ENTRY cudaError_t cudaMemcpy2DFromArrayAsync(void* to, std::size_t pitch, const void* array,
                                                      std::size_t x, std::size_t y, std::size_t width,
                                                      std::size_t height, cudaMemcpyKind kind, void* stream) {
    return copy_in(stream, [=](Device& device) {
        const cudaExtent extent{width, height, 1};
        copy(device, {.to = {to, pitch},
                      .from = array_side(device, array, {x, y, 0}, extent, from_array),
                      .extent = extent,
                      .kind = kind});
    });
}
EMULATOR_PER_THREAD_TWIN(cudaMemcpy2DFromArrayAsync, cudaMemcpy2DFromArrayAsync_ptsz);

EMULATOR_ENTRY cudaError_t cudaMemcpy2DFromArray(void* to, std::size_t pitch, const void* array,
                                                 std::size_t x, std::size_t y, std::size_t width,
                                                 std::size_t height, cudaMemcpyKind kind) {
    return cudaMemcpy2DFromArrayAsync(to, pitch, array, x, y, width, height, kind, nullptr);
}
EMULATOR_PER_THREAD_TWIN(cudaMemcpy2DFromArray, cudaMemcpy2DFromArray_ptds);

EMULATOR_ENTRY cudaError_t cudaMemcpy2DArrayToArray(void* to, std::size_t to_x, std::size_t to_y,
                                                    const void* from, std::size_t from_x, std::size_t from_y,
                                                    std::size_t width, std::size_t height,
                                                    cudaMemcpyKind kind) {
    return copy_in(nullptr, [=](Device& device) {
        const cudaExtent extent{width, height, 1};
        copy(device, {.to = array_side(device, to, {to_x, to_y, 0}, extent, to_array),
                      .from = array_side(device, from, {from_x, from_y, 0}, extent, from_array),
                      .extent = extent,
                      .kind = kind});
    });
}
EMULATOR_PER_THREAD_TWIN(cudaMemcpy2DArrayToArray, cudaMemcpy2DArrayToArray_ptds);

// ---- so many bytes, from row to row (deprecated) ----

EMULATOR_ENTRY cudaError_t cudaMemcpyToArrayAsync(void* array, std::size_t x, std::size_t y, const void* from,
                                                  std::size_t bytes, cudaMemcpyKind kind, void* stream) {
    return copy_in(stream, [=](Device& device) {
        copy(device, {.to = stretch(device, array, x, y, bytes, to_array),
                      .from = {const_cast<void*>(from), bytes},
                      .extent = {bytes, 1, 1},
                      .kind = kind});
    });
}
EMULATOR_PER_THREAD_TWIN(cudaMemcpyToArrayAsync, cudaMemcpyToArrayAsync_ptsz);

EMULATOR_ENTRY cudaError_t cudaMemcpyToArray(void* array, std::size_t x, std::size_t y, const void* from,
                                             std::size_t bytes, cudaMemcpyKind kind) {
    return cudaMemcpyToArrayAsync(array, x, y, from, bytes, kind, nullptr);
}
EMULATOR_PER_THREAD_TWIN(cudaMemcpyToArray, cudaMemcpyToArray_ptds);

EMULATOR_ENTRY cudaError_t cudaMemcpyFromArrayAsync(void* to, const void* array, std::size_t x, std::size_t y,
                                                    std::size_t bytes, cudaMemcpyKind kind, void* stream) {
    return copy_in(stream, [=](Device& device) {
        copy(device, {.to = {to, bytes},
                      .from = stretch(device, array, x, y, bytes, from_array),
                      .extent = {bytes, 1, 1},
                      .kind = kind});
    });
}
EMULATOR_PER_THREAD_TWIN(cudaMemcpyFromArrayAsync, cudaMemcpyFromArrayAsync_ptsz);

EMULATOR_ENTRY cudaError_t cudaMemcpyFromArray(void* to, const void* array, std::size_t x, std::size_t y,
                                               std::size_t bytes, cudaMemcpyKind kind) {
    return cudaMemcpyFromArrayAsync(to, array, x, y, bytes, kind, nullptr);
}
EMULATOR_PER_THREAD_TWIN(cudaMemcpyFromArray, cudaMemcpyFromArray_ptds);

EMULATOR_ENTRY cudaError_t cudaMemcpyArrayToArray(void* to, std::size_t to_x, std::size_t to_y,
                                                  const void* from, std::size_t from_x, std::size_t from_y,
                                                  std::size_t bytes, cudaMemcpyKind kind) {
    return copy_in(nullptr, [=](Device& device) {
        copy(device, {.to = stretch(device, to, to_x, to_y, bytes, to_array),
                      .from = stretch(device, from, from_x, from_y, bytes, from_array),
                      .extent = {bytes, 1, 1},
                      .kind = kind});
    });
}
EMULATOR_PER_THREAD_TWIN(cudaMemcpyArrayToArray, cudaMemcpyArrayToArray_ptds);
