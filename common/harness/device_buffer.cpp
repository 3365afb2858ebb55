#include "harness/device_buffer.hpp"

#include "harness/check.hpp"
#include "harness/exit_status.hpp"
#include "harness/numbers.hpp"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

namespace harness::detail {

void* allocate(std::size_t bytes) {
    void* memory = nullptr;
    const cudaError_t error = cudaMalloc(&memory, bytes);
    if (error == cudaErrorMemoryAllocation) {
        cudaGetLastError(); // clears the error, or the next check would report it again
        std::size_t free = 0, total = 0;
        HARNESS_CHECK(cudaMemGetInfo(&free, &total));
        throw DeviceError(
            fmt::format("too little device memory: {} are wanted and {} are free ({}); try a smaller input",
                        format_bytes(bytes), format_bytes(free), cudaGetErrorName(error)));
    }
    check(error, "cudaMalloc(&memory, bytes)", __FILE__, __LINE__);
    return memory;
}

// cudaFree can report an earlier kernel's error. That kernel's own check reports it; a destructor must not
// throw.
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
