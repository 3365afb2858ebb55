/// Copying and setting memory. The asynchronous calls finish before they return, unless their stream is being
/// captured.

#include "emulator/runtime/api_call.hpp"
#include "emulator/runtime/transfers.hpp"

using namespace emulator;
using namespace emulator::abi;

namespace {

constexpr void* legacy_stream = nullptr; ///< where the calls without a stream do their work

/// Whether it is a call without Async in its name.
enum class Waits { no, yes };

/// The host waits for a synchronous copy, unless both sides are on devices.
void note_wait(Device& device, const void* to, const void* from, Waits waits) {
    const auto is_on_device = [&](const void* pointer) {
        const Allocation* const allocation = device.memory.find(pointer);
        return allocation && allocation->device != Allocation::on_host;
    };
    if (waits == Waits::no || (is_on_device(to) && is_on_device(from))) return;
    if (device.shared.rehearses)
        device.shared.may_run_later = false;
    else
        device.memory.operations().host_waits_for_current();
}

cudaError_t copy_in(const void* stream, void* to, std::size_t to_pitch, const void* from, Rows rows,
                    cudaMemcpyKind kind, Waits waits = Waits::no) {
    return stream_call(stream, {.type = cudaGraphNodeTypeMemcpy,
                                .work =
                                    [=](Device& device) {
                                        device.reject_after_refusal();
                                        copy(device, to, to_pitch, from, rows, kind);
                                        note_wait(device, to, from, waits);
                                    },
                                .host = nullptr});
}

cudaError_t copy_in(const void* stream, const cudaMemcpy3DParms* parameters, Waits waits = Waits::no) {
    return stream_call(stream, {.type = cudaGraphNodeTypeMemcpy,
                                .work =
                                    [waits, is_there = parameters != nullptr,
                                     all = parameters ? *parameters : cudaMemcpy3DParms{}](Device& device) {
                                        require(is_there);
                                        device.reject_after_refusal();
                                        const Box box = box_of(device, all);
                                        copy(device, box);
                                        note_wait(device, box.to.first, box.from.first, waits);
                                    },
                                .host = nullptr});
}

cudaError_t fill_in(const void* stream, void* to, Rows rows, int value, std::size_t slice = 0,
                    std::size_t slices = 1) {
    return stream_call(stream, {.type = cudaGraphNodeTypeMemset,
                                .work =
                                    [=](Device& device) {
                                        for (std::size_t z = 0; z < slices; ++z)
                                            fill(device, static_cast<char*>(to) + z * slice, rows,
                                                 static_cast<unsigned int>(value));
                                    },
                                .host = nullptr});
}

cudaError_t fill_in(const void* stream, const cudaPitchedPtr& to, int value, const cudaExtent& extent) {
    return fill_in(stream, to.ptr, {to.pitch, extent.width, extent.height}, value, to.pitch * to.ysize,
                   extent.depth);
}

/// Devices share one address space, so a peer copy is a copy within it. The numbers must be right all the same.
cudaError_t copy_between_devices(const void* stream, void* to, int to_device, const void* from,
                                 int from_device, std::size_t bytes) {
    const cudaError_t error = call_without_waiting([&](Device&) {
        require_device(to_device);
        require_device(from_device);
    });
    return error != cudaSuccess ? error
                                : copy_in(stream, to, bytes, from, single_row(bytes), cudaMemcpyDefault);
}

cudaError_t copy_between_devices(const void* stream, const cudaMemcpy3DPeerParms* parameters) {
    const cudaError_t error = call_without_waiting([&](Device&) {
        require(parameters);
        require_device(parameters->srcDevice);
        require_device(parameters->dstDevice);
    });
    if (error != cudaSuccess) return error;
    const cudaMemcpy3DParms within{parameters->srcArray, parameters->srcPos, parameters->srcPtr,
                                   parameters->dstArray, parameters->dstPos, parameters->dstPtr,
                                   parameters->extent,   cudaMemcpyDefault};
    return copy_in(stream, &within);
}

} // namespace

EMULATOR_ENTRY cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
    return copy_in(legacy_stream, to, bytes, from, single_row(bytes), kind, Waits::yes);
}
EMULATOR_PER_THREAD_TWIN(cudaMemcpy, cudaMemcpy_ptds);

EMULATOR_ENTRY cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                                           void* stream) {
    return copy_in(stream, to, bytes, from, single_row(bytes), kind);
}
EMULATOR_PER_THREAD_TWIN(cudaMemcpyAsync, cudaMemcpyAsync_ptsz);

EMULATOR_ENTRY cudaError_t cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from,
                                        std::size_t from_pitch, std::size_t width, std::size_t height,
                                        cudaMemcpyKind kind) {
    return copy_in(legacy_stream, to, to_pitch, from, {from_pitch, width, height}, kind, Waits::yes);
}
EMULATOR_PER_THREAD_TWIN(cudaMemcpy2D, cudaMemcpy2D_ptds);

EMULATOR_ENTRY cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from,
                                             std::size_t from_pitch, std::size_t width, std::size_t height,
                                             cudaMemcpyKind kind, void* stream) {
    return copy_in(stream, to, to_pitch, from, {from_pitch, width, height}, kind);
}
EMULATOR_PER_THREAD_TWIN(cudaMemcpy2DAsync, cudaMemcpy2DAsync_ptsz);

EMULATOR_ENTRY cudaError_t cudaMemset(void* to, int value, std::size_t bytes) {
    return fill_in(legacy_stream, to, single_row(bytes), value);
}
EMULATOR_PER_THREAD_TWIN(cudaMemset, cudaMemset_ptds);

EMULATOR_ENTRY cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, void* stream) {
    return fill_in(stream, to, single_row(bytes), value);
}
EMULATOR_PER_THREAD_TWIN(cudaMemsetAsync, cudaMemsetAsync_ptsz);

EMULATOR_ENTRY cudaError_t cudaMemset2D(void* to, std::size_t pitch, int value, std::size_t width,
                                        std::size_t height) {
    return fill_in(legacy_stream, to, {pitch, width, height}, value);
}
EMULATOR_PER_THREAD_TWIN(cudaMemset2D, cudaMemset2D_ptds);

EMULATOR_ENTRY cudaError_t cudaMemset2DAsync(void* to, std::size_t pitch, int value, std::size_t width,
                                             std::size_t height, void* stream) {
    return fill_in(stream, to, {pitch, width, height}, value);
}
EMULATOR_PER_THREAD_TWIN(cudaMemset2DAsync, cudaMemset2DAsync_ptsz);

EMULATOR_ENTRY cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* parameters) {
    return copy_in(legacy_stream, parameters, Waits::yes);
}
EMULATOR_PER_THREAD_TWIN(cudaMemcpy3D, cudaMemcpy3D_ptds);

EMULATOR_ENTRY cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* parameters, void* stream) {
    return copy_in(stream, parameters);
}
EMULATOR_PER_THREAD_TWIN(cudaMemcpy3DAsync, cudaMemcpy3DAsync_ptsz);

EMULATOR_ENTRY cudaError_t cudaMemset3D(cudaPitchedPtr to, int value, cudaExtent extent) {
    return fill_in(legacy_stream, to, value, extent);
}
EMULATOR_PER_THREAD_TWIN(cudaMemset3D, cudaMemset3D_ptds);

EMULATOR_ENTRY cudaError_t cudaMemset3DAsync(cudaPitchedPtr to, int value, cudaExtent extent, void* stream) {
    return fill_in(stream, to, value, extent);
}
EMULATOR_PER_THREAD_TWIN(cudaMemset3DAsync, cudaMemset3DAsync_ptsz);

EMULATOR_ENTRY cudaError_t cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device,
                                          std::size_t bytes) {
    return copy_between_devices(legacy_stream, to, to_device, from, from_device, bytes);
}

EMULATOR_ENTRY cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device,
                                               std::size_t bytes, void* stream) {
    return copy_between_devices(stream, to, to_device, from, from_device, bytes);
}

EMULATOR_ENTRY cudaError_t cudaMemcpy3DPeer(const cudaMemcpy3DPeerParms* parameters) {
    return copy_between_devices(legacy_stream, parameters);
}
EMULATOR_PER_THREAD_TWIN(cudaMemcpy3DPeer, cudaMemcpy3DPeer_ptds);

EMULATOR_ENTRY cudaError_t cudaMemcpy3DPeerAsync(const cudaMemcpy3DPeerParms* parameters, void* stream) {
    return copy_between_devices(stream, parameters);
}
EMULATOR_PER_THREAD_TWIN(cudaMemcpy3DPeerAsync, cudaMemcpy3DPeerAsync_ptsz);
