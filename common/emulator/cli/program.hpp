/// A program's file: where it is, and whether the emulator can run what is in it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace emulate {

/// How an ELF file is linked with the CUDA runtime.
struct CudaLinkage {
    bool has_device_code = false; ///< nvcc put kernels into it
    bool imports_runtime = false; ///< it gets the runtime from a shared library
    /// It contains the static runtime of this library's CUDA version, and the names of its functions.
    bool has_replaceable_runtime = false;
    std::vector<std::string> driver_functions; ///< that it gets from a shared library: "cuInit"
    /// NVIDIA's that it is linked with and that need the driver: "cuBLAS".
    std::vector<std::string> libraries;
    bool has_old_style_rpath = false; ///< which goes before LD_LIBRARY_PATH
};

/// Finds the program `name` as a shell does.
/// \throws CommandError when there is no such program, or it cannot be run.
std::filesystem::path find_program(const std::string& name);

/// Empty for a file that is not 64-bit ELF, such as a script.
CudaLinkage cuda_linkage(const std::filesystem::path& program);

/// The folder of the emulator's library, relative to the file of `emulate`.
struct EmulatorLibrary {
    std::filesystem::path folder; ///< in which the dynamic loader finds the best variant by itself
    std::filesystem::path file;   ///< that variant, for LD_PRELOAD, which takes a file
};

/// \throws CommandError if it does not exist.
EmulatorLibrary emulator_library();

/// Those of the functions that the library does not export.
std::vector<std::string> missing_in(const std::filesystem::path& library,
                                    const std::vector<std::string>& functions);

} // namespace emulate
