/// \file
/// Every other function of the CUDA runtime API: it says that it is not there, and returns
/// cudaErrorNotSupported.

#include "emulator/runtime/api_call.hpp"

#include <set>
#include <string>

using namespace emulator;
using namespace emulator::abi;

namespace {

cudaError_t unsupported(const char* function) {
    return api_call([&](Device&) {
        static auto& told = *new std::set<std::string>;
        const bool is_first = told.insert(function).second;
        throw ApiError(cudaErrorNotSupported,
                       is_first ? std::string(function) + " is not supported by the emulator" : "");
    });
}

} // namespace

// In C's calling convention a function may be called with more arguments than it takes.
#define UNSUPPORTED(function)                                                                                \
    EMULATOR_ENTRY cudaError_t function() { return unsupported(#function); }
#include "emulator/runtime/api/unsupported_functions.inc"
#undef UNSUPPORTED
