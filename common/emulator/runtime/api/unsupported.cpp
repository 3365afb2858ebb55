/// Every other function of the CUDA runtime API: it prints that it is not supported and returns
/// cudaErrorNotSupported. The program fails unless it can do without.

#include "emulator/ptx/diagnostic.hpp"
#include "emulator/runtime/api_call.hpp"

#include <set>
#include <string>

using namespace emulator;
using namespace emulator::abi;

namespace {

enum class Need { work, advice };

cudaError_t unsupported(const char* function, Need need) {
    return api_call([&](Device& device) {
        static auto& told = *new std::set<std::string>;
        const std::string name = function;
        const bool is_texture = name == "cudaCreateTextureObject" || name == "cudaCreateSurfaceObject";
        if (told.insert(name).second)
            report(name + " is not supported by the emulator" +
                   (is_texture ? ptx::what_instead(".texref") : ""));
        if (need == Need::work) note_refusal(device, cudaErrorNotSupported, function);
        throw ApiError(cudaErrorNotSupported);
    });
}

} // namespace

// C's calling convention allows more arguments in the call than the function takes.
#define UNSUPPORTED(function)                                                                                \
    EMULATOR_ENTRY cudaError_t function() { return unsupported(#function, Need::work); }
#define UNSUPPORTED_ADVICE(function)                                                                         \
    EMULATOR_ENTRY cudaError_t function() { return unsupported(#function, Need::advice); }
#include "emulator/runtime/api/unsupported_functions.inc"
#undef UNSUPPORTED_ADVICE
#undef UNSUPPORTED
