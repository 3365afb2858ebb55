// Any bytes as a fat binary: what a damaged program passes to the runtime.

#include "emulator/runtime/fat_binary.hpp"
#include "emulator/error.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
    using namespace emulator;
    const std::span content(reinterpret_cast<const std::byte*>(data), bytes);
    try {
        (void)machine_code_targets(content);
        const auto entries = ptx_entries(content);
        const PtxEntry* const entry = best_entry(entries);
        // Up to 256 MiB are right, and only cost time.
        constexpr std::uint64_t large = 1 << 20, too_large = 256 << 20;
        if (entry && (entry->uncompressed_bytes <= large || entry->uncompressed_bytes > too_large))
            (void)ptx_text(*entry);
    } catch (const Error&) {
        // ApiError, as damaged ones should be.
    }
    return 0;
}
