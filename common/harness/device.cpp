#include "harness/device.hpp"

#include "harness/check.hpp"
#include "harness/cold_cache.hpp"
#include "harness/detail/counters.hpp"
#include "harness/detail/observing.hpp"
#include "harness/detail/standard_streams.hpp"
#include "harness/exit_status.hpp"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <unistd.h>

namespace harness {
namespace {

namespace fs = std::filesystem;

std::string program_name(char** argv) { return fs::path(argv[0]).filename(); }

/// Why the GPU cannot be used, with the error's name. nullopt: it can.
std::optional<std::string> why_no_gpu() {
    int count = 0;
    cudaError_t error = cudaGetDeviceCount(&count);
    if (error == cudaSuccess && count == 0) error = cudaErrorNoDevice;
    if (error == cudaSuccess) error = load_harness_kernel();
    cudaGetLastError(); // clears the error, or the next check would report it
    if (error == cudaSuccess) return std::nullopt;

    int driver_version = 0;
    const bool no_driver = cudaDriverGetVersion(&driver_version) == cudaSuccess && driver_version == 0;
    return fmt::format("{} ({})", no_driver ? "no CUDA driver is installed" : cudaGetErrorString(error),
                       cudaGetErrorName(error));
}

[[noreturn]] void start_anew_with_emulator(char** argv, const std::string& reason) {
    std::error_code error;
    const fs::path executable = fs::read_symlink("/proc/self/exe", error);
    if (error)
        throw DeviceError(fmt::format("{}, and /proc/self/exe cannot be read: {}", reason, error.message()));

    const fs::path directory = emulator_directory(executable);
    const std::string name = fmt::format("libcudart.so.{}", CUDART_VERSION / 1000);
    const fs::path library = directory / name, variants = directory / "glibc-hwcaps";
    if (!fs::exists(library) && !fs::exists(variants / "x86-64-v3" / name) &&
        !fs::exists(variants / "x86-64-v4" / name)) {
        throw DeviceError(
            fmt::format("{}, and the emulator is missing: there is no {} (`make lessons` builds it)", reason,
                        library.string()));
    }
    const char* present = std::getenv("LD_LIBRARY_PATH");
    const std::string library_path = library_path_with(directory, present);
    // The loader got this path before and loaded another library. Restarting again would loop forever.
    if (present && library_path == present) {
        throw DeviceError(
            fmt::format("{}, and the emulator was not loaded although LD_LIBRARY_PATH begins with {} "
                        "(is the program linked with the shared CUDA runtime, without an RPATH?)",
                        reason, directory.string()));
    }
    write_message(program_name(argv), fmt::format("{}, so the emulator runs the kernels", reason));
    setenv("LD_LIBRARY_PATH", library_path.c_str(), 1);
    execv(executable.c_str(), argv);
    throw DeviceError(fmt::format("could not start {} anew: {}", executable.string(), std::strerror(errno)));
}

int attribute(cudaDeviceAttr name) {
    int value = 0;
    HARNESS_CHECK(cudaDeviceGetAttribute(&value, name, 0));
    return value;
}

std::string device_name() {
    cudaDeviceProp properties{};
    HARNESS_CHECK(cudaGetDeviceProperties(&properties, 0));
    return properties.name;
}

std::string compute_capability() {
    return fmt::format("{}.{}", attribute(cudaDevAttrComputeCapabilityMajor),
                       attribute(cudaDevAttrComputeCapabilityMinor));
}

Device emulated_device() {
    return {.kind = DeviceKind::emulator,
            .name = device_name(),
            .compute_capability = compute_capability(),
            .l2_bytes = 0,
            .peak_bandwidth_gbs = std::nullopt};
}

Device gpu_device() {
    return {.kind = DeviceKind::gpu,
            .name = device_name(),
            .compute_capability = compute_capability(),
            .l2_bytes = static_cast<std::size_t>(attribute(cudaDevAttrL2CacheSize)),
            .peak_bandwidth_gbs = peak_bandwidth_gbs(attribute(cudaDevAttrMemoryClockRate),
                                                     attribute(cudaDevAttrGlobalMemoryBusWidth))};
}

/// Whether start_anew_with_emulator started this process: it has printed the reason already.
bool started_anew() {
    const char* present = std::getenv("LD_LIBRARY_PATH");
    std::error_code error;
    const fs::path executable = fs::read_symlink("/proc/self/exe", error);
    return !error && present && library_path_with(emulator_directory(executable), present) == present;
}

} // namespace

Device choose_device(DeviceChoice choice, char** argv) {
    if (emulator_is_loaded()) {
        if (choice == DeviceChoice::gpu) {
            throw DeviceError(
                "--device gpu: the emulator stands in for the CUDA runtime here, so there is no GPU "
                "(cudaErrorNoDevice); start the program without it in LD_LIBRARY_PATH and LD_PRELOAD");
        }
        if (!started_anew() && !is_observed())
            write_message(program_name(argv), "the emulator is loaded already and runs the kernels");
        return emulated_device();
    }
    if (choice == DeviceChoice::emulator) start_anew_with_emulator(argv, "--device emulator was asked for");

    const std::optional<std::string> obstacle = why_no_gpu();
    if (obstacle && choice == DeviceChoice::gpu) {
        throw DeviceError(fmt::format("--device gpu: no usable GPU: {}", *obstacle));
    }
    if (obstacle) start_anew_with_emulator(argv, "no usable GPU: " + *obstacle);

    const Device device = gpu_device();
    write_message(program_name(argv), fmt::format("{} runs the kernels", device.name));
    return device;
}

std::string emulator_directory(const std::string& executable) {
    return fs::path(executable).parent_path().parent_path() / "emulator";
}

std::string library_path_with(const std::string& directory, const char* present) {
    std::string rest = present ? present : "";
    if (rest == directory || rest.starts_with(directory + ":")) return rest;
    return rest.empty() ? directory : directory + ":" + rest;
}

std::optional<double> peak_bandwidth_gbs(int memory_clock_khz, int bus_width_bits) {
    if (memory_clock_khz <= 0 || bus_width_bits <= 0) return std::nullopt;
    return memory_clock_khz * 1e3 * 2 * (bus_width_bits / 8.0) / 1e9;
}

} // namespace harness
