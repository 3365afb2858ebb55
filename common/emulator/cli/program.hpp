/// \file
/// A program's file: where it is, and whether the emulator can run what is in it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace emulate {

/// What an ELF file says of its way to the CUDA runtime.
struct CudaLinkage {
    bool has_device_code = false; ///< nvcc put kernels into it
    bool imports_runtime = false; ///< it gets the runtime from a shared library
    bool uses_driver = false;     ///< it is linked with libcuda.so
    std::vector<std::string>
        libraries;                    ///< NVIDIA's that it is linked with and that need the driver: "cuBLAS"
    bool has_old_style_rpath = false; ///< which goes before LD_LIBRARY_PATH
};

/// The file behind `name`: as a shell finds it.
/// \throws CommandError when there is no such program, or it cannot be run.
std::filesystem::path find_program(const std::string& name);

/// Nothing is found in what is no 64-bit ELF file: a script, for one.
CudaLinkage cuda_linkage(const std::filesystem::path& program);

/// The emulator, beside the file of `emulate` itself.
struct EmulatorLibrary {
    std::filesystem::path folder; ///< in which the dynamic loader finds the best variant by itself
    std::filesystem::path file;   ///< that variant, for LD_PRELOAD, which takes a file
};

/// \throws CommandError when it is not there.
EmulatorLibrary emulator_library();

} // namespace emulate
