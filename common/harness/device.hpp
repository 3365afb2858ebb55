/// The device that a program runs on: the GPU or the emulator.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace harness {

enum class DeviceKind { gpu, emulator };

/// What the command line asks for.
enum class DeviceChoice { automatic, gpu, emulator };

struct Device {
    DeviceKind kind = DeviceKind::emulator;
    std::string name;
    std::string compute_capability;           ///< "9.0"
    std::size_t l2_bytes = 0;                 ///< 0 if unknown
    std::optional<double> peak_bandwidth_gbs; ///< in 1e9 bytes per second; nullopt on the emulator
};

/// Chooses the device, prints it and the reason on stderr, and returns its properties. Call it early in main.
/// If the emulator is chosen but not loaded, this restarts the program with the emulator's library in place
/// of the CUDA runtime, and does not return. \param argv that of main, for the restart \throws DeviceError if
/// there is no such device, or no emulator beside the program
Device choose_device(DeviceChoice choice, char** argv);

/// The folder of the emulator's library: ../emulator, seen from the folder of `executable`.
std::string emulator_directory(const std::string& executable);

/// The value of LD_LIBRARY_PATH with `directory` first. \param present its value now, or null
std::string library_path_with(const std::string& directory, const char* present);

/// Memory clock (in kHz, from cudaDeviceGetAttribute) x 2 (double data rate) x bus width, in 1e9 bytes per
/// second. nullopt if the device reports 0 for one of them.
std::optional<double> peak_bandwidth_gbs(int memory_clock_khz, int bus_width_bits);

} // namespace harness
