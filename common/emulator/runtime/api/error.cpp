/// Error handling.

#include "emulator/runtime/api_call.hpp"

using namespace emulator;
using namespace emulator::abi;

EMULATOR_ENTRY cudaError_t cudaGetLastError() { return last_error(true); }

EMULATOR_ENTRY cudaError_t cudaPeekAtLastError() { return last_error(false); }

EMULATOR_ENTRY const char* cudaGetErrorName(cudaError_t error) { return error_name(error); }

EMULATOR_ENTRY const char* cudaGetErrorString(cudaError_t error) { return error_text(error); }
