/// Libraries: kernels and variables that a program loads while it runs, as PTX or as a fat binary.

#include "emulator/runtime/api_call.hpp"
#include "emulator/runtime/fat_binary.hpp"

#include <cstdint>
#include <fstream>
#include <iterator>

using namespace emulator;
using namespace emulator::abi;

namespace {

RegisteredBinary& library_at(const void* handle) { return Runtime::instance().registry.library(handle); }

/// The library keeps a copy, except of what a wrapper points to.
/// `available`: bytes that are there; those of a file, which may have been cut off.
RegisteredBinary library_of(const void* code, std::size_t available = SIZE_MAX) {
    RegisteredBinary library{.is_library = true};
    const ImageKind kind = image_kind(code);
    const bool is_whole = kind == ImageKind::wrapper      ? available == SIZE_MAX // it points to the rest
                          : kind == ImageKind::fat_binary ? available >= fat_binary_header_bytes
                                                          : true;
    require(is_whole, cudaErrorInvalidKernelImage);
    switch (kind) {
    case ImageKind::wrapper: library.wrapper = code; break;
    case ImageKind::ptx: library.image = static_cast<const char*>(code); break;
    case ImageKind::machine_code:
        throw ApiError(
            cudaErrorNoKernelImageForDevice,
            "this library holds machine code only, and the emulator runs PTX: load the PTX, or a fat "
            "binary with PTX in it");
    case ImageKind::fat_binary:
        const auto bytes = fat_binary_at(code);
        require(bytes.size() <= available, cudaErrorInvalidKernelImage);
        library.image.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    }
    return library;
}

cudaError_t load(const void** handle, const std::function<RegisteredBinary()>& read) {
    return api_call([&](Device& device) {
        Registry& registry = Runtime::instance().registry;
        const RegisteredBinary* made = nullptr;
        try {
            made = registry.add_library(read());
            device.modules.loaded(*made);
        } catch (const ApiError& error) {
            if (made) registry.remove_binary(made);
            if (error.code() == cudaErrorNoKernelImageForDevice)
                note_refusal(device, error.code(), "cudaLibraryLoadData");
            throw;
        } catch (...) {
            if (made) registry.remove_binary(made);
            throw;
        }
        *handle = made;
    });
}

std::vector<const void*> kernels_of(Device& device, RegisteredBinary& library) {
    std::vector<const void*> stubs;
    for (const auto& function : device.modules.loaded(library).ptx().functions)
        if (function->is_kernel && function->has_body)
            stubs.push_back(Runtime::instance().registry.stub_of(library, function->name));
    return stubs;
}

cudaError_t get_variable(void** pointer, std::size_t* bytes, const void* library, const char* name,
                         bool is_managed) {
    return api_call([&](Device& device) {
        require((pointer || bytes) && name);
        const Allocation* const found = device.modules.loaded(library_at(library)).variable(name);
        require(found && (!is_managed || device.memory.kind_of(*found) == MemoryKind::managed),
                cudaErrorSymbolNotFound);
        if (pointer) *pointer = reinterpret_cast<void*>(found->address);
        if (bytes) *bytes = found->bytes;
    });
}

} // namespace

EMULATOR_ENTRY cudaError_t cudaLibraryLoadData(const void** library, const void* code, void*, void**,
                                               unsigned int, void*, void**, unsigned int) {
    if (!library || !code) return api_call([](Device&) { require(false); });
    return load(library, [&] { return library_of(code); });
}

EMULATOR_ENTRY cudaError_t cudaLibraryLoadFromFile(const void** library, const char* path, void*, void**,
                                                   unsigned int, void*, void**, unsigned int) {
    if (!library || !path) return api_call([](Device&) { require(false); });
    return load(library, [&] {
        std::ifstream file(path, std::ios::binary);
        const std::string text(std::istreambuf_iterator<char>(file), {});
        require(bool(file), cudaErrorFileNotFound);
        return library_of(text.c_str(), text.size());
    });
}

EMULATOR_ENTRY cudaError_t cudaLibraryUnload(const void* library) {
    return api_call([&](Device& device) {
        RegisteredBinary& unloaded = library_at(library);
        for (const auto& stub : unloaded.stubs) device.kernel_settings.erase(stub.get());
        device.modules.unload(unloaded);
        Runtime::instance().registry.remove_binary(&unloaded);
    });
}

EMULATOR_ENTRY cudaError_t cudaLibraryGetKernel(const void** kernel, const void* library, const char* name) {
    return api_call([&](Device& device) {
        require(kernel && name);
        RegisteredBinary& of = library_at(library);
        const auto* const function = device.modules.loaded(of).ptx().function(name);
        require(function && function->is_kernel, cudaErrorSymbolNotFound);
        *kernel = Runtime::instance().registry.stub_of(of, name);
    });
}

EMULATOR_ENTRY cudaError_t cudaLibraryGetKernelCount(unsigned int* count, const void* library) {
    return api_call([&](Device& device) {
        require(count);
        *count = static_cast<unsigned int>(kernels_of(device, library_at(library)).size());
    });
}

EMULATOR_ENTRY cudaError_t cudaLibraryEnumerateKernels(const void** kernels, unsigned int count,
                                                       const void* library) {
    return api_call([&](Device& device) {
        require(kernels);
        const auto all = kernels_of(device, library_at(library));
        for (std::size_t k = 0; k < count && k < all.size(); ++k) kernels[k] = all[k];
    });
}

EMULATOR_ENTRY cudaError_t cudaLibraryGetGlobal(void** pointer, std::size_t* bytes, const void* library,
                                                const char* name) {
    return get_variable(pointer, bytes, library, name, false);
}

EMULATOR_ENTRY cudaError_t cudaLibraryGetManaged(void** pointer, std::size_t* bytes, const void* library,
                                                 const char* name) {
    return get_variable(pointer, bytes, library, name, true);
}
