/// \file
/// Every other function of the CUDA runtime API: it says that it is not there, and returns
/// cudaErrorNotSupported. A program has lost what it called for, unless it can do without.

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
        if (told.insert(function).second) report(std::string(function) + " is not supported by the emulator");
        if (need == Need::work) note_refusal(device, cudaErrorNotSupported, function);
        throw ApiError(cudaErrorNotSupported);
    });
}

} // namespace

// In C's calling convention a function may be called with more arguments than it takes.
#define UNSUPPORTED(function)                                                                                \
    EMULATOR_ENTRY cudaError_t function() { return unsupported(#function, Need::work); }
#define UNSUPPORTED_ADVICE(function)                                                                         \
    EMULATOR_ENTRY cudaError_t function() { return unsupported(#function, Need::advice); }
#include "emulator/runtime/api/unsupported_functions.inc"
#undef UNSUPPORTED_ADVICE
#undef UNSUPPORTED
