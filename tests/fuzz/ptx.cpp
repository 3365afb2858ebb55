// Any text as a PTX module: parsed, and all its kernels decoded.

#include "small_module.hpp"

#include "emulator/error.hpp"
#include "emulator/execute/opcodes.hpp"
#include "emulator/machine/loaded_module.hpp"
#include "emulator/memory/global_memory.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
    using namespace emulator;
    const std::string text(reinterpret_cast<const char*>(data), bytes);
    try {
        if (!fuzz::has_few_registers(text) || !fuzz::has_small_variables(text)) return -1;
        GlobalMemory memory;
        LoadedModule module(text, memory, all_opcodes());
        for (const auto& function : module.ptx().functions) try {
                if (function->is_kernel && function->has_body) (void)module.kernel(function->name);
            } catch (const Error&) {
                // This kernel is rejected; another one may be right.
            }
    } catch (const Error&) {
        // ApiError.
    }
    return 0;
}
