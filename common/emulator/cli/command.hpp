/// `emulate`: runs a CUDA program on the emulator and reports what its kernels did.
#pragma once

namespace emulate {

/// What main() does. \returns its exit status
int command(int argc, char** argv);

} // namespace emulate
