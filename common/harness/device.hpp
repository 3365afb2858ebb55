/// \file
/// Which device a program runs on: the GPU, or the emulator that stands in for it.
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
    std::size_t l2_bytes = 0;                 ///< 0 when the device doesn't say
    std::optional<double> peak_bandwidth_gbs; ///< 1e9 bytes a second; nothing on the emulator
};

/// Chooses the device, says on stderr which one and why, and returns what is known of it. Call it early in
/// main: where the emulator is chosen and not yet loaded, this starts the program anew with the emulator's
/// library in front of the CUDA runtime, and does not return.
/// \param argv main's own, for the new start
/// \throws DeviceError when there is no such device, or no emulator beside the program
Device choose_device(DeviceChoice choice, char** argv);

/// bin/../emulator of the program `executable`: the folder of the emulator's library.
std::string emulator_directory(const std::string& executable);

/// The value of LD_LIBRARY_PATH that has `directory` in front of what is in `present` already.
std::string library_path_with(const std::string& directory, const char* present);

/// Memory clock (in kHz, as cudaDeviceGetAttribute has it) x 2 (double data rate) x bus width, in 1e9 bytes a
/// second. Nothing when the device tells one of them as 0.
std::optional<double> peak_bandwidth_gbs(int memory_clock_khz, int bus_width_bits);

} // namespace harness
