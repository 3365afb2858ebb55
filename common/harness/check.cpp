#include "harness/check.hpp"

#include "harness/exit_status.hpp"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <string_view>

namespace harness {
namespace {

std::string_view file_name(std::string_view path) { return path.substr(path.find_last_of('/') + 1); }

void check_kernel(cudaError_t error, const char* kernel, const char* when) {
    if (error == cudaSuccess) return;
    throw DeviceError(
        fmt::format("{} {}: {} ({})", kernel, when, cudaGetErrorName(error), cudaGetErrorString(error)));
}

} // namespace

void check(cudaError_t error, const char* call, const char* file, int line) {
    if (error == cudaSuccess) return;
    cudaGetLastError(); // clears the error, or the next check would report it again
    throw DeviceError(fmt::format("{}:{}: {} returned {} ({})", file_name(file), line, call,
                                  cudaGetErrorName(error), cudaGetErrorString(error)));
}

void check_launch(const char* kernel) { check_kernel(cudaGetLastError(), kernel, "could not be launched"); }

void synchronize(const char* kernel) {
    check_kernel(cudaDeviceSynchronize(), kernel, "failed while running");
}

} // namespace harness
