#include "harness/device_buffer.hpp"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include "harness/check.hpp"
#include "harness/exit_status.hpp"
#include "harness/numbers.hpp"

namespace harness::detail {
namespace {

[[noreturn]] void throw_too_little_memory(std::size_t wanted, std::size_t free) {
    throw DeviceError(
        fmt::format("too little device memory: {} are wanted and {} are free ({}); try a smaller --n",
                    format_bytes(wanted), format_bytes(free), cudaGetErrorName(cudaErrorMemoryAllocation)));
}

} // namespace

void* allocate(std::size_t bytes) {
    if (bytes == 0) return nullptr;
    // Asked first, since a host that overcommits would grant the emulator memory that it doesn't have.
    std::size_t free = 0, total = 0;
    HARNESS_CHECK(cudaMemGetInfo(&free, &total));
    if (bytes > free) throw_too_little_memory(bytes, free);

    void* memory = nullptr;
    const cudaError_t error = cudaMalloc(&memory, bytes);
    if (error == cudaErrorMemoryAllocation) {
        cudaGetLastError(); // the runtime remembers the error; a later check must not find this one again
        throw_too_little_memory(bytes, free);
    }
    check(error, "cudaMalloc(&memory, bytes)", __FILE__, __LINE__);
    return memory;
}

// An error of cudaFree is one of an earlier kernel, which its own check reports; a destructor must not throw.
void release(void* memory) noexcept { cudaFree(memory); }

void copy_to_device(void* device, const void* host, std::size_t bytes) {
    HARNESS_CHECK(cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice));
}

void copy_to_host(void* host, const void* device, std::size_t bytes) {
    HARNESS_CHECK(cudaMemcpy(host, device, bytes, cudaMemcpyDeviceToHost));
}

void copy_on_device(void* to, const void* from, std::size_t bytes) {
    HARNESS_CHECK(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToDevice));
}

void poison(void* device, std::size_t bytes) { HARNESS_CHECK(cudaMemset(device, poison_byte, bytes)); }

} // namespace harness::detail
